// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel

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
            case .tokenExpired: .closed(code: ClientCloseCode.tokenExpired)
            case .tokenInvalid: .closed(code: ClientCloseCode.tokenRefused)
            case .signedInElsewhere: .closed(code: ClientCloseCode.signedInElsewhere)
            case .overLimit: .closed(code: ClientCloseCode.tooManyConnections)
            // A fault of the server says nothing about the login, so it is tried again, as after a lost connection.
            case _ where error.passes: .retry
            default: isResume ? .dropLive : .end
            }
    }
}
