// SPDX-License-Identifier: Apache-2.0
package import MachineKit

/// A client of one Redis server, which sends commands in pipelines and reconnects after the loss of its connection.
///
/// Only one thread may use it. All calls block the thread. A pipeline (commands that are sent together) fails after one
/// timeout without any progress, and in any case after four timeouts. After a failed attempt to connect, the client
/// makes no further attempt until a pause is over, so that the thread can do other work while Redis is unreachable.
package final class RedisClient {
    private let settings: Settings
    private let scripts: [RedisScript]
    /// Returns the current time.
    private let now: () -> MonotonicTime
    private var random: any RandomNumberGenerator
    private var connection: Connection?
    /// The identity of the connected server and of this connection to it; nil until the connection is fully opened.
    private var identity: Identity?
    /// The hash of each script that was loaded on any connection.
    private var hashes: [RedisScript: String] = [:]
    /// The number of connections that were fully opened; also the serial number of the last such connection.
    private var connectionCount = 0
    private var reconnectPlan: ReconnectPlan

    /// Makes a client; it connects when it is first needed.
    ///
    /// - Parameters:
    ///   - settings: the address of the server, and the limits.
    ///   - scripts: the scripts to load at each connect, so that they can be run by their hash.
    ///   - random: the source of the random part of the pauses between attempts to connect.
    ///   - now: returns the current time, for the pauses between attempts.
    package init(
        _ settings: Settings, scripts: [RedisScript] = [], random: some RandomNumberGenerator,
        now: @escaping () -> MonotonicTime
    ) {
        self.settings = settings
        self.scripts = scripts
        self.random = random
        self.now = now
        // The pause is doubled after each failure, so the longest pause follows the fifth failure in a row (16 = 2^4).
        let longestPause = max(.milliseconds(1), settings.longestReconnectPause)
        self.reconnectPlan = ReconnectPlan(
            firstPause: max(.milliseconds(1), longestPause / 16), longestPause: longestPause)
    }

    /// Connects if there is no usable connection, and returns the identity of the server and the connection.
    ///
    /// Call it before a pipeline: it detects a connection that the server has closed, so that nothing is sent on it.
    ///
    /// - Throws: `unreachable`, also during the pause after a failed attempt; `accessDenied`; `loading`; or the error
    ///   of a command that connecting needs, such as `timedOut`.
    @discardableResult
    package func connect() throws(RedisError) -> Identity {
        if let identity = self.identity, let connection = self.connection {
            if !connection.isUnusable { return identity }
            self.closeConnection()
        }
        let now = self.now()
        guard now >= self.reconnectPlan.nextAttemptAt else {
            throw .unreachable("the next attempt is due in \((self.reconnectPlan.nextAttemptAt - now).count) ms")
        }
        do {
            let identity = try self.openConnection()
            self.reconnectPlan.recordSuccess()
            return identity
        } catch {
            self.closeConnection()
            self.reconnectPlan.recordFailure(at: now, using: &self.random)
            throw error
        }
    }

    /// Sends all commands at once and reads one reply for each command.
    ///
    /// - Throws: an error whose `mayHaveRun` says whether the commands may have been executed.
    package func pipeline(_ commands: [RedisCommand]) throws(RedisError) -> [RedisReply] {
        guard commands.count <= self.settings.maxPipelineCommands else {
            throw .tooLarge(
                "\(commands.count) commands in a pipeline; at most \(self.settings.maxPipelineCommands) are allowed")
        }
        let bytes = commands.reduce(0) { $0 + $1.byteCount }
        guard bytes <= self.settings.maxPipelineBytes else {
            throw .tooLarge("\(bytes) bytes in a pipeline; at most \(self.settings.maxPipelineBytes) are allowed")
        }
        if self.connection == nil { try self.connect() }
        return try self.exchange(commands)
    }

    /// Runs scripts by their hashes, in one pipeline.
    ///
    /// - Throws: the errors of `pipeline`; `scriptsMissing` if the server has lost a script, for example after a SCRIPT
    ///   FLUSH.
    package func run(_ calls: [RedisScriptCall]) throws(RedisError) -> [RedisReply] {
        // Connecting loads the scripts, whose hashes are needed below.
        if self.connection == nil { try self.connect() }
        var commands: [RedisCommand] = []
        commands.reserveCapacity(calls.count)
        for call in calls {
            guard let hash = self.hashes[call.script] else {
                preconditionFailure("the script \(call.script.name) was not passed to `RedisClient.init`")
            }
            commands.append(RedisCommand(["EVALSHA", hash, String(call.keys.count)] + call.keys + call.arguments))
        }
        let replies = try self.pipeline(commands)
        let isScriptMissing = replies.contains {
            if case .error(let text) = $0 { text.hasPrefix("NOSCRIPT") } else { false }
        }
        guard !isScriptMissing else {
            // The scripts are loaded again, for later calls. Other commands of the pipeline may have run, which the
            // caller must learn from `scriptsMissing`. So an error of loading the scripts is not thrown here: the
            // connection is closed, and the next connect reports the error.
            do throws(RedisError) { try self.loadScripts() } catch { self.closeConnection() }
            throw .scriptsMissing
        }
        return replies
    }

    /// Closes the connection; the next call connects again.
    package func closeConnection() {
        self.connection = nil
        self.identity = nil
    }

    /// Connects, authenticates, asks for the server's identity and loads the scripts.
    private func openConnection() throws(RedisError) -> Identity {
        self.connection = try Connection(
            host: self.settings.host, port: self.settings.port, timeout: self.settings.timeout)
        try self.authenticate()
        let runID = try self.readRunID()
        try self.loadScripts()
        self.connectionCount += 1
        let identity = Identity(serial: self.connectionCount, runID: runID)
        self.identity = identity
        return identity
    }

    private func authenticate() throws(RedisError) {
        guard let password = self.settings.password else { return }
        // Without a user name, AUTH means the default user.
        let userArgument = self.settings.user.map { [$0] } ?? []
        let reply = try self.exchange([RedisCommand(["AUTH"] + userArgument + [password.text])]).first
        if case .error(let text) = reply { throw .accessDenied(text) }
    }

    /// Asks for the run id, which a server chooses again at each start.
    private func readRunID() throws(RedisError) -> String {
        guard let info = try self.exchange([RedisCommand(["INFO", "server"])]).first else {
            throw .protocolViolation("the reply to INFO is missing")
        }
        if case .error(let text) = info {
            if text.hasPrefix("LOADING") { throw .loading }
            throw Self.isDenial(text) ? .accessDenied(text) : .unreachable(text)
        }
        let runIDField = "run_id:"
        let lines = (info.text ?? "").split(whereSeparator: \.isNewline)
        guard let line = lines.first(where: { $0.hasPrefix(runIDField) }) else {
            throw .protocolViolation("the reply to INFO contains no run_id")
        }
        return String(line.dropFirst(runIDField.count))
    }

    /// Whether an error of the server says that the user may not run the command.
    private static func isDenial(_ text: String) -> Bool {
        ["NOAUTH", "NOPERM", "WRONGPASS"].contains { text.hasPrefix($0) }
    }

    /// Loads all scripts, and stores their hashes.
    private func loadScripts() throws(RedisError) {
        let replies = try self.exchange(self.scripts.map { RedisCommand(["SCRIPT", "LOAD", $0.source]) })
        for (script, reply) in zip(self.scripts, replies) {
            if case .error(let text) = reply, Self.isDenial(text) { throw .accessDenied(text) }
            guard let hash = reply.text else {
                throw .protocolViolation("SCRIPT LOAD of \(script.name) was answered with \(reply)")
            }
            self.hashes[script] = hash
        }
    }

    /// Sends a pipeline on the open connection; closes the connection after an error.
    private func exchange(_ commands: [RedisCommand]) throws(RedisError) -> [RedisReply] {
        guard let connection = self.connection else { throw .unreachable("there is no connection") }
        do {
            return try connection.exchange(
                commands, timeout: self.settings.timeout, maxReplyBytes: self.settings.maxReplyBytes)
        } catch {
            // On a connection that stays open, late replies would be taken for replies to the next pipeline.
            self.closeConnection()
            throw error
        }
    }
}
