// SPDX-License-Identifier: Apache-2.0
import CoreKit
import PlazaModel
import Testing

@testable import BarrageCore

@Suite struct FeedTests {
    private func item(_ number: Int64, _ content: FeedContent, at now: Timestamp) -> FeedItem {
        FeedItem(key: key, position: FeedPosition(epoch: epoch, number: number), at: now, content: content)
    }

    @Test func `I7 items are numbered from one without holes, whoever they come from`() {
        var barrage = BarrageHarness()
        let bob = user("bob", 1)
        let text = FeedContent.text(sender: bob.user, text: "hi", extensionInfo: ["colour": "red"])
        #expect(
            barrage.send(.sendText(text: "hi", extensionInfo: ["colour": "red"], caller: bob)) == [
                .feed(self.item(1, text, at: barrage.now)),
                .success(.sent(position: FeedPosition(epoch: epoch, number: 1)), to: bob, app: app),
            ])
        let joined = FeedContent.audienceJoined(user: UserInfo(userID: "carl"))
        #expect(barrage.send(.tell(content: joined)) == [.feed(self.item(2, joined, at: barrage.now))])
        let custom = FeedContent.custom(sender: server(1).user, businessID: "shop", data: "{}")
        #expect(
            barrage.send(.sendCustom(businessID: "shop", data: "{}", caller: server(1))) == [
                .feed(self.item(3, custom, at: barrage.now)),
                .success(.sent(position: FeedPosition(epoch: epoch, number: 3)), to: server(1), app: app),
            ])
        // A refused message takes no number.
        #expect(barrage.text(user("bob", 2), "").code == .badParameter)
        #expect(barrage.text(user("bob", 3)).wasSent)
        #expect(barrage.feed?.lastNumber == 4)
        barrage.expectSound()
    }

    @Test func `I1 the end is the feed's last item, once`() {
        var barrage = BarrageHarness()
        let caller = user("alice", 1)
        let statistics = LiveStatistics(liveDuration: 600_000)
        let answer = Effect.success(.statistics(statistics: statistics), to: caller, app: app)
        #expect(
            barrage.send(.ended(ending: ending(epoch, caller))) == [
                .feed(self.item(1, .liveEnded(reason: .endedByHost, statistics: statistics), at: barrage.now)),
                .directory(DirectoryInput(app: app, .closed(live: live, epoch: epoch))), answer,
            ])
        #expect(barrage.send(.ended(ending: ending(epoch, caller))) == [])
        #expect(barrage.send(.repeatEnding(caller: caller)) == [answer])
        #expect(barrage.text(user("bob", 1)).code == .noSuchRoom)
        #expect(barrage.tip() == false)
        #expect(barrage.control() == false)
        // Still known for five minutes; then nothing of it is left.
        #expect(barrage.pass(299_999) == [])
        #expect(barrage.feed != nil)
        #expect(barrage.pass(1) == [])
        #expect(barrage.rows.count == 0)
        #expect(barrage.text(user("bob", 2)).code == .noSuchRoom)
        #expect(barrage.rows.count == 0)
    }

    @Test func `I9 the end passes also when the budget is used up`() {
        var barrage = BarrageHarness()
        for _ in 0..<60 { #expect(barrage.control() == true) }
        #expect(barrage.send(.ended(ending: ending())).items.map(\.position.number) == [61])
        barrage.expectSound()
    }

    @Test func `a live that begins anew has a new epoch and begins at one`() {
        var barrage = BarrageHarness()
        for counter in 1...20 { #expect(barrage.text(user("bob", Int64(counter))).wasSent) }
        _ = barrage.send(.ended(ending: ending()))
        // An old opening that comes late changes nothing.
        #expect(barrage.send(.opened(epoch: epoch, owner: "alice")) == [])
        #expect(barrage.feed?.hasEnded == true)
        #expect(barrage.send(.opened(epoch: 20, owner: "carl")) == [])
        let effects = barrage.send(.sendText(text: "hi", extensionInfo: nil, caller: user("bob", 30)))
        #expect(effects.items.map(\.position) == [FeedPosition(epoch: 20, number: 1)])
        // The second that the old incarnation filled still counts.
        #expect(barrage.feed?.admissions.count == 22)
        barrage.expectSound()
    }

    @Test func `a muted room lets owner, admins and the app's server speak`() {
        var barrage = BarrageHarness()
        #expect(barrage.send(.rights(isMessageDisable: true, admins: ["adam"], isGiftEnabled: true)) == [])
        #expect(barrage.text(user("bob", 1)).code == .roomMuted)
        #expect(barrage.text(user("alice", 1)).wasSent)
        #expect(barrage.text(user("adam", 1)).wasSent)
        #expect(barrage.text(server(1)).wasSent)
        _ = barrage.send(.rights(isMessageDisable: false, admins: [], isGiftEnabled: true))
        #expect(barrage.text(user("bob", 2)).wasSent)
    }

    @Test func `I6 who was kicked cannot speak until it joins again`() {
        var barrage = BarrageHarness()
        #expect(barrage.text(user("bob", 1, ticket: 100)).wasSent)
        #expect(barrage.text(user("bob", 2, ticket: nil)).code == .notInRoom)
        #expect(barrage.send(.floor(user: "bob", ticket: Ticket(150))) == [])
        #expect(barrage.text(user("bob", 3, ticket: 100)).code == .staleTicket)
        #expect(barrage.text(user("carl", 1, ticket: 100)).wasSent)
        #expect(barrage.text(user("bob", 4, ticket: 150)).wasSent)
        #expect(barrage.text(server(1)).wasSent)
        // Lives that are not there have no floors and no rights.
        #expect(barrage.send(.floor(user: "bob", ticket: Ticket(1)), to: LiveKey(app, "none")) == [])
        // Its end is told back all the same, and there is nothing to answer again.
        let none = LiveKey(app, "none")
        #expect(
            barrage.send(.ended(ending: ending(3)), to: none)
                == [.directory(DirectoryInput(app: app, .closed(live: "none", epoch: 3)))])
        #expect(barrage.send(.repeatEnding(caller: user("alice", 1)), to: none) == [])
    }

    @Test func `a message may have 12 KB with all that belongs to it`() {
        var barrage = BarrageHarness()
        let full = String(repeating: "x", count: 12 * 1024)
        #expect(barrage.text(user("bob", 1), full).wasSent)
        #expect(barrage.text(user("bob", 2), full + "x").code == .messageTooLong)
        func send(_ command: BarrageCommand) -> Outcome? { barrage.send(command).outcome }
        let extra = ["k": String(repeating: "v", count: 12 * 1024 - 2)]
        #expect(send(.sendText(text: "x", extensionInfo: extra, caller: user("bob", 3))).wasSent)
        #expect(send(.sendText(text: "xx", extensionInfo: extra, caller: user("bob", 4))).code == .messageTooLong)
        #expect(send(.sendCustom(businessID: "b", data: full, caller: user("bob", 5))).code == .messageTooLong)
        #expect(send(.sendCustom(businessID: "", data: "d", caller: user("bob", 6))).code == .badParameter)
    }

    @Test func `I15 a message sent again is answered again and enters once`() {
        var barrage = BarrageHarness()
        let bob = user("bob", 1)
        let first = barrage.send(.sendText(text: "hi", extensionInfo: nil, caller: bob))
        #expect(first.items.count == 1)
        #expect(barrage.send(.sendText(text: "hi", extensionInfo: nil, caller: bob)) == first.suffix(1))
        // A refusal is repeated too, also when the message would be let in now.
        _ = barrage.send(.rights(isMessageDisable: true, admins: [], isGiftEnabled: true))
        #expect(barrage.text(user("bob", 2)).code == .roomMuted)
        _ = barrage.send(.rights(isMessageDisable: false, admins: [], isGiftEnabled: true))
        #expect(barrage.text(user("bob", 2)).code == .roomMuted)
        #expect(barrage.feed?.ledger.published == 2)
        // Of the last sixteen; an older one is refused as unknown, never let in again.
        for counter in 3...18 {
            _ = barrage.pass(100)
            #expect(barrage.text(user("bob", Int64(counter))).wasSent)
        }
        #expect(barrage.text(user("bob", 1)).code == .requestForgotten)
        #expect(barrage.text(user("bob", 3)).wasSent)
        #expect(barrage.feed?.lastNumber == 17)
        // After a minute of silence the window goes.
        _ = barrage.pass(70_000)
        #expect(barrage.rows.sortedKeys == [.feed(key)])
        barrage.expectSound()
    }

    @Test func `I10 everything that was published is admitted, refused or dropped, and counted so`() {
        var barrage = BarrageHarness()
        for counter in 1...50 { _ = barrage.text(user("bob", Int64(counter))) }
        #expect(barrage.text(user("bob", 51), "").code == .badParameter)
        #expect(barrage.text(user("bob", 52, ticket: nil)).code == .notInRoom)
        #expect(barrage.tip() == false)
        #expect(barrage.control() == true)
        let ledger = barrage.machine.ledger(of: barrage.rows)
        // The dropped tip is announced by an item of its own.
        #expect(ledger.published == 55)
        #expect(
            ledger.admitted == [
                Ledger.Admitted(feedClass: .control, count: 2), Ledger.Admitted(feedClass: .barrage, count: 36),
            ])
        #expect(
            ledger.refused == [
                Ledger.Refused(code: .notInRoom, count: 1), Ledger.Refused(code: .badParameter, count: 1),
            ])
        #expect(
            ledger.dropped == [
                Ledger.Dropped(feedClass: .barrage, reason: .budget, count: 14),
                Ledger.Dropped(feedClass: .tip, reason: .budget, count: 1),
            ])
        #expect(ledger.isBalanced)
        barrage.expectSound()
    }

    @Test func `rows' keys read back from their text`() {
        let keys: [BarrageKey] = [
            .feed(LiveKey("demo", "a:b")), .calls(LiveKey("demo", "x"), "s_1"), .givers(LiveKey("demo", "x")),
            .backend(LiveKey("demo", "x"), "s_1"),
        ]
        for key in keys { #expect(BarrageKey(text: key.text) == key) }
        #expect(keys.sorted() == keys && keys.reversed().sorted() == keys)
        for text in ["", "feed", "feed/demo", "feed/a/b/c", "calls/a/b", "backend/a/b"] {
            #expect(BarrageKey(text: text) == nil)
        }
    }
}
