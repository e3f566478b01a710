// SPDX-License-Identifier: Apache-2.0
import MachineKit
import MachineTestSupport
import PlazaModel
import Testing

@testable import BarrageCore

/// Gifts to the viewers of alice's live: their items in the feed, their statistics, and the calls that are rejected.
@Suite struct GiftTests {
    private static let rose = Gift(
        giftID: "rose", name: "Rose", iconURL: "i", level: 1, coins: 5,
        translations: ["de": GiftText(name: "Rose", desc: "rot")])
    /// Two yachts cost almost `Int64.max` coins, three cost more.
    private static let yacht = Gift(giftID: "yacht", name: "Yacht", coins: .max / 2)
    private static let settings = AppSettings(gifts: [
        GiftCategory(categoryID: "a", name: "A", gifts: [Self.rose]),
        GiftCategory(categoryID: "b", name: "B", gifts: [Self.yacht]),
    ])

    /// Sends a gift, which goes to the live's owner unless receivers are named; returns the effects.
    private func give(
        _ barrage: inout BarrageHarness, _ gift: GiftID = "rose", count: Int = 1, to receivers: [UserID] = [],
        by caller: Caller
    ) -> [Effect] {
        barrage.send(.sendGift(giftID: gift, count: count, receivers: receivers, caller: caller))
    }

    /// Rules: R11.4.
    @Test func `a gift is published with its data from the catalogue, and is counted`() {
        var barrage = BarrageHarness(settings: Self.settings)
        let bob = user("bob", call: 1)
        let effects = self.give(&barrage, "rose", count: 3, by: bob)
        // The item has the gift without its translations.
        let content = FeedContent.gift(
            sender: bob.user, gift: Self.rose.localized(to: nil), count: 3, receivers: ["alice"])
        #expect(effects.contents == [content])
        #expect(content.feedClass == .gift)
        #expect(effects.outcome == .success(result: .sent(position: FeedPosition(epoch: epoch, number: 1))))
        #expect(self.give(&barrage, "rose", count: 2, to: ["carl", "dave"], by: user("bob", call: 2)).outcome.wasSent)
        #expect(self.give(&barrage, "rose", count: 1, by: user("eve", call: 1)).outcome.wasSent)
        let statistics = barrage.feed?.statistics
        #expect(statistics?.totalGiftsSent == 8, "expected 3 to the owner, 2 each to carl and dave, 1 to the owner")
        #expect(statistics?.totalGiftCoins == 40, "expected 8 roses at 5 coins each")
        #expect(statistics?.totalUniqueGiftSenders == 2, "expected bob and eve")
        #expect(statistics?.totalMessageCount == 0, "expected that gifts do not count as messages")
        barrage.expectInvariants()
    }

    @Test func `I15 a repeated gift is given once`() {
        var barrage = BarrageHarness(settings: Self.settings)
        let first = self.give(&barrage, by: user("bob", call: 1))
        // The last effect of the first call is its reply.
        #expect(self.give(&barrage, by: user("bob", call: 1)) == first.suffix(1))
        #expect(barrage.feed?.statistics.totalGiftsSent == 1)
        #expect(barrage.feed?.lastNumber == 1)
    }

    /// The gateway checks gifts, too, and reports a rejection to the fan-out.
    ///
    /// A call that is sent again may be accepted by one gateway and rejected by another: the first decision that
    /// reaches the fan-out counts.
    ///
    /// Rules: R14.11.
    @Test func `I15 a gift that the gateway rejected never enters, and a gift that entered keeps its reply`() {
        var barrage = BarrageHarness(settings: Self.settings)
        /// The gateway's report that it rejected bob's call.
        func rejectByGateway(call counter: Int64, ticket: Int64? = 1) -> [Effect] {
            barrage.send(.refused(why: .giftsOff, caller: user("bob", call: counter, ticket: ticket)))
        }
        // In the fan-out gifts are enabled; the gateway rejects the gift because it does not know this yet.
        #expect(rejectByGateway(call: 1).outcome.code == .giftsOffInLive)
        #expect(
            self.give(&barrage, by: user("bob", call: 1)).outcome.code == .giftsOffInLive,
            "expected the same reply to the same call")
        #expect(barrage.feed?.lastNumber == 0)
        let outcome = self.give(&barrage, by: user("bob", call: 2)).outcome
        #expect(outcome.wasSent)
        #expect(rejectByGateway(call: 2).outcome == outcome, "expected the same reply to the same call")
        #expect(rejectByGateway(call: 3, ticket: nil).outcome.code == .notInRoom)
        #expect(barrage.feed?.statistics.totalGiftsSent == 1 && barrage.feed?.lastNumber == 1)
        barrage.expectInvariants()
    }

    /// Rules: R11.3.
    @Test func `an invalid gift is rejected with its code and changes nothing`() {
        var barrageWithoutGifts = BarrageHarness()
        #expect(self.give(&barrageWithoutGifts, by: user("bob", call: 1)).outcome.code == .giftsNotEnabled)
        var barrage = BarrageHarness(settings: Self.settings)
        var counter: Int64 = 0
        /// Gives a gift in bob's next call; returns the code of the rejection.
        func rejection(
            _ gift: GiftID = "rose", count: Int = 1, to receivers: [UserID] = [], ticket: Int64? = 1
        ) -> ReplyCode? {
            counter += 1
            let caller = user("bob", call: counter, ticket: ticket)
            return self.give(&barrage, gift, count: count, to: receivers, by: caller).outcome.code
        }
        #expect(rejection("tulip") == .noSuchGift)
        // A gift has a count of 1 to 255.
        for count in [0, -1, 256, .max, .min] { #expect(rejection(count: count) == .badParameter) }
        #expect(rejection(to: ["carl", "carl"]) == .badParameter, "expected a rejection, because carl is named twice")
        let fiftyReceivers = (1...50).map { UserID("u\($0)") }
        #expect(
            rejection(to: fiftyReceivers + ["u51"]) == .badParameter, "expected that 50 receivers are allowed, not 51")
        #expect(rejection(ticket: nil) == .notInRoom)
        _ = barrage.send(.rights(isMessageDisable: false, admins: [], isGiftEnabled: false))
        #expect(rejection() == .giftsOffInLive)
        #expect(barrage.feed?.lastNumber == 0)
        #expect(barrage.feed?.statistics == LiveStatistics())
        #expect(barrage.rows[.givers(key)] == nil)
        _ = barrage.send(.rights(isMessageDisable: false, admins: [], isGiftEnabled: true))
        #expect(rejection(count: 255, to: fiftyReceivers) == nil, "expected success exactly at both limits")
        #expect(self.give(&barrage, by: user("bob", call: 100)).outcome.wasSent)
        barrage.expectInvariants()
        // The app's server removes the gift catalogue.
        barrage.machine.updateSettings(AppTable([AppRecord(app: app, revision: 2, settings: AppSettings())]))
        #expect(rejection() == .giftsNotEnabled)
        #expect(
            barrage.send(
                .sendGift(giftID: "rose", count: 1, receivers: [], caller: user("bob", call: 1)),
                to: LiveKey(app, "none")
            ).outcome.code == .noSuchRoom)
    }

    @Test func `I9 gifts enter beyond budget and rate, and lower classes are dropped until the gifts are a second old`()
    {
        // The budget is 40 items a second, the rate one message of a user a second. bob gives 100 gifts.
        var barrage = BarrageHarness(messagesPerUserPerSecond: 1, settings: Self.settings)
        for counter in 1...100 { #expect(self.give(&barrage, by: user("bob", call: Int64(counter))).outcome.wasSent) }
        #expect(barrage.sendText(user("carl", call: 1)).code == .droppedByBudget)
        #expect(barrage.publishTip() == false)
        _ = barrage.advance(milliseconds: 999)
        #expect(barrage.sendText(user("carl", call: 2)).code == .droppedByBudget)
        _ = barrage.advance(milliseconds: 1)
        #expect(barrage.sendText(user("carl", call: 3)).wasSent)
        // Gifts never count towards the rate of messages, so bob may send a text, too.
        #expect(barrage.sendText(user("bob", call: 200)).wasSent)
        barrage.expectInvariants()
    }

    @Test func `the total of gift coins stays at the highest number instead of overflowing`() {
        var barrage = BarrageHarness(settings: Self.settings)
        for counter in 1...3 {
            #expect(self.give(&barrage, "yacht", count: 255, by: user("bob", call: Int64(counter))).outcome.wasSent)
        }
        #expect(barrage.feed?.statistics.totalGiftCoins == .max)
        // Three calls with 255 gifts each: 3 * 255 = 765.
        #expect(barrage.feed?.statistics.totalGiftsSent == 765)
    }

    @Test func `the row of gift senders is removed five minutes after the end, or when a new live is opened`() {
        var barrage = BarrageHarness(settings: Self.settings)
        _ = self.give(&barrage, by: user("bob", call: 1))
        _ = barrage.send(.ended(ending: ending()))
        #expect(barrage.rows[.givers(key)] != nil)
        _ = barrage.send(.opened(epoch: 20, owner: "carl"))
        #expect(barrage.rows[.givers(key)] == nil)
        _ = self.give(&barrage, by: user("bob", call: 2))
        #expect(barrage.feed?.statistics.totalUniqueGiftSenders == 1)
        _ = barrage.send(.ended(ending: ending(of: 20)))
        _ = barrage.advance(milliseconds: 300_000)
        #expect(barrage.rows[.givers(key)] == nil)
        // A call's outcome is kept for 60 s, then the call's number for 300 s; each time is rounded up by at most 10 s.
        // After 70 + 310 = 380 s, of which 300 s have passed, the idempotency windows are removed.
        _ = barrage.advance(milliseconds: 80_000)
        #expect(barrage.rows.count == 0)
    }

    @Test func `a gift of the owner, an admin, a viewer or the app's server enters, even in a muted live`() {
        for caller in [user("alice", call: 1), user("adam", call: 1), user("bob", call: 1), server(call: 1)] {
            var barrage = BarrageHarness(settings: Self.settings)
            _ = barrage.send(.rights(isMessageDisable: true, admins: ["adam"], isGiftEnabled: true))
            #expect(self.give(&barrage, by: caller).outcome.wasSent)
        }
    }
}
