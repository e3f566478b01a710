// SPDX-License-Identifier: Apache-2.0
internal import Foundation
internal import PlazaWire
package import Tokens

/// The file with the apps' signing keys and policies, which services read and `plaza token` signs with.
package enum AppsFile {
    /// The app that a local cluster has.
    package static let demoApp = "demo"

    /// Makes the file with a random key when it is missing, and sets the demo app's feed budget when one is given.
    ///
    /// - Throws: `file` when the file that is there is not as it should be.
    package static func prepare(at path: String, feedBudget: Int?) throws(ClusterError) {
        guard let existing = FileManager.default.contents(atPath: path) else {
            let key = Base64URL.encode(RandomBytes.make(32))
            return try self.write(
                ["apps": [Self.demoApp: Self.app(key: key, feedBudget: feedBudget ?? 40)]], to: path)
        }
        try self.keyring(in: .file(path))
        guard let feedBudget else { return }
        guard var file = (try? JSONSerialization.jsonObject(with: existing)) as? [String: Any],
            var apps = file["apps"] as? [String: Any], var demo = apps[Self.demoApp] as? [String: Any]
        else { throw .file(path: path, reason: "has no app \(Self.demoApp); remove the file to get a new one") }
        var policy = demo["policy"] as? [String: Any] ?? [:]
        policy["feedBudget"] = feedBudget
        demo["policy"] = policy
        apps[Self.demoApp] = demo
        file["apps"] = apps
        try self.write(file, to: path)
    }

    private static func app(key: String, feedBudget: Int) -> [String: Any] {
        ["keys": [["kid": "k1", "alg": "HS256", "k": key]], "policy": ["feedBudget": feedBudget]]
    }

    private static func write(_ object: [String: Any], to path: String) throws(ClusterError) {
        guard let data = try? JSONSerialization.data(withJSONObject: object, options: [.prettyPrinted, .sortedKeys])
        else { throw .file(path: path, reason: "cannot be encoded") }
        try RunDirectory.write(data, to: path, mode: 0o600)
    }

    /// Where the apps' keys are read from.
    package enum Source: Hashable, Sendable {
        /// A file of this form.
        case file(String)
        /// What such a file holds, which in a container comes from the environment.
        case json(String)

        /// Where services of a cluster look: in the variable of `--apps-json` if it is set, else in the file at `path`.
        ///
        /// - Throws: `badOption` when the environment names both ways, for no service would start.
        init(environment: [String: String], else path: String) throws(ClusterError) {
            let json = environment["LIVEPLAZA_APPS_JSON"] ?? ""
            if !json.isEmpty, !(environment["LIVEPLAZA_APPS"] ?? "").isEmpty { throw .badOption(AppsDocument.twice) }
            self = json.isEmpty ? .file(path) : .json(json)
        }

        /// Where the keys of the cluster in `directory` are.
        ///
        /// - Throws: `badOption` when a cluster runs there whose apps the environment of `plaza up` has, and this one not.
        package init(clusterIn directory: RunDirectory) throws(ClusterError) {
            guard let state = try? ClusterState.read(runDirectory: directory.path), state.apps.isEmpty else {
                self = .file(directory.appsFile)
                return
            }
            throw .badOption(
                "the cluster in \(directory.path) has its apps from LIVEPLAZA_APPS_JSON, which is not set here. "
                    + "Set it to the same JSON, or give --apps-json or --apps.")
        }

        /// What errors call it.
        var name: String {
            switch self {
            case .file(let path): path
            case .json: "--apps-json (LIVEPLAZA_APPS_JSON)"
            }
        }
    }

    /// The newest key of an app that can sign, which is the first in the file.
    ///
    /// - Throws: as `keyring` does, and `badOption` for an app that is not there.
    package static func signingKey(of app: String, in source: Source) throws(ClusterError) -> AppKey {
        let keyring = try self.keyring(in: source)
        guard let key = keyring.signingKey(for: app) else {
            throw .badOption(
                "there is no app \(app) in \(source.name); it has \(keyring.apps.joined(separator: ", ")).")
        }
        return key
    }

    /// The keys of all apps; all else that stands beside them is checked as services do when they start.
    ///
    /// - Throws: `file` when the source cannot be read, or something in it is wrong: all of it, each with what to do.
    @discardableResult
    package static func keyring(in source: Source) throws(ClusterError) -> AppKeyring {
        let json: [UInt8]
        switch source {
        case .file(let path):
            guard let data = FileManager.default.contents(atPath: path) else {
                throw .file(path: path, reason: "cannot be read; `plaza up` makes it")
            }
            json = Array(data)
        case .json(let text): json = Array(text.utf8)
        }
        let faults = AppsDocument.faults(in: json)
        guard faults.isEmpty else {
            throw .file(path: source.name, reason: faults.joined(separator: "\n\(source.name): "))
        }
        do throws(KeyringError) {
            let keyring = try AppKeyring(json: json)
            if !keyring.apps.isEmpty { return keyring }
        } catch {
            throw .file(path: source.name, reason: error.description)
        }
        throw .file(path: source.name, reason: "name at least one app with a key")
    }

    /// Signs a token with the newest key of the claims' app.
    ///
    /// - Throws: as `signingKey` does, and `badOption` for claims beyond their limits.
    package static func token(_ claims: TokenClaims, signedBy source: Source) throws(ClusterError) -> String {
        let key = try self.signingKey(of: claims.app, in: source)
        if let fault = claims.fault { throw .badOption("no such token can be made: \(fault).") }
        do {
            return try TokenSigner.sign(claims, with: key)
        } catch {
            throw .file(path: source.name, reason: "the key \(key.kid) cannot sign: \(error)")
        }
    }
}

/// Bytes from the system's generator, which is fit for keys.
enum RandomBytes {
    static func make(_ count: Int) -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
    }
}
