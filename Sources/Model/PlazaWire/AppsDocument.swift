// SPDX-License-Identifier: Apache-2.0
package import PlazaModel

/// The contents of the apps file other than the keys: the policy and the hooks of each app.
package struct AppsDocument: Decodable, Sendable {
    /// The settings of one app.
    package struct App: Decodable, Sendable {
        /// The app's limits; nil means the defaults.
        package var policy: AppPolicy?
        /// The app's hooks; nil if the app has none, or if the file omits their address and secret.
        package var hooks: AppHooks?
        /// Whether the app has hooks, but the file omits their address and secret.
        private var isAddressOmitted: Bool
        /// Whether the app has `before` hooks: its backend is asked before a message or a gift.
        private var hasBeforeHooks: Bool
        /// Whether the app's backend gets events; known even if the file omits the backend's address.
        package var wantsEvents: Bool

        private enum CodingKeys: CodingKey {
            case policy, hooks
        }

        package init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            self.policy = try container.decodeIfPresent(AppPolicy.self, forKey: .policy)
            guard let hooks = try container.decodeIfPresent(PublicHooks.self, forKey: .hooks) else {
                self.isAddressOmitted = false
                self.hasBeforeHooks = false
                self.wantsEvents = false
                return
            }
            // Nil means all events; an empty list means none.
            self.wantsEvents = hooks.events != []
            self.isAddressOmitted = hooks.isAddressOmitted
            self.hasBeforeHooks = hooks.hasBeforeHooks
            if hooks.isAddressOmitted { return }
            self.hooks = try container.decode(AppHooks.self, forKey: .hooks)
        }

        /// Whether a service that sends these requests needs the address that the file omits.
        fileprivate func lacksAddress(for requests: BackendRequests) -> Bool {
            switch requests {
            case .none: false
            case .beforeHooks: self.isAddressOmitted && self.hasBeforeHooks
            case .all: self.isAddressOmitted
            }
        }
    }

    /// The requests that a service sends to apps' backends.
    package enum BackendRequests: Sendable {
        /// The service sends none.
        case none
        /// Requests before a message or gift, to the backends of apps with `before` hooks.
        case beforeHooks
        /// Requests before a message or gift, and events.
        ///
        /// A service that sends both gets the whole file, so every app with hooks must have an address in it.
        case all
    }

    /// The hooks without the values of the address and the secret.
    ///
    /// The file may omit both for a service that sends no requests.
    private struct PublicHooks: Decodable {
        var isAddressOmitted: Bool
        /// Whether the backend is asked before a message or a gift.
        var hasBeforeHooks: Bool
        var events: [WebhookName]?

        private enum CodingKeys: CodingKey {
            case url, secret, events, before
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            self.isAddressOmitted = !container.contains(.url) && !container.contains(.secret)
            let before = try container.decodeIfPresent(AppHooks.BeforeHooks.self, forKey: .before)
            self.hasBeforeHooks = before?.message != nil || before?.gift != nil
            self.events = try container.decodeIfPresent([WebhookName].self, forKey: .events)
        }
    }

    /// The apps by their names.
    package var apps: [String: App]

    /// The advice if the apps file is given twice, by two options or by their environment variables.
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
    ///   - requests: the requests that the service sends to apps' backends. An omitted address is an error if the
    ///     service sends requests to it.
    /// - Returns: the errors; none for a valid file.
    package static func validationErrors(in json: [UInt8], sending requests: BackendRequests = .all) -> [String] {
        let form = "give JSON of the form {\"apps\":{…}}"
        if json.isEmpty { return [] }
        do throws(WireError) {
            let validationErrors = AppsCheck(try Wire.decode(from: json)).validationErrors
            if !validationErrors.isEmpty { return validationErrors.map { "correct the file: \($0)" } }
            return try Self(json: json).apps.sorted { $0.key < $1.key }.compactMap { app, entry in
                if entry.lacksAddress(for: requests) {
                    return
                        "correct the hooks of \(app): url and secret are missing, and this service sends requests there"
                }
                return entry.hooks?.validationError.map { "correct the hooks of \(app): \($0)" }
            }
        } catch {
            switch error {
            case .notJSON: return ["\(form): it is no JSON; look for a comma or a bracket too many or too few"]
            case .badField, .unknownVersion: return ["\(form): \(error.message)"]
            }
        }
    }
}
