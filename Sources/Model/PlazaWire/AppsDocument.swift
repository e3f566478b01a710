// SPDX-License-Identifier: Apache-2.0
package import PlazaModel

/// The contents of the apps file other than the keys: the policy and the hooks of each app.
package struct AppsDocument: Decodable, Sendable {
    /// The settings of one app.
    package struct App: Decodable, Sendable {
        /// The app's limits; nil: the defaults.
        package var policy: AppPolicy?
        /// The app's backend, if it has one.
        package var hooks: AppHooks?
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
    package static func validationErrors(in json: [UInt8]) -> [String] {
        let form = "give JSON of the form {\"apps\":{…}}"
        if json.isEmpty { return [] }
        do throws(WireError) {
            let validationErrors = AppsCheck(try Wire.decode(from: json)).validationErrors
            if !validationErrors.isEmpty { return validationErrors.map { "correct it: \($0)" } }
            return try Self(json: json).apps.sorted { $0.key < $1.key }.compactMap { app, entry in
                entry.hooks?.validationError.map { "correct the hooks of \(app): \($0)" }
            }
        } catch {
            switch error {
            case .notJSON: return ["\(form): it is no JSON; look for a comma or a bracket too many or too few"]
            case .badField, .unknownVersion: return ["\(form): \(error.words)"]
            }
        }
    }
}
