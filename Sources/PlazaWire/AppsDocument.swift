// SPDX-License-Identifier: Apache-2.0
package import PlazaModel

/// What the apps file holds besides the keys: policies and hooks by app.
package struct AppsDocument: Decodable, Sendable {
    /// One app's part of it.
    package struct App: Decodable, Sendable {
        /// What the app allows; nil: as all do.
        package var policy: AppPolicy?
        /// The app's backend, if it has one.
        package var hooks: AppHooks?
    }

    /// The apps by their names.
    package var apps: [String: App]

    /// What to do when the apps are given in both ways; a variable counts as its option does.
    package static let twice = "leave out either --apps or --apps-json (LIVEPLAZA_APPS, LIVEPLAZA_APPS_JSON)"

    /// Reads the file; nothing at all is a file without apps.
    ///
    /// - Throws: `WireError` with the path of the first field that is wrong.
    package init(json: [UInt8]) throws(WireError) {
        if json.isEmpty {
            self.apps = [:]
        } else {
            self = try Wire.decode(ofOthers: json)
        }
    }

    /// All that is wrong with the file, each with what to do; none of it names a key or a secret.
    package static func faults(in json: [UInt8]) -> [String] {
        let form = "give JSON of the form {\"apps\":{…}}"
        if json.isEmpty { return [] }
        do throws(WireError) {
            let faults = AppsCheck(try Wire.decode(ofOthers: json)).faults
            if !faults.isEmpty { return faults.map { "correct it: \($0)" } }
            return try Self(json: json).apps.sorted { $0.key < $1.key }.compactMap { app, entry in
                entry.hooks?.fault.map { "correct the hooks of \(app): \($0)" }
            }
        } catch {
            switch error {
            case .notJSON: return ["\(form): it is no JSON; look for a comma or a bracket too many or too few"]
            case .badField, .unknownVersion: return ["\(form): \(error.words)"]
            }
        }
    }
}
