// SPDX-License-Identifier: Apache-2.0
internal import HTTPServer
internal import PlazaModel
internal import PlazaWire

/// The routes for bans and mutes, messages and gifts, and battles.
extension RouteTable {
    private static let users = Schema.list(of: Route.userID, 1...SanctionLimits.usersPerCall)
    private static let usersQuery = Route.QueryItem(
        name: "user", field: "users", schema: Self.users, isNeeded: true, summary: "A user's id; 1 to 20.")
    private static let banDuration = Schema.integer(-1...SanctionLimits.seconds.upperBound, but: 0)
    private static let muteDuration = Schema.integer(-1...SanctionLimits.seconds.upperBound)
    private static let page: [Route.QueryItem] = [
        .init(
            name: "offset", field: "offset", schema: .count,
            summary: "What the page before gave; 0 when not named."),
        .init(
            name: "count", field: "count", schema: .integer(1...Int64(SanctionLimits.page)),
            summary: "Entries of a page; 100 when not named."),
    ]
    private static let sanctionPage = Route.Success.result("sanctions", [.needed("page", .named("SanctionPage"))])

    static let sanctions: [Route] = [
        Route(
            method: .get, path: "/v1/lives/{live}/bans", id: "listBans", tag: "sanctions",
            summary: "Lists who may not enter a live.", call: "live.bans", parts: [.live], query: Self.page,
            success: Self.sanctionPage),
        Route(
            method: .post, path: "/v1/lives/{live}/bans", id: "ban", tag: "sanctions",
            summary: "Puts users out of a live, and lets them not enter for a while.", call: "live.ban",
            parts: [.live],
            body: .object([
                .needed("users", Self.users), .needed("duration", Self.banDuration, "Seconds from 1 on; -1: for good."),
                .optional("reason", .plain(0...SanctionLimits.reasonBytes), "At most 200 bytes."),
            ]), success: .done),
        Route(
            method: .delete, path: "/v1/lives/{live}/bans", id: "unban", tag: "sanctions",
            summary: "Lets users enter again; those who are not banned are no error.", call: "live.unban",
            parts: [.live], query: [Self.usersQuery], success: .done),
        Route(
            method: .get, path: "/v1/lives/{live}/mutes", id: "listMutes", tag: "sanctions",
            summary: "Lists who may not write in a live.", call: "live.mutes", parts: [.live], query: Self.page,
            success: Self.sanctionPage),
        Route(
            method: .post, path: "/v1/lives/{live}/mutes", id: "mute", tag: "sanctions",
            summary: "Lets users not write in a live for a while.", call: "live.mute", parts: [.live],
            body: .object([
                .needed("users", Self.users),
                .needed("duration", Self.muteDuration, "Seconds; -1: for good, 0: they may write again."),
            ]), success: .done),
        Route(
            method: .delete, path: "/v1/lives/{live}/mutes", id: "unmute", tag: "sanctions",
            summary: "Lets users write again.", call: "live.mute", parts: [.live], query: [Self.usersQuery],
            success: .done
        ) { $0.merging(["duration": 0]) { _, new in new } },
    ]

    static let messages: [Route] = [
        Route(
            method: .post, path: "/v1/lives/{live}/messages", id: "sendText", tag: "messages",
            summary: "Sends a text into the feed.", call: "barrage.sendText", parts: [.live],
            body: .object([
                .needed("text", .text(1...Limits.messageBytes), "With all that belongs to it at most 12 KB."),
                .optional("extensionInfo", .map(of: .string, 0...Int.max)),
            ]), success: Self.sent),
        Route(
            method: .post, path: "/v1/lives/{live}/custom-messages", id: "sendCustom", tag: "messages",
            summary: "Sends an app's own message into the feed.", call: "barrage.sendCustom", parts: [.live],
            body: .object([
                .needed("businessID", .plain(1...Limits.messageBytes), "Names the feature that the message is for."),
                .needed("data", .text(0...Limits.messageBytes)),
            ]), success: Self.sent),
        Route(
            method: .post, path: "/v1/lives/{live}/gifts", id: "sendGift", tag: "messages",
            summary: "Gives gifts, in the name of a user if one is named.", call: "gift.send", parts: [.live],
            body: .object([
                .needed("gift", Route.word(32), "The gift's id."),
                .optional(
                    "count", .integer(Int64(Limits.giftCount.lowerBound)...Int64(Limits.giftCount.upperBound)),
                    "1 when not named."),
                .optional(
                    "receivers", .list(of: Route.userID, 0...Limits.giftReceivers), "None: the live's owner."),
                .optional("from", Route.userID, "Who is shown as the sender; none: the caller."),
                .optional("fromName", .plain(0...Limits.userNameBytes)),
                .optional("fromAvatarURL", .plain(0...Limits.urlBytes)),
            ]), success: Self.sent),
    ]

    private static let sent = Route.Success.result("sent", [.needed("position", .named("FeedPosition"))])

    private static let battlePart = Route.PathPart(
        name: "battle", field: "battle", schema: Route.word(64), summary: "The battle's id.")
    private static let battleInfo = Route.Success.result("battleInfo", [.needed("details", .named("BattleDetails"))])

    static let battles: [Route] = [
        Route(
            method: .post, path: "/v1/battles", id: "createBattle", tag: "battles",
            summary: "Asks connected lives to a battle, or begins it at once.", call: "battle.create",
            body: .object([
                .needed("live", Route.liveID, "The inviting live."),
                .needed("to", .list(of: Route.liveID, 1...Limits.coHostTargets), "The invited lives."),
                .optional("duration", .count, "Seconds; 0: as long as the app allows."),
                .optional("needResponse", .boolean, "Whether the invited are asked; false begins at once."),
                .optional("timeout", .integer(0...Limits.requestTimeoutSeconds.upperBound), "Seconds to answer."),
                .optional("extensionInfo", .text(0...Limits.extraInfoBytes)),
            ]),
            success: .init(
                status: 201,
                result: ResponseSchemas.result(
                    "battle",
                    [
                        .needed("battle", .string), .optional("startTime", .int, "Milliseconds since 1970."),
                        .optional("endTime", .int),
                        .needed("codes", .list(of: .named("LiveCode"), 0...Limits.coHostLives)),
                    ]))),
        Route(
            method: .get, path: "/v1/battles/{battle}", id: "getBattle", tag: "battles",
            summary: "Gives a battle with its invitations and scores.", call: "battle.get",
            parts: [Self.battlePart], success: Self.battleInfo),
        Route(
            method: .get, path: "/v1/lives/{live}/battle", id: "getBattleOfLive", tag: "battles",
            summary: "Gives the battle that a live is in; 404 with 100418 when there is none.", call: "battle.get",
            parts: [.live], success: Self.battleInfo),
        Route(
            method: .post, path: "/v1/battles/{battle}/scores", id: "setScores", tag: "battles",
            summary: "Adds to or overwrites the scores of a battle; a result for each live.", call: "battle.score",
            parts: [Self.battlePart],
            body: .object([
                .optional("operation", .integer(1...2), "1 adds, which is the default; 2 overwrites."),
                .needed(
                    "scores",
                    .list(
                        of: .object([.needed("live", Route.liveID), .needed("score", .int)]), 1...Limits.coHostLives)),
            ]),
            success: .result(
                "scores", [.needed("codes", .list(of: .named("LiveCode"), 0...Limits.coHostLives))])),
    ]
}
