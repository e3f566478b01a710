// SPDX-License-Identifier: Apache-2.0
package import CoreKit
package import PlazaModel

/// Replies that wait until the model here has the revision that they speak of, so that a client reads what it wrote.
package struct AwaitedReplies: Sendable {
    /// How long a reply waits at most.
    package static let patience = Milliseconds(200)
    /// Replies that wait at most; beyond, they do not wait.
    package static let limit = 10_000

    private struct Held: Sendable {
        var reply: Reply
        var seen: Seen
        var until: Timestamp
    }

    /// In the order in which they came, which is that of their time-outs.
    private var held: [Held] = []

    /// Nothing waits.
    package init() {}

    /// How many wait.
    package var count: Int { self.held.count }
    /// When the first waits no longer.
    package var nextDeadline: Timestamp? { self.held.first?.until }

    /// Takes a reply that came.
    ///
    /// - Returns: true when it can be shown now; false when it is kept.
    package mutating func shows(_ reply: Reply, in model: ReadModel, at now: Timestamp) -> Bool {
        guard let seen = reply.seen, !model.hasSeen(seen, app: reply.app), self.held.count < Self.limit else {
            return true
        }
        self.held.append(Held(reply: reply, seen: seen, until: now + Self.patience))
        return false
    }

    /// Gives out the replies that wait no longer, because the model has caught up or their time is over.
    package mutating func release(in model: ReadModel, at now: Timestamp) -> [Reply] {
        if self.held.isEmpty { return [] }
        var released: [Reply] = []
        self.held.removeAll { held in
            guard held.until <= now || model.hasSeen(held.seen, app: held.reply.app) else { return false }
            released.append(held.reply)
            return true
        }
        return released
    }
}
