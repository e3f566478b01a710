// SPDX-License-Identifier: Apache-2.0
import LoadKit
import ProtocolClient
import Synchronization
import Testing

/// Tests of a load run that cannot begin.
@Suite(.timeLimit(.minutes(1))) struct LoadRunnerTests {
    /// The progress reports of a run, in order, shared with the closure that receives them.
    private final class ProgressLog: Sendable {
        let reports = Mutex<[LoadProgress]>([])
    }

    @Test func `a load run without a reachable gateway ends within 10 s and names the option to change`() async throws {
        // Nothing listens at port 1.
        var plan = LoadPlan(addresses: [PlazaAddress(host: "127.0.0.1", port: 1)], name: "nobody") { _ in "token" }
        plan.lives = 2
        plan.viewers = 1
        // A run reports its progress each second, so once before this timeout.
        plan.loginTimeout = .milliseconds(1500)
        let log = ProgressLog()
        let report = try await LoadRunner.run(plan) { progress in log.reports.withLock { $0.append(progress) } }
        // The run's own clock measures the time, because a busy machine may resume this test late. The run never leaves
        // its first stage, so the time since that stage began is the time since the run began. The run ends within a
        // second of its last report.
        let progressReports = log.reports.withLock { $0 }
        let last = try #require(progressReports.last)
        #expect(progressReports.allSatisfy { $0.stage == .opening })
        #expect(last.elapsed < .seconds(9))
        #expect(!report.isClean && report.published == 0)
        let failure = try #require(report.failures.first)
        #expect(failure.contains("127.0.0.1:1") && failure.contains("--gateway"))
    }
}
