// SPDX-License-Identifier: Apache-2.0
internal import HTTPServer
internal import PlazaModel
internal import PlazaWire

/// The routes for bans and mutes.
extension RouteTable {
    private static let users = Schema.list(of: Route.userID, 1...SanctionLimits.usersPerCall)
    private static let usersQuery = Route.QueryItem(
        name: "user", field: "users", schema: Self.users, isRequired: true, summary: "A user's id; 1 to 20.")
    /// Seconds; -1 bans for good, and 0 is not allowed.
    private static let banDuration = Schema.integer(-1...SanctionLimits.seconds.upperBound, but: 0)
    /// Seconds; -1 mutes for good, and 0 ends the mute.
    private static let muteDuration = Schema.integer(-1...SanctionLimits.seconds.upperBound)
    private static let pageQuery: [Route.QueryItem] = [
        .init(
            name: "offset", field: "offset", schema: .count,
            summary: "What the page before gave; 0 when not named."),
        .init(
            name: "count", field: "count", schema: .integer(1...Int64(SanctionLimits.entriesPerPage)),
            summary: "Entries of a page; 100 when not named."),
    ]
    private static let sanctionPage = Route.Success.result("sanctions", [.required("page", .named("SanctionPage"))])

    static let sanctions: [Route] = [
        Route(
            method: .get, path: "/v1/lives/{live}/bans", id: "listBans", tag: "sanctions",
            summary: "Lists who may not enter a live.", call: "live.bans", parts: [.live], query: Self.pageQuery,
            success: Self.sanctionPage),
        Route(
            method: .post, path: "/v1/lives/{live}/bans", id: "ban", tag: "sanctions",
            summary: "Puts users out of a live, and lets them not enter for a while.", call: "live.ban",
            parts: [.live],
            body: .object([
                .required("users", Self.users),
                .required("duration", Self.banDuration, "Seconds from 1 on; -1: for good."),
                .optional("reason", .plain(0...SanctionLimits.reasonBytes), "At most 200 bytes."),
            ]), success: .done),
        Route(
            method: .delete, path: "/v1/lives/{live}/bans", id: "unban", tag: "sanctions",
            summary: "Lets users enter again; those who are not banned are no error.", call: "live.unban",
            parts: [.live], query: [Self.usersQuery], success: .done),
        Route(
            method: .get, path: "/v1/lives/{live}/mutes", id: "listMutes", tag: "sanctions",
            summary: "Lists who may not write in a live.", call: "live.mutes", parts: [.live], query: Self.pageQuery,
            success: Self.sanctionPage),
        Route(
            method: .post, path: "/v1/lives/{live}/mutes", id: "mute", tag: "sanctions",
            summary: "Lets users not write in a live for a while.", call: "live.mute", parts: [.live],
            body: .object([
                .required("users", Self.users),
                .required("duration", Self.muteDuration, "Seconds; -1: for good, 0: they may write again."),
            ]), success: .done),
        Route(
            method: .delete, path: "/v1/lives/{live}/mutes", id: "unmute", tag: "sanctions",
            summary: "Lets users write again.", call: "live.mute", parts: [.live], query: [Self.usersQuery],
            success: .done, convertParameters: { $0.merging(["duration": 0]) { _, new in new } }),
    ]
}
