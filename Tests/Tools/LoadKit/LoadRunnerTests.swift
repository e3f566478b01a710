// SPDX-License-Identifier: Apache-2.0
import LoadKit
import ProtocolClient
import Synchronization
import Testing

/// Tests of a load run that cannot begin.
@Suite(.timeLimit(.minutes(1))) struct LoadRunnerTests {
    /// The duration of the longest stage of a run, shared with the closure that receives its progress.
    private final class LongestStage: Sendable {
        let duration = Mutex(Duration.zero)
    }

    @Test func `a load run without a reachable gateway ends within 10 s and names the option to change`() async throws {
        // Nothing listens at port 1.
        var plan = LoadPlan(addresses: [PlazaAddress(host: "127.0.0.1", port: 1)], name: "nobody") { _ in "token" }
        plan.lives = 2
        plan.viewers = 1
        plan.loginTimeout = .milliseconds(500)
        // The run's own clock measures the time, because a busy machine may resume this test late.
        let longest = LongestStage()
        let report = try await LoadRunner.run(plan) { progress in
            longest.duration.withLock { $0 = max($0, progress.elapsed) }
        }
        #expect(longest.duration.withLock { $0 } < .seconds(10))
        #expect(!report.isClean && report.published == 0)
        let failure = try #require(report.failures.first)
        #expect(failure.contains("127.0.0.1:1") && failure.contains("--gateway"))
    }
}
