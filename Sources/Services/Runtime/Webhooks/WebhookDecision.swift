// SPDX-License-Identifier: Apache-2.0
package import PlazaModel
internal import PlazaWire

/// A backend's decision about a message or gift.
package enum WebhookDecision: Hashable, Sendable {
    case allowed
    case refused(ReplyError)
}

extension WebhookDecision {
    /// The body of a backend's response: `{"code": 0, "message": "…"}`; code 0 means allowed.
    private struct ResponseBody: Decodable {
        var code: Int
        var message: String?
    }

    /// The app's own codes, with which its backend may refuse a gift; the sender receives the code (R14.8).
    private static let appCodes = 102_100...102_200
    /// After how many milliseconds the sender may try again if the backend did not answer.
    private static let retryAfterMilliseconds: Int64 = 1_000
    /// The maximum length of the backend's text, in Unicode scalars.
    private static let maxTextScalars = 200

    /// Parses the decision in a response's body; nil if the body is not valid.
    ///
    /// - Parameters:
    ///   - body: the response's JSON.
    ///   - isGift: whether the request was about a gift.
    init?(body: [UInt8], isGift: Bool) {
        guard let response = try? Wire.decode(ResponseBody.self, from: body) else { return nil }
        if response.code == 0 {
            self = .allowed
            return
        }
        // The text is stored with the outcome of the call, so the length is limited. The limit counts Unicode scalars,
        // because a `Character` can be arbitrarily long.
        let text = response.message.map { String($0.unicodeScalars.prefix(Self.maxTextScalars)) }
        // The app's own code is passed on only for a gift.
        guard isGift else {
            self = .refused(ReplyError(.sensitiveWords, text ?? "the app's backend refused the message"))
            return
        }
        let code = Self.appCodes.contains(response.code) ? ReplyCode(response.code) : .giftCheckFailed
        self = .refused(ReplyError(code, text ?? "the app's backend refused the gift"))
    }

    /// The decision that the timeout policy makes without a response.
    init(applying policy: AppHooks.TimeoutPolicy, isGift: Bool) {
        switch policy {
        case .allow: self = .allowed
        case .refuse:
            let subject = isGift ? "gift" : "message"
            self = .refused(
                ReplyError(
                    isGift ? .giftCheckFailed : .sensitiveWords,
                    "the app's backend did not answer about the \(subject)",
                    retryAfter: Self.retryAfterMilliseconds))
        }
    }
}
