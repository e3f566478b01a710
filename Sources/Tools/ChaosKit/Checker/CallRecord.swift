// SPDX-License-Identifier: Apache-2.0
package import MachineKit
package import PlazaModel

/// A call of the workload, and what became of it.
package struct CallRecord: Hashable, Sendable {
    /// What was called.
    package enum Call: Hashable, Sendable {
        /// A text or gift, by its `FeedContent.messageID`; `isMuted` is true if the sender had received its mute.
        case message(String, isMuted: Bool = false)
        /// Likes.
        case likes(Int64)
        /// Points for the live in a battle.
        case score(BattleID, Int64)
        /// A new value of a key of the live's metadata.
        case metadata(key: String, value: String)
    }

    /// What became of a call.
    package enum Outcome: Hashable, Sendable {
        /// The call was applied; with the number of its feed item, if the reply names one.
        case acknowledged(number: Int64? = nil)
        /// The server rejected the call, so it was never applied.
        case rejected
        /// There was no answer that tells whether the call was applied.
        case unanswered
    }

    /// When the call was sent; nil if that was not recorded.
    package var at: Timestamp?
    /// The caller.
    package var client: String
    package var live: LiveID
    package var call: Call
    package var outcome: Outcome
    /// The code of the error in the reply; nil without one.
    package var code: ReplyCode?

    package init(client: String, live: LiveID, _ call: Call, _ outcome: Outcome, at: Timestamp? = nil) {
        self.client = client
        self.live = live
        self.call = call
        self.outcome = outcome
        self.at = at
    }

    /// Whether the call sent a gift.
    var isGift: Bool {
        if case .message(let id, _) = self.call { id.contains(FeedContent.giftMark) } else { false }
    }

    /// Whether the call sent a text that the feed's budget had no room for.
    var isDroppedText: Bool { self.code == .droppedByBudget }

    /// What the caller does, as the predicate of a sentence.
    var action: String {
        switch self.call {
        case .message(let id, let isMuted): "sends \"\(id)\"\(isMuted ? " while muted" : "")"
        case .likes(let count): "sends \(count) likes"
        case .score(let battle, let score): "adds \(score) in battle \(battle.text)"
        case .metadata(let key, let value): "sets \(key) = \(value)"
        }
    }
}

/// The answer to `battle.get` after a battle; it is read because clients may have missed the battle's end in a gap.
package struct BattleRead: Hashable, Sendable {
    package var battle: BattleID
    /// Whether the answer said that the battle is over.
    package var hasEnded: Bool
    package var scores: [LiveID: Int64]
    package var at: Timestamp?

    package init(battle: BattleID, hasEnded: Bool, scores: [LiveID: Int64], at: Timestamp? = nil) {
        self.battle = battle
        self.hasEnded = hasEnded
        self.scores = scores
        self.at = at
    }
}

/// What a client read of a live's metadata at the end of the round.
package struct MetadataRead: Hashable, Sendable {
    package var client: String
    package var live: LiveID
    package var values: [String: String]
    package var at: Timestamp?

    package init(client: String, live: LiveID, values: [String: String], at: Timestamp? = nil) {
        self.client = client
        self.live = live
        self.values = values
        self.at = at
    }
}

/// A walk through the list of lives, from its first page to its last.
package struct ListWalk: Hashable, Sendable {
    /// The name of the walk, unique in its round.
    package var name: String
    /// The lives of each page.
    package var pages: [[LiveID]]
    /// When the last page was read.
    package var at: Timestamp?

    package init(name: String, pages: [[LiveID]], at: Timestamp? = nil) {
        self.name = name
        self.pages = pages
        self.at = at
    }
}

extension FeedContent {
    /// The id of a text or gift of the workload, unique in its live; nil for other items.
    package var messageID: String? {
        switch self {
        case .text(_, let text, _): text
        case .gift(let sender, let gift, let count, _):
            Self.giftMessageID(sender: sender.userID, gift: gift.giftID, count: count)
        default: nil
        }
    }

    /// The id of a gift; each sender sends each count of a gift only once.
    package static func giftMessageID(sender: UserID, gift: GiftID, count: Int) -> String {
        "\(count)\(Self.giftMark)\(gift.text) of \(sender)"
    }

    /// What the ids of gifts contain, and those of texts do not.
    fileprivate static let giftMark = " × "
}

extension Sequence<CallRecord> {
    /// The bounds of a sum over calls, of which the unanswered ones may or may not count.
    ///
    /// - Parameter amount: what a call adds to the sum; nil if the call does not belong to it.
    /// - Returns: the bounds.
    func bounds(_ amount: (CallRecord) -> Int64?) -> SumBounds {
        self.reduce(into: SumBounds()) { bounds, call in
            guard let amount = amount(call) else { return }
            switch call.outcome {
            case .acknowledged: bounds.acknowledged += amount
            case .unanswered: bounds.unanswered += amount
            case .rejected: break
            }
        }
    }
}

extension RoundHistory {
    /// How much the workload did, by kind.
    var workloadCounts: [String: Int] {
        var counts: [String: Int] = [:]
        for call in self.calls where call.outcome != .rejected {
            let kind =
                switch call.call {
                case .message: "messages"
                case .likes: "likes"
                case .score: "scores"
                case .metadata: "metadata"
                }
            counts[kind, default: 0] += 1
        }
        counts["refused while muted"] = self.calls.count {
            if case .message(_, isMuted: true) = $0.call { $0.outcome == .rejected } else { false }
        }
        counts["refused while banned"] = self.banRejections
        counts["refused by the budget"] = self.calls.count(where: \.isDroppedText)
        counts["visits"] = self.feeds.count(where: \.hasLeft)
        counts["battle results read"] = self.battleReads.count
        counts["walks through the list"] = self.listWalks.count
        for request in self.backend?.requests ?? [] {
            if case .event = request.content { counts["events at the backend", default: 0] += 1 }
            if case .question = request.content { counts["questions to the backend", default: 0] += 1 }
            if request.answer == .failed || request.answer == .late {
                counts["failures of the backend", default: 0] += 1
            }
        }
        // The feeds of visitors, who have left, are not counted: the workload itself has recorded gaps in them.
        counts["gaps"] = self.feeds.reduce(0) { $0 + ($1.hasLeft ? 0 : $1.steps.count { $0 == .gap }) }
        return counts
    }
}
