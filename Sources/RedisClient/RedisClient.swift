// SPDX-License-Identifier: Apache-2.0
/// A connection to one Redis, for one thread: pipelined, bounded, and back by itself after a loss.
///
/// All calls block that thread, never longer than one time-out for connecting, and for a pipeline one while nothing
/// moves and four in all. A lost connection is not tried again before its time, so that a thread with other work is not
/// held up while Redis is away.
package final class RedisClient {
    /// Where the server is, and the limits.
    package struct Settings: Sendable {
        package var host: String
        package var port: Int
        /// The password, if there is one.
        package var password: String?
        /// Bounds the connect, and the wait for a pipeline to go on; a quarter of what a pipeline may take in all.
        package var timeoutMilliseconds = 1000
        /// Commands in one pipeline.
        package var pipelineLimit = 100_000
        /// Bytes in one pipeline.
        package var pipelineBytes = 64 << 20
        /// Bytes in the answers to one pipeline.
        package var replyBytes = 256 << 20
        /// The longest pause between attempts to connect; the first is a sixteenth of it.
        package var backoffMilliseconds: Int64 = 800

        package init(host: String, port: Int) {
            self.host = host
            self.port = port
        }
    }

    /// Which server a connection leads to.
    package struct Identity: Equatable, Sendable {
        /// Grows with each connection of this client.
        package var serial: Int
        /// The server's `run_id`: another one after each of its starts.
        package var runID: String
    }

    private let settings: Settings
    private let scripts: [RedisScript]
    private let now: () -> Int64
    private var random: any RandomNumberGenerator
    private var connection: Connection?
    private var identity: Identity?
    private var hashes: [RedisScript: String] = [:]
    private var serial = 0
    private var plan: ReconnectPlan

    /// Makes a client; it connects when it is first needed.
    ///
    /// - Parameters:
    ///   - settings: where the server is.
    ///   - scripts: loaded at each connect, so that they run by their hash.
    ///   - random: for the jitter of reconnects.
    ///   - now: monotonic milliseconds, for the pauses between attempts.
    package init(
        _ settings: Settings, scripts: [RedisScript] = [], random: some RandomNumberGenerator,
        now: @escaping () -> Int64
    ) {
        self.settings = settings
        self.scripts = scripts
        self.random = random
        self.now = now
        let longest = max(1, settings.backoffMilliseconds)
        self.plan = ReconnectPlan(pauses: max(1, longest / 16)...longest)
    }

    /// Makes sure that there is a connection, and says to what.
    ///
    /// One that the server has closed meanwhile is found out here, before anything is sent on it.
    ///
    /// - Throws: `unreachable` also while the next attempt is not due; `loading`.
    @discardableResult
    package func connect() throws(RedisError) -> Identity {
        if let identity = self.identity, let connection = self.connection {
            if !connection.isClosedByPeer { return identity }
            self.drop()
        }
        let now = self.now()
        guard now >= self.plan.due else {
            throw .unreachable("the next attempt is due in \(self.plan.due - now) ms")
        }
        do {
            let identity = try self.open()
            self.plan.succeeded()
            return identity
        } catch {
            self.drop()
            self.plan.failed(at: now, using: &self.random)
            throw error
        }
    }

    /// Sends all commands at once and reads all answers; one answer for each command.
    ///
    /// - Throws: then `mayHaveRun` says whether the commands may have been carried out all the same.
    package func pipeline(_ commands: [RedisCommand]) throws(RedisError) -> [RedisReply] {
        guard commands.count <= self.settings.pipelineLimit else {
            throw .tooLarge("\(commands.count) commands; \(self.settings.pipelineLimit) are possible")
        }
        let bytes = commands.reduce(0) { $0 + $1.byteCount }
        guard bytes <= self.settings.pipelineBytes else {
            throw .tooLarge("\(bytes) bytes; \(self.settings.pipelineBytes) are possible")
        }
        if self.connection == nil { try self.connect() }
        return try self.exchange(commands)
    }

    /// Runs scripts by their hashes, in one pipeline.
    ///
    /// - Throws: as `pipeline`; `scriptsMissing` when the server had forgotten them, which it does by SCRIPT FLUSH alone.
    package func run(_ calls: [RedisScriptCall]) throws(RedisError) -> [RedisReply] {
        if self.connection == nil { try self.connect() }
        var commands: [RedisCommand] = []
        commands.reserveCapacity(calls.count)
        for call in calls {
            guard let hash = self.hashes[call.script] else {
                preconditionFailure("the script \(call.script.name) was not named when the client was made")
            }
            commands.append(RedisCommand(["EVALSHA", hash, String(call.keys.count)] + call.keys + call.arguments))
        }
        let replies = try self.pipeline(commands)
        let isMissing = replies.contains { if case .error(let text) = $0 { text.hasPrefix("NOSCRIPT") } else { false } }
        guard !isMissing else {
            try self.loadScripts()
            throw .scriptsMissing
        }
        return replies
    }

    /// Gives the connection up; the next call connects anew.
    package func drop() {
        self.connection = nil
        self.identity = nil
    }

    private func open() throws(RedisError) -> Identity {
        self.connection = try Connection(
            host: self.settings.host, port: self.settings.port, milliseconds: self.settings.timeoutMilliseconds)
        if let password = self.settings.password {
            let reply = try self.exchange([RedisCommand(["AUTH", password])]).first
            if case .error(let text) = reply { throw .unreachable(text) }
        }
        guard let info = try self.exchange([RedisCommand(["INFO", "server"])]).first else {
            throw .protocolViolation("INFO has no answer")
        }
        if case .error(let text) = info {
            if text.hasPrefix("LOADING") { throw .loading }
            throw .unreachable(text)
        }
        let lines = (info.text ?? "").split(whereSeparator: \.isNewline)
        guard let line = lines.first(where: { $0.hasPrefix("run_id:") }) else {
            throw .protocolViolation("INFO names no run_id")
        }
        try self.loadScripts()
        self.serial += 1
        let identity = Identity(serial: self.serial, runID: String(line.dropFirst(7)))
        self.identity = identity
        return identity
    }

    private func loadScripts() throws(RedisError) {
        let replies = try self.exchange(self.scripts.map { RedisCommand(["SCRIPT", "LOAD", $0.source]) })
        for (script, reply) in zip(self.scripts, replies) {
            guard let hash = reply.text else { throw .protocolViolation("the script \(script.name): \(reply)") }
            self.hashes[script] = hash
        }
    }

    private func exchange(_ commands: [RedisCommand]) throws(RedisError) -> [RedisReply] {
        guard let connection = self.connection else { throw .unreachable("there is no connection") }
        do {
            return try connection.exchange(
                commands, milliseconds: self.settings.timeoutMilliseconds, maximumBytes: self.settings.replyBytes)
        } catch {
            // Answers that still come would be taken for those of the next pipeline.
            self.drop()
            throw error
        }
    }
}
