// SPDX-License-Identifier: Apache-2.0
internal import Foundation

/// The file with the apps' signing keys and policies, which services read and `plaza token` signs with.
package enum AppsFile {
    /// The app that a local cluster has.
    package static let demoApp = "demo"

    /// Makes the file with a random key when it is missing, and sets the demo app's feed budget when one is given.
    package static func prepare(at path: String, feedBudget: Int?) throws(ClusterError) {
        guard let existing = FileManager.default.contents(atPath: path) else {
            let key = Base64URL.encode(Base64URL.randomBytes(32))
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
}

/// Bytes as text that is safe in URLs and file names.
enum Base64URL {
    static func encode(_ bytes: [UInt8]) -> String {
        Data(bytes).base64EncodedString().replacingOccurrences(of: "+", with: "-")
            .replacingOccurrences(of: "/", with: "_").replacingOccurrences(of: "=", with: "")
    }

    /// From the system's generator, which is fit for keys.
    static func randomBytes(_ count: Int) -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
    }
}
