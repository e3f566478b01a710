// SPDX-License-Identifier: Apache-2.0
import LivePlazaKit
import LoadKit
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(1))) struct LoadRunnerTests {
    /// How long a stage lasted at most.
    private final class Longest: Sendable {
        let seconds = Mutex(0.0)
    }

    @Test func `a load on a gateway that is not there ends soon, and says what to do`() async throws {
        // Nothing listens there.
        var plan = LoadPlan(addresses: [PlazaAddress(host: "127.0.0.1", port: 1)], name: "nobody") { _ in "token" }
        plan.rooms = 2
        plan.viewers = 1
        plan.loginSeconds = 0.5
        // By the run's own clock: a busy machine may resume this test late.
        let longest = Longest()
        let report = try await LoadRunner.run(plan) { progress in
            longest.seconds.withLock { $0 = max($0, progress.seconds) }
        }
        #expect(longest.seconds.withLock { $0 } < 10)
        #expect(!report.isClean && report.published == 0)
        let failure = try #require(report.failures.first)
        #expect(failure.contains("127.0.0.1:1") && failure.contains("--gateway"))
    }
}
