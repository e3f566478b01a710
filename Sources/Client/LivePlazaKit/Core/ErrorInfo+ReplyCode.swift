// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel

extension ErrorInfo {
    /// An error with one of the protocol's codes.
    ///
    /// `retryAfter`: the milliseconds after which to retry; nil if a retry is useless.
    /// `reason`: why this client cannot return to a live (PROTOCOL.md, section 7).
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

    /// The error for a result of another kind than its method's.
    static let wrongResultKind = ErrorInfo.badFrame("a result of another kind")

    /// Whether the error has this code.
    func has(_ code: ReplyCode) -> Bool { self.code == code.code }

    /// `retryAfter` in milliseconds.
    var retryMilliseconds: Double? { self.retryAfter?.inMilliseconds }

    /// Whether the same call, with the same id, may be tried again.
    var isRetriable: Bool { self.has(.overloaded) || self.has(.unavailable) || self.has(.timedOut) }
}
