// SPDX-License-Identifier: Apache-2.0
import ChildProcess
import Foundation
import Repository
import TestSupport
import Testing

/// Tests of the alert rules in `deploy/observe`, with Prometheus's own tool, promtool.
@Suite(.timeLimit(.minutes(1)), .enabled(if: MetricsRegistryTests.promtool != nil, "install Debian's prometheus"))
struct AlertRuleFileTests {
    /// Runs promtool in `deploy/observe`.
    private static func promtool(_ arguments: [String]) throws -> (end: ProcessEnd, output: String) {
        try TestProcess.run(
            [MetricsRegistryTests.promtool ?? ""] + arguments,
            directory: Repository.root.appendingPathComponent("deploy/observe").path, errors: .output)
    }

    @Test func `each alert fires during its fault, and no alert fires without a fault`() throws {
        let (end, output) = try Self.promtool(["test", "rules", "alerts.test.yml"])
        #expect(end == .exited(0), "\(output)")
    }

    @Test func `Prometheus accepts the rules and the example of its configuration`() throws {
        let (end, output) = try Self.promtool(["check", "config", "prometheus.yml"])
        #expect(end == .exited(0), "\(output)")
    }
}
