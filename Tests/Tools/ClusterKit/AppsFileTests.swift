// SPDX-License-Identifier: Apache-2.0
import ChildProcess
import ClusterKit
import Concurrency
import Foundation
import TestSupport
import Testing

/// Tests that `plaza` and the services reject invalid apps: an apps file, or the same JSON in an option or variable.
///
/// The exit code 64 means a wrong option or setting (sysexits.h); any other failure ends with 1.
@Suite(.serialized, .timeLimit(.minutes(2))) struct AppsFileTests {
    private static let key = #"{"kid":"k1","alg":"HS256","k":"AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"}"#
    private static let validApps = #"{"apps":{"demo":{"keys":[\#(Self.key)]}}}"#
    /// Invalid contents of an apps file, and what the output must contain about each.
    ///
    /// `feedBugdet` is misspelled on purpose.
    private static let invalidApps: [(json: String, messages: [String])] = [
        (
            #"{"apps":{"demo":{"keys":[\#(Self.key)],"policy":{"feedBugdet":1,"maxAdmins":-1}}}}"#,
            ["demo.policy.feedBugdet is not known", "demo.policy.maxAdmins is -1"]
        ),
        (#"{"apps":{"demo":{"keys":[\#(Self.key)],}}}"#, ["it is no JSON"]),
        ("{}", ["apps is missing"]),
        (#"{"apps":{}}"#, ["name at least one app with a key"]),
        (#"{"apps":{"demo":{"keys":[]}}}"#, ["the app 'demo' has no key"]),
    ]

    /// Creates a run directory whose apps file has this content; returns the path of the directory.
    private func makeRunDirectory(_ apps: String) throws -> String {
        let path = NSTemporaryDirectory() + "liveplaza-bad-apps-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        try Data(apps.utf8).write(to: URL(filePath: path + "/apps.json"))
        return path
    }

    /// Runs a program until it ends; the output includes standard error.
    private func runUntilEnd(
        of program: String, _ arguments: [String], environment: [String: String] = [:]
    ) async throws -> (end: ProcessEnd, output: String) {
        let command = [try ProgramFinder().path(of: program)] + arguments
        return try await runOnDedicatedThread {
            try TestProcess.run(command, environment: environment, errors: .output)
        }
    }

    /// How often a text contains `words`.
    private static func count(_ words: String, in text: String) -> Int { text.components(separatedBy: words).count - 1 }

    @Test(arguments: 0..<5)
    func `a cluster with an invalid apps file starts no process, and its output names each mistake once`(
        index: Int
    ) async throws {
        // The test runs once for each of the five contents in `invalidApps`.
        let (json, messages) = Self.invalidApps[index]
        let directory = try self.makeRunDirectory(json)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let upArguments = ["up", "--run-dir", directory, "--port", "0", "--feed-budget", "50"]
        let (end, output) = try await self.runUntilEnd(of: "plaza", upArguments)
        #expect(end == .exited(1))
        for message in messages { #expect(Self.count(message, in: output) == 1, "\(output)") }
        #expect(output.contains("plaza up: \(directory)/apps.json: "), "\(output)")
        #expect(!FileManager.default.fileExists(atPath: directory + "/state.json"))
        let logs = try FileManager.default.subpathsOfDirectory(atPath: directory).filter { $0.hasSuffix(".log") }
        #expect(logs.isEmpty, "no process may be started")
        #expect(try String(contentsOfFile: directory + "/apps.json", encoding: .utf8) == json)

        let tokenArguments = ["token", "--user", "alice", "--apps", directory + "/apps.json"]
        let (tokenEnd, tokenOutput) = try await self.runUntilEnd(of: "plaza", tokenArguments)
        #expect(tokenEnd == .exited(1))
        for message in messages { #expect(Self.count(message, in: tokenOutput) == 1, "\(tokenOutput)") }
        // Every token begins with `eyJ`, which is `{"` in Base64.
        #expect(!tokenOutput.contains("eyJ"), "no token may be printed: \(tokenOutput)")
    }

    @Test func `apps JSON in the environment replaces the apps file, and is validated like the file`() async throws {
        // The file has other mistakes than the JSON. Only the mistake in the JSON is reported.
        let directory = try self.makeRunDirectory(Self.invalidApps[0].json)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let upArguments = ["up", "--run-dir", directory, "--port", "0"]
        let (end, output) = try await self.runUntilEnd(
            of: "plaza", upArguments, environment: ["LIVEPLAZA_APPS_JSON": Self.invalidApps[1].json])
        #expect(end == .exited(1))
        #expect(Self.count("LIVEPLAZA_APPS_JSON", in: output) == 1 && output.contains("it is no JSON"), "\(output)")
        // `AAECAwQ` is how the key in the file begins.
        #expect(!output.contains("AAECAwQ"), "a key must never be printed")

        // A cluster starts with valid JSON in the variable. `plaza token` and `plaza demo` need the variable, too.
        var options = TestCluster.options()
        options.environment["LIVEPLAZA_APPS_JSON"] = Self.validApps
        try await TestCluster.with(options) { cluster in
            let state = try ClusterState.read(runDirectory: cluster.directory.path)
            #expect(await state.checkingReadiness().isReady)
            #expect(!FileManager.default.fileExists(atPath: cluster.directory.path + "/apps.json"))
            #expect(state.apps.isEmpty, "the state must name no apps file, because there is none")
            let runDirectory = ["--run-dir", cluster.directory.path]
            for command in [["token", "--user", "alice"], ["demo"]] {
                let (end, output) = try await self.runUntilEnd(of: "plaza", command + runDirectory)
                #expect(end == .exited(1) || end == .exited(64), "\(output)")
                #expect(output.contains("got its apps from LIVEPLAZA_APPS_JSON, which is not set here"), "\(output)")
            }
            let (tokenEnd, token) = try await self.runUntilEnd(
                of: "plaza", ["token", "--user", "alice"] + runDirectory,
                environment: ["LIVEPLAZA_APPS_JSON": Self.validApps])
            #expect(tokenEnd == .exited(0) && token.hasPrefix("eyJ"), "\(token)")
        }
    }

    @Test func `programs refuse to start with both an apps file and apps JSON`() async throws {
        // The file would be valid alone, and so would the JSON.
        let directory = try self.makeRunDirectory(Self.validApps)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let bothOptions = ["--apps", directory + "/apps.json", "--apps-json", Self.validApps]
        let message = "--apps-json: give only one of --apps and --apps-json"
        for (program, arguments) in [("plaza", ["token", "--user", "alice"]), ("gateway", []), ("room-directory", [])] {
            let (end, output) = try await self.runUntilEnd(of: program, arguments + bothOptions)
            #expect(end == .exited(64))
            #expect(Self.count(message, in: output) == 1, "\(output)")
        }
        let (end, output) = try await self.runUntilEnd(
            of: "plaza", ["up", "--run-dir", directory, "--port", "0"],
            environment: ["LIVEPLAZA_APPS_JSON": Self.validApps, "LIVEPLAZA_APPS": directory + "/apps.json"])
        #expect(
            end == .exited(1) && Self.count("give only one of --apps and --apps-json", in: output) == 1, "\(output)")
    }

    @Test func `a service with invalid apps names each mistake once and in words`() async throws {
        for (json, messages) in Self.invalidApps {
            let arguments = ["--kafka", "127.0.0.1:1", "--apps-json", json]
            let (end, output) = try await self.runUntilEnd(of: "gateway", arguments)
            #expect(end == .exited(64))
            for message in messages { #expect(Self.count(message, in: output) == 1, "\(output)") }
            #expect(Self.count("--apps-json: ", in: output) == messages.count, "\(output)")
            // The names of the code's error cases are not shown.
            for errorCase in ["badField", "notJSON"] { #expect(!output.contains(errorCase), "\(output)") }
        }
    }
}
