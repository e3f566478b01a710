// SPDX-License-Identifier: Apache-2.0
import LivePlazaKit
import LoadKit
import Testing

@Suite(.timeLimit(.minutes(1))) struct LoadRunnerTests {
    @Test func `a load on a gateway that is not there ends soon, and says what to do`() async throws {
        // Nothing listens there.
        var plan = LoadPlan(addresses: [PlazaAddress(host: "127.0.0.1", port: 1)], name: "nobody") { _ in "token" }
        plan.rooms = 2
        plan.viewers = 1
        plan.loginSeconds = 0.5
        let elapsed = ContinuousClock()
        let began = elapsed.now
        let report = try await LoadRunner.run(plan)
        #expect(elapsed.now - began < .seconds(8))
        #expect(!report.isClean && report.published == 0)
        let failure = try #require(report.failures.first)
        #expect(failure.contains("127.0.0.1:1") && failure.contains("--gateway"))
    }
}
