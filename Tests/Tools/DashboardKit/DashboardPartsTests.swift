// SPDX-License-Identifier: Apache-2.0
import DashboardKit
import Testing

/// Tests of the parts of the dashboard: quantiles, samples, the recovery clock, and the check of requests.
@Suite struct DashboardPartsTests {
    /// A bucket of a histogram, with the number of values that are at most `bound` seconds.
    private static func bucket(_ bound: String, _ count: Double) -> (MetricsTable.Series, Double) {
        (MetricsTable.Series(name: "t_seconds_bucket", labels: ["le": bound, "method": "live"]), count)
    }

    /// The growth of a histogram in one round.
    private static func growth(_ buckets: (MetricsTable.Series, Double)...) -> [MetricsTable.Series: Double] {
        Dictionary(uniqueKeysWithValues: buckets)
    }

    @Test func `a quantile is interpolated between the bounds of its bucket`() throws {
        var window = LatencyWindow("t_seconds", rounds: 2)
        #expect(window.milliseconds(atQuantile: 0.5) == nil)
        window.addRound(Self.growth(Self.bucket("0.01", 0), Self.bucket("0.02", 100), Self.bucket("+Inf", 100)))
        // All 100 values are between 10 and 20 ms, so half of them are assumed to be below 15 ms.
        #expect(abs(try #require(window.milliseconds(atQuantile: 0.5)) - 15) < 0.001)
        #expect(abs(try #require(window.milliseconds(atQuantile: 1)) - 20) < 0.001)
    }

    @Test func `a quantile beyond the last finite bound is that bound, and old rounds are forgotten`() throws {
        // One value is at most 10 ms, and nine are more than 20 ms. The window is one round long.
        var window = LatencyWindow("t_seconds", rounds: 1)
        window.addRound(Self.growth(Self.bucket("0.01", 1), Self.bucket("0.02", 1), Self.bucket("+Inf", 10)))
        #expect(abs(try #require(window.milliseconds(atQuantile: 0.99)) - 20) < 0.001)
        window.addRound([:])
        #expect(window.milliseconds(atQuantile: 0.99) == nil)
    }

    @Test func `a ring buffer keeps the last samples, and returns those from an index on`() {
        var ring = SampleRing<Int>(capacity: 3)
        #expect(ring.samples(from: 0) == [])
        // The indexes of the samples are 0 to 4, and the last three samples are kept.
        for value in 0..<5 { ring.append(value) }
        #expect(ring.count == 5)
        #expect(ring.samples(from: 0) == [2, 3, 4])
        #expect(ring.samples(from: 4) == [4])
        #expect(ring.samples(from: 5) == [])
        // A page that got its samples from an earlier dashboard may ask for a higher index. It gets all samples.
        #expect(ring.samples(from: 99) == [2, 3, 4])
    }

    /// What the dashboard reads about a process; `pid` is nil if the process is down.
    private static func reading(_ name: String, pid: Int32?, isReady: Bool) -> ProcessReading {
        ProcessReading(name: name, kind: "gateway", pid: pid, isReady: isReady)
    }

    /// Rules: R13.36.
    @Test func `the recovery clock measures from the kill of a process until its successor is ready`() {
        // Times are in milliseconds. Process 7 is killed, and 8 is its successor.
        var clock = RecoveryClock()
        clock.observe([Self.reading("gateway-1", pid: 7, isReady: true)], at: 0)
        clock.processKilled("gateway-1", pid: 7, at: 1000)
        // A second report of the same kill changes nothing.
        clock.processKilled("gateway-1", pid: 7, at: 1001)
        // The cluster's state still names the killed process.
        clock.observe([Self.reading("gateway-1", pid: 7, isReady: true)], at: 1010)
        #expect(clock.isMeasuring)
        clock.observe([Self.reading("gateway-1", pid: nil, isReady: false)], at: 1100)
        clock.observe([Self.reading("gateway-1", pid: 8, isReady: false)], at: 1500)
        #expect(clock.isMeasuring)
        clock.observe([Self.reading("gateway-1", pid: 8, isReady: true)], at: 2400)
        #expect(!clock.isMeasuring)
        #expect(clock.entries == [.init(name: "gateway-1", isKill: true, endedAt: 1000, readyAt: 2400)])
    }

    /// Rules: R13.36.
    @Test func `the recovery clock measures the end of a process from the round that detects the end`() {
        // No kill was reported to the clock: the new pid shows that the process has ended.
        var clock = RecoveryClock()
        clock.observe([Self.reading("gateway-1", pid: 7, isReady: true)], at: 0)
        clock.observe([Self.reading("gateway-1", pid: 8, isReady: false)], at: 500)
        clock.observe([Self.reading("gateway-1", pid: 8, isReady: true)], at: 900)
        #expect(clock.entries == [.init(name: "gateway-1", isKill: false, endedAt: 500, readyAt: 900)])
    }

    /// Rules: R13.35.
    @Test func `requests must name this machine, and changing requests must come from the dashboard's page`() {
        let requestGuard = RequestGuard(port: 8090)
        #expect(requestGuard.allows(["host": "127.0.0.1:8090"], isChange: false))
        #expect(requestGuard.allows(["host": "LOCALHOST:8090"], isChange: false))
        #expect(!requestGuard.allows(["host": "evil.example:8090"], isChange: false))
        #expect(!requestGuard.allows(["host": "127.0.0.1:9999"], isChange: false))
        #expect(!requestGuard.allows([:], isChange: false))
        #expect(!requestGuard.allows(["host": "127.0.0.1:8090"], isChange: true))
        let ownPageHeaders = ["host": "127.0.0.1:8090", "origin": "http://127.0.0.1:8090"]
        #expect(requestGuard.allows(ownPageHeaders, isChange: true))
        #expect(requestGuard.allows(ownPageHeaders.merging(["sec-fetch-site": "same-origin"]) { $1 }, isChange: true))
        #expect(!requestGuard.allows(ownPageHeaders.merging(["sec-fetch-site": "cross-site"]) { $1 }, isChange: true))
        for origin in ["null", "http://evil.example", "http://localhost:8090", "https://127.0.0.1:8090"] {
            #expect(!requestGuard.allows(["host": "127.0.0.1:8090", "origin": origin], isChange: true))
        }
    }
}
