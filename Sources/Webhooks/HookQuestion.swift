// SPDX-License-Identifier: Apache-2.0
package import CoreKit
package import PlazaModel
internal import PlazaWire

/// What an app's backend is asked before it happens (reference 14, the Before commands).
package enum BeforeContent: Hashable, Sendable, Codable {
    case beforeText(sender: UserInfo, text: String, extensionInfo: [String: String]?)
    case beforeCustom(sender: UserInfo, businessID: String, data: String)
    /// `coins` is what all of them cost; no receiver: for the live's owner.
    case beforeGift(sender: UserInfo, giftID: GiftID, count: Int, coins: Int64, receivers: [UserID])

    /// The name in the request's header.
    package var name: String {
        switch self {
        case .beforeText: "beforeText"
        case .beforeCustom: "beforeCustom"
        case .beforeGift: "beforeGift"
        }
    }

    /// Whether it is about a gift; else it is about a message.
    package var isGift: Bool {
        if case .beforeGift = self { return true }
        return false
    }
}

/// A question to an app's backend.
package struct HookQuestion: Hashable, Sendable, Codable {
    package var v = 1
    /// The same when the same call is asked about again.
    package var id: String
    package var app: AppID
    package var live: LiveID
    /// The gateway's time.
    package var at: Timestamp
    package var content: BeforeContent

    package init(id: String, key: LiveKey, at: Timestamp, content: BeforeContent) {
        self.id = id
        self.app = key.app
        self.live = key.live
        self.at = at
        self.content = content
    }
}

/// What a backend says.
package enum HookVerdict: Hashable, Sendable {
    case allowed
    case refused(ReplyError)
}

extension HookVerdict {
    /// A backend's answer `{"code": 0, "message": "…"}`.
    private struct Answer: Decodable {
        var code: Int
        var message: String?
    }

    /// The codes of an app's own refusals of gifts, which are passed on (reference 14).
    private static let ownCodes = 102_100...102_200

    /// The verdict that an answer's body gives; nil: it is none.
    ///
    /// - Parameters:
    ///   - body: the JSON.
    ///   - isGift: what was asked about.
    init?(body: [UInt8], isGift: Bool) {
        guard let answer = try? Wire.decode(Answer.self, ofOthers: body) else { return nil }
        if answer.code == 0 {
            self = .allowed
            return
        }
        // Of scalars, of which each has a bounded length; it is kept with the call.
        let text = answer.message.map { String($0.unicodeScalars.prefix(200)) }
        guard isGift else {
            self = .refused(ReplyError(.sensitiveWords, text ?? "the app's backend refused the message"))
            return
        }
        let code = Self.ownCodes.contains(answer.code) ? ReplyCode(answer.code) : .giftCheckFailed
        self = .refused(ReplyError(code, text ?? "the app's backend refused the gift"))
    }

    /// What silence gives.
    init(silence: AppHooks.Silence, isGift: Bool) {
        switch silence {
        case .allow: self = .allowed
        case .refuse:
            let what = isGift ? "gift" : "message"
            self = .refused(
                ReplyError(
                    isGift ? .giftCheckFailed : .sensitiveWords, "the app's backend did not answer about the \(what)",
                    retryAfter: 1000))
        }
    }
}
