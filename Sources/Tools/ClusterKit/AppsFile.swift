// SPDX-License-Identifier: Apache-2.0
internal import Foundation
package import PlazaModel
internal import PlazaWire
package import Tokens

/// The file with the apps' signing keys and policies, which services read and `plaza token` signs with.
package enum AppsFile {
    /// The name of the app that each local cluster has.
    package static let demoApp = "demo"
    /// The default feed budget of a new app, in messages a second.
    package static let defaultFeedBudget = 40

    /// Creates the file if it is missing, sets the demo app's feed budget and webhooks if they are given, and adds
    /// missing apps.
    ///
    /// Each new app gets a random key. Apps that the file has already keep their keys.
    ///
    /// - Parameters:
    ///   - path: the path of the file.
    ///   - feedBudget: the feed budget of the demo app and of each new app, in messages a second. With nil, the demo
    ///     app keeps its budget, and each new app gets the default.
    ///   - hooks: the demo app's webhooks; nil to leave them as they are.
    ///   - additionalApps: the names of the apps that the file must have besides the demo app.
    /// - Throws: `ClusterError.file` when an existing file is invalid.
    package static func prepare(
        at path: String, feedBudget: Int?, hooks: AppHooks? = nil, additionalApps: [String] = []
    ) throws(ClusterError) {
        let hooksJSON = hooks.flatMap { try? JSONSerialization.jsonObject(with: Data(Wire.encode($0))) }
        guard let existing = FileManager.default.contents(atPath: path) else {
            var apps: [String: Any] = [:]
            for name in [Self.demoApp] + additionalApps { apps[name] = Self.makeApp(feedBudget: feedBudget) }
            if let hooksJSON, var demo = apps[Self.demoApp] as? [String: Any] {
                demo["hooks"] = hooksJSON
                apps[Self.demoApp] = demo
            }
            return try self.write(["apps": apps], to: path)
        }
        // `keyring` validates the whole file; its result is not needed here.
        try self.keyring(in: .file(path))
        guard feedBudget != nil || hooksJSON != nil || !additionalApps.isEmpty else { return }
        guard var file = (try? JSONSerialization.jsonObject(with: existing)) as? [String: Any],
            var apps = file["apps"] as? [String: Any], var demo = apps[Self.demoApp] as? [String: Any]
        else { throw .file(path: path, reason: "has no app \(Self.demoApp); remove the file to get a new one") }
        if let feedBudget {
            var policy = demo["policy"] as? [String: Any] ?? [:]
            policy["feedBudget"] = feedBudget
            demo["policy"] = policy
        }
        if let hooksJSON { demo["hooks"] = hooksJSON }
        apps[Self.demoApp] = demo
        for name in additionalApps where apps[name] == nil { apps[name] = Self.makeApp(feedBudget: feedBudget) }
        file["apps"] = apps
        try self.write(file, to: path)
    }

    /// The JSON object of a new app with one random HS256 key.
    private static func makeApp(feedBudget: Int?) -> [String: Any] {
        let key = Base64URL.encode(RandomBytes.generate(count: 32))
        return [
            "keys": [["kid": "k1", "alg": "HS256", "k": key]],
            "policy": ["feedBudget": feedBudget ?? Self.defaultFeedBudget],
        ]
    }

    private static func write(_ object: [String: Any], to path: String) throws(ClusterError) {
        guard let data = try? JSONSerialization.data(withJSONObject: object, options: [.prettyPrinted, .sortedKeys])
        else { throw .file(path: path, reason: "cannot be encoded") }
        // The file contains signing keys, so only its owner may read it.
        try RunDirectory.write(data, to: path, mode: 0o600)
    }

    /// Where the apps' keys and policies are read from.
    package enum Source: Hashable, Sendable {
        /// The path of an apps file.
        case file(String)
        /// The content of an apps file; a container gets it in an environment variable.
        case json(String)

        /// The source that services of a cluster use: the variable `LIVEPLAZA_APPS_JSON` if it is set, otherwise the
        /// file at `path`.
        ///
        /// - Throws: `badOption` when the environment also sets `LIVEPLAZA_APPS`, because no service would start.
        init(environment: [String: String], defaultFile path: String) throws(ClusterError) {
            let json = environment["LIVEPLAZA_APPS_JSON"] ?? ""
            if !json.isEmpty, !(environment["LIVEPLAZA_APPS"] ?? "").isEmpty {
                throw .badOption(AppsDocument.onlyOneSourceAdvice)
            }
            self = json.isEmpty ? .file(path) : .json(json)
        }

        /// The apps file in `directory`, which the cluster that runs there uses; this process's environment is not
        /// read.
        ///
        /// - Throws: `badOption` when that cluster got its apps from the environment of `plaza up`, because they are
        ///   not stored in a file.
        package init(clusterIn directory: RunDirectory) throws(ClusterError) {
            // `state.apps` is the path of the apps file; empty if the apps came from the environment.
            if let state = try? ClusterState.read(runDirectory: directory.path), state.apps.isEmpty {
                throw .badOption(
                    "the cluster in \(directory.path) got its apps from LIVEPLAZA_APPS_JSON, which is not set here. "
                        + "Set it to the same JSON, or give --apps-json or --apps.")
            }
            self = .file(directory.appsFile)
        }

        /// The name of the source in error messages.
        var name: String {
            switch self {
            case .file(let path): path
            case .json: "--apps-json (LIVEPLAZA_APPS_JSON)"
            }
        }
    }

    /// The signing key of an app: the first of its keys that can sign.
    ///
    /// - Throws: the errors of `keyring`, and `badOption` for an unknown app.
    package static func signingKey(of app: String, in source: Source) throws(ClusterError) -> AppKey {
        let keyring = try self.keyring(in: source)
        guard let key = keyring.signingKey(for: app) else {
            throw .badOption(
                "there is no app \(app) in \(source.name); it has \(keyring.apps.joined(separator: ", ")).")
        }
        return key
    }

    /// The keys of all apps.
    ///
    /// The rest of the source, such as the policies, is validated too, as at the start of a service.
    ///
    /// - Throws: `ClusterError.file` when the source cannot be read or is invalid; the error lists every fault with its
    ///   remedy.
    @discardableResult
    package static func keyring(in source: Source) throws(ClusterError) -> AppKeyring {
        let json: [UInt8]
        switch source {
        case .file(let path):
            guard let data = FileManager.default.contents(atPath: path) else {
                throw .file(path: path, reason: "cannot be read; `plaza up` creates it")
            }
            json = Array(data)
        case .json(let text): json = Array(text.utf8)
        }
        let validationErrors = AppsDocument.validationErrors(in: json)
        guard validationErrors.isEmpty else {
            throw .file(path: source.name, reason: validationErrors.joined(separator: "\n\(source.name): "))
        }
        do throws(KeyringError) {
            let keyring = try AppKeyring(json: json)
            if !keyring.apps.isEmpty { return keyring }
        } catch {
            throw .file(path: source.name, reason: error.description)
        }
        throw .file(path: source.name, reason: "name at least one app with a key")
    }

    /// Signs a token with the signing key of the claims' app.
    ///
    /// - Throws: the errors of `signingKey`, and `badOption` for claims over their limits.
    package static func token(_ claims: TokenClaims, signedBy source: Source) throws(ClusterError) -> String {
        let key = try self.signingKey(of: claims.app, in: source)
        if let validationError = claims.validationError {
            throw .badOption("the token cannot be made: \(validationError).")
        }
        do {
            return try TokenSigner.sign(claims, with: key)
        } catch {
            throw .file(path: source.name, reason: "the key \(key.kid) cannot sign: \(error)")
        }
    }
}

/// Random bytes from the system's cryptographic generator.
enum RandomBytes {
    static func generate(count: Int) -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
    }
}
