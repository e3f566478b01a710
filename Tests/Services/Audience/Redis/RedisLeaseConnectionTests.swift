// SPDX-License-Identifier: Apache-2.0
import MachineKit
import Observability
import Presence
import RedisClient
import Synchronization
import TestSupport
import Testing

/// The connections to Redis on which presence keeps leases: their pause after a failure, their first call, and metrics.
@Suite(.timeLimit(.minutes(1))) struct RedisLeaseConnectionTests {
    @Test func `after one connection fails to reach Redis, no connection tries again until the pause is over`() throws {
        let redis = try RealRedis()
        redis.kill()
        let clock = Clock()
        let breaker = CircuitBreaker(pause: .seconds(1), now: { clock.now })
        // Both connections share the circuit breaker, which lets no connection try for a second after a failure.
        let first = Self.makeConnection(port: redis.port, breaker, clock)
        let second = Self.makeConnection(port: redis.port, breaker, clock)
        #expect(throws: RedisError.self) { try first.connect() }
        try redis.restart()
        #expect(throws: RedisError.unreachable("the server did not answer a moment ago")) {
            try second.connect()
        }
        clock.advance(milliseconds: 1000)
        // The serial number counts the connections that the client has made: this is the second client's first one.
        #expect(try second.connect().serial == 1)
        // The run id names the run of the Redis server.
        #expect(try first.connect().runID == second.connect().runID)
    }

    @Test func `the first script call on a new connection throws, so that the owner opens the partition again`() throws
    {
        let redis = try RealRedis()
        let connection = RedisLeaseConnection.withoutPause(port: redis.port)
        let generation = "1"
        let call = LeaseScript.open.call([generation], hashTag: "{audience.1}")
        #expect(throws: RedisError.unreachable("there is a new connection")) {
            try connection.run([call])
        }
        // The reply of an empty Redis: no presence epoch, and no sessions.
        #expect(try connection.run([call]) == [.array([.text(""), .integer(0)])])
        redis.kill()
        #expect(throws: RedisError.self) { try connection.run([call]) }
        try redis.restart()
        #expect(throws: RedisError.unreachable("there is a new connection")) {
            try connection.run([call])
        }
    }

    @Test func `all connections of a process are counted in the same metrics`() throws {
        let redis = try RealRedis()
        let registry = MetricsRegistry()
        let clock = Clock()
        let breaker = CircuitBreaker(pause: .zero, now: { clock.now })
        func metricValue(_ name: String) -> String {
            let lines = PrometheusText.render(registry).split(separator: "\n")
            return lines.first { $0.hasPrefix(name + " ") }.map { String($0.dropFirst(name.count + 1)) } ?? "none"
        }
        func makeConnection() -> RedisLeaseConnection {
            RedisLeaseConnection(
                RedisClient.Settings(host: "127.0.0.1", port: redis.port), breaker: breaker,
                metrics: RedisMetrics(registry), random: SeededRandom(seed: 1),
                // Each reading of the clock advances it by 10 s, so no connection waits before it connects again.
                now: {
                    clock.advance(milliseconds: 10_000)
                    return clock.now
                })
        }
        let connection = makeConnection()
        #expect(metricValue("redis_connected") == "0")
        do {
            let secondConnection = makeConnection()
            _ = try secondConnection.connect()
            _ = try connection.connect()
            #expect(metricValue("redis_connected") == "2")
        }
        #expect(
            metricValue("redis_connected") == "1",
            "expected one connection, because the second one has closed when its object was released")
        let generation = "1"
        let call = LeaseScript.open.call([generation], hashTag: "{audience.1}")
        _ = try connection.run([call])
        redis.kill()
        #expect(throws: RedisError.self) { try connection.run([call]) }
        #expect(metricValue("redis_connected") == "0")
        #expect(metricValue("redis_connections_total") == "2")
        #expect(metricValue(#"redis_pipelines_total{outcome="done"}"#) == "1")
    }

    private static func makeConnection(port: Int, _ breaker: CircuitBreaker, _ clock: Clock) -> RedisLeaseConnection {
        RedisLeaseConnection(
            RedisClient.Settings(host: "127.0.0.1", port: port), breaker: breaker, random: SeededRandom(seed: 1),
            now: { clock.now })
    }

    /// A clock that only the test advances.
    private final class Clock: Sendable {
        private let milliseconds = Atomic<Int64>(1)
        var now: MonotonicTime { MonotonicTime(milliseconds: self.milliseconds.load(ordering: .relaxed)) }
        func advance(milliseconds: Int64) { self.milliseconds.wrappingAdd(milliseconds, ordering: .relaxed) }
    }
}
