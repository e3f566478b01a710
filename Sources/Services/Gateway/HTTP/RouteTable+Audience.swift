// SPDX-License-Identifier: Apache-2.0
internal import HTTPServer
internal import PlazaModel
internal import PlazaWire

/// The routes for a live's audience and admins.
extension RouteTable {
    static let audience: [Route] = [
        Route(
            method: .get, path: "/v1/lives/{live}/count", id: "getCount", tag: "audience",
            summary: "Gives the number of users in a live.", call: "audience.count", access: .anyone, parts: [.live],
            success: .result("count", [.required("count", .named("LiveCount"))])),
        Route(
            method: .get, path: "/v1/lives/{live}/audience", id: "listAudience", tag: "audience",
            summary: "Gives a page of the audience, in the order of joining.", call: "audience.list", parts: [.live],
            query: [
                .init(
                    name: "cursor", field: "cursor", schema: .string,
                    summary: "The `cursor` of the previous page; absent for the first page."),
                .init(
                    name: "count", field: "count", schema: .integer(1...Int64(Limits.audiencePage)),
                    summary: "The largest number of members on the page; 200 by default."),
            ], success: .result("audience", [.required("page", .named("AudiencePage"))])),
        Route(
            method: .delete, path: "/v1/lives/{live}/audience/{user}", id: "kick", tag: "audience",
            summary: "Removes a user from a live; the user may join again.", call: "audience.kick",
            parts: [.live, .user],
            success: .done),
        Route(
            method: .put, path: "/v1/lives/{live}/admins/{user}", id: "setAdmin", tag: "admins",
            summary: "Makes a user in the live an admin; a live has at most 5 admins.", call: "admin.set",
            parts: [.live, .user],
            success: .done),
        Route(
            method: .delete, path: "/v1/lives/{live}/admins/{user}", id: "revokeAdmin", tag: "admins",
            summary: "Takes away an admin's rights; the user may stay in the live.", call: "admin.revoke",
            parts: [.live, .user],
            success: .done),
    ]
}
