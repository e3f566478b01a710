// SPDX-License-Identifier: Apache-2.0
import CoreKit
import PlazaModel
import Testing

@testable import BarrageCore

@Suite struct TipTests {
    private let degraded = FeedContent.tips(isDegraded: true)
    private let complete = FeedContent.tips(isDegraded: false)

    private func join(_ barrage: inout BarrageHarness) -> [FeedContent] {
        barrage.send(.tell(content: .audienceJoined(user: UserInfo(userID: "guest")))).contents
    }

    @Test func `I9 a stretch in which tips are dropped is announced when it begins and when it ends, once each`() {
        var barrage = BarrageHarness()
        for _ in 0..<24 { #expect(self.join(&barrage).count == 1) }
        #expect(self.join(&barrage) == [self.degraded])
        for _ in 0..<10 { #expect(self.join(&barrage) == []) }
        _ = barrage.pass(1_000)
        // There is room again, but the stretch lasts until two seconds passed without a drop.
        #expect(self.join(&barrage).first?.feedClass == .tip)
        #expect(barrage.pass(999) == [])
        #expect(barrage.pass(1).contents == [self.complete])
        #expect(barrage.pass(60_000).contents.allSatisfy { $0 != self.complete })
        barrage.expectSound()
    }

    @Test func `I9 tips that are dropped now and then make one stretch, of which newcomers hear too`() {
        var barrage = BarrageHarness()
        var announced: [FeedContent] = []
        for _ in 0..<50 {
            for _ in 0..<30 { announced += self.join(&barrage).filter { $0.feedClass == .control } }
            announced += barrage.pass(1_000).contents.filter { $0.feedClass == .control }
        }
        #expect(announced.allSatisfy { $0 == self.degraded }, "nothing says that they were complete between")
        // Whoever came within the 50 s was told within two intervals, at a cost of one item in 2 s.
        #expect((24...26).contains(announced.count))
        #expect(barrage.pass(2_000).contents.contains(self.complete))
        // Entries are counted whether or not they are told.
        #expect(barrage.feed?.statistics.totalViewers == 1_500)
        barrage.expectSound()
    }

    @Test func `a new name and a leave are tips, and a mute is control`() {
        var barrage = BarrageHarness()
        for _ in 0..<24 { #expect(barrage.control() == true) }
        let bob = UserInfo(userID: "bob", userName: "Bob")
        #expect(barrage.send(.tell(content: .userChanged(user: bob))).contents == [self.degraded])
        #expect(barrage.send(.tell(content: .audienceLeft(user: bob))).contents == [])
        let muted = FeedContent.messageDisabled(user: bob, isDisable: true, until: nil)
        #expect(barrage.send(.tell(content: muted)).contents == [muted])
        barrage.expectSound()
    }

    @Test(arguments: 1...10) func `I9 no sliding second holds more than the budget of what may give way`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var barrage = BarrageHarness(rate: 10)
        var items: [FeedItem] = []
        let seats = [Seat(index: 0, occupant: SeatUser(user: UserInfo(userID: "u1"), role: .generalUser, live: live))]
        let record = StageRecord(app: app, live: live, epoch: epoch, revision: 1, seats: seats)
        items += barrage.send(.tell(content: .stage(record: record, events: []))).items
        for counter in 1...4_000 {
            let caller = user(UserID("u\(Int.random(in: 1...8, using: &random))"), Int64(counter))
            let command: BarrageCommand =
                switch Int.random(in: 0..<20, using: &random) {
                case 0...2: .tell(content: .audienceJoined(user: caller.user))
                case 3...4: .sendLikes(count: 2, caller: caller)
                case 5: .speaking(level: counter % 100, caller: user("u1", Int64(counter)))
                case 6 where seed % 2 == 0: .tell(content: .adminSet(user: "u2"))
                default: .sendText(text: "\(counter)", extensionInfo: nil, caller: caller)
                }
            items += barrage.send(command).items
            items += barrage.pass(Int64.random(in: 0...25, using: &random)).items
        }
        #expect(Set(items.map(\.content.feedClass)).isSuperset(of: [.barrage, .tip, .counter]))
        var start = 0
        var controls = 0
        for (end, item) in items.enumerated() {
            if item.content.feedClass == .control { controls += 1 }
            while items[start].at.milliseconds <= item.at.milliseconds - 1000 {
                if items[start].content.feedClass == .control { controls -= 1 }
                start += 1
            }
            let count = end - start + 1
            #expect(count <= max(40, 36 + controls), "item \(item.position.number)")
            if item.content.feedClass == .barrage { #expect(count <= 36) }
            if item.content.feedClass > .barrage { #expect(count <= 24) }
        }
        barrage.expectSound()
    }
}
