// SPDX-License-Identifier: Apache-2.0
import MachineKit
import MachineTestSupport
import PlazaModel
import Testing

@testable import BarrageCore

/// The feed of a live: numbers, order, end, limits and idempotency.
///
/// `BarrageHarness` opens the live `show`, which alice owns.
@Suite struct FeedTests {
    /// The feed item at a position of the live's epoch.
    private func item(_ number: Int64, _ content: FeedContent, at now: Timestamp) -> FeedItem {
        FeedItem(key: key, position: FeedPosition(epoch: epoch, number: number), at: now, content: content)
    }

    /// Rules: R5.1.
    @Test func `I7 items are numbered from one without gaps, whoever sends them`() {
        var barrage = BarrageHarness()
        let bob = user("bob", call: 1)
        let text = FeedContent.text(sender: bob.user, text: "hi", extensionInfo: ["colour": "red"])
        #expect(
            barrage.send(.sendText(text: "hi", extensionInfo: ["colour": "red"], caller: bob)) == [
                .feed(self.item(1, text, at: barrage.now)),
                .success(.sent(position: FeedPosition(epoch: epoch, number: 1)), to: bob, app: app),
            ])
        let joined = FeedContent.audienceJoined(user: UserInfo(userID: "carl"))
        #expect(barrage.send(.publish(content: joined)) == [.feed(self.item(2, joined, at: barrage.now))])
        let custom = FeedContent.custom(sender: server(call: 1).user, businessID: "shop", data: "{}")
        #expect(
            barrage.send(.sendCustom(businessID: "shop", data: "{}", caller: server(call: 1))) == [
                .feed(self.item(3, custom, at: barrage.now)),
                .success(.sent(position: FeedPosition(epoch: epoch, number: 3)), to: server(call: 1), app: app),
            ])
        // A rejected message uses no number.
        #expect(barrage.sendText(user("bob", call: 2), "").code == .badParameter)
        #expect(barrage.sendText(user("bob", call: 3)).wasSent)
        #expect(barrage.feed?.lastNumber == 4)
        barrage.expectInvariants()
    }

    @Test func `I1 the end is written once, as the feed's last item`() {
        var barrage = BarrageHarness()
        let caller = user("alice", call: 1)
        let statistics = LiveStatistics(liveDuration: 600_000)
        let reply = Effect.success(.statistics(statistics: statistics), to: caller, app: app)
        #expect(
            barrage.send(.ended(ending: ending(of: epoch, for: caller))) == [
                .feed(self.item(1, .liveEnded(reason: .endedByHost, statistics: statistics), at: barrage.now)),
                .directory(DirectoryInput(app: app, .closed(live: live, epoch: epoch))), reply,
            ])
        #expect(barrage.send(.ended(ending: ending(of: epoch, for: caller))) == [])
        // alice's call is sent again: she gets the same reply.
        #expect(barrage.send(.repeatEnding(caller: caller)) == [reply])
        #expect(barrage.sendText(user("bob", call: 1)).code == .noSuchRoom)
        #expect(barrage.publishTip() == false)
        #expect(barrage.publishControl() == false)
        // The ended live stays known for five minutes; then its feed is removed.
        #expect(barrage.advance(milliseconds: 299_999) == [])
        #expect(barrage.feed != nil)
        #expect(barrage.advance(milliseconds: 1) == [])
        #expect(barrage.feed == nil)
        // A call's outcome is kept for 60 s, then the call's number for 300 s; each time is rounded up by at most 10 s.
        // After 70 + 310 = 380 s, of which 300 s have passed, the idempotency windows are removed.
        #expect(barrage.advance(milliseconds: 80_000) == [])
        #expect(barrage.rows.count == 0)
        #expect(barrage.sendText(user("bob", call: 2)).code == .noSuchRoom)
        #expect(barrage.rows.count == 0, "expected that the rejection is not stored")
    }

    @Test func `I9 the end is written even if the budget is used up`() {
        var barrage = BarrageHarness()
        // The budget is 40 items a second; control items may exceed it.
        for _ in 0..<60 { #expect(barrage.publishControl() == true) }
        #expect(barrage.send(.ended(ending: ending())).items.map(\.position.number) == [61])
        barrage.expectInvariants()
    }

    @Test func `a live that is created again has a new epoch, and its items are numbered from one`() {
        var barrage = BarrageHarness()
        for counter in 1...20 { #expect(barrage.sendText(user("bob", call: Int64(counter))).wasSent) }
        _ = barrage.send(.ended(ending: ending()))
        // A late `opened` of the ended epoch changes nothing.
        #expect(barrage.send(.opened(epoch: epoch, owner: "alice")) == [])
        #expect(barrage.feed?.hasEnded == true)
        #expect(barrage.send(.opened(epoch: 20, owner: "carl")) == [])
        let effects = barrage.send(.sendText(text: "hi", extensionInfo: nil, caller: user("bob", call: 21)))
        #expect(effects.items.map(\.position) == [FeedPosition(epoch: 20, number: 1)])
        // All of this happened in one second, so the window has 20 texts and the end of the old epoch, and the new
        // text: 20 + 1 + 1 = 22.
        #expect(barrage.feed?.admissions.count == 22)
        barrage.expectInvariants()
    }

    /// Rules: R5.6.
    @Test func `in a muted live only owner, admins and the app's server can write`() {
        // alice is the owner, adam an admin, bob a viewer.
        var barrage = BarrageHarness()
        #expect(barrage.send(.rights(isMessageDisable: true, admins: ["adam"], isGiftEnabled: true)) == [])
        #expect(barrage.sendText(user("bob", call: 1)).code == .roomMuted)
        #expect(barrage.sendText(user("alice", call: 1)).wasSent)
        #expect(barrage.sendText(user("adam", call: 1)).wasSent)
        #expect(barrage.sendText(server(call: 1)).wasSent)
        _ = barrage.send(.rights(isMessageDisable: false, admins: [], isGiftEnabled: true))
        #expect(barrage.sendText(user("bob", call: 2)).wasSent)
    }

    /// Rules: R5.10.
    @Test func `I6 a kicked user cannot write until it joins again`() {
        var barrage = BarrageHarness()
        #expect(barrage.sendText(user("bob", call: 1, ticket: 100)).wasSent)
        #expect(barrage.sendText(user("bob", call: 2, ticket: nil)).code == .notInRoom)
        // bob is kicked: 150 is now the lowest ticket that he may still use.
        #expect(barrage.send(.floor(user: "bob", ticket: Ticket(150))) == [])
        #expect(barrage.sendText(user("bob", call: 3, ticket: 100)).code == .staleTicket)
        #expect(barrage.sendText(user("carl", call: 1, ticket: 100)).wasSent)
        #expect(barrage.sendText(user("bob", call: 4, ticket: 150)).wasSent)
        #expect(barrage.sendText(server(call: 1)).wasSent)
    }

    @Test func `the end of an unknown live is reported as closed, and other commands about it have no effect`() {
        var barrage = BarrageHarness()
        let unknownLive = LiveKey(app, "none")
        #expect(barrage.send(.floor(user: "bob", ticket: Ticket(1)), to: unknownLive) == [])
        #expect(
            barrage.send(.ended(ending: ending(of: 3)), to: unknownLive)
                == [.directory(DirectoryInput(app: app, .closed(live: "none", epoch: 3)))])
        #expect(barrage.send(.repeatEnding(caller: user("alice", call: 1)), to: unknownLive) == [])
    }

    /// Rules: R5.11.
    @Test func `a message has at most 12 KB with all its parts`() {
        var barrage = BarrageHarness()
        let longest = String(repeating: "x", count: 12 * 1024)
        #expect(barrage.sendText(user("bob", call: 1), longest).wasSent)
        #expect(barrage.sendText(user("bob", call: 2), longest + "x").code == .messageTooLong)
        func send(_ command: BarrageCommand) -> Outcome? { barrage.send(command).outcome }
        // The key "k" and the text "x" have one byte each, so a message with this value is exactly at the limit.
        let extra = ["k": String(repeating: "v", count: 12 * 1024 - 2)]
        #expect(send(.sendText(text: "x", extensionInfo: extra, caller: user("bob", call: 3))).wasSent)
        #expect(send(.sendText(text: "xx", extensionInfo: extra, caller: user("bob", call: 4))).code == .messageTooLong)
        #expect(send(.sendCustom(businessID: "b", data: longest, caller: user("bob", call: 5))).code == .messageTooLong)
        // The business id of a custom message must not be empty.
        #expect(send(.sendCustom(businessID: "", data: "d", caller: user("bob", call: 6))).code == .badParameter)
    }

    @Test func `I15 a repeated message gets the same reply and enters once`() {
        var barrage = BarrageHarness()
        let bob = user("bob", call: 1)
        let first = barrage.send(.sendText(text: "hi", extensionInfo: nil, caller: bob))
        #expect(first.items.count == 1)
        // The last effect of the first call is its reply.
        #expect(barrage.send(.sendText(text: "hi", extensionInfo: nil, caller: bob)) == first.suffix(1))
        // A rejection is repeated too, even if the message would enter now.
        _ = barrage.send(.rights(isMessageDisable: true, admins: [], isGiftEnabled: true))
        #expect(barrage.sendText(user("bob", call: 2)).code == .roomMuted)
        _ = barrage.send(.rights(isMessageDisable: false, admins: [], isGiftEnabled: true))
        #expect(barrage.sendText(user("bob", call: 2)).code == .roomMuted)
        #expect(barrage.feed?.ledger.published == 2, "expected that each of the two calls is counted once")
        // The window holds the last sixteen outcomes, here of the calls 3 to 18. An older call is rejected as forgotten
        // and never enters again.
        for counter in 3...18 {
            _ = barrage.advance(milliseconds: 100)
            #expect(barrage.sendText(user("bob", call: Int64(counter))).wasSent)
        }
        #expect(barrage.sendText(user("bob", call: 1)).code == .requestForgotten)
        #expect(barrage.sendText(user("bob", call: 3)).wasSent, "expected the earlier reply")
        #expect(barrage.feed?.lastNumber == 17, "expected the items of the calls 1 and 3 to 18")
        // The window forgets its outcomes 60 s after the last call, and is removed 300 s later; each time is rounded up
        // by at most 10 s.
        _ = barrage.advance(milliseconds: 70_000)
        #expect(barrage.sendText(user("bob", call: 18)).code == .requestForgotten)
        _ = barrage.advance(milliseconds: 310_000)
        #expect(barrage.rows.sortedKeys == [.feed(key)])
        barrage.expectInvariants()
    }

    @Test func `I10 everything published is counted as admitted, refused or dropped`() {
        var barrage = BarrageHarness()
        for counter in 1...50 { _ = barrage.sendText(user("bob", call: Int64(counter))) }
        #expect(barrage.sendText(user("bob", call: 51), "").code == .badParameter)
        #expect(barrage.sendText(user("bob", call: 52, ticket: nil)).code == .notInRoom)
        #expect(barrage.publishTip() == false)
        #expect(barrage.publishControl() == true)
        let ledger = Ledger(of: barrage.rows)
        // 52 texts, a tip, a control item, and a second control item, which announces that tips are dropped: 52 + 1 + 1
        // + 1 = 55. Of the budget of 40, texts may use 36, so 50 - 36 = 14 of the first 50 texts are dropped.
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
        barrage.expectInvariants()
    }

    @Test func `row keys are parsed back from their text, and sorted by kind`() {
        let keys: [BarrageKey] = [
            .feed(LiveKey("demo", "a:b")), .calls(LiveKey("demo", "x"), "s_1"), .givers(LiveKey("demo", "x")),
            .backend(LiveKey("demo", "x"), "s_1"),
        ]
        for key in keys { #expect(BarrageKey(text: key.text) == key) }
        #expect(keys.sorted() == keys && keys.reversed().sorted() == keys)
        // A key is `feed/APP/LIVE`, `givers/APP/LIVE`, `calls/APP/LIVE/SESSION` or `backend/APP/LIVE/SESSION`.
        for malformed in ["", "feed", "feed/demo", "feed/a/b/c", "calls/a/b", "backend/a/b"] {
            #expect(BarrageKey(text: malformed) == nil)
        }
    }

    /// Rules: R16.11.
    @Test func `I15 a late retry gets its first outcome while that outcome is recorded, and is never applied`() {
        var barrage = BarrageHarness()
        let caller = user("bob", call: 1)
        var lateRetry = caller
        lateRetry.isLateRetry = true
        var carlsLateRetry = user("carl", call: 1)
        carlsLateRetry.isLateRetry = true
        #expect(
            barrage.sendText(carlsLateRetry).code == .requestForgotten,
            "expected a rejection, because no first copy of carl's call was received")
        #expect(barrage.sendText(caller).wasSent)
        #expect(barrage.sendText(lateRetry).wasSent)
        #expect(barrage.feed?.lastNumber == 1)
        // The outcome expires after 60 s, and the window is removed 300 s later. Rounding extends each time by at most
        // 10 s.
        _ = barrage.advance(milliseconds: 70_000)
        #expect(barrage.sendText(caller).code == .requestForgotten)
        _ = barrage.advance(milliseconds: 310_000)
        #expect(barrage.rows.sortedKeys == [.feed(key)])
        let lastNumber = barrage.feed?.lastNumber
        #expect(barrage.sendText(lateRetry).code == .requestForgotten)
        #expect(barrage.feed?.lastNumber == lastNumber)
        #expect(barrage.rows.sortedKeys == [.feed(key)])
    }

    /// Rules: R16.12.
    @Test func `I15 a message that was sent again during a standstill enters once`() {
        var barrage = BarrageHarness()
        #expect(barrage.sendText(user("bob", call: 1)).wasSent)
        // The fan-out is stopped for 80 s, and the repeated message waits in its inbox. Such a time is a standstill.
        barrage.now = barrage.now + .seconds(80)
        barrage.moment.standstill = .seconds(80)
        // Handles the rows that fell due in the standstill.
        _ = barrage.advance(milliseconds: 0)
        let lastNumber = barrage.feed?.lastNumber
        #expect(barrage.sendText(user("bob", call: 1)).wasSent)
        #expect(barrage.feed?.lastNumber == lastNumber)
        // The standstill does not count towards the 60 s for which the outcome is recorded.
        _ = barrage.advance(milliseconds: 50_000)
        #expect(barrage.sendText(user("bob", call: 1)).wasSent)
        // Now 50 + 30 = 80 s count. An outcome is recorded for 60 s, which rounding extends to at most 70 s.
        _ = barrage.advance(milliseconds: 30_000)
        #expect(barrage.sendText(user("bob", call: 1)).code == .requestForgotten)
        #expect(barrage.feed?.lastNumber == lastNumber)
        barrage.expectInvariants()
    }
}
