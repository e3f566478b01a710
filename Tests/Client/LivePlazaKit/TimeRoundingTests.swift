// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel
import Testing

@testable import LivePlazaKit

/// How the client, which counts whole milliseconds, rounds the durations of apps, random pauses and the server's time.
struct TimeRoundingTests {
    @Test func `a wait is never shorter than the duration that the app has given`() {
        #expect(Milliseconds(roundingUp: .zero) == Milliseconds(0))
        #expect(Milliseconds(roundingUp: .nanoseconds(1)) == Milliseconds(1))
        #expect(Milliseconds(roundingUp: .seconds(15)) == .seconds(15))
        #expect(Milliseconds(roundingUp: .microseconds(1500)) == Milliseconds(2))
        #expect(Milliseconds(roundingUp: .microseconds(-1500)) == Milliseconds(-1))
        #expect(Milliseconds(roundingUp: .seconds(Int64.max)) >= .seconds(.max), "the longest span")
    }

    @Test func `random pauses are spread evenly up to the longest pause`() {
        // The random numbers 0.0005, 0.0015 … 0.9995.
        let pauses = (0..<1000).map { BackOff.pause(failures: 2, random: (Double($0) + 0.5) / 1000).count }
        #expect(pauses.min() == 0 && pauses.max() == 400)
        #expect(pauses == pauses.sorted())
        // The mean is half of the longest pause, 100 ms · 2².
        #expect(pauses.reduce(0, +) == 1000 * 200)
        #expect(BackOff.pause(failures: .max, random: 0.5) == Milliseconds(2500), "the longest pause is 5 s")
    }

    @Test func `a call with an unlimited timeout needs no timer`() throws {
        var options = ClientCore.Options(session: SessionID("s"), hasTokenProvider: false)
        options.callTimeout = Milliseconds(roundingUp: .seconds(Int64.max))
        var core = ClientCore(options, random: { 0.5 })
        _ = core.start(CoreHarness.token, at: .seconds(0))
        _ = core.call("like.send", params: [], live: nil, at: .seconds(0))
        // The attempt to connect ends after 10 s, and the call never.
        #expect(core.dueAt == .seconds(10))
        _ = core.stop()
        #expect(core.dueAt == .distantFuture)
    }

    @Test func `the server's time in a reply counts as the time in the middle between the call and the reply`() {
        let offset = ServerTimeOffset(
            .seconds(1_700_000_000), callSentAt: .milliseconds(100), replyReceivedAt: .milliseconds(103))
        #expect(MonotonicTime.milliseconds(102) + offset == .seconds(1_700_000_000))
        #expect(MonotonicTime.milliseconds(103) + offset == .milliseconds(1_700_000_000_001))
    }
}
