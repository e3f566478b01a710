// SPDX-License-Identifier: Apache-2.0
internal import FoundationEssentials
internal import PlazaWire

/// The keys of all apps; a value that is rebuilt when the keys file changes.
///
/// Example of a keys file: `{"apps": {"demo": {"keys": [{"kid": "k1", "alg": "HS256", "k": "<base64url>"}]}}}`. An
/// ES256 key has `x` and `y`, and `d` if it can sign. The first key of an app signs; all of its keys verify. To rotate,
/// put a new key first, wait until the tokens of the old key have expired, then remove the old key.
package struct AppKeyring: Sendable {
    /// The apps' names, sorted.
    package var apps: [String] { self.keys.keys.sorted() }
    /// The keys of each app, by the app's name.
    private let keys: [String: [AppKey]]
    /// The ids of all keys.
    private let keyIDs: Set<String>

    /// Makes a keyring from the keys of each app; the first key of an app signs.
    ///
    /// - Throws: `badApp` for an invalid name of an app, `noKeys` for an app without keys, `badKey` when two keys of an
    ///   app have the same id.
    package init(_ keys: [String: [AppKey]]) throws(KeyringError) {
        for (app, appKeys) in keys.sorted(by: { $0.key < $1.key }) {
            guard TokenClaims.isIdentifier(app) else { throw .badApp(app) }
            guard !appKeys.isEmpty else { throw .noKeys(app: app) }
            var kids: Set<String> = []
            if let repeated = appKeys.first(where: { !kids.insert($0.kid).inserted }) {
                throw .badKey(kid: repeated.kid, reason: "two keys of the app '\(app)' have the same kid")
            }
        }
        self.keys = keys
        self.keyIDs = Set(keys.values.joined().map(\.kid))
    }

    /// Parses a keys file; unknown parts of the file are ignored.
    ///
    /// - Throws: `malformed` when the file does not have the expected form, `badKey` for a key that cannot be used, and
    ///   the errors of `init(_:)`.
    package init(json: [UInt8]) throws(KeyringError) {
        let file: KeysFile
        do {
            file = try JSONDecoder().decode(KeysFile.self, from: Data(json))
        } catch {
            throw .malformed(Self.describe(error))
        }
        var keys: [String: [AppKey]] = [:]
        for (app, entry) in file.apps.sorted(by: { $0.key < $1.key }) {
            var appKeys: [AppKey] = []
            for key in entry.keys { appKeys.append(try key.appKey()) }
            keys[app] = appKeys
        }
        try self.init(keys)
    }

    /// The key that signs for an app.
    package func signingKey(for app: String) -> AppKey? { self.keys[app]?.first }

    /// The app's key with the id `kid`.
    func key(_ kid: String, of app: String) -> AppKey? { self.keys[app]?.first { $0.kid == kid } }

    /// Whether any app has a key with the id `kid`.
    func hasKey(_ kid: String) -> Bool { self.keyIDs.contains(kid) }

    /// Says in words why the file cannot be decoded.
    private static func describe(_ error: any Error) -> String {
        guard let error = error as? DecodingError else { return "it is not JSON" }
        func path(_ context: DecodingError.Context) -> String {
            context.codingPath.map { $0.intValue.map { "[\($0)]" } ?? ".\($0.stringValue)" }.joined()
        }
        return switch error {
        case .keyNotFound(let key, let context): "\(path(context)) has no \"\(key.stringValue)\""
        case .typeMismatch(_, let context): "\(path(context)) is of another type"
        case .valueNotFound(_, let context): "\(path(context)) is null"
        case .dataCorrupted(let context): path(context).isEmpty ? "it is not JSON" : "\(path(context)) has a bad value"
        @unknown default: "it is not as expected"
        }
    }
}

/// The part of the keys file that the keyring reads.
private struct KeysFile: Decodable {
    let apps: [String: App]

    struct App: Decodable {
        let keys: [Key]
    }

    /// A key, with the member names of a JWK.
    ///
    /// `k` is the secret of HS256; `x` and `y` are the public point of ES256, and `d` is its private key.
    struct Key: Decodable {
        let kid: String
        let alg: String
        let k: String?
        let x: String?
        let y: String?
        let d: String?

        /// Makes the key that this entry describes.
        func appKey() throws(KeyringError) -> AppKey {
            switch TokenAlgorithm(rawValue: self.alg) {
            case .hs256:
                return try AppKey(kid: self.kid, secret: self.bytes(self.k, "k"))
            case .es256:
                let secret = try self.d.map { text throws(KeyringError) in try self.bytes(text, "d") }
                return try AppKey(kid: self.kid, x: self.bytes(self.x, "x"), y: self.bytes(self.y, "y"), secret: secret)
            case nil:
                throw .badKey(kid: self.kid, reason: "its \"alg\" must be HS256 or ES256")
            }
        }

        /// Decodes the bytes of the member `name`.
        private func bytes(_ text: String?, _ name: String) throws(KeyringError) -> [UInt8] {
            guard let bytes = text.flatMap({ Base64URL.decode($0.utf8) }) else {
                throw .badKey(kid: self.kid, reason: "its \"\(name)\" must be base64url without padding")
            }
            return bytes
        }
    }
}
