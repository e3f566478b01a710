// SPDX-License-Identifier: Apache-2.0
import ChildProcess
import ClusterKit
import Concurrency
import Foundation
import TestSupport
import Testing

/// Tests of processes that cannot start, or cannot write their output: they end with an exit code and a reason.
///
/// The exit codes are those of sysexits.h: 64 is a wrong option or setting, 74 a failed write. A service that cannot
/// start for another reason ends with 1.
@Suite(.serialized, .timeLimit(.minutes(2))) struct ServiceProcessTests {
    /// Runs a service until it ends; returns how it ended, and its output with its errors.
    private func runUntilEnd(of service: ServiceKind, _ arguments: [String]) async throws -> (
        end: ProcessEnd, output: String
    ) {
        try await self.runUntilEnd(of: service.rawValue, arguments)
    }

    /// Runs a program until it ends; returns how it ended, and its output with its errors.
    private func runUntilEnd(of program: String, _ arguments: [String]) async throws -> (
        end: ProcessEnd, output: String
    ) {
        let command = [try ProgramFinder().path(of: program)] + arguments
        return try await runOnDedicatedThread { try TestProcess.run(command, errors: .output) }
    }

    @Test func `a gateway whose HTTP port is in use ends and reports why`() async throws {
        try await TestCluster.with(TestCluster.options()) { cluster in
            let runningGateway = try #require(cluster.gateways.first)
            let (end, output) = try await self.runUntilEnd(
                of: .gateway,
                [
                    "--kafka", cluster.state.kafka, "--kafka-mode", "embedded", "--instance", "gateway-9", "--apps",
                    cluster.state.apps, "--partitions", "\(cluster.state.partitions)", "--port", "0", "--http-port",
                    "\(runningGateway.httpPort)",
                ])
            #expect(end == .exited(1))
            #expect(output.contains("port \(runningGateway.httpPort) on 127.0.0.1 is in use"))
        }
    }

    /// Rules: R17.1.
    @Test func `a service with invalid policies or hooks does not start, and reports all faults in one error`()
        async throws
    {
        let dismissal = #"{"afterNoUsersSeconds":-1}"#
        let policy = #"{"maxAdmins":-1,"feedBudget":0,"dismissal":\#(dismissal),"typo":1,"devices":"two"}"#
        let hooks = #"{"url":"http://a/","secret":"0123456789abcdef","before":{"gift":"maybe"},"events":["x"]}"#
        let key = #"{"kid":"k1","alg":"HS256","k":"AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"}"#
        // Besides the faults in the policy and the hooks, `app` is a misspelt `apps`, and 70000 is no port.
        let apps = #"{"app":{},"apps":{"demo":{"keys":[\#(key)],"policy":\#(policy),"hooks":\#(hooks)}}}"#
        let (end, output) = try await self.runUntilEnd(
            of: .roomDirectory, ["--kafka", "127.0.0.1:1", "--apps-json", apps, "--ops-port", "70000"])
        #expect(end == .exited(64))
        for fault in [
            "demo.policy.maxAdmins is -1; 0 to 100 are possible",
            "demo.policy.feedBudget is 0; 1 to 10000 are possible",
            "demo.policy.dismissal.afterNoUsersSeconds is -1; 0 to 31536000 are possible",
            "demo.policy.typo is not known", "demo.policy.devices is 'two'; it may be several, one",
            "demo.hooks.before.gift is 'maybe'; it may be allow, refuse",
            "demo.hooks.events is 'x'; it may be roomCreated", "--ops-port", "app is not known; there is apps",
        ] { #expect(output.contains(fault), "\(fault) is not reported: \(output)") }
        // The error names the option that was given, `--apps-json`, not the similar option `--apps`.
        #expect(output.contains("--apps-json"), "\(output)")
        #expect(!output.contains("--apps:") && !output.contains("--apps="), "\(output)")
        #expect(!output.contains("AAECAwQ"), "the output must not contain a key")
        // With the apps in a file, the errors name the file instead of the option.
        let path = NSTemporaryDirectory() + "liveplaza-apps-\(UUID().uuidString).json"
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Data(apps.utf8).write(to: URL(filePath: path))
        let (_, outputOfFileError) = try await self.runUntilEnd(
            of: .roomDirectory, ["--kafka", "127.0.0.1:1", "--apps", path])
        #expect(outputOfFileError.contains(path) && !outputOfFileError.contains("--apps-json"), "\(outputOfFileError)")
    }

    @Test(
        arguments: [
            (["--log-level", "loud"], "debug, info, warning, error"), (["--kafka", "nonsense"], "HOST:PORT"),
            (["--kafka", "a:1,b:70000"], "HOST:PORT"), (["--brokers", "2"], "1 or 3"),
        ])
    func `plaza up with an invalid option starts nothing and says what is valid`(
        arguments: [String], validValues: String
    ) async throws {
        let directory = NSTemporaryDirectory() + "liveplaza-not-started-\(UUID().uuidString)"
        let (end, output) = try await self.runUntilEnd(of: "plaza", ["up", "--run-dir", directory] + arguments)
        #expect(end == .exited(64))
        #expect(output.contains(validValues), "\(output)")
        #expect(!FileManager.default.fileExists(atPath: directory), "no run directory may be created")
    }

    @Test func `a command whose output cannot be written reports this and ends with 74, without a trap`() async throws {
        try await TestCluster.with(TestCluster.options()) { cluster in
            // Each write to this device fails because no space is left.
            let fullDevice = try #require(FileHandle(forWritingAtPath: "/dev/full"))
            let log = NSTemporaryDirectory() + "liveplaza-process-\(UUID().uuidString).log"
            defer { try? FileManager.default.removeItem(atPath: log) }
            let process = try TestProcess(
                [
                    try ProgramFinder().path(of: "plaza"), "token", "--run-dir", cluster.directory.path, "--user",
                    "alice",
                ],
                output: .descriptor(fullDevice.fileDescriptor), errors: .log(log))
            #expect(await process.awaitEnd() == .exited(74))
            let output = try String(contentsOfFile: log, encoding: .utf8)
            #expect(output.contains("standard output cannot be written"), "\(output)")
        }
    }

    // The key `c2hvcnQ` is `short` in Base64.
    @Test(
        arguments: [
            ("{\"apps\":{}}", "name at least one app with a key"), ("{", "give JSON of the form"),
            (#"{"apps":{"demo":{"keys":[]}}}"#, "the app 'demo' has no key"),
            (#"{"apps":{"demo":{"keys":[{"kid":"k1","alg":"none"}]}}}"#, "HS256 or ES256"),
            (#"{"apps":{"demo":{"keys":[{"kid":"k1","alg":"HS256","k":"c2hvcnQ"}]}}}"#, "32 to 1024 bytes"),
        ])
    func `I17 a gateway without usable keys does not start`(apps: String, expectedReason: String) async throws {
        let (end, output) = try await self.runUntilEnd(of: .gateway, ["--kafka", "127.0.0.1:1", "--apps-json", apps])
        #expect(end == .exited(64))
        #expect(output.hasPrefix("gateway: --apps-json") && output.contains(expectedReason), "\(output)")
        #expect(!output.contains("c2hvcnQ"), "the output must not contain a key")
    }
}
