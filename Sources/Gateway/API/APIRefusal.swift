// SPDX-License-Identifier: Apache-2.0
internal import HTTPServer
internal import PlazaModel
internal import PlazaWire

/// A request that is refused, with its status.
struct APIRefusal: Error {
    var status: Int
    var error: ReplyError

    /// A refusal whose status is that of its code.
    init(_ error: ReplyError) {
        self.status = HTTPStatus.of(error.code)
        self.error = error
    }

    /// A refusal of form.
    init(_ code: ReplyCode, _ message: String, status: Int? = nil) {
        self.init(ReplyError(code, message))
        if let status { self.status = status }
    }

    /// The answer.
    var response: HTTPResponse {
        var headers: [HTTPHeader] = []
        if self.status == 401 { headers.append(HTTPHeader("WWW-Authenticate", "Bearer")) }
        if self.status == 503 || self.status == 429 {
            let wait = max(1, ((self.error.retryAfter ?? 1000) + 999) / 1000)
            headers.append(HTTPHeader("Retry-After", "\(wait)"))
        }
        return HTTPResponse(status: self.status, headers: headers, body: Outcome.failure(error: self.error).json)
    }
}

/// The HTTP status that goes with a refusal; the body says more (PROTOCOL.md, section 15).
enum HTTPStatus {
    /// Every status that an operation may answer with besides its success.
    static let refusals = [400, 401, 403, 404, 409, 410, 413, 415, 429, 503, 504]

    /// The status of a code.
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
        default: 409
        }
    }
}
