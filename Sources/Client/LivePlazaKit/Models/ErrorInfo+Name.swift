// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel

extension ErrorInfo {
    /// The name of a code, to switch on: `switch error.name { case .roomMuted: … default: … }`.
    ///
    /// A later version of the server may give names that are not here.
    public struct Name: RawRepresentable, Hashable, Sendable {
        /// The name in PROTOCOL.md, section 13.
        public let rawValue: String

        /// Makes a name.
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// The code's name.
    public var name: Name { Name(rawValue: ReplyCode(self.code).name) }
}

extension ErrorInfo.Name {
    /// Failed for the reason in the message.
    public static let failed = ErrorInfo.Name(rawValue: "failed")
    /// Too often.
    public static let tooFrequent = ErrorInfo.Name(rawValue: "tooFrequent")
    /// A parameter has no meaning here.
    public static let invalidParameter = ErrorInfo.Name(rawValue: "invalidParameter")
    /// Log in first.
    public static let notLoggedIn = ErrorInfo.Name(rawValue: "notLoggedIn")
    /// No live of this name to enter.
    public static let noSuchRoomOnEntry = ErrorInfo.Name(rawValue: "noSuchRoomOnEntry")
    /// Join the live before acting in it.
    public static let notInRoom = ErrorInfo.Name(rawValue: "notInRoom")
    /// Not a live's name.
    public static let badRoomID = ErrorInfo.Name(rawValue: "badRoomID")
    /// Not a name for a live.
    public static let badRoomName = ErrorInfo.Name(rawValue: "badRoomName")
    /// In another live, or the owner runs another.
    public static let inAnotherRoom = ErrorInfo.Name(rawValue: "inAnotherRoom")
    /// The owner alone may.
    public static let needsOwner = ErrorInfo.Name(rawValue: "needsOwner")
    /// Owner and admins alone may.
    public static let needsOwnerOrAdmin = ErrorInfo.Name(rawValue: "needsOwnerOrAdmin")
    /// The request has ended already.
    public static let requestGone = ErrorInfo.Name(rawValue: "requestGone")
    /// This very request is open already.
    public static let requestRepeated = ErrorInfo.Name(rawValue: "requestRepeated")
    /// No seat is left.
    public static let seatLimit = ErrorInfo.Name(rawValue: "seatLimit")
    /// No such seat.
    public static let noSuchSeat = ErrorInfo.Name(rawValue: "noSuchSeat")
    /// The seat's microphone is locked.
    public static let seatMicrophoneLocked = ErrorInfo.Name(rawValue: "seatMicrophoneLocked")
    /// A host has closed your microphone.
    public static let microphoneNeedsHost = ErrorInfo.Name(rawValue: "microphoneNeedsHost")
    /// The seat's camera is locked.
    public static let seatCameraLocked = ErrorInfo.Name(rawValue: "seatCameraLocked")
    /// A host has closed your camera.
    public static let cameraNeedsHost = ErrorInfo.Name(rawValue: "cameraNeedsHost")
    /// The live is muted.
    public static let roomMuted = ErrorInfo.Name(rawValue: "roomMuted")
    /// You are muted in this live.
    public static let userMuted = ErrorInfo.Name(rawValue: "userMuted")
    /// The message is too long.
    public static let messageTooLong = ErrorInfo.Name(rawValue: "messageTooLong")
    /// No answer in time.
    public static let timedOut = ErrorInfo.Name(rawValue: "timedOut")
    /// A queue is full.
    public static let overloaded = ErrorInfo.Name(rawValue: "overloaded")
    /// Begin the walk again without a cursor.
    public static let cursorExpired = ErrorInfo.Name(rawValue: "cursorExpired")
    /// The call is too old, or its id is not above one whose outcome is no longer kept.
    public static let requestForgotten = ErrorInfo.Name(rawValue: "requestForgotten")
    /// No such method.
    public static let unknownMethod = ErrorInfo.Name(rawValue: "unknownMethod")
    /// Not a call.
    public static let badFrame = ErrorInfo.Name(rawValue: "badFrame")
    /// The feed's budget dropped the message.
    public static let droppedByBudget = ErrorInfo.Name(rawValue: "droppedByBudget")
    /// The broker or presence is away.
    public static let unavailable = ErrorInfo.Name(rawValue: "unavailable")
    /// The ticket is void.
    public static let staleTicket = ErrorInfo.Name(rawValue: "staleTicket")
    /// The user signed in on another device while this session was away.
    public static let signedInElsewhere = ErrorInfo.Name(rawValue: "signedInElsewhere")
    /// The token has expired.
    public static let tokenExpired = ErrorInfo.Name(rawValue: "tokenExpired")
    /// The token is not valid.
    public static let tokenInvalid = ErrorInfo.Name(rawValue: "tokenInvalid")
    /// A fault of the server.
    public static let internalError = ErrorInfo.Name(rawValue: "internalError")
    /// The message names the parameter.
    public static let badParameter = ErrorInfo.Name(rawValue: "badParameter")
    /// The live's id is in use.
    public static let roomExists = ErrorInfo.Name(rawValue: "roomExists")
    /// No such live, or it has ended.
    public static let noSuchRoom = ErrorInfo.Name(rawValue: "noSuchRoom")
    /// The user is not in the live.
    public static let notMember = ErrorInfo.Name(rawValue: "notMember")
    /// Not allowed.
    public static let noPermission = ErrorInfo.Name(rawValue: "noPermission")
    /// The live is full.
    public static let roomFull = ErrorInfo.Name(rawValue: "roomFull")
    /// Over 3 categories.
    public static let tooManyTags = ErrorInfo.Name(rawValue: "tooManyTags")
    /// The owner runs this live already.
    public static let roomExistsAndIsYours = ErrorInfo.Name(rawValue: "roomExistsAndIsYours")
    /// Created too often.
    public static let createdTooOften = ErrorInfo.Name(rawValue: "createdTooOften")
    /// Over a limit.
    public static let overLimit = ErrorInfo.Name(rawValue: "overLimit")
    /// Voice and video do not turn into each other.
    public static let wrongRoomKind = ErrorInfo.Name(rawValue: "wrongRoomKind")
    /// Banned from the live.
    public static let banned = ErrorInfo.Name(rawValue: "banned")
    /// The code 100017.
    public static let muted = ErrorInfo.Name(rawValue: "muted")
    /// Too many admins.
    public static let tooManyAdmins = ErrorInfo.Name(rawValue: "tooManyAdmins")
    /// The app's word filter refuses the text.
    public static let sensitiveWords = ErrorInfo.Name(rawValue: "sensitiveWords")
    /// Such a request is open already.
    public static let requestConflict = ErrorInfo.Name(rawValue: "requestConflict")
    /// The seat is locked.
    public static let seatLocked = ErrorInfo.Name(rawValue: "seatLocked")
    /// The seat is occupied or reserved.
    public static let seatOccupied = ErrorInfo.Name(rawValue: "seatOccupied")
    /// You sit already.
    public static let alreadySeated = ErrorInfo.Name(rawValue: "alreadySeated")
    /// No seat is free.
    public static let allSeatsTaken = ErrorInfo.Name(rawValue: "allSeatsTaken")
    /// Sits on no seat.
    public static let notOnSeat = ErrorInfo.Name(rawValue: "notOnSeat")
    /// The user sits already.
    public static let userAlreadyOnSeat = ErrorInfo.Name(rawValue: "userAlreadyOnSeat")
    /// The live has no seats.
    public static let roomHasNoSeats = ErrorInfo.Name(rawValue: "roomHasNoSeats")
    /// No such connection or request.
    public static let noSuchConnection = ErrorInfo.Name(rawValue: "noSuchConnection")
    /// Connected already.
    public static let alreadyConnected = ErrorInfo.Name(rawValue: "alreadyConnected")
    /// A connection request is pending.
    public static let connectionPending = ErrorInfo.Name(rawValue: "connectionPending")
    /// Connected with others.
    public static let connectedElsewhere = ErrorInfo.Name(rawValue: "connectedElsewhere")
    /// The connection is full.
    public static let connectionLimit = ErrorInfo.Name(rawValue: "connectionLimit")
    /// Too many co-host requests.
    public static let connectionTooFrequent = ErrorInfo.Name(rawValue: "connectionTooFrequent")
    /// No such battle.
    public static let noSuchBattle = ErrorInfo.Name(rawValue: "noSuchBattle")
    /// None of the lives can battle now.
    public static let noValidRoom = ErrorInfo.Name(rawValue: "noValidRoom")
    /// Too many battle requests.
    public static let battleTooFrequent = ErrorInfo.Name(rawValue: "battleTooFrequent")
    /// The live is not in the battle.
    public static let roomNotInBattle = ErrorInfo.Name(rawValue: "roomNotInBattle")
    /// In another battle.
    public static let inAnotherBattle = ErrorInfo.Name(rawValue: "inAnotherBattle")
    /// A battle request is pending.
    public static let battlePending = ErrorInfo.Name(rawValue: "battlePending")
    /// The live has no battle.
    public static let noBattleInRoom = ErrorInfo.Name(rawValue: "noBattleInRoom")
    /// Not while the battle runs.
    public static let notWhileFighting = ErrorInfo.Name(rawValue: "notWhileFighting")
    /// The battle has not begun.
    public static let battleNotStarted = ErrorInfo.Name(rawValue: "battleNotStarted")
    /// The battle is over.
    public static let battleOver = ErrorInfo.Name(rawValue: "battleOver")
    /// Too many metadata keys.
    public static let tooManyMetadataKeys = ErrorInfo.Name(rawValue: "tooManyMetadataKeys")
    /// A metadata value is too long.
    public static let metadataValueTooLong = ErrorInfo.Name(rawValue: "metadataValueTooLong")
    /// All metadata are too long.
    public static let metadataTooLong = ErrorInfo.Name(rawValue: "metadataTooLong")
    /// No such metadata key.
    public static let noSuchMetadataKey = ErrorInfo.Name(rawValue: "noSuchMetadataKey")
    /// A metadata key is too long.
    public static let metadataKeyTooLong = ErrorInfo.Name(rawValue: "metadataKeyTooLong")
    /// The app has no gifts.
    public static let giftsNotEnabled = ErrorInfo.Name(rawValue: "giftsNotEnabled")
    /// No such gift or gift category.
    public static let noSuchGift = ErrorInfo.Name(rawValue: "noSuchGift")
    /// The app's backend refused the gift, or did not answer.
    public static let giftCheckFailed = ErrorInfo.Name(rawValue: "giftCheckFailed")
    /// Gifts are off in this live.
    public static let giftsOffInLive = ErrorInfo.Name(rawValue: "giftsOffInLive")
}
