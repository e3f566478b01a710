// SPDX-License-Identifier: Apache-2.0
package import PlazaModel

/// What one client received from one live, in the order of receipt.
package struct FeedHistory: Hashable, Sendable {
    /// One step of a feed.
    package enum Step: Hashable, Sendable {
        case item(epoch: Int64, number: Int64, content: FeedContent)
        /// The server could not resume the feed, so the client read the live again: items may be missing here.
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

    /// Whether an announced gap may hide the item with this number.
    ///
    /// A gap between two items of an epoch hides the numbers between them. A gap at the beginning hides all numbers
    /// before the next item, and a gap at the end hides all numbers after the last item. A gap between two epochs hides
    /// all numbers after the last item of the first epoch, and all before the first item that the client received of
    /// the second epoch.
    package func hasGap(at number: Int64) -> Bool {
        self.steps.indices.contains { index in
            guard self.steps[index] == .gap else { return false }
            let before = self.steps[..<index].last { $0 != .gap }
            let after = self.steps[index...].first { $0 != .gap }
            guard case .item(let epoch, let lastNumber, _)? = before else {
                guard case .item(_, let nextNumber, _)? = after else { return true }
                return number < nextNumber
            }
            guard case .item(let nextEpoch, let nextNumber, _)? = after else { return number > lastNumber }
            if epoch != nextEpoch { return number > lastNumber || number < nextNumber }
            return number > lastNumber && number < nextNumber
        }
    }

    /// The contents of all items, in the order in which they were received.
    package var contents: [FeedContent] {
        self.steps.compactMap { if case .item(_, _, let content) = $0 { content } else { nil } }
    }
}

/// The range in which a sum of scores must be: a call without an answer may or may not have been applied.
package struct SumBounds: Hashable, Sendable {
    /// The sum of the scores that were acknowledged.
    package var acknowledged: Int64 = 0
    /// The sum of the scores that were sent and got no answer.
    package var unanswered: Int64 = 0

    package init(acknowledged: Int64 = 0, unanswered: Int64 = 0) {
        self.acknowledged = acknowledged
        self.unanswered = unanswered
    }

    package var range: ClosedRange<Int64> { self.acknowledged...(self.acknowledged + self.unanswered) }
}

/// All that the clients of one round did and received: the input of `HistoryChecker`.
package struct RoundHistory: Sendable {
    /// A user's request, which must have exactly one end.
    package struct Request: Hashable, Sendable {
        /// A description of the request, such as `alice's co-host request`.
        package var name: String
        /// The ends of the request of which the user was notified, such as `accepted`.
        package var ends: [String]

        package init(name: String, ends: [String]) {
            self.name = name
            self.ends = ends
        }
    }

    /// A live's count of viewers, read at the end of the round within the promised time.
    package struct Count: Hashable, Sendable {
        package var live: LiveID
        /// The number of viewers who are in the live, which the count must reach.
        package var members: Int
        /// The last count that was read; nil if none was read.
        package var lastCount: Int?

        package init(live: LiveID, members: Int, lastCount: Int?) {
            self.live = live
            self.members = members
            self.lastCount = lastCount
        }
    }

    package var feeds: [FeedHistory] = []
    /// The users who never left their live before it ended.
    package var neverLeft: Set<UserID> = []
    /// Lives that their hosts ended.
    package var endedLives: Set<LiveID> = []
    /// Battles that began, with the lives that took part and the sum of the scores sent for each.
    package var battles: [BattleID: [LiveID: SumBounds]] = [:]
    /// The texts that were sent in each live, with the feed number that the reply named; nil if there was no reply.
    package var texts: [LiveID: [String: Int64?]] = [:]
    package var requests: [Request] = []
    package var counts: [Count] = []
    /// The steps that did not succeed in time, one sentence each.
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
