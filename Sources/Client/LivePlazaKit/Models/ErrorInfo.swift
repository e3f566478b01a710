// SPDX-License-Identifier: Apache-2.0

/// Why a method of a store failed.
public struct ErrorInfo: Error, Sendable, Hashable {
    /// The code of the error; PROTOCOL.md, section 13, lists all codes.
    public let code: Int
    /// A description of the error in English, for developers.
    public let message: String
    /// How long to wait before a retry; nil if a retry is useless, or no time is known.
    public let retryAfter: Duration?
    /// Why this client cannot return to a live: who ended the live, or who put the user out of it.
    ///
    /// PROTOCOL.md, section 7, lists the reasons. Nil for all other errors, or if the server does not state the reason.
    let reason: String?

    /// Makes an error.
    public init(code: Int, message: String) {
        self.init(code: code, message: message, retryAfter: nil)
    }

    init(code: Int, message: String, retryAfter: Duration?, reason: String? = nil) {
        self.code = code
        self.message = message
        self.retryAfter = retryAfter
        self.reason = reason
    }

    /// The message.
    public var localizedDescription: String { self.message }
}
