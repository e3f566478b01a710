// SPDX-License-Identifier: Apache-2.0
import ChildProcess
import ClusterKit
import Foundation
import TestSupport
import Testing

/// What `plaza` and the services do about apps files that no service would take.
@Suite(.serialized, .timeLimit(.minutes(2))) struct AppsFileTests {
    private static let key = #"{"kid":"k1","alg":"HS256","k":"AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"}"#
    private static let good = #"{"apps":{"demo":{"keys":[\#(Self.key)]}}}"#
    private static let wrong: [(json: String, said: [String])] = [
        (
            #"{"apps":{"demo":{"keys":[\#(Self.key)],"policy":{"feedBugdet":1,"maxAdmins":-1}}}}"#,
            ["demo.policy.feedBugdet is not known", "demo.policy.maxAdmins is -1"]
        ),
        (#"{"apps":{"demo":{"keys":[\#(Self.key)],}}}"#, ["it is no JSON"]),
        ("{}", ["apps is missing"]),
        (#"{"apps":{}}"#, ["name at least one app with a key"]),
        (#"{"apps":{"demo":{"keys":[]}}}"#, ["the app 'demo' has no key"]),
    ]

    private func directory(_ apps: String) throws -> String {
        let path = NSTemporaryDirectory() + "liveplaza-bad-apps-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        try Data(apps.utf8).write(to: URL(filePath: path + "/apps.json"))
        return path
    }

    private func end(
        of program: String, _ arguments: [String], environment: [String: String] = [:]
    ) async throws -> (end: ProcessEnd, said: String) {
        let command = [try ProgramFinder().path(of: program)] + arguments
        return try await onOwnThread { try TestProcess.run(command, environment: environment, errors: .output) }
    }

    private static func count(_ word: String, in text: String) -> Int { text.components(separatedBy: word).count - 1 }

    @Test(arguments: 0..<5) func `a cluster with a wrong apps file starts nothing, and says once what is wrong`(
        index: Int
    ) async throws {
        let (json, words) = Self.wrong[index]
        let directory = try self.directory(json)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let up = ["up", "--run-dir", directory, "--port", "0", "--feed-budget", "50"]
        let (end, said) = try await self.end(of: "plaza", up)
        #expect(end == .exited(1))
        for word in words { #expect(Self.count(word, in: said) == 1, "\(said)") }
        #expect(said.contains("plaza up: \(directory)/apps.json: "), "\(said)")
        #expect(!FileManager.default.fileExists(atPath: directory + "/state.json"))
        let logs = try FileManager.default.subpathsOfDirectory(atPath: directory).filter { $0.hasSuffix(".log") }
        #expect(logs.isEmpty, "no process was started")
        #expect(try String(contentsOfFile: directory + "/apps.json", encoding: .utf8) == json)

        let token = ["token", "--user", "alice", "--apps", directory + "/apps.json"]
        let (refused, why) = try await self.end(of: "plaza", token)
        #expect(refused == .exited(1))
        for word in words { #expect(Self.count(word, in: why) == 1, "\(why)") }
        #expect(!why.contains("eyJ"), "no token: \(why)")
    }

    @Test func `apps in the environment are checked in the same way, and take the file's place`() async throws {
        let directory = try self.directory(Self.wrong[0].json)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let up = ["up", "--run-dir", directory, "--port", "0"]
        let (end, said) = try await self.end(
            of: "plaza", up, environment: ["LIVEPLAZA_APPS_JSON": Self.wrong[1].json])
        #expect(end == .exited(1))
        #expect(Self.count("LIVEPLAZA_APPS_JSON", in: said) == 1 && said.contains("it is no JSON"), "\(said)")
        #expect(!said.contains("AAECAwQ"), "a key is no text for a screen")

        var options = LiveCluster.options()
        options.environment["LIVEPLAZA_APPS_JSON"] = Self.good
        try await LiveCluster.with(options) { cluster in
            let state = try ClusterState.read(runDirectory: cluster.directory.path)
            #expect(await state.asked().isReady)
            #expect(!FileManager.default.fileExists(atPath: cluster.directory.path + "/apps.json"))
            #expect(state.apps.isEmpty, "no file is named that there is not")
            let place = ["--run-dir", cluster.directory.path]
            for command in [["token", "--user", "alice"], ["demo"]] {
                let (end, said) = try await self.end(of: "plaza", command + place)
                #expect(end == .exited(1) || end == .exited(64), "\(said)")
                #expect(said.contains("has its apps from LIVEPLAZA_APPS_JSON, which is not set here"), "\(said)")
            }
            let (made, token) = try await self.end(
                of: "plaza", ["token", "--user", "alice"] + place, environment: ["LIVEPLAZA_APPS_JSON": Self.good])
            #expect(made == .exited(0) && token.hasPrefix("eyJ"), "\(token)")
        }
    }

    @Test func `a file of apps and the JSON itself together are refused`() async throws {
        let directory = try self.directory(Self.good)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let both = ["--apps", directory + "/apps.json", "--apps-json", Self.good]
        let why = "--apps-json: leave out either --apps or --apps-json"
        for (program, arguments) in [("plaza", ["token", "--user", "alice"]), ("gateway", []), ("room-directory", [])] {
            let (end, said) = try await self.end(of: program, arguments + both)
            #expect(end == .exited(64))
            #expect(Self.count(why, in: said) == 1, "\(said)")
        }
        let (end, said) = try await self.end(
            of: "plaza", ["up", "--run-dir", directory, "--port", "0"],
            environment: ["LIVEPLAZA_APPS_JSON": Self.good, "LIVEPLAZA_APPS": directory + "/apps.json"])
        #expect(end == .exited(1) && Self.count("leave out either --apps or --apps-json", in: said) == 1, "\(said)")
    }

    @Test func `a service tells what is wrong with its apps in words, and once`() async throws {
        let gateway = ["--kafka", "127.0.0.1:1", "--apps-json"]
        for (json, words) in Self.wrong {
            let (end, said) = try await self.end(of: "gateway", gateway + [json])
            #expect(end == .exited(64))
            for word in words { #expect(Self.count(word, in: said) == 1, "\(said)") }
            #expect(Self.count("--apps-json: ", in: said) == words.count, "\(said)")
            for raw in ["badField", "notJSON"] { #expect(!said.contains(raw), "\(said)") }
        }
    }
}
