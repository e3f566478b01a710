// SPDX-License-Identifier: Apache-2.0
import PlazaModel
import ProtocolClient
import Testing

@testable import AttackKit

/// Tests of how long an attack lasts.
///
/// `advance` gets the elapsed time, and whether enough was measured for the attack to end (`mayEnd`). It returns the
/// time at which the attack ended; nil if the attack continues.
@Suite struct AttackPeriodTests {
    @Test func `an attack ends after the planned time if enough was measured`() {
        var period = AttackPeriod(.seconds(1))
        #expect(period.advance(to: .milliseconds(999), mayEnd: true) == nil)
        #expect(period.advance(to: .milliseconds(1010), mayEnd: true) == .milliseconds(1010))
        // An attack that has ended stays ended.
        #expect(period.advance(to: .milliseconds(1300), mayEnd: false) == .milliseconds(1010))
    }

    @Test func `an attack continues until enough was measured, but at most 20 s beyond the planned time`() {
        var measured = AttackPeriod(.seconds(1))
        #expect(measured.advance(to: .seconds(5), mayEnd: false) == nil)
        #expect(measured.advance(to: .seconds(6), mayEnd: true) == .seconds(6))
        var neverMeasured = AttackPeriod(.seconds(1))
        #expect(neverMeasured.advance(to: .milliseconds(20_999), mayEnd: false) == nil)
        #expect(neverMeasured.advance(to: .seconds(21), mayEnd: false) == .seconds(21))
    }

    @Test func `the monitor counts at least five honest requests to a gateway before it has enough`() async throws {
        // Nothing listens on port 1, so each request fails at once.
        let target = try AttackTarget(
            gateways: [], httpAddresses: [.init(host: "127.0.0.1", port: 1)], processes: [], partitions: nil,
            app: "demo"
        ) { user, _ in user }
        let monitor = GatewayMonitor(target)
        // The stream ends when the monitor has sent enough requests.
        let (enoughRounds, continuation) = AsyncStream.makeStream(of: Void.self)
        let watching = Task { await monitor.watch { continuation.finish() } }
        for await _ in enoughRounds {}
        let (_, answerCounts) = await monitor.end()
        watching.cancel()
        await watching.value
        #expect(answerCounts.asked >= GatewayMonitor.minRounds && answerCounts.answered == 0)
        #expect(GatewayMonitor.minRounds == 5)
    }
}
