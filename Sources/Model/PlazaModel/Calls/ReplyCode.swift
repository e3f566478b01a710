// SPDX-License-Identifier: Apache-2.0

/// Why a call failed; docs/RULES.md, section 16, lists the codes.
///
/// LivePlaza's own codes are 60000 to 60999. A failed call leaves the connection open; a `DisconnectCode` ends a
/// connection.
package struct ReplyCode: Hashable, Sendable, Codable {
    package let code: Int
    package init(_ code: Int) { self.code = code }

    package init(from decoder: any Decoder) throws {
        self.code = try decoder.singleValueContainer().decode(Int.self)
    }
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(self.code)
    }
}

extension ReplyCode {
    // Codes below 0.
    package static let failed = ReplyCode(-1)
    package static let tooFrequent = ReplyCode(-2)
    /// The cursor does not belong to the list; any other wrong parameter is `badParameter`.
    package static let invalidParameter = ReplyCode(-1001)
    package static let notLoggedIn = ReplyCode(-1002)
    /// The live to join or resume in does not exist; other calls get `noSuchRoom`.
    package static let noSuchRoomOnEntry = ReplyCode(-2100)
    /// The caller is not in the live; if another user is not in the live, the code is `notMember`.
    package static let notInRoom = ReplyCode(-2101)
    package static let badRoomID = ReplyCode(-2105)
    package static let badRoomName = ReplyCode(-2107)
    package static let inAnotherRoom = ReplyCode(-2108)
    package static let needsOwner = ReplyCode(-2300)
    package static let needsOwnerOrAdmin = ReplyCode(-2301)
    package static let requestGone = ReplyCode(-2311)
    /// The same application is open already.
    ///
    /// If another application or an invitation is open, the code is `requestConflict`.
    package static let requestRepeated = ReplyCode(-2312)
    /// The free seats are locked or reserved; if no seat is free at all, the code is `allSeatsTaken`.
    package static let seatLimit = ReplyCode(-2340)
    package static let noSuchSeat = ReplyCode(-2344)
    package static let seatMicrophoneLocked = ReplyCode(-2360)
    package static let microphoneNeedsHost = ReplyCode(-2361)
    package static let seatCameraLocked = ReplyCode(-2370)
    package static let cameraNeedsHost = ReplyCode(-2371)
    /// All viewers of the live are muted.
    package static let roomMuted = ReplyCode(-2380)
    package static let userMuted = ReplyCode(-2381)
    // Codes from 100001 on.
    package static let internalError = ReplyCode(100001)
    package static let badParameter = ReplyCode(100002)
    package static let roomExists = ReplyCode(100003)
    package static let noSuchRoom = ReplyCode(100004)
    package static let notMember = ReplyCode(100005)
    package static let noPermission = ReplyCode(100006)
    package static let roomFull = ReplyCode(100008)
    package static let tooManyTags = ReplyCode(100009)
    package static let roomExistsAndIsYours = ReplyCode(100010)
    package static let createdTooOften = ReplyCode(100012)
    package static let overLimit = ReplyCode(100013)
    package static let wrongRoomKind = ReplyCode(100015)
    package static let banned = ReplyCode(100016)
    /// Reserved, and never sent; a muted user gets `userMuted`.
    package static let muted = ReplyCode(100017)
    package static let tooManyAdmins = ReplyCode(100020)
    package static let sensitiveWords = ReplyCode(100026)
    package static let requestConflict = ReplyCode(100102)
    package static let seatLocked = ReplyCode(100200)
    package static let seatOccupied = ReplyCode(100201)
    /// The caller sits on a seat already; if another user sits on one, the code is `userAlreadyOnSeat`.
    package static let alreadySeated = ReplyCode(100203)
    package static let allSeatsTaken = ReplyCode(100205)
    package static let notOnSeat = ReplyCode(100206)
    package static let userAlreadyOnSeat = ReplyCode(100210)
    package static let roomHasNoSeats = ReplyCode(100211)
    /// There is no such co-host request, or the lives are not connected.
    package static let noSuchConnection = ReplyCode(100400)
    package static let alreadyConnected = ReplyCode(100401)
    package static let connectionPending = ReplyCode(100402)
    package static let connectedElsewhere = ReplyCode(100403)
    package static let connectionLimit = ReplyCode(100404)
    package static let connectionTooFrequent = ReplyCode(100405)
    package static let noSuchBattle = ReplyCode(100411)
    /// None of the lives to invite can battle.
    package static let noValidRoom = ReplyCode(100412)
    package static let battleTooFrequent = ReplyCode(100413)
    package static let roomNotInBattle = ReplyCode(100414)
    package static let inAnotherBattle = ReplyCode(100415)
    package static let battlePending = ReplyCode(100416)
    package static let noBattleInRoom = ReplyCode(100418)
    package static let notWhileFighting = ReplyCode(100419)
    package static let battleNotStarted = ReplyCode(100420)
    package static let battleOver = ReplyCode(100421)
    package static let tooManyMetadataKeys = ReplyCode(100500)
    package static let metadataValueTooLong = ReplyCode(100501)
    package static let metadataTooLong = ReplyCode(100502)
    package static let noSuchMetadataKey = ReplyCode(100503)
    package static let metadataKeyTooLong = ReplyCode(100504)
    /// The app has no gifts; if only the live has disabled gifts, the code is `giftsOffInLive`.
    package static let giftsNotEnabled = ReplyCode(102001)
    package static let noSuchGift = ReplyCode(102002)
    /// The app's backend refused a gift or did not answer.
    package static let giftCheckFailed = ReplyCode(102004)
    package static let giftsOffInLive = ReplyCode(102008)
    // Codes of messages and tokens.
    package static let messageTooLong = ReplyCode(9522)
    package static let tokenExpired = ReplyCode(70001)
    package static let tokenInvalid = ReplyCode(70003)
    // LivePlaza's own codes.
    /// The machine that decides the call did not answer in time; the client may send the call again with the same id.
    package static let timedOut = ReplyCode(60008)
    /// A queue is full; retry after `retryAfter`.
    package static let overloaded = ReplyCode(60100)
    /// The cursor is too old or belongs to another gateway; start the list again.
    package static let cursorExpired = ReplyCode(60101)
    /// The request id is older than the stored outcomes of its session; this copy of the call was not applied.
    package static let requestForgotten = ReplyCode(60102)
    /// The method does not exist.
    package static let unknownMethod = ReplyCode(60103)
    /// The frame is not a call: it is not JSON, or lacks a call's fields.
    package static let badFrame = ReplyCode(60104)
    /// The feed budget dropped the message.
    package static let droppedByBudget = ReplyCode(60105)
    /// The broker is unreachable; retry after `retryAfter`.
    package static let unavailable = ReplyCode(60106)
    /// The ticket is older than a kick or a leave; join again.
    package static let staleTicket = ReplyCode(60107)
    /// The user signed in on another device while this session was away.
    package static let signedInElsewhere = ReplyCode(60108)

    /// The code's name (PROTOCOL.md, section 13); `error` and the number for a code without a name.
    package var name: String { Self.names[self.code] ?? "error\(self.code)" }

    private static let names: [Int: String] = [
        -1: "failed", -2: "tooFrequent", -1001: "invalidParameter", -1002: "notLoggedIn", -2100: "noSuchRoomOnEntry",
        -2101: "notInRoom", -2105: "badRoomID", -2107: "badRoomName", -2108: "inAnotherRoom",
        -2300: "needsOwner", -2301: "needsOwnerOrAdmin", -2311: "requestGone", -2312: "requestRepeated",
        -2340: "seatLimit", -2344: "noSuchSeat", -2360: "seatMicrophoneLocked", -2361: "microphoneNeedsHost",
        -2370: "seatCameraLocked", -2371: "cameraNeedsHost", -2380: "roomMuted", -2381: "userMuted",
        9522: "messageTooLong",
        60008: "timedOut", 60100: "overloaded", 60101: "cursorExpired", 60102: "requestForgotten",
        60103: "unknownMethod", 60104: "badFrame", 60105: "droppedByBudget", 60106: "unavailable",
        60107: "staleTicket", 60108: "signedInElsewhere", 70001: "tokenExpired", 70003: "tokenInvalid",
        100001: "internalError",
        100002: "badParameter", 100003: "roomExists", 100004: "noSuchRoom", 100005: "notMember",
        100006: "noPermission", 100008: "roomFull", 100009: "tooManyTags", 100010: "roomExistsAndIsYours",
        100012: "createdTooOften", 100013: "overLimit", 100015: "wrongRoomKind", 100016: "banned", 100017: "muted",
        100020: "tooManyAdmins", 100026: "sensitiveWords",
        100102: "requestConflict", 100200: "seatLocked", 100201: "seatOccupied", 100203: "alreadySeated",
        100205: "allSeatsTaken", 100206: "notOnSeat", 100210: "userAlreadyOnSeat", 100211: "roomHasNoSeats",
        100400: "noSuchConnection", 100401: "alreadyConnected", 100402: "connectionPending",
        100403: "connectedElsewhere", 100404: "connectionLimit", 100405: "connectionTooFrequent",
        100411: "noSuchBattle", 100412: "noValidRoom", 100413: "battleTooFrequent", 100414: "roomNotInBattle",
        100415: "inAnotherBattle", 100416: "battlePending", 100418: "noBattleInRoom", 100419: "notWhileFighting",
        100420: "battleNotStarted",
        100421: "battleOver", 100500: "tooManyMetadataKeys", 100501: "metadataValueTooLong",
        100502: "metadataTooLong", 100503: "noSuchMetadataKey", 100504: "metadataKeyTooLong",
        102001: "giftsNotEnabled", 102002: "noSuchGift", 102004: "giftCheckFailed", 102008: "giftsOffInLive",
    ]
}

/// The error of a failed call, as the caller receives it.
package struct ReplyError: Error, Hashable, Sendable, Codable {
    package var code: ReplyCode
    /// A description of the error, with the limit that was exceeded.
    package var message: String
    /// The milliseconds after which the client may retry; nil if there is no hint.
    package var retryAfter: Int64?
    /// Why a live is closed to a client that resumes in it: a `KickReason` or a `LiveEndReason` (R15.19); nil if not
    /// known.
    ///
    /// The reason is a text, so that a client can read reasons of later versions.
    package var reason: String?

    package init(_ code: ReplyCode, _ message: String, retryAfter: Int64? = nil, reason: String? = nil) {
        self.code = code
        self.message = message
        self.retryAfter = retryAfter
        self.reason = reason
    }
}
