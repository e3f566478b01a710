// SPDX-License-Identifier: Apache-2.0
package import MachineKit
package import PlazaModel

/// Buffers each reply until the read model, the gateway's copy of the public topics, has the revision that the reply
/// requires.
///
/// A client that reads after the reply then sees its own write.
package struct PrematureReplies: Sendable {
    /// The longest time for which a reply is buffered.
    package static let timeout = Milliseconds(200)
    /// The largest number of buffered replies; when it is reached, further replies are sent immediately.
    package static let maxReplies = 10_000

    private struct PrematureReply: Sendable {
        var reply: Reply
        /// The revision that the read model must reach before the reply is sent.
        var required: RequiredRevision
        var deadline: MonotonicTime
    }

    /// The buffered replies in the order in which they were received, which is also the order of their deadlines.
    private var buffered: [PrematureReply] = []

    /// Creates an empty buffer.
    package init() {}

    /// The number of buffered replies.
    package var count: Int { self.buffered.count }
    /// The earliest deadline; nil if nothing is buffered.
    package var nextDeadline: MonotonicTime? { self.buffered.first?.deadline }

    /// Buffers a reply if the model has not reached the revision that the reply requires.
    ///
    /// - Returns: True if the reply was buffered; false if the caller must send the reply now.
    package mutating func bufferIfPremature(_ reply: Reply, in model: ReadModel, at now: MonotonicTime) -> Bool {
        guard let required = reply.requiredRevision, !model.hasReached(required, app: reply.app),
            self.buffered.count < Self.maxReplies
        else {
            return false
        }
        self.buffered.append(PrematureReply(reply: reply, required: required, deadline: now + Self.timeout))
        return true
    }

    /// Removes and returns the replies to send now: those whose revision the model has reached, and those whose
    /// deadline has passed.
    package mutating func takeDue(in model: ReadModel, at now: MonotonicTime) -> [Reply] {
        if self.buffered.isEmpty { return [] }
        var due: [Reply] = []
        self.buffered.removeAll { entry in
            guard entry.deadline <= now || model.hasReached(entry.required, app: entry.reply.app) else {
                return false
            }
            due.append(entry.reply)
            return true
        }
        return due
    }
}
