// SPDX-License-Identifier: Apache-2.0
internal import Foundation
package import Tokens

/// The file with the apps' signing keys and policies, which services read and `plaza token` signs with.
package enum AppsFile {
    /// The app that a local cluster has.
    package static let demoApp = "demo"

    /// Makes the file with a random key when it is missing, and sets the demo app's feed budget when one is given.
    package static func prepare(at path: String, feedBudget: Int?) throws(ClusterError) {
        guard let existing = FileManager.default.contents(atPath: path) else {
            let key = Base64URL.encode(RandomBytes.make(32))
            return try self.write(
                ["apps": [Self.demoApp: Self.app(key: key, feedBudget: feedBudget ?? 40)]], to: path)
        }
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

    /// Signs a token with the newest key of an app, which is the first in the file.
    package static func token(signedBy path: String, _ claims: TokenClaims) throws(ClusterError) -> String {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw .file(path: path, reason: "cannot be read; `plaza up` makes it")
        }
        return try self.token(signedBy: Array(data), from: path, claims)
    }

    /// The same with the JSON of such a file, which in a container comes from the environment.
    ///
    /// - Parameters:
    ///   - json: what such a file holds.
    ///   - source: what to call it in errors.
    ///   - claims: what the token shall say.
    /// - Returns: the token.
    /// - Throws: `file` when the JSON has no usable key, `badOption` for an unknown app or claims beyond their limits.
    package static func token(
        signedBy json: [UInt8], from source: String, _ claims: TokenClaims
    ) throws(ClusterError) -> String {
        let keyring: AppKeyring
        do {
            keyring = try AppKeyring(json: json)
        } catch {
            throw .file(path: source, reason: "\(error)")
        }
        guard let key = keyring.signingKey(for: claims.app) else {
            throw .badOption(
                "there is no app \(claims.app) in \(source); it has \(keyring.apps.joined(separator: ", ")).")
        }
        guard claims.isValid else {
            throw .badOption("an app or user is 1 to 32 letters, digits, '-' or '_'; a name at most 100 bytes.")
        }
        do {
            return try TokenSigner.sign(claims, with: key)
        } catch {
            throw .file(path: source, reason: "the key \(key.kid) cannot sign: \(error)")
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
