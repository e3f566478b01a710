// SPDX-License-Identifier: Apache-2.0
import CoreKit
import PlazaModel
import Testing

/// The rules of messages and gifts that fan-out and gateways share.
@Suite struct TalkRuleTests {
    @Test(
        arguments: [
            (1, 0, 5, 1, 5), (2, 3, 5, 6, 30), (3, 1, 5, 3, 15), (255, 50, 1_000_000_000, 12_750, 12_750_000_000_000),
            (255, 50, Int64.max / 2, 12_750, Int64.max),
        ] as [(Int, Int, Int64, Int64, Int64)])
    func `a gift counts, and costs, for each of its receivers`(
        count: Int, receivers: Int, price: Int64, number: Int64, coins: Int64
    ) {
        let order = GiftOrder(gift: "rose", count: count, receivers: (0..<receivers).map { UserID("u\($0)") })
        #expect(order.number == number)
        #expect(order.coins(at: price) == coins)
    }

    @Test func `an order is refused for the first thing that is wrong with it`() {
        func refusal(_ count: Int, _ receivers: [UserID] = [], known: Bool = true, any: Bool = true, on: Bool = true)
            -> Refusal?
        {
            GiftOrder(gift: "rose", count: count, receivers: receivers)
                .refusal(isKnown: known, hasGifts: any, isOn: on)
        }
        #expect(refusal(1) == nil && refusal(255, (0..<50).map { UserID("u\($0)") }) == nil)
        #expect(refusal(0, known: false, any: false, on: false) == .giftCount, "what the call alone shows comes first")
        #expect(refusal(1, ["bob", "bob"], known: false, any: false, on: false) == .giftReceivers)
        #expect(refusal(1, known: false, any: false, on: false) == .giftsNotEnabled)
        #expect(refusal(1, known: false, on: false) == .giftsOff)
        #expect(refusal(1, known: false) == .noSuchGift)
        for count in [0, -1, 256, .min, .max] { #expect(refusal(count) == .giftCount) }
        #expect(refusal(1, (0...50).map { UserID("u\($0)") }) == .giftReceivers)
        #expect(refusal(1, ["bob", "bob"]) == .giftReceivers)
    }

    @Test func `a message says something, and not too much`() {
        func text(_ text: String, _ extensionInfo: [String: String]? = nil) -> Refusal? {
            FeedContent.text(sender: UserInfo(userID: "bob"), text: text, extensionInfo: extensionInfo).fault
        }
        func custom(_ businessID: String, _ data: String) -> Refusal? {
            FeedContent.custom(sender: UserInfo(userID: "bob"), businessID: businessID, data: data).fault
        }
        let most = String(repeating: "x", count: Limits.messageBytes)
        #expect(text(most) == nil && text(most + "x") == .tooLong && text(most, ["k": ""]) == .tooLong)
        #expect(text("", ["k": "v"]) == .empty)
        #expect(custom("b", "") == nil && custom("", most) == .noBusinessID && custom("b", most) == .tooLong)
    }

    @Test func `the room's mute spares owner and admins`() {
        var info = LiveInfo(liveID: "a", liveOwner: UserInfo(userID: "alice"), admins: ["adam"])
        #expect(!info.isMuted(for: "bob"))
        info.isMessageDisable = true
        #expect(info.isMuted(for: "bob") && !info.isMuted(for: "alice") && !info.isMuted(for: "adam"))
    }
}
