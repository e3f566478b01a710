// SPDX-License-Identifier: Apache-2.0
package import Foundation

/// Divides the apps file among the services: each gets only the keys and secrets that it needs.
package struct AppsFileParts: Sendable {
    /// The part of the apps file for each service, as JSON.
    private let parts: [ServiceKind: Data]
    /// The path of each service's file; empty when the apps came from the environment, because secrets from the
    /// environment are not written to a file.
    private var files: [ServiceKind: String] = [:]

    /// Divides a validated apps file, and writes a file for each service.
    ///
    /// - Throws: `file` when the apps cannot be read or a file cannot be written.
    init(_ source: AppsFile.Source, directory: RunDirectory) throws(ClusterError) {
        let json: Data
        switch source {
        case .json(let text): json = Data(text.utf8)
        case .file(let path):
            guard let data = FileManager.default.contents(atPath: path) else {
                throw .file(path: path, reason: "cannot be read")
            }
            json = data
        }
        var parts: [ServiceKind: Data] = [:]
        for kind in ServiceKind.allCases { parts[kind] = try Self.part(of: json, for: kind, name: source.name) }
        self.parts = parts
        guard case .file = source else { return }
        for (kind, part) in parts {
            let path = "\(directory.path)/apps.\(kind.rawValue).json"
            try RunDirectory.write(part, to: path, mode: 0o600)
            self.files[kind] = path
        }
    }

    /// The command-line arguments and the environment that pass a service its part.
    func launchSettings(
        of kind: ServiceKind, environment: [String: String]
    ) -> (arguments: [String], environment: [String: String]) {
        var environment = SecretVariables.filter(environment, for: kind)
        if let file = self.files[kind] { return (["--apps", file], environment) }
        environment["LIVEPLAZA_APPS_JSON"] = self.parts[kind].map { String(decoding: $0, as: UTF8.self) }
        return ([], environment)
    }

    /// The part of an apps file that a service needs.
    ///
    /// | service | keys | hooks |
    /// | --- | --- | --- |
    /// | gateway | without the private parts of ES256 keys | address and secret only for apps with `before` hooks |
    /// | room-directory | none | with address and secret |
    /// | the others | none | without address and secret |
    ///
    /// - Parameters:
    ///   - json: the whole file.
    ///   - kind: the service.
    ///   - name: the file's name in errors.
    /// - Returns: the part as JSON.
    /// - Throws: `file` when the JSON has no apps.
    package static func part(of json: Data, for kind: ServiceKind, name: String) throws(ClusterError) -> Data {
        guard var file = (try? JSONSerialization.jsonObject(with: json)) as? [String: Any],
            let apps = file["apps"] as? [String: Any]
        else { throw .file(path: name, reason: "is no JSON of the form {\"apps\":{…}}") }
        file["apps"] = apps.mapValues { entry -> Any in
            guard var app = entry as? [String: Any] else { return entry }
            if kind == .gateway {
                // `d` is the private part of a key in JSON Web Key form.
                let keys = app["keys"] as? [[String: Any]]
                app["keys"] = keys?.map { key in key.filter { $0.key != "d" } }
            } else {
                app["keys"] = nil
            }
            if var hooks = app["hooks"] as? [String: Any] {
                let needsSecret = kind == .roomDirectory || (kind == .gateway && Self.hasBeforeHooks(hooks))
                if !needsSecret {
                    hooks["url"] = nil
                    hooks["secret"] = nil
                }
                app["hooks"] = hooks
            }
            return app
        }
        do {
            return try JSONSerialization.data(withJSONObject: file, options: [.sortedKeys, .withoutEscapingSlashes])
        } catch {
            throw .file(path: name, reason: "cannot be divided among the services")
        }
    }

    private static func hasBeforeHooks(_ hooks: [String: Any]) -> Bool {
        // The value of a hook says what happens if the backend does not answer; null means that there is no hook.
        let before = hooks["before"] as? [String: Any] ?? [:]
        return before.values.contains { $0 is String }
    }
}

/// Decides which processes inherit the secrets in the environment variables of `plaza up`.
enum SecretVariables {
    // The variables with secrets, by what the secrets are for.
    private static let apps: Set<String> = ["LIVEPLAZA_APPS", "LIVEPLAZA_APPS_JSON"]
    private static let kafka: Set<String> = ["LIVEPLAZA_KAFKA_PASSWORD", "LIVEPLAZA_KAFKA_KEY_PASSWORD"]
    private static let redis: Set<String> = ["LIVEPLAZA_REDIS_PASSWORD"]
    private static let gateway: Set<String> = ["LIVEPLAZA_SESSION_KEY"]

    /// The environment without the secrets that a process does not need.
    ///
    /// - Parameters:
    ///   - environment: the variables of `plaza up`.
    ///   - service: the service that gets the variables; nil for Redis or a broker. A service does not get the
    ///     variables of the apps either, because its part of the apps file is passed separately.
    /// - Returns: the remaining variables.
    static func filter(_ environment: [String: String], for service: ServiceKind?) -> [String: String] {
        var removedVariables = Self.apps
        if service == nil { removedVariables.formUnion(Self.kafka) }
        if service != .audiencePresence { removedVariables.formUnion(Self.redis) }
        if service != .gateway { removedVariables.formUnion(Self.gateway) }
        return environment.filter { !removedVariables.contains($0.key) }
    }

    /// The environment for the demo: without the secrets with which services reach Kafka, Redis and each other.
    ///
    /// The demo connects only to gateways. It needs the apps' keys, to sign its users' tokens.
    static func forClients(_ environment: [String: String]) -> [String: String] {
        environment.filter { !Self.kafka.union(Self.redis).union(Self.gateway).contains($0.key) }
    }
}
