// SPDX-License-Identifier: Apache-2.0

/// What went wrong, in the terms that a caller decides by.
package struct KafkaError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The kinds of failure.
    package enum Kind: Sendable, Equatable {
        /// The producer's bounded queue is full: try later, or refuse the caller.
        case queueFull
        /// No answer in time; the outcome is unknown.
        case timedOut
        /// A newer producer or consumer took over; this one can do no more harm and no more good.
        case fenced
        /// The open transaction must be aborted; then all goes on.
        case abortRequired
        /// The same call may succeed when it is made again.
        case retriable
        /// The client is of no more use: close it and make another.
        case fatal
        /// A broker, or all of them, cannot be reached now; the client keeps trying by itself.
        case brokerDown
        /// The topic or the partition does not exist.
        case unknownTopic
        /// The record is larger than what client or broker take.
        case messageTooLarge
        /// The broker does not offer this.
        case unsupported
        /// The group's coordinator takes no session of this length: make another consumer with a longer one.
        case sessionRefused
        /// A setting has a wrong name or value.
        case invalidConfiguration
        /// The client was closed before.
        case closed
        /// Anything else; `codeName` says what.
        case other
    }

    /// The kind, to decide by.
    package var kind: Kind
    /// A sentence for people.
    package var message: String
    /// Kafka's or librdkafka's name of the code, such as `_QUEUE_FULL`.
    package var codeName: String
    /// True if the client is of no more use.
    package var isFatal: Bool
    /// True if the same call may be made again.
    package var isRetriable: Bool
    /// True if the open transaction must be aborted.
    package var requiresAbort: Bool

    /// Makes an error.
    package init(
        _ kind: Kind, _ message: String, codeName: String = "", isFatal: Bool = false, isRetriable: Bool = false,
        requiresAbort: Bool = false
    ) {
        self.kind = kind
        self.message = message
        self.codeName = codeName
        self.isFatal = isFatal
        self.isRetriable = isRetriable
        self.requiresAbort = requiresAbort
    }

    /// Kind, code and message in one line.
    package var description: String { "\(self.kind) \(self.codeName): \(self.message)" }

    static let closed = KafkaError(.closed, "The client was closed.")
}
