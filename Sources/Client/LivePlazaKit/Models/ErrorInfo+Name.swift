// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel

extension ErrorInfo {
    /// The name of a code, to switch on: `switch error.name { case .roomMuted: … default: … }`.
    ///
    /// A later version of the server may send codes whose names are not declared here.
    public struct Name: RawRepresentable, Hashable, Sendable {
        /// The name in PROTOCOL.md, section 13.
        public let rawValue: String

        /// Makes a name.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// The code's name.
    public var name: Name {
        self.code == Self.sdkAppIDNotFoundCode ? .sdkAppIDNotFound : Name(rawValue: ReplyCode(self.code).name)
    }

    /// The code of a login whose `sdkAppID` is not the app of the token; reported by this client, never by a server.
    static let sdkAppIDNotFoundCode = -1000
}

/// In these names a live is called a room, as in the protocol.
extension ErrorInfo.Name {
    /// Failed for the reason in the message.
    public static let failed = ErrorInfo.Name(rawValue: "failed")
    /// The call was made too often.
    public static let tooFrequent = ErrorInfo.Name(rawValue: "tooFrequent")
    /// A parameter failed a check, usually of this client; the server's checks report `badParameter`.
    public static let invalidParameter = ErrorInfo.Name(rawValue: "invalidParameter")
    /// The token of the login names another app.
    public static let sdkAppIDNotFound = ErrorInfo.Name(rawValue: "sdkAppIDNotFound")
    /// The client is not logged in.
    public static let notLoggedIn = ErrorInfo.Name(rawValue: "notLoggedIn")
    /// The live that the user wants to join does not exist.
    public static let noSuchRoomOnEntry = ErrorInfo.Name(rawValue: "noSuchRoomOnEntry")
    /// The caller is not in the live; it must join the live before such a call.
    public static let notInRoom = ErrorInfo.Name(rawValue: "notInRoom")
    /// The text is not a valid id of a live.
    public static let badRoomID = ErrorInfo.Name(rawValue: "badRoomID")
    /// The text is not a valid name of a live.
    public static let badRoomName = ErrorInfo.Name(rawValue: "badRoomName")
    /// The user is in another live, or runs another live as its owner.
    public static let inAnotherRoom = ErrorInfo.Name(rawValue: "inAnotherRoom")
    /// Only the owner of the live may make this call.
    public static let needsOwner = ErrorInfo.Name(rawValue: "needsOwner")
    /// Only the owner and the admins of the live may make this call.
    public static let needsOwnerOrAdmin = ErrorInfo.Name(rawValue: "needsOwnerOrAdmin")
    /// The request has ended already.
    public static let requestGone = ErrorInfo.Name(rawValue: "requestGone")
    /// The same request is open already.
    public static let requestRepeated = ErrorInfo.Name(rawValue: "requestRepeated")
    /// No seat is left: the empty ones are locked or reserved.
    public static let seatLimit = ErrorInfo.Name(rawValue: "seatLimit")
    /// The seat does not exist.
    public static let noSuchSeat = ErrorInfo.Name(rawValue: "noSuchSeat")
    /// The seat's microphone is locked.
    public static let seatMicrophoneLocked = ErrorInfo.Name(rawValue: "seatMicrophoneLocked")
    /// A host has closed and locked the user's microphone.
    public static let microphoneNeedsHost = ErrorInfo.Name(rawValue: "microphoneNeedsHost")
    /// The seat's camera is locked.
    public static let seatCameraLocked = ErrorInfo.Name(rawValue: "seatCameraLocked")
    /// A host has closed and locked the user's camera.
    public static let cameraNeedsHost = ErrorInfo.Name(rawValue: "cameraNeedsHost")
    /// All viewers of the live are muted.
    public static let roomMuted = ErrorInfo.Name(rawValue: "roomMuted")
    /// The user is muted in this live.
    public static let userMuted = ErrorInfo.Name(rawValue: "userMuted")
    /// The message is too long.
    public static let messageTooLong = ErrorInfo.Name(rawValue: "messageTooLong")
    /// There was no answer in time.
    public static let timedOut = ErrorInfo.Name(rawValue: "timedOut")
    /// A queue of the server is full.
    public static let overloaded = ErrorInfo.Name(rawValue: "overloaded")
    /// The cursor has expired; read the list again from its beginning.
    public static let cursorExpired = ErrorInfo.Name(rawValue: "cursorExpired")
    /// The call is too old, or its id is not above the id of a call whose outcome the server no longer keeps.
    public static let requestForgotten = ErrorInfo.Name(rawValue: "requestForgotten")
    /// The method does not exist.
    public static let unknownMethod = ErrorInfo.Name(rawValue: "unknownMethod")
    /// The client's frame is not a call, or the server's frame breaks the protocol, such as a result of a wrong kind.
    public static let badFrame = ErrorInfo.Name(rawValue: "badFrame")
    /// The feed's budget dropped the message.
    public static let droppedByBudget = ErrorInfo.Name(rawValue: "droppedByBudget")
    /// The broker or the presence service cannot be reached.
    public static let unavailable = ErrorInfo.Name(rawValue: "unavailable")
    /// The user was kicked or has left since the join.
    public static let staleTicket = ErrorInfo.Name(rawValue: "staleTicket")
    /// The user signed in on another device while this session was away.
    public static let signedInElsewhere = ErrorInfo.Name(rawValue: "signedInElsewhere")
    /// The token has expired.
    public static let tokenExpired = ErrorInfo.Name(rawValue: "tokenExpired")
    /// The token is not valid.
    public static let tokenInvalid = ErrorInfo.Name(rawValue: "tokenInvalid")
    /// A fault of the server.
    public static let internalError = ErrorInfo.Name(rawValue: "internalError")
    /// The server found a parameter invalid; the error's message names it.
    public static let badParameter = ErrorInfo.Name(rawValue: "badParameter")
    /// The live's id is in use.
    public static let roomExists = ErrorInfo.Name(rawValue: "roomExists")
    /// The live that the call is about does not exist, or has ended.
    public static let noSuchRoom = ErrorInfo.Name(rawValue: "noSuchRoom")
    /// The user whom the call names is not in the live.
    public static let notMember = ErrorInfo.Name(rawValue: "notMember")
    /// The user has no permission for this call.
    public static let noPermission = ErrorInfo.Name(rawValue: "noPermission")
    /// The live is full.
    public static let roomFull = ErrorInfo.Name(rawValue: "roomFull")
    /// The live would have more than 3 categories, which the name calls tags.
    public static let tooManyTags = ErrorInfo.Name(rawValue: "tooManyTags")
    /// The owner runs this live already.
    public static let roomExistsAndIsYours = ErrorInfo.Name(rawValue: "roomExistsAndIsYours")
    /// The user has created lives too often.
    public static let createdTooOften = ErrorInfo.Name(rawValue: "createdTooOften")
    /// A limit is exceeded; the error's message names it.
    public static let overLimit = ErrorInfo.Name(rawValue: "overLimit")
    /// A voice live and a video live cannot be connected or turned into each other.
    public static let wrongRoomKind = ErrorInfo.Name(rawValue: "wrongRoomKind")
    /// The user is banned from the live.
    public static let banned = ErrorInfo.Name(rawValue: "banned")
    /// The code 100017, which is reserved and which no server sends.
    public static let muted = ErrorInfo.Name(rawValue: "muted")
    /// The live has its maximum number of admins.
    public static let tooManyAdmins = ErrorInfo.Name(rawValue: "tooManyAdmins")
    /// The app's word filter rejects the text.
    public static let sensitiveWords = ErrorInfo.Name(rawValue: "sensitiveWords")
    /// A request that conflicts with this one is open already.
    public static let requestConflict = ErrorInfo.Name(rawValue: "requestConflict")
    /// The seat is locked.
    public static let seatLocked = ErrorInfo.Name(rawValue: "seatLocked")
    /// The seat is occupied or reserved.
    public static let seatOccupied = ErrorInfo.Name(rawValue: "seatOccupied")
    /// The caller is on a seat already.
    public static let alreadySeated = ErrorInfo.Name(rawValue: "alreadySeated")
    /// No seat is free: every seat is occupied.
    public static let allSeatsTaken = ErrorInfo.Name(rawValue: "allSeatsTaken")
    /// The caller, or the user whom the call names, is on no seat.
    public static let notOnSeat = ErrorInfo.Name(rawValue: "notOnSeat")
    /// The user whom the call names is on a seat already.
    public static let userAlreadyOnSeat = ErrorInfo.Name(rawValue: "userAlreadyOnSeat")
    /// The live has no seats.
    public static let roomHasNoSeats = ErrorInfo.Name(rawValue: "roomHasNoSeats")
    /// The connection of the lives, or the request for it, does not exist.
    public static let noSuchConnection = ErrorInfo.Name(rawValue: "noSuchConnection")
    /// The lives are connected already.
    public static let alreadyConnected = ErrorInfo.Name(rawValue: "alreadyConnected")
    /// A co-host request to the live is open already, from this live or another.
    public static let connectionPending = ErrorInfo.Name(rawValue: "connectionPending")
    /// The live is connected with other lives.
    public static let connectedElsewhere = ErrorInfo.Name(rawValue: "connectedElsewhere")
    /// The connection has its maximum number of lives.
    public static let connectionLimit = ErrorInfo.Name(rawValue: "connectionLimit")
    /// The live has sent too many co-host requests.
    public static let connectionTooFrequent = ErrorInfo.Name(rawValue: "connectionTooFrequent")
    /// The battle does not exist.
    public static let noSuchBattle = ErrorInfo.Name(rawValue: "noSuchBattle")
    /// None of the lives can battle now.
    public static let noValidRoom = ErrorInfo.Name(rawValue: "noValidRoom")
    /// The live has sent too many battle requests.
    public static let battleTooFrequent = ErrorInfo.Name(rawValue: "battleTooFrequent")
    /// The live is not in the battle.
    public static let roomNotInBattle = ErrorInfo.Name(rawValue: "roomNotInBattle")
    /// The live is in another battle.
    public static let inAnotherBattle = ErrorInfo.Name(rawValue: "inAnotherBattle")
    /// A battle request is pending.
    public static let battlePending = ErrorInfo.Name(rawValue: "battlePending")
    /// The live has no battle.
    public static let noBattleInRoom = ErrorInfo.Name(rawValue: "noBattleInRoom")
    /// The call is not possible while the battle runs.
    public static let notWhileFighting = ErrorInfo.Name(rawValue: "notWhileFighting")
    /// The battle has not begun.
    public static let battleNotStarted = ErrorInfo.Name(rawValue: "battleNotStarted")
    /// The battle is over.
    public static let battleOver = ErrorInfo.Name(rawValue: "battleOver")
    /// Too many metadata keys.
    public static let tooManyMetadataKeys = ErrorInfo.Name(rawValue: "tooManyMetadataKeys")
    /// A metadata value is too long.
    public static let metadataValueTooLong = ErrorInfo.Name(rawValue: "metadataValueTooLong")
    /// All metadata together are too long.
    public static let metadataTooLong = ErrorInfo.Name(rawValue: "metadataTooLong")
    /// The metadata key does not exist.
    public static let noSuchMetadataKey = ErrorInfo.Name(rawValue: "noSuchMetadataKey")
    /// A metadata key is too long.
    public static let metadataKeyTooLong = ErrorInfo.Name(rawValue: "metadataKeyTooLong")
    /// The app has no gifts.
    public static let giftsNotEnabled = ErrorInfo.Name(rawValue: "giftsNotEnabled")
    /// The gift or the category does not exist.
    public static let noSuchGift = ErrorInfo.Name(rawValue: "noSuchGift")
    /// The app's backend refused the gift, or did not answer.
    public static let giftCheckFailed = ErrorInfo.Name(rawValue: "giftCheckFailed")
    /// Gifts are disabled in this live.
    public static let giftsOffInLive = ErrorInfo.Name(rawValue: "giftsOffInLive")
}
