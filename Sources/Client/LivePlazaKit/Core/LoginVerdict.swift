// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel

/// How a client reacts to the error of a login or of a resume (PROTOCOL.md, section 7).
enum LoginVerdict: Equatable, Sendable {
    /// Close the connection, and react as if the server had closed it with this code.
    case sameAsClose(code: Int)
    /// Try the same login again later.
    case retry
    /// The live cannot be resumed: log in without it.
    case dropLive
    /// End the client for good.
    case end

    init(_ error: ErrorInfo, isResume: Bool) {
        self =
            switch ReplyCode(error.code) {
            case .tokenExpired: .sameAsClose(code: ClientCloseCode.tokenExpired)
            case .tokenInvalid: .sameAsClose(code: ClientCloseCode.tokenRefused)
            case .signedInElsewhere: .sameAsClose(code: ClientCloseCode.signedInElsewhere)
            case .overLimit: .sameAsClose(code: ClientCloseCode.tooManyConnections)
            // A temporary error says nothing about the login, so the login is tried again.
            case _ where error.isTemporary: .retry
            default: isResume ? .dropLive : .end
            }
    }
}
