// SPDX-License-Identifier: Apache-2.0
import ClusterKit
import Foundation
import TestSupport
import Testing

/// One cluster for all tests of a suite: on the embedded broker, with a short lease and a backend that receives
/// webhooks.
///
/// Its demo app allows each user one device at a time. The backend receives the event `roomEnded` only. Each test uses
/// its own lives.
struct SharedCluster: SuiteTrait, TestScoping {
    /// The running cluster's harness and its backend; nil outside a suite with the trait `sharedCluster`.
    @TaskLocal private static var running: (harness: ClusterHarness, backend: RecordingReceiver)?

    /// The length of a lease: well below the default of 90 s, so that a test can wait until a silent user's lease ends.
    static let lease = Duration.seconds(6)

    /// The suite's cluster.
    static var harness: ClusterHarness {
        get throws { try #require(Self.running).harness }
    }

    /// The backend of the demo app.
    static var backend: RecordingReceiver {
        get throws { try #require(Self.running).backend }
    }

    func provideScope(
        for test: Test, testCase: Test.Case?, performing body: @Sendable @concurrent () async throws -> Void
    ) async throws {
        let backend = try RecordingReceiver { _, _ in .answer(200, "{}") }
        defer { backend.stop() }
        var options = TestCluster.options()
        options.lease = Self.lease
        try Self.writeApps(RunDirectory(options.runDirectory), backendURL: backend.url)
        try await TestCluster.with(options) { cluster in
            let harness = try ClusterHarness(cluster)
            try await Self.$running.withValue((harness, backend)) { try await body() }
        }
    }

    /// Writes the apps file: the demo app's backend receives events, and each user is allowed one device.
    private static func writeApps(_ directory: RunDirectory, backendURL: String) throws {
        try directory.create()
        try AppsFile.prepare(at: directory.appsFile, feedBudget: nil)
        let text = try String(contentsOfFile: directory.appsFile, encoding: .utf8)
        // Inserts the hooks in front of the app's policy, and the rule for devices at the beginning of the policy.
        let policy = "\"policy\" : {"
        let hooks = #""hooks" : {"url": "\#(backendURL)", "secret": "a secret of the tests", "events": ["roomEnded"]}"#
        let changed = text.replacing(policy, with: "\(hooks), \(policy) \"devices\" : \"one\",", maxReplacements: 1)
        try #require(changed != text)
        try Data(changed.utf8).write(to: URL(filePath: directory.appsFile))
    }
}

extension Trait where Self == SharedCluster {
    /// Runs the suite's tests on one cluster.
    static var sharedCluster: SharedCluster { SharedCluster() }
}
