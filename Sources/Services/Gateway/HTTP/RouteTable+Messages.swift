// SPDX-License-Identifier: Apache-2.0
internal import HTTPServer
internal import PlazaModel
internal import PlazaWire

/// The routes for messages and gifts.
extension RouteTable {
    static let messages: [Route] = [
        Route(
            method: .post, path: "/v1/lives/{live}/messages", id: "sendText", tag: "messages",
            summary: "Sends a text into the feed.", call: "barrage.sendText", parts: [.live],
            body: .object([
                .required("text", .text(1...Limits.messageBytes), "Together with extensionInfo at most 12 KB."),
                .optional("extensionInfo", .map(of: .string, 0...Int.max)),
            ]), success: Self.sent),
        Route(
            method: .post, path: "/v1/lives/{live}/custom-messages", id: "sendCustom", tag: "messages",
            summary: "Sends an app's own message into the feed.", call: "barrage.sendCustom", parts: [.live],
            body: .object([
                .required(
                    "businessID", .plainText(1...Limits.messageBytes),
                    "The name of the app's feature that the message is for."),
                .required("data", .text(0...Limits.messageBytes)),
            ]), success: Self.sent),
        Route(
            method: .post, path: "/v1/lives/{live}/gifts", id: "sendGift", tag: "messages",
            summary: "Sends gifts, in the name of the caller or of the user `from`.", call: "gift.send", parts: [.live],
            body: .object([
                .required("gift", Route.identifier(32), "The gift's id."),
                .optional(
                    "count", .integer(Int64(Limits.giftCount.lowerBound)...Int64(Limits.giftCount.upperBound)),
                    "The number of gifts; 1 by default."),
                .optional(
                    "receivers", .list(of: Route.userID, 0...Limits.giftReceivers, isUnique: true),
                    "The receivers; if there are none, the live's owner receives the gifts."),
                .optional("from", Route.userID, "The user who is shown as the sender; if absent, the caller."),
                .optional("fromName", .plainText(0...Limits.userNameBytes)),
                .optional("fromAvatarURL", .plainText(0...Limits.urlBytes)),
            ]), success: Self.sent),
    ]

    /// The result of a sent message or gift: its position in the feed.
    private static let sent = Route.Success.result("sent", [.required("position", .named("FeedPosition"))])
}
