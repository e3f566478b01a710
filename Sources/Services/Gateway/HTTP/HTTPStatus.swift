// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel

/// Maps reply codes to HTTP statuses; the response's body has the code (docs/HTTP-API.md, section 6).
enum HTTPStatus {
    /// The error statuses that the API's description lists for its operations.
    ///
    /// 500 is not listed, because any operation may have an internal error.
    static let errors = [400, 401, 403, 404, 409, 410, 413, 415, 429, 503, 504]

    /// Returns the status of a code.
    static func of(_ code: ReplyCode) -> Int {
        switch code {
        case .tokenExpired, .tokenInvalid, .notLoggedIn: 401
        case .noPermission, .needsOwner, .needsOwnerOrAdmin, .banned, .muted, .userMuted, .roomMuted, .staleTicket: 403
        case .noSuchRoom, .noSuchRoomOnEntry, .noSuchBattle, .noBattleInRoom, .noSuchConnection, .noSuchSeat,
            .noSuchMetadataKey, .noSuchGift, .notMember, .unknownMethod:
            404
        case .badParameter, .invalidParameter, .badRoomID, .badRoomName, .badFrame, .tooManyTags, .tooManyMetadataKeys,
            .metadataValueTooLong, .metadataTooLong, .metadataKeyTooLong, .messageTooLong, .sensitiveWords:
            400
        case .cursorExpired: 410
        case .tooFrequent, .createdTooOften, .droppedByBudget, .connectionTooFrequent, .battleTooFrequent: 429
        case .overloaded, .unavailable: 503
        case .timedOut: 504
        case .internalError: 500
        // All other codes: the current state does not allow the call.
        default: 409
        }
    }
}
