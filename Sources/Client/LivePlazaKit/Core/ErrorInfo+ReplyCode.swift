// SPDX-License-Identifier: Apache-2.0
internal import MachineKit
internal import PlazaModel

extension ErrorInfo {
    /// An error with one of the protocol's codes.
    ///
    /// `retryAfter`: the time after which to retry; nil if a retry is useless.
    /// `reason`: why this client cannot return to a live (PROTOCOL.md, section 7).
    init(_ code: ReplyCode, _ message: String, retryAfter: Milliseconds? = nil, reason: String? = nil) {
        self.init(
            code: code.code, message: message, retryAfter: retryAfter.map { Duration($0) }, reason: reason)
    }

    /// The error for a frame of the server that violates the protocol.
    ///
    /// `description`: what the server sent, such as "a frame that is too long".
    static func badFrame(_ description: String) -> ErrorInfo {
        ErrorInfo(.badFrame, "the server sent \(description)")
    }

    /// The error for a reply whose result is not of the kind that the called method returns.
    static let wrongResultKind = ErrorInfo.badFrame("a result that the called method does not return")

    /// Whether the error has this code.
    func has(_ code: ReplyCode) -> Bool { self.code == code.code }

    /// `retryAfter` in whole milliseconds.
    var retryPause: Milliseconds? { self.retryAfter.map { Milliseconds(roundingUp: $0) } }

    /// Whether the same call, with the same id, may be tried again.
    var isRetriable: Bool { self.has(.overloaded) || self.has(.unavailable) || self.has(.timedOut) }

    /// Whether the cause of the error goes away by itself, so that a login or a read is worth repeating.
    var isTemporary: Bool { self.isRetriable || self.has(.tooFrequent) || self.has(.internalError) }

    /// Whether the server may have applied the call that has failed with this error.
    ///
    /// It may have if the reply did not come in time, was lost in the server, or cannot be read. After an error such as
    /// `overloaded`, the server has not applied the frame that it answers, but it may have applied an earlier frame of
    /// the same call.
    var leavesOutcomeUnknown: Bool {
        self.isRetriable || self.has(.requestForgotten) || self.has(.internalError) || self.has(.badFrame)
    }

    /// Whether a call has failed because the application or the co-host request that it answers is not open.
    var saysRequestIsGone: Bool { self.has(.requestGone) || self.has(.noSuchConnection) }
}
