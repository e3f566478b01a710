// SPDX-License-Identifier: Apache-2.0
import ClusterKit
import Foundation
import MachineKit
import PlazaModel
import Testing
import Tokens

/// Tests of the parts of ClusterKit that need no process: back-off, apps file, tokens, addresses, ports and options.
@Suite struct ClusterPartsTests {
    @Test func `the pause before a restart doubles up to five seconds, and a long uptime resets it`() {
        var backOff = RestartBackOff()
        let pauses = (0..<8).map { _ in backOff.takePause(afterRunOf: .zero) }
        #expect(pauses == [100, 200, 400, 800, 1600, 3200, 5000, 5000].map { .milliseconds($0) })
        // An uptime of 10 s is long.
        #expect(backOff.takePause(afterRunOf: .seconds(10)) == .milliseconds(100))
    }

    @Test func `preparing the apps file adds missing apps, and keeps the keys of the apps in the file`() throws {
        let path = NSTemporaryDirectory() + "liveplaza-apps-\(UUID().uuidString).json"
        defer { try? FileManager.default.removeItem(atPath: path) }
        /// The key of each app.
        func readKeys() throws -> [String: String] {
            struct File: Decodable {
                struct App: Decodable {
                    struct Key: Decodable { let k: String }
                    let keys: [Key]
                }
                let apps: [String: App]
            }
            let file = try JSONDecoder().decode(File.self, from: Data(contentsOf: URL(fileURLWithPath: path)))
            return file.apps.mapValues { $0.keys[0].k }
        }
        try AppsFile.prepare(at: path, feedBudget: nil, additionalApps: ["first"])
        let initial = try readKeys()
        #expect(Set(initial.keys) == ["demo", "first"])
        #expect(initial["demo"] != initial["first"])
        try AppsFile.prepare(at: path, feedBudget: nil, additionalApps: ["first", "second"])
        let extended = try readKeys()
        #expect(Set(extended.keys) == ["demo", "first", "second"])
        for (app, key) in initial { #expect(extended[app] == key, "\(app)") }
        // The services must accept the file.
        let keyring = try AppsFile.keyring(in: .file(path))
        #expect(keyring.apps == ["demo", "first", "second"])
    }

    @Test func `the demo app gets its webhooks in a new file and in an old one, and keeps them`() throws {
        let path = NSTemporaryDirectory() + "liveplaza-apps-\(UUID().uuidString).json"
        defer { try? FileManager.default.removeItem(atPath: path) }
        func readHooks() throws -> AppHooks? {
            struct File: Decodable {
                struct App: Decodable { let hooks: AppHooks? }
                let apps: [String: App]
            }
            let file = try JSONDecoder().decode(File.self, from: Data(contentsOf: URL(fileURLWithPath: path)))
            return try #require(file.apps["demo"]).hooks
        }
        let hooks = AppHooks(
            url: "http://127.0.0.1:1/hook", secret: "a secret of the tests", before: .init(gift: .refuse))
        try AppsFile.prepare(at: path, feedBudget: nil, hooks: hooks)
        #expect(try readHooks() == hooks)
        let otherHooks = AppHooks(url: "http://127.0.0.1:2/hook", secret: "a secret of the tests")
        try AppsFile.prepare(at: path, feedBudget: nil, hooks: otherHooks)
        #expect(try readHooks() == otherHooks)
        try AppsFile.prepare(at: path, feedBudget: 60)
        #expect(try readHooks() == otherHooks)
        // The services must accept the file.
        #expect(try AppsFile.keyring(in: .file(path)).apps == ["demo"])
    }

    @Test func `only the owner of the apps file can read it, and preparing the file again keeps the key`() throws {
        let path = NSTemporaryDirectory() + "liveplaza-apps-\(UUID().uuidString).json"
        defer { try? FileManager.default.removeItem(atPath: path) }
        func readKeyAndBudget() throws -> (key: String, budget: Int) {
            struct File: Decodable {
                struct App: Decodable {
                    struct Key: Decodable { let kid, alg, k: String }
                    struct Policy: Decodable { let feedBudget: Int }
                    let keys: [Key]
                    let policy: Policy
                }
                let apps: [String: App]
            }
            let file = try JSONDecoder().decode(File.self, from: Data(contentsOf: URL(fileURLWithPath: path)))
            let app = try #require(file.apps["demo"])
            #expect(app.keys.map(\.kid) == ["k1"] && app.keys.map(\.alg) == ["HS256"])
            return (app.keys[0].k, app.policy.feedBudget)
        }
        try AppsFile.prepare(at: path, feedBudget: nil)
        let initial = try readKeyAndBudget()
        // A key is 32 bytes, which are 43 characters in base64url without padding. The default budget is 40 items/s.
        #expect(initial.key.count == 43 && initial.budget == 40)
        try AppsFile.prepare(at: path, feedBudget: 60)
        let withNewBudget = try readKeyAndBudget()
        #expect(withNewBudget == (initial.key, 60))
        // Without a new budget, the file keeps its budget.
        try AppsFile.prepare(at: path, feedBudget: nil)
        let withoutBudget = try readKeyAndBudget()
        #expect(withoutBudget == (initial.key, 60))
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber
        // Only the owner may read and write.
        #expect(mode == 0o600)
    }

    @Test func `I17 a token is signed with the cluster's own key, and another cluster does not accept it`() throws {
        let paths = (0..<2).map { _ in NSTemporaryDirectory() + "liveplaza-apps-\(UUID().uuidString).json" }
        defer { for path in paths { try? FileManager.default.removeItem(atPath: path) } }
        for path in paths { try AppsFile.prepare(at: path, feedBudget: nil) }
        // The times `expires` and `now` are in seconds, so the token is valid at 1,000.
        let claims = TokenClaims(app: "demo", user: "alice", expires: 2_000, role: .server, name: "Alice")
        let token = try AppsFile.token(claims, signedBy: .file(paths[0]))
        // The first cluster's verifier, and the other cluster's.
        let verifiers = try paths.map { path in
            TokenVerifier(keyring: try AppKeyring(json: Array(Data(contentsOf: URL(fileURLWithPath: path)))))
        }
        #expect(try verifiers[0].verify(token, at: .seconds(1_000)) == claims)
        #expect(throws: TokenError.badSignature) { try verifiers[1].verify(token, at: .seconds(1_000)) }
        let json = try String(contentsOfFile: paths[0], encoding: .utf8)
        // A container gets the apps file's content from its environment.
        let tokenByJSON = try AppsFile.token(claims, signedBy: .json(json))
        #expect(try verifiers[0].verify(tokenByJSON, at: .seconds(1_000)) == claims)
        #expect(throws: ClusterError.self) {
            // The file has no key of the app `other`.
            try AppsFile.token(TokenClaims(app: "other", user: "alice", expires: 2_000), signedBy: .file(paths[0]))
        }
        #expect(throws: ClusterError.self) {
            // A user id cannot contain a space.
            try AppsFile.token(TokenClaims(app: "demo", user: "a b", expires: 2_000), signedBy: .file(paths[0]))
        }
    }

    @Test(arguments: [
        ("127.0.0.1:9092", "127.0.0.1", 9092), ("kafka-1:1", "kafka-1", 1), ("[::1]:65535", "[::1]", 65_535),
    ])
    func `an address is split at its last colon`(text: String, host: String, port: Int) throws {
        let parts = try #require(HealthProbe.split(address: text))
        #expect(parts == (host, port))
    }

    @Test(arguments: ["", "host", ":1", "host:", "host:0", "host:65536", "host:x"])
    func `text that is not an address is rejected`(text: String) { #expect(HealthProbe.split(address: text) == nil) }

    @Test func `a complete response is read, and an incomplete one is not`() throws {
        let whole = "HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nitems 42"
        let response = try #require(HealthProbe.parse(response: Array(whole.utf8)))
        #expect(response.status == 200 && response.body == "items 42")
        // A response that is cut off at any byte is incomplete: its number of items would be 4, or would be missing.
        for count in 0..<whole.utf8.count {
            #expect(HealthProbe.parse(response: Array(whole.utf8.prefix(count))) == nil)
        }
    }

    @Test func `allocated ports are free, unique, and in the range that outgoing connections do not use`() throws {
        let ports = try (0..<50).map { _ in try PortRange.allocate() }
        #expect(Set(ports).count == 50)
        #expect(ports.allSatisfy { PortRange.bounds.contains($0) && PortRange.isFree($0) })
    }

    @Test func `options that cannot work are rejected with a sentence about what is allowed`() {
        var options = ClusterOptions(runDirectory: "x")
        #expect(options.validationError == nil)
        options.scale = [.gateway: 33]
        #expect(options.validationError == "--scale gateway must be 0 to 32 instances, not 33.")
        options.scale = [:]
        options.broker = .kafkaHome("/x", brokers: 2)
        #expect(options.validationError == "--brokers must be 1 or 3, not 2.")
        // The replication factor is the number of brokers.
        #expect(options.replication == 2)
        options.broker = .embedded
        options.feedBudget = 0
        #expect(options.validationError == "--feed-budget must be 1 to 10000 messages a second, not 0.")
        options.feedBudget = nil
        // One gateway can have these ports.
        options.port = 8080
        options.httpPort = 8090
        #expect(options.validationError == nil)
        // The second gateway's port would be 8080 + 10, the first gateway's HTTP port.
        options.scale = [.gateway: 2]
        let portClashError =
            "--http-port 8090 and --port 8080 give two gateways the same port: "
            + "each further gateway's ports are 10 higher."
        #expect(options.validationError == portClashError)
    }

    @Test func `a directory without a running cluster has no state`() {
        let path = NSTemporaryDirectory() + "liveplaza-none-\(UUID().uuidString)"
        #expect(throws: ClusterError.notRunning(runDirectory: RunDirectory(path).path)) {
            try ClusterState.read(runDirectory: path)
        }
    }
}
