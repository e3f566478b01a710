// SPDX-License-Identifier: Apache-2.0
import CoreKit
import Observability
import PlazaModel
import Presence
import RedisClient
import Synchronization
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1))) struct LinkTests {
    @Test func `a server that does not answer is left alone by all links of a process for a while`() throws {
        let redis = try LiveRedis()
        redis.kill()
        let clock = Clock()
        let breaker = Breaker(pauseMilliseconds: 1000, now: { clock.now })
        let first = Self.link(redis.port, breaker, clock)
        let second = Self.link(redis.port, breaker, clock)
        #expect(throws: LeaseLinkError.self) { try first.connect() }
        try redis.restart()
        #expect(throws: LeaseLinkError.unreachable("the server did not answer a moment ago")) {
            try second.connect()
        }
        clock.pass(1000)
        #expect(try second.connect().serial == 1)
        #expect(try first.connect().runID == second.connect().runID)
    }

    @Test func `a link never runs scripts on a connection that its owner has not looked behind`() throws {
        let redis = try LiveRedis()
        let link = RedisLeaseLink.eager(port: redis.port)
        let call = ScriptCall(.open, ["1"])
        #expect(throws: LeaseLinkError.unreachable("there is a new connection")) {
            try link.run([call], key: "{audience.1}")
        }
        #expect(try link.run([call], key: "{audience.1}") == [.list([.text(""), .integer(0)])])
        redis.kill()
        #expect(throws: LeaseLinkError.self) { try link.run([call], key: "{audience.1}") }
        try redis.restart()
        #expect(throws: LeaseLinkError.unreachable("there is a new connection")) {
            try link.run([call], key: "{audience.1}")
        }
    }

    @Test func `links count their connections and pipelines together`() throws {
        let redis = try LiveRedis()
        let registry = MetricsRegistry()
        let clock = Clock()
        let breaker = Breaker(pauseMilliseconds: 0, now: { clock.now })
        func value(_ name: String) -> String {
            let lines = PrometheusText.render(registry).split(separator: "\n")
            return lines.first { $0.hasPrefix(name + " ") }.map { String($0.dropFirst(name.count + 1)) } ?? "none"
        }
        func makeLink() -> RedisLeaseLink {
            RedisLeaseLink(
                RedisClient.Settings(host: "127.0.0.1", port: redis.port), breaker: breaker,
                metrics: RedisMetrics(registry), random: SeededRandom(seed: 1),
                now: {
                    clock.pass(10_000)
                    return clock.now
                })
        }
        let link = makeLink()
        #expect(value("redis_connected") == "0")
        do {
            let other = makeLink()
            _ = try other.connect()
            _ = try link.connect()
            #expect(value("redis_connected") == "2")
        }
        #expect(value("redis_connected") == "1", "a link that goes takes its connection with it")
        _ = try link.run([ScriptCall(.open, ["1"])], key: "{audience.1}")
        redis.kill()
        #expect(throws: LeaseLinkError.self) { try link.run([ScriptCall(.open, ["2"])], key: "{audience.1}") }
        #expect(value("redis_connected") == "0")
        #expect(value("redis_connections_total") == "2")
        #expect(value(#"redis_pipelines_total{outcome="done"}"#) == "1")
    }

    private static func link(_ port: Int, _ breaker: Breaker, _ clock: Clock) -> RedisLeaseLink {
        RedisLeaseLink(
            RedisClient.Settings(host: "127.0.0.1", port: port), breaker: breaker, random: SeededRandom(seed: 1),
            now: { clock.now })
    }

    /// Time that passes when the test says so.
    private final class Clock: Sendable {
        private let milliseconds = Atomic<Int64>(1)
        var now: Int64 { self.milliseconds.load(ordering: .relaxed) }
        func pass(_ span: Int64) { self.milliseconds.wrappingAdd(span, ordering: .relaxed) }
    }
}
