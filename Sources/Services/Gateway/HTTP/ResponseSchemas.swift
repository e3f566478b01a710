// SPDX-License-Identifier: Apache-2.0

/// The schemas of response values, by their names in the OpenAPI description.
///
/// A test checks that the schemas contain every property of every result. Clients must accept unknown properties,
/// because later versions may add some.
enum ResponseSchemas {
    /// All schemas, by name.
    static let all: [(name: String, schema: Schema)] =
        Self.people + Self.sanctions + Self.lives + Self.stages + Self.apps + Self.errors

    /// Returns the schema of a call's result, `{"<kind>": {<fields>}}`; `kind` is the result's name.
    static func result(_ kind: String, _ fields: [Schema.Field] = []) -> Schema {
        .object([.required(kind, .object(fields))])
    }

    /// The schema of the result of a call that returns no values, `{"done": {}}`.
    static let done = Self.result("done")

    /// The schema of a time in milliseconds since 1970.
    private static let time = Schema.int
    /// A map of strings with any number of entries.
    private static let stringMap = Schema.map(of: .string, 0...Int.max)

    /// The field with the time of an answer.
    static let at = Schema.Field.optional("at", Self.time, "The time of the answer, in milliseconds since 1970.")
    /// The field with the revision of a live's info.
    static let revision = Schema.Field.optional("revision", .count, "Grows with each change of the live's info.")

    /// A list with any number of elements.
    private static func list(_ element: Schema) -> Schema { .list(of: element, 0...Int.max) }

    // In these lists, the second string of a property, after its schema, is its description.

    private static let people: [(String, Schema)] = [
        (
            "UserInfo",
            .object([.required("userID", .string), .required("userName", .string), .required("avatarURL", .string)])
        ),
        (
            "AudienceMember",
            .object([
                .required("user", .named("UserInfo")), .required("joinedAt", Self.time, "Milliseconds since 1970."),
                .required("role", .integer(0...2), "0 owner, 1 admin, 2 anybody else."),
            ])
        ),
        (
            "AudiencePage",
            .object([
                .required("members", Self.list(.named("AudienceMember"))),
                .required("cursor", .string, "The cursor of the next page; empty on the last page."),
                .required("count", .count), Self.at,
            ])
        ),
        (
            "LiveCount",
            .object([
                .required("live", .string), .required("count", .count, "Users in the live, without the owner."),
                .required("totalViewers", .count, "How often users entered the live; repeated visits count again."),
                .required("stale", .boolean, "True: the count is not certain now, because presence is recovering."),
                .required("at", Self.time, "Milliseconds since 1970."),
            ])
        ),
    ]

    private static let sanctions: [(String, Schema)] = [
        (
            "Sanction",
            .object([
                .required("user", .string),
                .optional("until", Self.time, "The end, in milliseconds since 1970; absent: it never ends."),
                .required("reason", .string), .required("by", .string, "The user who banned or muted."),
                .optional(
                    "userInfo", .named("UserInfo"), "The user's profile at the ban or mute, if it was in the live."),
            ])
        ),
        (
            "SanctionPage",
            .object([
                .required("items", Self.list(.named("Sanction"))),
                .required("nextOffset", .count, "The offset of the next page; 0 on the last page."), Self.at,
                .optional("own", .named("Sanction"), "In a list of mutes: the mute of the caller, on whichever page."),
            ])
        ),
    ]

    private static let lives: [(String, Schema)] = [
        (
            "LiveInfo",
            .object([
                .required("liveID", .string), .required("liveName", .string), .required("notice", .string),
                .required("isMessageDisable", .boolean), .required("isPublicVisible", .boolean),
                .required("keepOwnerOnSeat", .boolean), .required("maxSeatCount", .count),
                .required("seatMode", .choice(["free", "apply"])), .required("seatTemplate", .count),
                .required("coverURL", .string), .required("backgroundURL", .string),
                .required("categoryList", Self.list(.int)), .required("activityStatus", .int),
                .required("isGiftEnabled", .boolean), .required("metaData", Self.stringMap),
                .required("maxMemberCount", .count, "0: as many as the app allows."),
                .required("status", .integer(1...3), "1 scheduled, 2 running, 3 suspended."),
                .required("liveOwner", .named("UserInfo")),
                .required("createTime", Self.time, "Milliseconds since 1970."), .required("admins", Self.list(.string)),
            ])
        ),
        (
            "LiveListEntry",
            .object([
                .required("info", .named("LiveInfo")), .required("audienceCount", .count),
                .required("totalViewerCount", .count),
            ])
        ),
        (
            "LiveDetails",
            .object([
                .required("info", .named("LiveInfo")), .required("epoch", .count), Self.revision,
                .required("audience", .named("LiveCount")),
                .optional("stage", .named("Stage")),
            ])
        ),
        (
            "LiveStatistics",
            .object(
                [
                    "totalViewers", "totalGiftsSent", "totalGiftCoins", "totalUniqueGiftSenders",
                    "totalLikesReceived", "totalMessageCount", "liveDuration",
                ].map { .required($0, .count) })
        ),
        ("FeedPosition", .object([.required("epoch", .count), .required("number", .count)])),
        (
            "LiveCode",
            .object([
                .required("live", .string), .required("code", .int, "0: success."),
                .optional("reason", .int, "If `code` is not 0: the reply code that says why."),
            ])
        ),
    ]

    private static let stages: [(String, Schema)] = [
        (
            "SeatUser",
            .object([
                .required("user", .named("UserInfo")),
                .required("role", .integer(0...2), "0 owner, 1 admin, 2 anybody else."), .required("live", .string),
                .required("isMicrophoneOn", .boolean), .required("allowOpenMicrophone", .boolean),
                .required("isCameraOn", .boolean), .required("allowOpenCamera", .boolean),
                .required("suspendStatus", .choice(["none", "inBackground", "inCalling"])),
            ])
        ),
        (
            "Seat",
            .object([
                .required("index", .count), .required("isLocked", .boolean), .required("isMicrophoneLocked", .boolean),
                .required("isCameraLocked", .boolean), .optional("occupant", .named("SeatUser")),
            ])
        ),
        (
            "ConnectionMember",
            .object([
                .required("live", .string), .required("host", .named("UserInfo")), .required("joinedAt", Self.time),
                .optional("seats", Self.list(.named("Seat"))),
            ])
        ),
        (
            "Connection",
            .object([
                .required("id", .string), .required("members", Self.list(.named("ConnectionMember"))),
                .required("templateID", .count), .required("mutedLives", Self.list(.string)),
            ])
        ),
        (
            "BattleSide",
            .object([
                .required("live", .string), .required("host", .named("UserInfo")), .required("score", .int),
                .required("hasLeft", .boolean),
            ])
        ),
        (
            "Battle",
            .object([
                .required("id", .string), .required("extensionInfo", .string), .required("durationSeconds", .count),
                .required("needResponse", .boolean), .required("startTime", Self.time), .required("endTime", Self.time),
                .required("sides", Self.list(.named("BattleSide"))),
                .optional("ended", .choice(["timeOver", "allMemberExit"])),
            ])
        ),
        (
            "BattleDetails",
            .object([
                .required("id", .string), .required("inviter", .string), .required("createTime", Self.time),
                .required("durationSeconds", .count), .required("needResponse", .boolean),
                .required("extensionInfo", .string), .optional("expiresAt", Self.time),
                .required(
                    "invitees",
                    Self.list(.object([.required("live", .string), .required("hasAccepted", .boolean)]))),
                .optional("battle", .named("Battle")),
            ])
        ),
        (
            "Stage",
            // `v` is the version of the record's format.
            .object([
                .required("v", .count), .required("app", .string), .required("live", .string),
                .required("epoch", .count),
                .required("revision", .count), .required("seats", Self.list(.named("Seat"))),
                .optional("connection", .named("Connection")), .optional("battle", .named("Battle")),
                .optional("otherBattles", Self.list(.named("Battle"))), .required("layout", .named("Layout")),
            ])
        ),
        (
            "Layout",
            .object([
                .required(
                    "canvas",
                    .object([
                        .required("width", .count), .required("height", .count), .required("templateID", .count),
                    ])),
                .required(
                    "regions",
                    Self.list(
                        .object([
                            .required("live", .string), .required("userID", .string, "Empty: nobody is shown there."),
                            .required("seatIndex", .count), .required("x", .int), .required("y", .int),
                            .required("width", .count), .required("height", .count), .required("zorder", .int),
                        ]))),
            ])
        ),
    ]

    private static let apps: [(String, Schema)] = [
        ("GiftText", .object([.required("name", .string), .required("desc", .string)])),
        (
            "Gift",
            .object([
                .required("giftID", .string), .required("name", .string), .required("desc", .string),
                .required("iconURL", .string), .required("resourceURL", .string), .required("level", .count),
                .required("coins", .count), .required("extensionInfo", .string),
                .optional("translations", .map(of: .named("GiftText"), 0...Int.max)),
            ])
        ),
        (
            "GiftCategory",
            .object([
                .required("categoryID", .string), .required("name", .string), .required("desc", .string),
                .required("extensionInfo", .string), .required("gifts", Self.list(.named("Gift"))),
                .optional("translations", .map(of: .named("GiftText"), 0...Int.max)),
            ])
        ),
        (
            "AppSettings",
            .object([
                .required("words", Self.list(.string)), .required("gifts", Self.list(.named("GiftCategory"))),
            ])
        ),
    ]

    private static let errors: [(String, Schema)] = [
        (
            "Error",
            .object([
                .required(
                    "error",
                    .object([
                        .required(
                            "code", .int, "The reply code, which programs should check (PROTOCOL.md, section 13)."),
                        .required("name", .string),
                        .required("message", .string, "What was wrong, for people; names a limit that was exceeded."),
                        .optional("retryAfter", .count, "The milliseconds after which to try again."),
                        .optional("reason", .string, "Why the caller cannot be in the live."),
                    ]))
            ])
        )
    ]
}
