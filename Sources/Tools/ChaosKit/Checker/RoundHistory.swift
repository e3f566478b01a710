// SPDX-License-Identifier: Apache-2.0
package import MachineKit
package import PlazaModel

/// What one client received from one live, in the order of receipt.
package struct FeedHistory: Hashable, Sendable {
    /// One step of a feed.
    package enum Step: Hashable, Sendable {
        /// An item; `at` is when the client received it or, in Kafka's log, the time that the fan-out gave it.
        case item(epoch: Int64, number: Int64, content: FeedContent, at: Timestamp? = nil)
        /// Items may be missing here: the server could not resume the feed, or the client was not in the live.
        case gap
        /// The client received the notice of its kick or ban: until the next gap, it must not receive anything.
        case removed

        /// Whether the step is an item.
        var isItem: Bool { if case .item = self { true } else { false } }
        /// The position of an item; nil for other steps.
        var position: FeedPosition? {
            if case .item(let epoch, let number, _, _) = self {
                FeedPosition(epoch: epoch, number: number)
            } else {
                nil
            }
        }
    }

    package var client: String
    package var live: LiveID
    package var steps: [Step]
    /// Whether the client has left the live.
    package private(set) var hasLeft = false

    package init(client: String, live: LiveID, steps: [Step] = []) {
        self.client = client
        self.live = live
        self.steps = steps
    }

    /// Records steps in the order of receipt, unless the client has left.
    ///
    /// After its leave a client may still read items that arrived before the leave. `leave` records a gap, which stands
    /// for these items. If they were recorded after the gap, the client would seem to receive the feed again.
    package mutating func append(_ steps: some Sequence<Step>) {
        if !self.hasLeft { self.steps += steps }
    }

    /// Records that the client has left the live: a gap, after which no step is recorded.
    package mutating func leave() {
        self.append([.gap])
        self.hasLeft = true
    }

    /// Whether an announced gap may hide the item with this number.
    ///
    /// A removal counts as a gap. A gap between two items of an epoch hides the numbers between the items. A gap before
    /// the first item hides all lower numbers, and a gap after the last item all higher ones. A gap between two epochs
    /// hides all numbers above the item before the gap, and all numbers below the item after it.
    package func hasGap(at number: Int64) -> Bool {
        self.steps.indices.contains { index in
            guard !self.steps[index].isItem else { return false }
            let before = self.steps[..<index].last(where: \.isItem)
            let after = self.steps[index...].first(where: \.isItem)
            guard case .item(let epoch, let lastNumber, _, _)? = before else {
                guard case .item(_, let nextNumber, _, _)? = after else { return true }
                return number < nextNumber
            }
            guard case .item(let nextEpoch, let nextNumber, _, _)? = after else { return number > lastNumber }
            if epoch != nextEpoch { return number > lastNumber || number < nextNumber }
            return number > lastNumber && number < nextNumber
        }
    }

    /// The contents of all items, in the order in which they were received.
    package var contents: [FeedContent] {
        self.steps.compactMap { if case .item(_, _, let content, _) = $0 { content } else { nil } }
    }

    /// Whether the history has neither gap nor removal, so that it must have every item after the client's join.
    package var isComplete: Bool { self.steps.allSatisfy(\.isItem) }
}

/// The range in which a sum over calls, such as a battle's score, must lie.
///
/// It is a range, because an unanswered call may or may not have been applied.
package struct SumBounds: Hashable, Sendable {
    /// The sum of the calls that were acknowledged.
    package var acknowledged: Int64 = 0
    /// The sum of the calls that were sent and got no answer.
    package var unanswered: Int64 = 0

    package init(acknowledged: Int64 = 0, unanswered: Int64 = 0) {
        self.acknowledged = acknowledged
        self.unanswered = unanswered
    }

    package var range: ClosedRange<Int64> { self.acknowledged...(self.acknowledged + self.unanswered) }

    /// The range as text; a single number if every call was answered.
    var text: String { self.unanswered == 0 ? "\(self.acknowledged)" : "\(self.range)" }
}

/// All that the clients of one round did and received: the input of `HistoryChecker`.
package struct RoundHistory: Sendable {
    /// A user's request, such as an application for a seat, which must have exactly one end.
    package struct Request: Hashable, Sendable {
        /// A description of the request, such as `alice's co-host request`.
        package var name: String
        /// The ends of the request, such as `accepted`, about which the user got a notice.
        package var ends: [String]
        /// When the user got the notice of each end; empty if that was not recorded.
        package var times: [Timestamp]

        package init(name: String, ends: [String], times: [Timestamp] = []) {
            self.name = name
            self.ends = ends
            self.times = times
        }
    }

    /// A live's count of viewers, read at the end of the round until it was right or its time was over.
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
    /// How many texts, tips and counters a feed of the round's app may have in a second.
    package var feedBudget = AppPolicy().feedBudget
    /// The feeds of all lives of the round as they are in Kafka, from their first items on; empty if they were not
    /// read.
    package var logs: [FeedHistory] = []
    /// What the app's backend received; nil if there was none.
    package var backend: BackendHistory?
    /// The calls whose effects are checked, in the order in which they were sent.
    package var calls: [CallRecord] = []
    /// The users who never left their live before it ended.
    package var neverLeft: Set<UserID> = []
    /// Lives that their hosts ended.
    package var endedLives: Set<LiveID> = []
    /// Battles that began, with the lives that took part.
    package var battles: [BattleID: Set<LiveID>] = [:]
    /// What `battle.get` answered after a battle.
    package var battleReads: [BattleRead] = []
    /// What clients read of the lives' metadata at the end of the round.
    package var metadataReads: [MetadataRead] = []
    /// The lives that ran during all walks of `listWalks`, so each walk must have them.
    package var livesOfAllWalks: Set<LiveID> = []
    /// The walks through the list of lives.
    package var listWalks: [ListWalk] = []
    package var requests: [Request] = []
    package var counts: [Count] = []
    /// The steps of the round's clients that did not succeed in time, one sentence each.
    package var stalls: [String] = []
    /// The longest time from the first attempt of a call to its valid answer, among the calls that are repeated.
    package var longestAnswer = Duration.zero
    /// How many attempts of banned users to enter or to write were rejected as `banned`.
    package var banRejections = 0
    /// When the recovery from the fault was over, so that each later call must be answered; nil if that is not known.
    package var answersDueFrom: Timestamp?
    /// Answers that no rule allows, such as a banned user's successful join.
    package var wrongAnswers: [Finding] = []

    package init() {}

    /// The feeds of all clients, and Kafka's logs of the same lives, which are checked like feeds.
    ///
    /// A gap in a client's feed may hide a fault. Kafka's log has no gaps.
    var feedsAndLogs: [FeedHistory] {
        let lives = Set(self.feeds.map(\.live))
        return self.feeds + self.logs.filter { lives.contains($0.live) }
    }
}

/// A promise that was broken.
package struct Finding: Hashable, Sendable, CustomStringConvertible {
    /// The broken invariant or rule, such as `I7` or `R5.7`; otherwise `recovery` or `coverage`.
    package var promise: String
    package var text: String

    package init(promise: String, text: String) {
        self.promise = promise
        self.text = text
    }

    package var description: String { "\(self.promise): \(self.text)" }
}
