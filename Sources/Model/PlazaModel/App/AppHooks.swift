// SPDX-License-Identifier: Apache-2.0

/// The webhooks of an app's backend (R14.1, R14.7), as the apps file has them under `hooks`.
package struct AppHooks: Hashable, Sendable, Codable {
    /// Whether a message or gift enters the feed when the app's backend does not answer in time.
    package enum TimeoutPolicy: String, Hashable, Sendable, Codable {
        case refuse
        case allow
    }

    /// The hooks that ask the backend before a message or gift enters the feed.
    package struct BeforeHooks: Hashable, Sendable, Codable {
        /// What happens to a message if the backend does not answer in time; nil if messages are not checked.
        package var message: TimeoutPolicy?
        /// What happens to a gift if the backend does not answer in time; nil if gifts are not checked.
        package var gift: TimeoutPolicy?

        package init(message: TimeoutPolicy? = nil, gift: TimeoutPolicy? = nil) {
            self.message = message
            self.gift = gift
        }
    }

    /// The backend's address: `http://` or `https://`.
    package var url: String
    /// The key that signs each request; at least `minSecretBytes` long.
    package var secret: String
    /// The events that the backend receives after they happened; nil for all events.
    package var events: [WebhookName]?
    /// Which of messages and gifts the backend checks before they enter the feed; nil if it checks neither.
    package var before: BeforeHooks?

    /// The minimum length of a secret in bytes.
    package static let minSecretBytes = 16
    /// The maximum length of a URL in bytes.
    package static let maxURLBytes = 500

    package init(url: String, secret: String, events: [WebhookName]? = nil, before: BeforeHooks? = nil) {
        self.url = url
        self.secret = secret
        self.events = events
        self.before = before
    }

    /// Whether the backend receives this event.
    package func receives(_ name: WebhookName) -> Bool { self.events?.contains(name) ?? true }

    /// The first error in these hooks; nil if they are valid.
    package var validationError: String? {
        let isWeb = self.url.hasPrefix("http://") || self.url.hasPrefix("https://")
        guard isWeb, self.url.utf8.count <= Self.maxURLBytes, self.url.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { return "url is not an http or https address of at most \(Self.maxURLBytes) printable characters" }
        guard self.secret.utf8.count >= Self.minSecretBytes else {
            return "secret has fewer than \(Self.minSecretBytes) bytes"
        }
        return nil
    }
}
