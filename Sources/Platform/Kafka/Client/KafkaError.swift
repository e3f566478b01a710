// SPDX-License-Identifier: Apache-2.0

/// A failure of a Kafka client, classified by what the caller can do about it.
package struct KafkaError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The kinds of failure.
    package enum Kind: Sendable, Equatable {
        /// The producer's bounded queue is full: retry later, or reject the request that caused the record.
        case queueFull
        /// No response was received in time; the outcome is unknown.
        case timedOut
        /// A newer client has taken over the identity of this client, which is now unusable.
        case fenced
        /// The open transaction must be aborted; then the client can continue.
        case abortRequired
        /// The failure is transient: the same call may be repeated.
        case retriable
        /// The client is unusable: close it and create another client.
        case fatal
        /// A write was not answered: its outcome is unknown, and the client is unusable.
        case unanswered
        /// One broker, or all of them, cannot be reached; the client keeps reconnecting by itself.
        case brokerDown
        /// The topic or the partition does not exist.
        case unknownTopic
        /// The record is larger than the client or the broker accepts.
        case messageTooLarge
        /// The broker rejected the content of a record, for another reason than its size.
        case invalidRecord
        /// The broker does not support this operation.
        case unsupported
        /// The group's coordinator rejected the session timeout: create another consumer with a longer timeout.
        case sessionTimeoutRejected
        /// The broker rejected the user or the password; retries are useless until one of them is changed.
        case authenticationFailed
        /// TLS failed: the broker's certificate is not trusted or is for another host, or the broker does not use TLS.
        case tlsFailed
        /// The broker's access control lists do not allow the user this operation.
        case accessDenied
        /// A setting has a wrong name or value.
        case invalidConfiguration
        /// The client was closed before the call.
        case closed
        /// Anything else; `codeName` says what.
        case other
    }

    /// The kind of failure.
    package var kind: Kind
    /// A message for humans.
    package var message: String
    /// Kafka's or librdkafka's name of the error code, such as `_QUEUE_FULL`.
    package var codeName: String
    /// True if the client is unusable.
    package var isFatal: Bool
    /// True if the same call may be repeated.
    package var isRetriable: Bool
    /// True if the open transaction must be aborted.
    package var requiresAbort: Bool

    /// Creates an error.
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

    /// Whether retries are useless until an operator changes settings, certificates or access rights.
    package var needsOperator: Bool {
        switch self.kind {
        case .invalidConfiguration, .authenticationFailed, .tlsFailed, .accessDenied: true
        default: false
        }
    }

    /// Whether a broker rejected a record or a whole topic, so that the same write would be rejected again.
    package var isRejection: Bool { self.kind.isRejection }

    /// Kind, code and message in one line.
    package var description: String { "\(self.kind) \(self.codeName): \(self.message)" }

    static let closed = KafkaError(.closed, "The client was closed.")
}

extension KafkaError.Kind {
    /// Whether a broker rejected a record or a whole topic.
    var isRejection: Bool {
        switch self {
        case .messageTooLarge, .invalidRecord, .accessDenied: true
        default: false
        }
    }
}
