// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel

/// The reaction of a client when the server rejects its login or its resume.
enum LoginFailure {
    /// The client ends, as if the server had closed the connection with this code.
    ///
    /// The server would reject the same login again.
    case end(DisconnectCode)
    /// The live cannot be resumed: the client logs in again without it.
    case forgetLive
    /// The failure is temporary: the client sends the same login again.
    case retry

    init(_ error: ReplyError) {
        switch error.code {
        case .tokenExpired: self = .end(.tokenExpired)
        case .tokenInvalid: self = .end(.tokenRefused)
        case .signedInElsewhere: self = .end(.kickedOffline)
        case .overLimit: self = .end(.tooManyConnections)
        case .unavailable, .timedOut, .overloaded, .tooFrequent: self = .retry
        // After any other error the client logs in again without resuming its live. A client without a live sends the
        // same login again.
        default: self = .forgetLive
        }
    }
}
