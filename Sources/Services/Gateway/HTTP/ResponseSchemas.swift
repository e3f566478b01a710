// SPDX-License-Identifier: Apache-2.0

/// The schemas of response values, by their names in the OpenAPI description.
///
/// A test checks that every property is described. Clients must accept unknown properties, because later versions may
/// add some.
enum ResponseSchemas {
    /// All schemas, by name.
    static let all: [(name: String, form: Schema)] =
        Self.people + Self.sanctions + Self.lives + Self.stages + Self.apps + Self.errors

    /// Returns the schema of a call's result, `{"kind": {…}}`.
    static func result(_ kind: String, _ fields: [Schema.Field] = []) -> Schema {
        .object([.needed(kind, .object(fields))])
    }

    /// The result of a call that returns no values.
    static let done = Self.result("done")

    private static let time = Schema.int
    private static let texts = Schema.map(of: .string, 0...Int.max)

    /// The time of an answer.
    static let at = Schema.Field.optional("at", Self.time, "Milliseconds since 1970: when this was so.")
    /// The revision of a live's info.
    static let revision = Schema.Field.optional("revision", .count, "Grows with each change of the live's info.")

    private static func list(_ form: Schema) -> Schema { .list(of: form, 0...Int.max) }

    private static let people: [(String, Schema)] = [
        (
            "UserInfo",
            .object([.needed("userID", .string), .needed("userName", .string), .needed("avatarURL", .string)])
        ),
        (
            "AudienceMember",
            .object([
                .needed("user", .named("UserInfo")), .needed("joinedAt", Self.time, "Milliseconds since 1970."),
                .needed("role", .integer(0...2), "0 owner, 1 admin, 2 anybody else."),
            ])
        ),
        (
            "AudiencePage",
            .object([
                .needed("members", Self.list(.named("AudienceMember"))),
                .needed("cursor", .string, "Where the next page begins; empty: there is none."),
                .needed("count", .count), Self.at,
            ])
        ),
        (
            "LiveCount",
            .object([
                .needed("live", .string), .needed("count", .count, "Users in the live, the owner not counted."),
                .needed("totalViewers", .count, "All entries, repeat visits counted."),
                .needed("stale", .boolean, "Presence cannot vouch for the count just now."),
                .needed("at", Self.time, "Milliseconds since 1970."),
            ])
        ),
    ]

    private static let sanctions: [(String, Schema)] = [
        (
            "Sanction",
            .object([
                .needed("user", .string), .optional("until", Self.time, "Milliseconds since 1970; none: for good."),
                .needed("reason", .string), .needed("by", .string, "Who made it."),
                .optional("userInfo", .named("UserInfo"), "As the user was shown then, if it was in the live."),
            ])
        ),
        (
            "SanctionPage",
            .object([
                .needed("items", Self.list(.named("Sanction"))),
                .needed("nextOffset", .count, "Where the next page begins; 0: there is none."), Self.at,
                .optional("own", .named("Sanction"), "Of mutes: the caller's own."),
            ])
        ),
    ]

    private static let lives: [(String, Schema)] = [
        (
            "LiveInfo",
            .object([
                .needed("liveID", .string), .needed("liveName", .string), .needed("notice", .string),
                .needed("isMessageDisable", .boolean), .needed("isPublicVisible", .boolean),
                .needed("keepOwnerOnSeat", .boolean), .needed("maxSeatCount", .count),
                .needed("seatMode", .choice(["free", "apply"])), .needed("seatTemplate", .count),
                .needed("coverURL", .string), .needed("backgroundURL", .string),
                .needed("categoryList", Self.list(.int)), .needed("activityStatus", .int),
                .needed("isGiftEnabled", .boolean), .needed("metaData", Self.texts),
                .needed("maxMemberCount", .count, "0: as many as the app allows."),
                .needed("status", .integer(1...3), "1 scheduled, 2 running, 3 suspended."),
                .needed("liveOwner", .named("UserInfo")),
                .needed("createTime", Self.time, "Milliseconds since 1970."), .needed("admins", Self.list(.string)),
            ])
        ),
        (
            "LiveListEntry",
            .object([
                .needed("info", .named("LiveInfo")), .needed("audienceCount", .count),
                .needed("totalViewerCount", .count),
            ])
        ),
        (
            "LiveDetails",
            .object([
                .needed("info", .named("LiveInfo")), .needed("epoch", .count), Self.revision,
                .needed("audience", .named("LiveCount")),
                .optional("stage", .named("Stage")),
            ])
        ),
        (
            "LiveStatistics",
            .object(
                [
                    "totalViewers", "totalGiftsSent", "totalGiftCoins", "totalUniqueGiftSenders",
                    "totalLikesReceived", "totalMessageCount", "liveDuration",
                ].map { .needed($0, .count) })
        ),
        ("FeedPosition", .object([.needed("epoch", .count), .needed("number", .count)])),
        (
            "LiveCode",
            .object([
                .needed("live", .string), .needed("code", .int, "0: success."),
                .optional("reason", .int, "The reply code that stands behind it."),
            ])
        ),
    ]

    private static let stages: [(String, Schema)] = [
        (
            "SeatUser",
            .object([
                .needed("user", .named("UserInfo")),
                .needed("role", .integer(0...2), "0 owner, 1 admin, 2 anybody else."), .needed("live", .string),
                .needed("isMicrophoneOn", .boolean), .needed("allowOpenMicrophone", .boolean),
                .needed("isCameraOn", .boolean), .needed("allowOpenCamera", .boolean),
                .needed("suspendStatus", .choice(["none", "inBackground", "inCalling"])),
            ])
        ),
        (
            "Seat",
            .object([
                .needed("index", .count), .needed("isLocked", .boolean), .needed("isMicrophoneLocked", .boolean),
                .needed("isCameraLocked", .boolean), .optional("occupant", .named("SeatUser")),
            ])
        ),
        (
            "ConnectionMember",
            .object([
                .needed("live", .string), .needed("host", .named("UserInfo")), .needed("joinedAt", Self.time),
                .optional("seats", Self.list(.named("Seat"))),
            ])
        ),
        (
            "Connection",
            .object([
                .needed("id", .string), .needed("members", Self.list(.named("ConnectionMember"))),
                .needed("templateID", .count), .needed("mutedLives", Self.list(.string)),
            ])
        ),
        (
            "BattleSide",
            .object([
                .needed("live", .string), .needed("host", .named("UserInfo")), .needed("score", .int),
                .needed("hasLeft", .boolean),
            ])
        ),
        (
            "Battle",
            .object([
                .needed("id", .string), .needed("extensionInfo", .string), .needed("durationSeconds", .count),
                .needed("needResponse", .boolean), .needed("startTime", Self.time), .needed("endTime", Self.time),
                .needed("sides", Self.list(.named("BattleSide"))),
                .optional("ended", .choice(["timeOver", "allMemberExit"])),
            ])
        ),
        (
            "BattleDetails",
            .object([
                .needed("id", .string), .needed("inviter", .string), .needed("createTime", Self.time),
                .needed("durationSeconds", .count), .needed("needResponse", .boolean),
                .needed("extensionInfo", .string), .optional("expiresAt", Self.time),
                .needed(
                    "invitees",
                    Self.list(.object([.needed("live", .string), .needed("hasAccepted", .boolean)]))),
                .optional("battle", .named("Battle")),
            ])
        ),
        (
            "Stage",
            .object([
                .needed("v", .count), .needed("app", .string), .needed("live", .string), .needed("epoch", .count),
                .needed("revision", .count), .needed("seats", Self.list(.named("Seat"))),
                .optional("connection", .named("Connection")), .optional("battle", .named("Battle")),
                .optional("otherBattles", Self.list(.named("Battle"))), .needed("layout", .named("Layout")),
            ])
        ),
        (
            "Layout",
            .object([
                .needed(
                    "canvas",
                    .object([.needed("width", .count), .needed("height", .count), .needed("templateID", .count)])),
                .needed(
                    "regions",
                    Self.list(
                        .object([
                            .needed("live", .string), .needed("userID", .string, "Empty: nobody is there."),
                            .needed("seatIndex", .count), .needed("x", .int), .needed("y", .int),
                            .needed("width", .count), .needed("height", .count), .needed("zorder", .int),
                        ]))),
            ])
        ),
    ]

    private static let apps: [(String, Schema)] = [
        ("GiftText", .object([.needed("name", .string), .needed("desc", .string)])),
        (
            "Gift",
            .object([
                .needed("giftID", .string), .needed("name", .string), .needed("desc", .string),
                .needed("iconURL", .string), .needed("resourceURL", .string), .needed("level", .count),
                .needed("coins", .count), .needed("extensionInfo", .string),
                .optional("translations", .map(of: .named("GiftText"), 0...Int.max)),
            ])
        ),
        (
            "GiftCategory",
            .object([
                .needed("categoryID", .string), .needed("name", .string), .needed("desc", .string),
                .needed("extensionInfo", .string), .needed("gifts", Self.list(.named("Gift"))),
                .optional("translations", .map(of: .named("GiftText"), 0...Int.max)),
            ])
        ),
        (
            "AppSettings",
            .object([
                .needed("words", Self.list(.string)), .needed("gifts", Self.list(.named("GiftCategory"))),
            ])
        ),
    ]

    private static let errors: [(String, Schema)] = [
        (
            "Error",
            .object([
                .needed(
                    "error",
                    .object([
                        .needed("code", .int, "What to switch on (PROTOCOL.md, section 13)."),
                        .needed("name", .string), .needed("message", .string, "What was wrong, and the limit."),
                        .optional("retryAfter", .count, "Milliseconds after which a new try makes sense."),
                        .optional("reason", .string, "Why the live is closed to the caller."),
                    ]))
            ])
        )
    ]
}
