// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import EventLoop
internal import GatewayCore
internal import MachineKit
internal import Observability
internal import PlazaModel
internal import PlazaWire
internal import WebSocket

/// The calls of this shard's clients that share an answer with calls of other clients (R1.20).
///
/// Each `retryAfter` is in milliseconds.
final class ShardSharedReads {
    private unowned let shard: Shard
    private let gateway: Gateway
    /// The answers that are not yet sent to all their callers, in the order in which they were received.
    private var unsentAnswers: [(answer: SharedAnswer, calls: ArraySlice<WaitingRead>)] = []
    private var timer: LoopTimer?

    /// The largest number of replies that are sent in one turn of the loop.
    ///
    /// An audience page may have ten thousand bytes, and a thousand callers may wait for it. If all replies were sent
    /// in one turn, the feeds would be delayed.
    private static let repliesPerTurn = 100

    init(_ shard: Shard) {
        self.shard = shard
        self.gateway = shard.gateway
    }

    /// Creates the timer that continues with unsent replies.
    ///
    /// - Throws: `LoopError` when the timer cannot be created.
    func start() throws(LoopError) {
        self.timer = try LoopTimer(loop: self.shard.loop) { [unowned self] _ in self.sendReplies() }
    }

    /// Adds a call to those that wait for a shared answer, if the call can have one.
    ///
    /// These calls cannot share an answer: calls of an app's server, late retries, calls for any other page than the
    /// first full one, calls about a live that is not running according to this gateway's tables, and all calls while
    /// the gateway drains.
    ///
    /// - Parameters:
    ///   - effect: The command that the call sends to its service.
    ///   - frame: The call.
    ///   - requiredLive: The live that the caller must be in; nil if the caller need not be in a live.
    ///   - client: The caller.
    ///   - isLateRetry: Whether the call was first sent longer ago than its outcome is stored.
    ///   - stopwatch: Runs since the call was received.
    /// - Returns: True if the call waits for a shared answer, or if it repeats an open call, whose reply answers both
    ///   copies; false if the call must be forwarded by itself.
    /// - Throws: The error with which the call is rejected.
    func addCall(
        _ effect: Effect, _ frame: CallFrame, requiredLive: LiveID?, _ client: Client, isLateRetry: Bool,
        stopwatch: Stopwatch
    ) throws(ReplyError) -> Bool {
        // Removes the calls whose answer was lost because the shard's mailbox was full. A sweep fails each overdue call
        // at most a second after the deadline, so older calls have lost their answers. A repeat of such a call would be
        // taken for a copy of a waiting call, and would never be answered.
        let oldestPossibleWait = self.shard.now - SharedReads<WaitingRead>.deadline - .seconds(1)
        client.waitingReads.removeAll { $0.waitsSince < oldestPossibleWait }
        guard let (kind, key) = Self.sharedRead(of: effect), client.role == .user, !isLateRetry,
            !self.shard.drain.isDraining, let record = self.gateway.tables.read({ $0.running(key) })
        else { return false }
        // If the client has resent a call that is still open, one reply answers both copies.
        if self.shard.calls.isRepeated(frame.id, client) { return true }
        try self.shard.calls.checkForwarding(frame.id, .plain, requiredLive: requiredLive, client)
        let read = SharedRead(kind, of: key, epoch: record.epoch)
        let call = WaitingRead(
            shard: self.shard.number, session: client.session, generation: client.generation, id: frame.id,
            method: frame.method, requiredLive: requiredLive, stopwatch: stopwatch)
        switch self.gateway.sharedReads.withLock({ $0.addCall(read, call, at: MonotonicClock.now) }) {
        case .forward: return false
        case .full:
            self.gateway.metrics.refused(.sharedReads)
            throw ReplyError(.overloaded, "too many calls wait for an answer", retryAfter: 1000)
        case .wait(let mustRequest):
            client.waitingReads.append((frame.id, self.shard.now))
            if mustRequest { self.gateway.sendRequest(for: read) }
            return true
        }
    }

    /// Sends an answer to the calls that waited for it.
    func answerReceived(_ answer: SharedAnswer, _ calls: [WaitingRead]) {
        self.unsentAnswers.append((answer, calls[...]))
        if self.unsentAnswers.count == 1 { self.sendReplies() }
    }

    /// Sends the next replies; continues in the loop's next turn if some are left.
    private func sendReplies() {
        var remaining = Self.repliesPerTurn
        while remaining > 0, !self.unsentAnswers.isEmpty {
            let (answer, calls) = self.unsentAnswers[0]
            for call in calls.prefix(remaining) { self.send(answer, to: call) }
            self.unsentAnswers[0].calls = calls.dropFirst(remaining)
            remaining -= min(remaining, calls.count)
            if self.unsentAnswers[0].calls.isEmpty { self.unsentAnswers.removeFirst() }
        }
        if !self.unsentAnswers.isEmpty { self.timer?.start(after: .milliseconds(1)) }
    }

    /// Sends an answer to one call, unless its client no longer waits for it.
    private func send(_ answer: SharedAnswer, to call: WaitingRead) {
        guard let client = self.shard.sessions.client(of: call.session), client.generation == call.generation,
            let index = client.waitingReads.firstIndex(where: { $0.id == call.id })
        else { return }
        client.waitingReads.remove(at: index)
        // Frees the array's storage, because most clients seldom have waiting calls.
        if client.waitingReads.isEmpty { client.waitingReads = [] }
        // The client may have left the live, or been kicked, while the call waited.
        if let requiredLive = call.requiredLive, client.core.live != requiredLive {
            let error = ReplyError(.notInRoom, "join the live before acting in it")
            return self.shard.calls.reply(
                call.id, .failure(error: error), to: client, method: call.method,
                stopwatch: call.stopwatch)
        }
        guard let reply = answer.reply(call.id) else {
            return self.shard.calls.reply(
                call.id, answer.outcome, to: client, method: call.method, stopwatch: call.stopwatch)
        }
        self.gateway.metrics.callAnswered(
            call.method, answer.outcome, microseconds: call.stopwatch.microseconds)
        self.gateway.metrics.sharedReads.add()
        client.socket.sendText(reply.span)
    }

    /// Returns the read that a call makes; nil if its answer is not shared.
    private static func sharedRead(of effect: Effect) -> (kind: SharedRead.Kind, key: LiveKey)? {
        switch effect {
        case .audience(let input):
            // An empty cursor stands for the first page.
            guard case .list(cursor: "", count: Limits.audiencePage, caller: _) = input.command else { return nil }
            return (.audience, input.key)
        case .barrage(let input):
            guard case .summary = input.command else { return nil }
            return (.summary, input.key)
        default: return nil
        }
    }
}
