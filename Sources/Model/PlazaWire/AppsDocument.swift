// SPDX-License-Identifier: Apache-2.0
package import PlazaModel

/// The contents of the apps file other than the keys: the policy and the hooks of each app.
package struct AppsDocument: Decodable, Sendable {
    /// The settings of one app.
    package struct App: Decodable, Sendable {
        /// The app's limits; nil: the defaults.
        package var policy: AppPolicy?
        /// The app's backend, if it has one and the file says where it is.
        package var hooks: AppHooks?
        /// The requests to the app's backend for which the file does not say where it is.
        package var withheldHooks: HooksNeed
        /// Whether the app's backend gets events, even if the file does not say where it is.
        package var hasWebhooks: Bool

        private enum CodingKeys: CodingKey {
            case policy, hooks
        }

        package init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            self.policy = try container.decodeIfPresent(AppPolicy.self, forKey: .policy)
            guard let withheld = try container.decodeIfPresent(WithheldHooks.self, forKey: .hooks) else {
                self.withheldHooks = .none
                self.hasWebhooks = false
                return
            }
            self.hasWebhooks = withheld.events != []
            self.withheldHooks = withheld.isWithheld ? (withheld.asksBackend ? .questions : .all) : .none
            if withheld.isWithheld { return }
            self.hooks = try container.decode(AppHooks.self, forKey: .hooks)
        }
    }

    /// What a service sends to apps' backends, and needs their addresses and secrets for.
    package enum HooksNeed: Sendable {
        /// Nothing.
        case none
        /// Questions before a message or gift: only apps with `before` are asked.
        case questions
        /// Events, which every app with hooks may get.
        case all

        /// Whether a service with this need cannot work with hooks whose address and secret are left out.
        func lacks(_ withheld: HooksNeed) -> Bool {
            switch (self, withheld) {
            case (.none, _), (_, .none), (.questions, .all): false
            case (.questions, .questions), (.all, .questions), (.all, .all): true
            }
        }
    }

    /// What every service may know of an app's hooks: the address and the secret may be left out.
    private struct WithheldHooks: Decodable {
        var isWithheld: Bool
        var asksBackend: Bool
        var events: [WebhookName]?

        private enum CodingKeys: CodingKey {
            case url, secret, events, before
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            self.isWithheld = !container.contains(.url) && !container.contains(.secret)
            let before = try container.decodeIfPresent(AppHooks.BeforeHooks.self, forKey: .before)
            self.asksBackend = before?.message != nil || before?.gift != nil
            self.events = try container.decodeIfPresent([WebhookName].self, forKey: .events)
        }
    }

    /// The apps by their names.
    package var apps: [String: App]

    /// The advice when both options are given; an environment variable counts as its option.
    package static let onlyOneSourceAdvice =
        "give only one of --apps and --apps-json (LIVEPLAZA_APPS, LIVEPLAZA_APPS_JSON)"

    /// Decodes the file; an empty file has no apps.
    ///
    /// - Throws: `WireError` with the path of the first field that is wrong.
    package init(json: [UInt8]) throws(WireError) {
        if json.isEmpty {
            self.apps = [:]
        } else {
            self = try Wire.decode(from: json)
        }
    }

    /// Returns all errors in the file, each with its remedy; no error contains a key or a secret.
    ///
    /// - Parameters:
    ///   - json: the file's contents.
    ///   - need: what the service sends to apps' backends; hooks without an address and a secret are an error if it
    ///     needs them.
    /// - Returns: the errors; none for a valid file.
    package static func validationErrors(in json: [UInt8], needs need: HooksNeed = .all) -> [String] {
        let form = "give JSON of the form {\"apps\":{…}}"
        if json.isEmpty { return [] }
        do throws(WireError) {
            let validationErrors = AppsCheck(try Wire.decode(from: json)).validationErrors
            if !validationErrors.isEmpty { return validationErrors.map { "correct it: \($0)" } }
            return try Self(json: json).apps.sorted { $0.key < $1.key }.compactMap { app, entry in
                if need.lacks(entry.withheldHooks) {
                    return
                        "correct the hooks of \(app): url and secret are missing, and this service sends requests there"
                }
                return entry.hooks?.validationError.map { "correct the hooks of \(app): \($0)" }
            }
        } catch {
            switch error {
            case .notJSON: return ["\(form): it is no JSON; look for a comma or a bracket too many or too few"]
            case .badField, .unknownVersion: return ["\(form): \(error.words)"]
            }
        }
    }
}
