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
                .required("text", .text(1...Limits.messageBytes), "With all that belongs to it at most 12 KB."),
                .optional("extensionInfo", .map(of: .string, 0...Int.max)),
            ]), success: Self.sent),
        Route(
            method: .post, path: "/v1/lives/{live}/custom-messages", id: "sendCustom", tag: "messages",
            summary: "Sends an app's own message into the feed.", call: "barrage.sendCustom", parts: [.live],
            body: .object([
                .required("businessID", .plain(1...Limits.messageBytes), "Names the feature that the message is for."),
                .required("data", .text(0...Limits.messageBytes)),
            ]), success: Self.sent),
        Route(
            method: .post, path: "/v1/lives/{live}/gifts", id: "sendGift", tag: "messages",
            summary: "Gives gifts, in the name of a user if one is named.", call: "gift.send", parts: [.live],
            body: .object([
                .required("gift", Route.identifier(32), "The gift's id."),
                .optional(
                    "count", .integer(Int64(Limits.giftCount.lowerBound)...Int64(Limits.giftCount.upperBound)),
                    "1 when not named."),
                .optional(
                    "receivers", .list(of: Route.userID, 0...Limits.giftReceivers, isUnique: true),
                    "None: the live's owner."),
                .optional("from", Route.userID, "Who is shown as the sender; none: the caller."),
                .optional("fromName", .plain(0...Limits.userNameBytes)),
                .optional("fromAvatarURL", .plain(0...Limits.urlBytes)),
            ]), success: Self.sent),
    ]

    private static let sent = Route.Success.result("sent", [.required("position", .named("FeedPosition"))])
}
