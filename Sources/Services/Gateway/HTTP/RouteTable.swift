// SPDX-License-Identifier: Apache-2.0
internal import HTTPServer
internal import PlazaModel
internal import PlazaWire

/// Every operation of the HTTP API (docs/HTTP-API.md, section 3).
enum RouteTable {
    /// All routes, in their order in the OpenAPI description.
    static let all: [Route] =
        Self.lives + Self.audience + Self.sanctions + Self.messages + Self.stages + Self.battles + Self.appSettings
        + Self.calls

    /// The fields of a live that a create or update request may set (R13.12).
    private static let settableFields: [Schema.Field] = [
        .optional(
            "liveName", .plainText(0...Limits.liveNameBytes),
            "At most 100 bytes; if it is empty, the live's id is the name."),
        .optional("notice", .text(0...Limits.noticeBytes), "At most 100 bytes."),
        .optional("isMessageDisable", .boolean, "True: mutes all users except the owner and the admins."),
        .optional("isPublicVisible", .boolean, "False: the live is in no list, but can be joined by its id."),
        .optional("keepOwnerOnSeat", .boolean), .optional("maxSeatCount", .integer(0...Int64(Limits.seatCount))),
        .optional("seatMode", .choice(["free", "apply"])), .optional("seatTemplate", .integer(1...999)),
        .optional("coverURL", .plainText(0...Limits.urlBytes)),
        .optional("backgroundURL", .plainText(0...Limits.urlBytes)),
        .optional("categoryList", .list(of: .int, 0...Limits.categories)), .optional("activityStatus", .int),
        .optional("isGiftEnabled", .boolean),
        .optional(
            "maxMemberCount", .integer(0...AppPolicy.largestAudience),
            "The largest number of viewers; 0: as many as the app allows."),
    ]

    /// The result of a create or update request.
    private static let liveResult = ResponseSchemas.result(
        "live", [.required("info", .named("LiveInfo")), .required("epoch", .count), ResponseSchemas.revision])

    static let lives: [Route] = [
        Route(
            method: .get, path: "/v1/lives", id: "listLives", tag: "lives",
            summary: "Lists the public lives; by default, the lives that were entered most often come first.",
            call: "live.list",
            access: .anyone,
            query: [
                .init(
                    name: "cursor", field: "cursor", schema: .string,
                    summary: "The `cursor` of the previous page; absent for the first page."),
                .init(
                    name: "count", field: "count", schema: .integer(1...Int64(Limits.listPage)),
                    summary: "The largest number of entries on the page; 20 by default."),
                .init(
                    name: "category", field: "category", schema: .int, summary: "Only lives with this category."),
                .init(
                    name: "order", field: "order", schema: .choice(["descending", "ascending"]),
                    summary:
                        "By how often a live was entered; descending by default. Later pages have the first page's "
                        + "order."),
            ],
            success: .result(
                "lives",
                [
                    .required("items", .list(of: .named("LiveListEntry"), 0...Limits.listPage)),
                    .required("cursor", .string, "The cursor of the next page; empty on the last page."),
                ])),
        Route(
            method: .post, path: "/v1/lives", id: "createLive", tag: "lives",
            summary: "Creates a live for its owner, who need not be connected.", call: "live.create",
            body: .object(
                [
                    .required("live", Route.liveID), .required("owner", Route.userID),
                    .optional("ownerName", .plainText(0...Limits.userNameBytes)),
                    .optional("ownerAvatarURL", .plainText(0...Limits.urlBytes)),
                ] + Self.settableFields), success: .init(status: 201, result: Self.liveResult)),
        Route(
            method: .get, path: "/v1/lives/{live}", id: "getLive", tag: "lives",
            summary: "Gives a live's info, count and stage.", call: "live.get", access: .anyone, parts: [.live],
            success: .result("room", [.required("details", .named("LiveDetails"))])),
        Route(
            method: .patch, path: "/v1/lives/{live}", id: "updateLive", tag: "lives",
            summary: "Changes those fields of a live that the body contains.", call: "live.update", parts: [.live],
            body: .object(Self.settableFields), success: .init(result: Self.liveResult)),
        Route(
            method: .delete, path: "/v1/lives/{live}", id: "endLive", tag: "lives",
            summary: "Ends a live for good.", call: "live.end", parts: [.live],
            success: .result("statistics", [.required("statistics", .named("LiveStatistics")), ResponseSchemas.at])
        ),
        Route(
            method: .get, path: "/v1/lives/{live}/statistics", id: "getStatistics", tag: "lives",
            summary: "Gives the statistics of a live: until now, or until its end if it has ended.",
            call: "live.summary",
            access: .anyone,
            parts: [.live],
            success: .result("statistics", [.required("statistics", .named("LiveStatistics")), ResponseSchemas.at])
        ),
        Route(
            method: .get, path: "/v1/lives/{live}/metadata", id: "getMetadata", tag: "metadata",
            summary: "Gives a live's metadata.", call: "metadata.get", access: .anyone, parts: [.live],
            query: [Self.keysQuery("A metadata key to read, given once for each key; by default, all keys are read.")],
            success: .result("metadata", [.required("values", .map(of: .string, 0...Int.max))])),
        Route(
            method: .patch, path: "/v1/lives/{live}/metadata", id: "setMetadata", tag: "metadata",
            summary: "Sets those metadata keys of a live that the body contains.", call: "metadata.set", parts: [.live],
            body: .object([
                .required(
                    "metadata",
                    .map(
                        of: .text(0...Limits.metadataValueBytes), 1...Limits.metadataKeys,
                        names: .plainText(1...Limits.metadataKeyBytes)),
                    "At most 10 keys. A key has at most 50 bytes, a value at most 2 KB, and all values at most 16 KB.")
            ]), success: .done),
        Route(
            method: .delete, path: "/v1/lives/{live}/metadata", id: "deleteMetadata", tag: "metadata",
            summary: "Removes metadata keys of a live.", call: "metadata.delete", parts: [.live],
            query: [Self.keysQuery("A metadata key to remove, given once for each key.", isRequired: true)],
            success: .done),
    ]

    /// Returns the query item `key`, which is given once for each metadata key.
    private static func keysQuery(_ summary: String, isRequired: Bool = false) -> Route.QueryItem {
        .init(
            name: "key", field: "keys",
            schema: .list(of: .string, (isRequired ? 1 : 0)...Int.max), isRequired: isRequired, summary: summary)
    }

    /// The route for any call by its name, including calls that have no other route.
    private static let calls: [Route] = [
        Route(
            method: .post, path: "/v1/call/{method}", id: "call", tag: "calls",
            summary: "Makes a call by its name (PROTOCOL.md, section 5) with the body as its parameters.", call: nil,
            access: .anyone,
            parts: [
                .init(
                    name: "method", field: "method", schema: .choice(Self.callable),
                    summary: "The call's name; calls that need a WebSocket connection are excluded.")
            ], body: .anything, isBodyRequired: false, success: .init(result: .anything))
    ]

    /// The calls that need no WebSocket connection.
    ///
    /// `login` needs one, too, but is not among `CallParser.methods`.
    static let callable: [String] = CallParser.methods.subtracting(["live.join", "live.leave", "self.update"]).sorted()
}
