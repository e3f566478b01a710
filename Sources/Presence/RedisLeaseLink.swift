// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import Observability
package import RedisClient

/// The leases' scripts over the Redis client.
package final class RedisLeaseLink: LeaseLink {
    private static let scripts: [LeaseScript: RedisScript] = Dictionary(
        uniqueKeysWithValues: LeaseScript.allCases.map { ($0, RedisScript(name: $0.rawValue, source: $0.text)) })

    private let client: RedisClient
    private let breaker: Breaker
    private let metrics: RedisMetrics?
    private var identity: LeaseLinkIdentity? {
        didSet {
            if self.identity != nil, self.identity != oldValue { self.metrics?.connections.add() }
            self.metrics?.connected.add((self.identity == nil ? 0 : 1) - (oldValue == nil ? 0 : 1))
        }
    }

    /// - Parameters:
    ///   - settings: where Redis is.
    ///   - breaker: shared by all links of the process.
    ///   - metrics: where the link counts, if anywhere.
    ///   - random: for the jitter of reconnects.
    ///   - now: monotonic milliseconds.
    package init(
        _ settings: RedisClient.Settings, breaker: Breaker, metrics: RedisMetrics? = nil,
        random: some RandomNumberGenerator, now: @escaping () -> Int64
    ) {
        let scripts = LeaseScript.allCases.compactMap { Self.scripts[$0] }
        self.client = RedisClient(settings, scripts: scripts, random: random, now: now)
        self.breaker = breaker
        self.metrics = metrics
    }

    deinit {
        if self.identity != nil { self.metrics?.connected.add(-1) }
    }

    package func connect() throws(LeaseLinkError) -> LeaseLinkIdentity {
        guard self.breaker.isClosed else { throw .unreachable("the server did not answer a moment ago") }
        let found = try self.translated { () throws(RedisError) in try self.client.connect() }
        let identity = LeaseLinkIdentity(serial: found.serial, runID: found.runID)
        self.identity = identity
        return identity
    }

    package func run(_ calls: [ScriptCall], key: String) throws(LeaseLinkError) -> [LeaseReply] {
        let before = self.identity
        // Another connection may lead to another start of the server: its owner must look first.
        guard try self.connect() == before else { throw .unreachable("there is a new connection") }
        let scripted = calls.compactMap { call in
            Self.scripts[call.script].map { RedisScriptCall($0, keys: [key], arguments: call.arguments) }
        }
        let began = MonotonicClock.microseconds
        var isDone = false
        defer { self.metrics?.ended(done: isDone, microseconds: MonotonicClock.microseconds - began) }
        let replies = try self.translated { () throws(RedisError) in try self.client.run(scripted) }
        isDone = true
        return replies.map { LeaseReply($0) }
    }

    private func translated<R>(_ body: () throws(RedisError) -> R) throws(LeaseLinkError) -> R {
        do throws(RedisError) {
            return try body()
        } catch {
            self.identity = nil
            switch error {
            case .timedOut, .unreachable: self.breaker.trip()
            case .loading, .disconnected, .protocolViolation, .tooLarge, .replyTooLarge, .scriptsMissing: break
            }
            if error.mayHaveRun { throw .broken("\(error)") }
            throw .unreachable("\(error)")
        }
    }
}

extension LeaseReply {
    init(_ reply: RedisReply) {
        switch reply {
        case .null: self = .null
        case .integer(let number): self = .integer(number)
        case .status(let text): self = .text(text)
        case .bytes(let bytes): self = .text(String(decoding: bytes, as: UTF8.self))
        case .array(let list): self = .list(list.map { LeaseReply($0) })
        case .error(let text): self = .error(text)
        }
    }
}
