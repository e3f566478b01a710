// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import MachineKit
import MachineTestSupport
import PlazaModel
import Testing

@testable import BarrageCore

/// A brute-force model of the budget (I9 in docs/RULES.md): it stores every attempt, and counts the last second again
/// for each decision.
private struct BudgetOracle {
    /// An attempt to publish an item.
    struct Attempt {
        /// The time in milliseconds.
        var at: Int64
        var feedClass: FeedClass
        /// The author of a message; nil for any other item.
        var sender: UserID?
        /// Whether the item entered the feed.
        var hasEntered: Bool
    }
    /// The budget: items per second.
    var total: Int
    /// How many messages a sender may send per second.
    var rate: Int
    var attempts: [Attempt] = []

    /// The live's owner, whose messages may use the whole budget.
    static let owner: UserID = "owner"

    /// Decides whether an item enters the feed, and stores the attempt; returns whether the item enters.
    mutating func tryToPublish(_ feedClass: FeedClass, _ sender: UserID?, at now: Int64) -> Bool {
        let recent = self.attempts.suffix(while: { $0.at > now - 1000 })
        let used = recent.count { $0.hasEntered }
        // A message beyond its sender's rate is rejected, and does not count as an attempt to use the budget.
        if let sender, recent.count(where: { $0.hasEntered && $0.sender == sender }) >= self.rate { return false }
        let hasEntered: Bool
        switch feedClass {
        case .control, .gift: hasEntered = true
        case .tip, .counter: hasEntered = Double(used) < 0.6 * Double(self.total)
        case .barrage:
            if sender == Self.owner {
                // The owner's messages may use the whole budget and are not limited by a share.
                hasEntered = used < self.total
            } else if used >= self.total * 9 / 10 {
                hasEntered = false
            } else if let sender, 2 * used > self.total {
                // When more than half of the budget is used, each sender may use an even share, at least one message.
                let senderCount = Set(recent.compactMap(\.sender)).union([sender]).count
                let admittedOfSender = recent.count { $0.hasEntered && $0.sender == sender }
                let share = (Double(self.total * 9 / 10) / Double(senderCount)).rounded(.up)
                hasEntered = admittedOfSender == 0 || Double(admittedOfSender) < share
            } else {
                hasEntered = true
            }
        }
        self.attempts.append(Attempt(at: now, feedClass: feedClass, sender: sender, hasEntered: hasEntered))
        return hasEntered
    }
}

/// The decisions of a feed's admission window, compared with those of the oracle, and the stored form of the window.
///
/// The window contains the items that entered the feed in the last second.
@Suite struct BudgetOracleTests {
    /// No schedule has more senders than nine tenths of the budget, because the window records at most so many senders
    /// and the oracle records all.
    ///
    /// Rules: R12.1.
    @Test(arguments: 1...40) func `I9 the admission window decides like a brute-force count`(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let total = [10, 40, 60].randomElement(using: &random) ?? 40
        let senderCount = Int.random(in: 1...(total * 9 / 10), using: &random)
        let maxPause = Int64.random(in: 1...60, using: &random)
        // In half of the schedules, the messages of each user per second are limited.
        let isRateLimited = seed % 4 >= 2
        let rate = isRateLimited ? Int.random(in: 1...10, using: &random) : Int.max
        let budget = FeedBudget(total: total)
        var oracle = BudgetOracle(total: total, rate: rate)
        var window = AdmissionWindow()
        var now: Int64 = 5_000
        for step in 0..<3000 {
            now += Int64.random(in: 0...maxPause, using: &random)
            // One step in 300 follows a long pause, after which most items are older than a second.
            if Int.random(in: 0..<300, using: &random) == 0 { now += 700 }
            var feedClass = FeedClass.barrage
            switch Int.random(in: 0..<10, using: &random) {
            case 0: feedClass = .tip
            case 1 where seed % 2 == 0: feedClass = .control
            default: break
            }
            // The highest index of a step is itself random, so senders with low indices send most of the messages.
            let highestIndex = Int.random(in: 0..<senderCount, using: &random)
            let senderIndex = Int.random(in: 0...highestIndex, using: &random)
            // In a third of the schedules, the sender with the index 0 is the live's owner.
            let isOwner = seed % 3 == 0 && senderIndex == 0
            let author = isOwner ? BudgetOracle.owner : UserID("user-\(senderIndex)")
            let sender = feedClass == .barrage ? author : nil
            let time = Timestamp(milliseconds: now)
            let senderHash = sender.map { SenderHash($0, mayFillBudget: isOwner) } ?? .nobody
            let decision = window.decideAndRecord(feedClass, from: senderHash, rate: rate, under: budget, at: time)
            let expectsAdmission = oracle.tryToPublish(feedClass, sender, at: now)
            try #require((decision == .admitted) == expectsAdmission, "step \(step)")
            switch decision {
            case .admitted: break
            case .dropped(_, let retryAfter), .tooOften(let retryAfter): #expect((1...1000).contains(retryAfter.count))
            }
            if step % 500 == 0 {
                // After a takeover the new owner decodes the window from its row, and decides as the old owner would.
                window = try JSONDecoder().decode(AdmissionWindow.self, from: JSONEncoder().encode(window))
            }
        }
        self.checkSlidingSeconds(of: oracle, under: budget)
    }

    /// Checks the limits of each feed class in the second that ends with each item that entered.
    ///
    /// Control items, gifts and the owner's messages are privileged: they are not limited to nine tenths of the budget.
    private func checkSlidingSeconds(of oracle: BudgetOracle, under budget: FeedBudget) {
        let enteredItems = oracle.attempts.filter(\.hasEntered)
        #expect(enteredItems.count > 100, "expected a schedule in which items enter")
        for (index, last) in enteredItems.enumerated() {
            let second = enteredItems[...index].suffix(while: { $0.at > last.at - 1000 })
            let privilegedCount = second.count { $0.feedClass <= .gift || $0.sender == BudgetOracle.owner }
            #expect(second.count - privilegedCount <= budget.barrage)
            if last.feedClass == .barrage {
                #expect(second.count <= (last.sender == BudgetOracle.owner ? budget.total : budget.barrage))
            }
            if last.feedClass == .tip { #expect(second.count <= budget.tips) }
            // Too many privileged items alone may exceed the budget; otherwise it holds for all items.
            if privilegedCount <= budget.total - budget.barrage { #expect(second.count <= budget.total) }
        }
    }

    @Test func `a full window is encoded in less than 700 bytes, and decoded as it was`() throws {
        var window = AdmissionWindow()
        let budget = FeedBudget(total: 40)
        // Every 20 ms a message of one of 12 senders and a control item: 100 items a second, of which the window keeps
        // 40.
        for step in 0..<60 {
            let now = Timestamp(milliseconds: 1_700_000_000_000 + Int64(step) * 20)
            let sender = SenderHash(UserID("user-\(step % 12)"))
            _ = window.decideAndRecord(.barrage, from: sender, under: budget, at: now)
            _ = window.decideAndRecord(.control, from: .nobody, under: budget, at: now)
        }
        let data = try JSONEncoder().encode(window)
        #expect(data.count < 700)
        let decoded = try JSONDecoder().decode(AdmissionWindow.self, from: data)
        #expect(decoded == window)
    }

    @Test func `decoding a malformed window fails`() {
        // `ages` and `by` have one element for each admission: its time, and the index of its sender in `users`, which
        // must be sorted.
        let admissionWithoutSender = #"{"from":0,"ages":[1],"by":[],"users":[],"tries":[]}"#
        let indexOfNoUser = #"{"from":0,"ages":[1],"by":[0],"users":[],"tries":[]}"#
        let unsortedUsers = #"{"from":0,"ages":[],"by":[],"users":[2,1],"tries":[0,0]}"#
        for malformed in [admissionWithoutSender, indexOfNoUser, unsortedUsers] {
            #expect(throws: DecodingError.self) {
                try JSONDecoder().decode(AdmissionWindow.self, from: Data(malformed.utf8))
            }
        }
    }
}

extension AdmissionWindow {
    /// Decides whether an item enters, and records the decision, as a feed does.
    mutating func decideAndRecord(
        _ feedClass: FeedClass, from sender: SenderHash, rate: Int = .max, under budget: FeedBudget, at now: Timestamp
    ) -> Decision {
        let decision = self.decide(on: feedClass, from: sender, rate: rate, under: budget, at: now)
        switch decision {
        case .admitted: self.recordAdmission(from: sender, under: budget, at: now)
        case .dropped: self.recordAttempt(sender, under: budget, at: now)
        case .tooOften: break
        }
        return decision
    }
}

extension RandomAccessCollection where Index == Int {
    /// The longest run at the end whose elements all satisfy `condition`.
    fileprivate func suffix(while condition: (Element) -> Bool) -> SubSequence {
        var start = self.endIndex
        while start > self.startIndex, condition(self[start - 1]) { start -= 1 }
        return self[start...]
    }
}
