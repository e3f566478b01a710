// SPDX-License-Identifier: Apache-2.0
internal import MachineKit

/// When to send a ping, and when a connection counts as lost.
///
/// The server cuts off a silent client, so the client sends a `ping` call when it has sent nothing for some time. It
/// also sends one when it has received nothing for some time, because not every transport reports the server's
/// WebSocket pings.
struct PingSchedule: Sendable {
    /// A ping is sent when nothing was sent, or nothing received, for this time.
    let interval: Milliseconds
    private var lastSentAt = MonotonicTime.distantPast
    private var lastReceivedAt = MonotonicTime.distantPast
    /// When the unanswered ping was sent; nil while no answer is awaited.
    private var pingSentAt: MonotonicTime?

    init(interval: Milliseconds) { self.interval = interval }

    /// Whether a ping was sent and no frame was received since.
    var isAwaitingAnswer: Bool { self.pingSentAt != nil }

    /// A connection begins.
    mutating func start(at now: MonotonicTime) {
        self.lastSentAt = now
        self.lastReceivedAt = now
        self.pingSentAt = nil
    }

    mutating func frameSent(at now: MonotonicTime) { self.lastSentAt = now }

    mutating func frameReceived(at now: MonotonicTime) {
        self.lastReceivedAt = now
        self.pingSentAt = nil
    }

    /// A ping was sent; `frameSent` is called for its frame, too.
    mutating func pingSent(at now: MonotonicTime) { self.pingSentAt = now }

    /// When a ping is due; `distantFuture` while one is not answered.
    var pingAt: MonotonicTime {
        self.isAwaitingAnswer ? .distantFuture : min(self.lastSentAt, self.lastReceivedAt) + self.interval
    }

    /// When the connection counts as lost; `distantFuture` while no answer is awaited.
    ///
    /// `answerTimeout`: how long the client waits for any frame after a ping.
    func lostAt(answerTimeout: Milliseconds) -> MonotonicTime {
        self.pingSentAt.map { $0 + answerTimeout } ?? .distantFuture
    }
}
