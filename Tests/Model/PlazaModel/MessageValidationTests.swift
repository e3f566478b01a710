// SPDX-License-Identifier: Apache-2.0
import PlazaModel
import Testing

/// The checks of messages and gifts that the fan-out (the barrage machine) and the gateways share.
@Suite struct MessageValidationTests {
    /// The total count is the count times the number of receivers, such as 255 * 50 = 12,750.
    ///
    /// The coins are the total count times the price, but at most `Int64.max`. A gift without receivers counts once.
    ///
    /// Rules: R11.5.
    @Test(
        arguments: [
            (1, 0, 5, 1, 5), (2, 3, 5, 6, 30), (3, 1, 5, 3, 15), (255, 50, 1_000_000_000, 12_750, 12_750_000_000_000),
            (255, 50, Int64.max / 2, 12_750, Int64.max),
        ] as [(Int, Int, Int64, Int64, Int64)])
    func `a gift counts and costs once for each receiver`(
        count: Int, receiverCount: Int, price: Int64, totalCount: Int64, coins: Int64
    ) {
        let order = GiftOrder(gift: "rose", count: count, receivers: (0..<receiverCount).map { UserID("u\($0)") })
        #expect(order.totalCount == totalCount)
        #expect(order.coins(at: price) == coins)
    }

    @Test func `a gift order with several errors is rejected for the first one`() {
        func rejection(
            count: Int, receivers: [UserID] = [], isInCatalogue: Bool = true, isCatalogueEmpty: Bool = false,
            isEnabled: Bool = true
        ) -> Rejection? {
            GiftOrder(gift: "rose", count: count, receivers: receivers)
                .rejection(
                    isInCatalogue: isInCatalogue, isCatalogueEmpty: isCatalogueEmpty, isGiftEnabled: isEnabled)
        }
        func users(_ count: Int) -> [UserID] { (0..<count).map { UserID("u\($0)") } }
        #expect(rejection(count: 1) == nil && rejection(count: 255, receivers: users(50)) == nil)
        #expect(
            rejection(count: 0, isInCatalogue: false, isCatalogueEmpty: true, isEnabled: false) == .giftCount,
            "an error in the call itself comes first")
        #expect(
            rejection(
                count: 1, receivers: ["bob", "bob"], isInCatalogue: false, isCatalogueEmpty: true, isEnabled: false)
                == .giftReceivers)
        // `giftsNotEnabled`: the app's catalogue is empty. `giftsOff`: gifts are disabled in the live.
        #expect(rejection(count: 1, isInCatalogue: false, isCatalogueEmpty: true, isEnabled: false) == .giftsNotEnabled)
        #expect(rejection(count: 1, isInCatalogue: false, isEnabled: false) == .giftsOff)
        #expect(rejection(count: 1, isInCatalogue: false) == .noSuchGift)

        for count in [0, -1, 256, .min, .max] { #expect(rejection(count: count) == .giftCount) }
        // A gift has at most 50 receivers, and no receiver twice.
        #expect(rejection(count: 1, receivers: users(51)) == .giftReceivers)
        #expect(rejection(count: 1, receivers: ["bob", "bob"]) == .giftReceivers)
    }

    /// Rules: R17.5.
    @Test func `a message that is empty or too long is rejected`() {
        func textRejection(_ text: String, _ extensionInfo: [String: String]? = nil) -> Rejection? {
            FeedContent.text(sender: UserInfo(userID: "bob"), text: text, extensionInfo: extensionInfo).validationError
        }
        func customRejection(_ businessID: String, _ data: String) -> Rejection? {
            FeedContent.custom(sender: UserInfo(userID: "bob"), businessID: businessID, data: data).validationError
        }
        let longest = String(repeating: "x", count: Limits.messageBytes)
        #expect(textRejection(longest) == nil)
        #expect(textRejection(longest + "x") == .tooLong && textRejection(longest, ["k": ""]) == .tooLong)
        // In JSON, a message may have twice the bytes of the limit. A line break has two bytes in JSON, and U+0001 has
        // six, so that a third of the limit is exactly allowed.
        #expect(textRejection(String(repeating: "\n", count: Limits.messageBytes)) == nil)
        #expect(textRejection(String(repeating: "\u{1}", count: Limits.messageBytes / 3)) == nil)
        #expect(textRejection(String(repeating: "\u{1}", count: Limits.messageBytes / 3 + 1)) == .tooLong)
        #expect(textRejection("x", ["k": String(repeating: "\u{1}", count: Limits.messageBytes / 3)]) == .tooLong)
        #expect(customRejection("b", String(repeating: "\u{1}", count: Limits.messageBytes / 2)) == .tooLong)
        #expect(textRejection("", ["k": "v"]) == .empty)
        #expect(customRejection("b", "") == nil)
        #expect(customRejection("", longest) == .noBusinessID && customRejection("b", longest) == .tooLong)
    }

    @Test func `while messages are disabled in a live, all are muted except its owner and admins`() {
        var info = LiveInfo(liveID: "concert", liveOwner: UserInfo(userID: "alice")) { $0.admins = ["adam"] }
        #expect(!info.isMuted(for: "bob"))
        info.isMessageDisable = true
        #expect(info.isMuted(for: "bob") && !info.isMuted(for: "alice") && !info.isMuted(for: "adam"))
    }
}
