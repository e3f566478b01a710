// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import GatewayCore
internal import MachineKit
internal import PlazaModel
internal import PlazaWire
internal import WebSocket

/// Reads that the gateway answers itself.
extension ShardCalls {
    /// Answers a read from the read model.
    ///
    /// - Throws: `tooFrequent` if the caller has made too many reads; `overloaded` if the caller does not read the
    ///   answers, or if reads have used their share of the shard's time; or another error with which the read is
    ///   rejected.
    func answerRead(
        _ read: ParsedCall, _ frame: CallFrame, _ client: Client, stopwatch: Stopwatch
    ) throws(ReplyError) {
        // `admit` does not count a read with the id of an open call, but the read is answered, so it is counted here.
        if self.isRepeated(frame.id, client) { try self.count(frame, client) }
        if !self.isNeededToEnter(read, client) {
            // The answer would only wait in this gateway's memory (R12.24).
            if client.socket.pendingBytes >= self.gateway.settings.admission.unreadBytes {
                self.gateway.metrics.refused(.unreadAnswers)
                throw ReplyError(
                    .overloaded, "read what was sent first", retryAfter: Self.shortestReadRetry.count)
            }
            if let wait = self.readTime.waitingTime(at: MonotonicClock.now) {
                self.gateway.metrics.refused(.readTime)
                throw ReplyError(
                    .overloaded, "too many reads at this gateway",
                    retryAfter: max(wait, Self.shortestReadRetry).count)
            }
        }
        // `admit` has counted a server's page as a fixed number of reads.
        if case .list(cursor: _, count: let entryCount, category: _, isAscending: _) = read, client.role == .user {
            try self.gateway.admission.admitPage(with: entryCount, of: client.userKey)
        }
        let usedBefore = MonotonicClock.threadCPUMicroseconds
        defer { self.readTime.use(microseconds: MonotonicClock.threadCPUMicroseconds - usedBefore) }
        let result = try self.gateway.answer(read, app: client.app)
        self.reply(frame.id, .success(result: result), to: client, method: frame.method, stopwatch: stopwatch)
    }

    /// Whether a client reads the live that it is in, as it does when it enters.
    ///
    /// A client must be able to enter even if other clients read too much. The rate limits of the user's joins and
    /// reads bound these reads, and `readTime` counts their time.
    private func isNeededToEnter(_ read: ParsedCall, _ client: Client) -> Bool {
        if case .get(let live) = read { client.core.live == live } else { false }
    }

    /// The shortest time after which a rejected read may be repeated.
    ///
    /// The next read could often be answered a millisecond later. But if all rejected clients were told so, they would
    /// ask again at once.
    private static var shortestReadRetry: Milliseconds { Milliseconds(250) }
}
