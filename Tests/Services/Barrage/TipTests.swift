// SPDX-License-Identifier: Apache-2.0
import MachineKit
import MachineTestSupport
import PlazaModel
import Testing

@testable import BarrageCore

/// Tips (low-priority items, such as a user's entry) when the feed's budget is short.
///
/// When tips are dropped, a control item announces that tips are incomplete, and later another one that they are
/// complete again.
@Suite struct TipTests {
    /// Announces that tips are incomplete.
    private let degraded = FeedContent.tips(isDegraded: true)
    /// Announces that tips are complete again.
    private let complete = FeedContent.tips(isDegraded: false)

    /// Publishes a tip, the join of a viewer; returns the contents of the new feed items.
    private func publishJoin(_ barrage: inout BarrageHarness) -> [FeedContent] {
        barrage.send(.publish(content: .audienceJoined(user: UserInfo(userID: "gina")))).contents
    }

    /// Rules: R4.20.
    @Test func `I9 a period of dropped tips is announced once when it begins and once when it ends`() {
        var barrage = BarrageHarness()
        // Tips may use six tenths of the budget of 40 items a second.
        for _ in 0..<24 { #expect(self.publishJoin(&barrage).count == 1) }
        #expect(self.publishJoin(&barrage) == [self.degraded])
        for _ in 0..<10 { #expect(self.publishJoin(&barrage) == []) }
        _ = barrage.advance(milliseconds: 1_000)
        // The budget allows tips again, but the period lasts until two seconds have passed since the last drop.
        #expect(self.publishJoin(&barrage).first?.feedClass == .tip)
        #expect(barrage.advance(milliseconds: 999) == [])
        #expect(barrage.advance(milliseconds: 1).contents == [self.complete])
        #expect(
            !barrage.advance(milliseconds: 60_000).contents.contains(self.complete),
            "expected that the end of the period is announced only once")
        barrage.expectInvariants()
    }

    @Test func `I9 repeated drops of tips form one period, which is announced again for new viewers`() {
        var barrage = BarrageHarness()
        var announced: [FeedContent] = []
        // In each of 50 seconds 30 users join, but the budget allows 24 tips.
        for _ in 0..<50 {
            for _ in 0..<30 { announced += self.publishJoin(&barrage).filter { $0.feedClass == .control } }
            announced += barrage.advance(milliseconds: 1_000).contents.filter { $0.feedClass == .control }
        }
        #expect(
            announced.allSatisfy { $0 == self.degraded }, "expected no announcement that tips are complete again")
        // So that new viewers get it soon, the announcement is repeated about every two seconds: 50 / 2 = 25 times.
        #expect((24...26).contains(announced.count))
        #expect(barrage.advance(milliseconds: 2_000).contents.contains(self.complete))
        // All 50 * 30 = 1500 joins are counted, also those whose tips were dropped.
        #expect(barrage.feed?.statistics.totalViewers == 1_500)
        barrage.expectInvariants()
    }

    @Test func `when the budget allows no tips, a new name and a leave are dropped like tips, but a mute enters`() {
        var barrage = BarrageHarness()
        // 24 control items use the 24 items of the budget that tips may use.
        for _ in 0..<24 { #expect(barrage.publishControl() == true) }
        let bob = UserInfo(userID: "bob", userName: "Bob")
        #expect(barrage.send(.publish(content: .userChanged(user: bob))).contents == [self.degraded])
        #expect(barrage.send(.publish(content: .audienceLeft(user: bob))).contents == [])
        let muted = FeedContent.messageDisabled(user: bob, isDisable: true, until: nil)
        #expect(barrage.send(.publish(content: muted)).contents == [muted])
        barrage.expectInvariants()
    }

    @Test(arguments: 1...10) func `I9 in every sliding second, items that may be dropped stay within the budget`(
        seed: UInt64
    ) {
        var random = SeededRandom(seed: seed)
        var barrage = BarrageHarness(messagesPerUserPerSecond: 10)
        var items: [FeedItem] = []
        // The users are u1 to u8. Only u1 sits on a seat and may send speaking levels.
        let seats = [Seat(index: 0, occupant: SeatUser(user: UserInfo(userID: "u1"), role: .generalUser, live: live))]
        let record = StageRecord(app: app, live: live, epoch: epoch, revision: 1, seats: seats)
        items += barrage.send(.publish(content: .stage(record: record, events: []))).items
        for counter in 1...4_000 {
            let caller = user(UserID("u\(Int.random(in: 1...8, using: &random))"), call: Int64(counter))
            let command: BarrageCommand =
                switch Int.random(in: 0..<20, using: &random) {
                case 0...2: .publish(content: .audienceJoined(user: caller.user))
                case 3...4: .sendLikes(count: 2, caller: caller)
                case 5: .speaking(level: counter % 100, caller: user("u1", call: Int64(counter)))
                // Half of the schedules have control items.
                case 6 where seed % 2 == 0: .publish(content: .adminSet(user: "u2"))
                default: .sendText(text: "\(counter)", extensionInfo: nil, caller: caller)
                }
            items += barrage.send(command).items
            items += barrage.advance(milliseconds: Int64.random(in: 0...25, using: &random)).items
        }
        #expect(Set(items.map(\.content.feedClass)).isSuperset(of: [.barrage, .tip, .counter]))
        // The window is the second that ends with the current item. It has a first item, at the index `windowStart`,
        // and a number of control items.
        var windowStart = 0
        var controlCount = 0
        for (index, item) in items.enumerated() {
            if item.content.feedClass == .control { controlCount += 1 }
            while items[windowStart].at.milliseconds <= item.at.milliseconds - 1000 {
                if items[windowStart].content.feedClass == .control { controlCount -= 1 }
                windowStart += 1
            }
            let itemCount = index - windowStart + 1
            // Of the budget of 40 items, barrage may use 36, tips and counters 24. Control items always enter, so more
            // than 4 of them beside 36 messages may raise the number of all items above 40.
            #expect(itemCount <= max(40, 36 + controlCount), "item \(item.position.number)")
            if item.content.feedClass == .barrage { #expect(itemCount <= 36) }
            if item.content.feedClass > .barrage { #expect(itemCount <= 24) }
        }
        barrage.expectInvariants()
    }
}
