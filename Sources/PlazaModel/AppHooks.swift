// SPDX-License-Identifier: Apache-2.0

/// Where and how an app's own backend is told and asked (reference 14), as the apps file has it under `hooks`.
package struct AppHooks: Hashable, Sendable, Codable {
    /// What an asked hook's silence means for the sender.
    package enum Silence: String, Hashable, Sendable, Codable {
        case refuse
        case allow
    }

    /// What the backend is asked before it happens; nil: it is not asked.
    package struct Before: Hashable, Sendable, Codable {
        package var message: Silence?
        package var gift: Silence?

        package init(message: Silence? = nil, gift: Silence? = nil) {
            self.message = message
            self.gift = gift
        }
    }

    /// `http://` or `https://`.
    package var url: String
    /// Signs each request; at least `secretBytes`.
    package var secret: String
    /// The after-events that are wanted; nil: all.
    package var events: [WebhookName]?
    package var before: Before?

    /// The fewest bytes of a secret.
    package static let secretBytes = 16
    /// The most bytes of an address.
    package static let urlBytes = 500

    package init(url: String, secret: String, events: [WebhookName]? = nil, before: Before? = nil) {
        self.url = url
        self.secret = secret
        self.events = events
        self.before = before
    }

    /// Whether the backend wants to hear of this event.
    package func wants(_ name: WebhookName) -> Bool { self.events?.contains(name) ?? true }

    /// What is wrong with it, or nil.
    package var fault: String? {
        let isWeb = self.url.hasPrefix("http://") || self.url.hasPrefix("https://")
        guard isWeb, self.url.utf8.count <= Self.urlBytes, self.url.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { return "url is not an http or https address of at most \(Self.urlBytes) printable characters" }
        guard self.secret.utf8.count >= Self.secretBytes else {
            return "secret has fewer than \(Self.secretBytes) bytes"
        }
        return nil
    }
}
