// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
package import MachineKit
internal import Observability
package import RedisClient

/// The connection of one partition to Redis.
///
/// After Redis has not answered on one connection, the circuit breaker of the process lets no connection send requests
/// for a while.
package final class RedisLeaseConnection: LeaseConnection {
    private let client: RedisClient
    private let breaker: CircuitBreaker
    private let metrics: RedisMetrics?
    /// The number of the connection and the run id of its server; nil without a connection.
    private var identity: RedisClient.Identity? {
        didSet {
            if self.identity != nil, self.identity != oldValue { self.metrics?.madeConnections.add() }
            let (oldCount, newCount) = (oldValue == nil ? 0 : 1, self.identity == nil ? 0 : 1)
            self.metrics?.openConnections.add(newCount - oldCount)
        }
    }

    /// - Parameters:
    ///   - settings: the address and the timeout of Redis.
    ///   - breaker: the circuit breaker shared by all connections of the process.
    ///   - metrics: the metrics of the process's connections; nil for none.
    ///   - random: the source of the random part of the delay before a reconnect.
    ///   - now: returns the current time.
    package init(
        _ settings: RedisClient.Settings, breaker: CircuitBreaker, metrics: RedisMetrics? = nil,
        random: some RandomNumberGenerator, now: @escaping () -> MonotonicTime
    ) {
        self.client = RedisClient(
            settings, scripts: LeaseScript.allCases.map(\.source), random: random, now: now)
        self.breaker = breaker
        self.metrics = metrics
    }

    deinit {
        if self.identity != nil { self.metrics?.openConnections.add(-1) }
    }

    package func connect() throws(RedisError) -> RedisClient.Identity {
        guard self.breaker.isClosed else { throw .unreachable("the server did not answer a moment ago") }
        let identity = try self.disconnectingOnFailure { () throws(RedisError) in try self.client.connect() }
        self.identity = identity
        return identity
    }

    package func run(_ calls: [RedisScriptCall]) throws(RedisError) -> [RedisReply] {
        let previousIdentity = self.identity
        // A new connection may lead to a restarted server, so the owner must open the partition again first.
        guard try self.connect() == previousIdentity else { throw .unreachable("there is a new connection") }
        let stopwatch = Stopwatch()
        var hasSucceeded = false
        defer {
            self.metrics?.recordPipeline(hasSucceeded: hasSucceeded, microseconds: stopwatch.microseconds)
        }
        let replies = try self.disconnectingOnFailure { () throws(RedisError) in try self.client.run(calls) }
        hasSucceeded = true
        return replies
    }

    /// Runs `body`; if `body` throws, forgets the connection and throws the same error.
    ///
    /// The circuit breaker opens if the server did not answer or rejected the access.
    private func disconnectingOnFailure<R>(_ body: () throws(RedisError) -> R) throws(RedisError) -> R {
        do throws(RedisError) {
            return try body()
        } catch {
            self.identity = nil
            switch error {
            case .timedOut, .unreachable, .accessDenied: self.breaker.trip()
            case .loading, .disconnected, .protocolViolation, .tooLarge, .replyTooLarge, .scriptsMissing: break
            }
            throw error
        }
    }
}
