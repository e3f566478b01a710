// SPDX-License-Identifier: Apache-2.0
package import PlazaModel

/// What one client received of one live, in its order.
package struct FeedHistory: Hashable, Sendable {
    /// One step of a feed.
    package enum Step: Hashable, Sendable {
        case item(epoch: Int64, number: Int64, content: FeedContent)
        /// The server told the client to read the live again: items may be missing here.
        case gap
    }

    package var client: String
    package var live: LiveID
    package var steps: [Step]

    package init(client: String, live: LiveID, steps: [Step] = []) {
        self.client = client
        self.live = live
        self.steps = steps
    }

    /// The contents of all items, in the order in which they were received.
    package var contents: [FeedContent] {
        self.steps.compactMap { if case .item(_, _, let content) = $0 { content } else { nil } }
    }
}

/// The limits between which a sum must be: a call without an answer may or may not have been applied.
package struct SumBounds: Hashable, Sendable {
    package var acknowledged: Int64 = 0
    /// What was sent and got no answer.
    package var unanswered: Int64 = 0

    package init(acknowledged: Int64 = 0, unanswered: Int64 = 0) {
        self.acknowledged = acknowledged
        self.unanswered = unanswered
    }

    package var range: ClosedRange<Int64> { self.acknowledged...(self.acknowledged + self.unanswered) }
}

/// All that the clients of one round did and saw; what `HistoryChecker` decides on.
package struct RoundHistory: Sendable {
    /// A request that one user made and that must have one end.
    package struct Request: Hashable, Sendable {
        /// What was asked, such as `alice's co-host request`.
        package var name: String
        /// The ends of lives that the user was notified of.
        package var ends: [String]

        package init(name: String, ends: [String]) {
            self.name = name
            self.ends = ends
        }
    }

    /// A count of viewers as it was read at the end of the round, within the promised time.
    package struct Count: Hashable, Sendable {
        package var live: LiveID
        package var members: Int
        /// The last count that was read.
        package var read: Int?

        package init(live: LiveID, members: Int, read: Int?) {
            self.live = live
            self.members = members
            self.read = read
        }
    }

    package var feeds: [FeedHistory] = []
    /// The users who never left their live, until it ended.
    package var faithful: Set<UserID> = []
    /// Lives that their hosts ended.
    package var endedLives: Set<LiveID> = []
    /// Battles that began, with the lives that took part and the sum of the scores sent for each.
    package var battles: [BattleID: [LiveID: SumBounds]] = [:]
    /// Texts that were sent, with the number of the item that the reply named; nil: there was no reply.
    package var texts: [LiveID: [String: Int64?]] = [:]
    package var requests: [Request] = []
    package var counts: [Count] = []
    /// Steps that got no valid answer within the allowed time, one sentence each.
    package var stalls: [String] = []

    package init() {}
}

/// A promise that was broken.
package struct Finding: Hashable, Sendable, CustomStringConvertible {
    /// The broken invariant, such as `I7`.
    package var promise: String
    package var text: String

    package var description: String { "\(self.promise): \(self.text)" }
}
