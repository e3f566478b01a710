// SPDX-License-Identifier: Apache-2.0

/// Why a method of a store failed.
public struct ErrorInfo: Error, Sendable, Hashable {
    /// The code, as PROTOCOL.md, section 13, lists them.
    public let code: Int
    /// What is wrong, in English, for a developer.
    public let message: String
    /// How long to wait before a retry; nil if a retry is useless, or no time is known.
    public let retryAfter: Duration?

    /// Makes an error.
    public init(code: Int, message: String) {
        self.init(code: code, message: message, retryAfter: nil)
    }

    init(code: Int, message: String, retryAfter: Duration?) {
        self.code = code
        self.message = message
        self.retryAfter = retryAfter
    }

    /// The message.
    public var localizedDescription: String { self.message }
}
