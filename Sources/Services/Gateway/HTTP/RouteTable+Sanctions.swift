// SPDX-License-Identifier: Apache-2.0
internal import HTTPServer
internal import PlazaModel
internal import PlazaWire

/// The routes for bans and mutes.
extension RouteTable {
    private static let users = Schema.list(of: Route.userID, 1...SanctionLimits.usersPerCall)
    private static let usersQuery = Route.QueryItem(
        name: "user", field: "users", schema: Self.users, isRequired: true,
        summary: "A user's id; repeat the parameter for each further user, up to 20 users.")
    /// In seconds; -1 bans without an end, and 0 is not allowed.
    private static let banDuration = Schema.integer(-1...SanctionLimits.seconds.upperBound, but: 0)
    /// In seconds; -1 mutes without an end, and 0 ends the mute.
    private static let muteDuration = Schema.integer(-1...SanctionLimits.seconds.upperBound)
    private static let pageQuery: [Route.QueryItem] = [
        .init(
            name: "offset", field: "offset", schema: .count,
            summary: "The `nextOffset` of the previous page; 0, the default, for the first page."),
        .init(
            name: "count", field: "count", schema: .integer(1...Int64(SanctionLimits.entriesPerPage)),
            summary: "The largest number of entries on the page; 100 by default."),
    ]
    private static let sanctionPage = Route.Success.result("sanctions", [.required("page", .named("SanctionPage"))])

    static let sanctions: [Route] = [
        Route(
            method: .get, path: "/v1/lives/{live}/bans", id: "listBans", tag: "sanctions",
            summary: "Lists the bans of a live: who may not enter.", call: "live.bans", parts: [.live],
            query: Self.pageQuery,
            success: Self.sanctionPage),
        Route(
            method: .post, path: "/v1/lives/{live}/bans", id: "ban", tag: "sanctions",
            summary: "Removes users from a live, and forbids them to enter for a while.", call: "live.ban",
            parts: [.live],
            body: .object([
                .required("users", Self.users),
                .required("duration", Self.banDuration, "In seconds, at least 1; -1: the ban never ends."),
                .optional("reason", .plainText(0...SanctionLimits.reasonBytes), "At most 200 bytes."),
            ]), success: .done),
        Route(
            method: .delete, path: "/v1/lives/{live}/bans", id: "unban", tag: "sanctions",
            summary: "Ends bans, so that the users may enter again; users who are not banned are ignored.",
            call: "live.unban",
            parts: [.live], query: [Self.usersQuery], success: .done),
        Route(
            method: .get, path: "/v1/lives/{live}/mutes", id: "listMutes", tag: "sanctions",
            summary: "Lists the mutes of a live: who may not write.", call: "live.mutes", parts: [.live],
            query: Self.pageQuery,
            success: Self.sanctionPage),
        Route(
            method: .post, path: "/v1/lives/{live}/mutes", id: "mute", tag: "sanctions",
            summary: "Forbids users to write in a live for a while.", call: "live.mute", parts: [.live],
            body: .object([
                .required("users", Self.users),
                .required(
                    "duration", Self.muteDuration,
                    "In seconds; -1: the mute never ends; 0: an existing mute ends now."),
            ]), success: .done),
        Route(
            method: .delete, path: "/v1/lives/{live}/mutes", id: "unmute", tag: "sanctions",
            summary: "Ends mutes, so that the users may write again.", call: "live.mute", parts: [.live],
            query: [Self.usersQuery],
            success: .done,
            // The call `live.mute` with a duration of 0 ends the mutes.
            convertParameters: { $0.merging(["duration": 0]) { _, new in new } }),
    ]
}
