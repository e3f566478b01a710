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
    /// - Throws: The error with which the read is rejected; `tooFrequent` or `overloaded`, with the time after which to
    ///   retry, if the caller has made too many reads or does not read the answers, or reads have used their share of
    ///   the shard's time.
    func answerRead(
        _ read: ParsedCall, _ frame: CallFrame, _ client: Client, stopwatch: Stopwatch
    ) throws(ReplyError) {
        // Each answer counts, even if the read has the id of an open call, which `admit` does not count.
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
        // A server's page has a fixed price, which `admit` has counted.
        if case .list(_, let entryCount, _, _) = read, client.role == .user {
            try self.gateway.admission.admitPage(with: entryCount, of: client.userKey)
        }
        let usedBefore = MonotonicClock.threadCPUMicroseconds
        defer { self.readTime.use(microseconds: MonotonicClock.threadCPUMicroseconds - usedBefore) }
        let result = try self.gateway.answer(read, app: client.app)
        self.reply(frame.id, .success(result: result), to: client, method: frame.method, stopwatch: stopwatch)
    }

    /// Whether a client reads the live that it is in, as it does when it enters.
    ///
    /// An entry must not fail because others read. The limits of joins and reads of the user bound these reads, and
    /// their time counts.
    private func isNeededToEnter(_ read: ParsedCall, _ client: Client) -> Bool {
        if case .get(let live) = read { client.core.live == live } else { false }
    }

    /// The shortest time after which a rejected read may be repeated.
    ///
    /// Usually the next read could be answered a millisecond later, but then all rejected clients would ask again at
    /// once.
    private static var shortestReadRetry: Milliseconds { Milliseconds(250) }
}
