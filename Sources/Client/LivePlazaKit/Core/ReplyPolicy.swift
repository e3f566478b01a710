// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel

extension ErrorInfo {
    /// An error with one of the protocol's codes.
    ///
    /// `retryAfter`: the milliseconds after which to retry; nil if a retry is useless.
    /// `reason`: why a live is closed to this client.
    init(_ code: ReplyCode, _ message: String, retryAfter: Int64? = nil, reason: String? = nil) {
        self.init(
            code: code.code, message: message, retryAfter: retryAfter.map { .milliseconds($0) }, reason: reason)
    }

    /// The error for a frame of the server that violates the protocol.
    ///
    /// `description`: what the server sent, such as "a frame that is too long".
    static func badFrame(_ description: String) -> ErrorInfo {
        ErrorInfo(.badFrame, "the server sent \(description)")
    }

    /// Whether the error has this code.
    func has(_ code: ReplyCode) -> Bool { self.code == code.code }

    /// `retryAfter` in milliseconds.
    var retryMilliseconds: Double? {
        self.retryAfter.map { duration in
            let (seconds, attoseconds) = duration.components
            // 1e15 attoseconds are one millisecond.
            return Double(seconds) * 1000 + Double(attoseconds) / 1e15
        }
    }

    /// Whether the same call, with the same id, may be tried again.
    var isRetriable: Bool { self.has(.overloaded) || self.has(.unavailable) || self.has(.timedOut) }
}

/// The close codes that a client treats specially (PROTOCOL.md, section 14).
enum CloseCode {
    static let normal = 1000
    /// The connection ended without a close frame, or could not be opened.
    static let lost = 1006
    static let tokenRefused = Int(DisconnectCode.tokenRefused.code)
    static let tokenExpired = Int(DisconnectCode.tokenExpired.code)
    static let replaced = Int(DisconnectCode.replaced.code)
    static let signedInElsewhere = Int(DisconnectCode.kickedOffline.code)
    static let tooManyConnections = Int(DisconnectCode.tooManyConnections.code)

    /// Whether a client may reconnect by itself after a connection ended with this code; 4100 to 4199 forbid it.
    static func allowsReconnect(after code: Int) -> Bool { !(4100...4199).contains(code) }
}

/// How a client reacts to the error of a login or of a resume (PROTOCOL.md, section 7).
enum LoginVerdict: Equatable, Sendable {
    /// React as if the connection had been closed with this code.
    case closed(code: Int)
    /// Try the same login again later.
    case retry
    /// The live cannot be resumed: log in without it.
    case dropLive
    /// End the client for good.
    case end

    init(_ error: ErrorInfo, isResume: Bool) {
        self =
            switch ReplyCode(error.code) {
            case .tokenExpired: .closed(code: CloseCode.tokenExpired)
            case .tokenInvalid: .closed(code: CloseCode.tokenRefused)
            case .signedInElsewhere: .closed(code: CloseCode.signedInElsewhere)
            case .overLimit: .closed(code: CloseCode.tooManyConnections)
            case .overloaded, .unavailable, .timedOut, .tooFrequent: .retry
            default: isResume ? .dropLive : .end
            }
    }
}
