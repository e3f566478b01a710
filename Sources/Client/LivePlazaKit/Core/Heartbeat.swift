// SPDX-License-Identifier: Apache-2.0

/// When to send a ping, and when a connection counts as lost.
///
/// Not every transport reports the server's WebSocket pings. Therefore the client sends a `ping` call when it has sent
/// nothing, or received nothing, for some time. All times are milliseconds of the core's clock.
struct Heartbeat: Sendable {
    /// A ping is sent when nothing was sent, or nothing received, for this time.
    let interval: Double
    /// How long the client waits for any frame after a ping.
    let answerTimeout: Double
    private var lastSentAt = 0.0
    private var lastReceivedAt = 0.0
    /// When the unanswered ping was sent; infinite if no ping is unanswered.
    private var pingSentAt = Double.infinity

    init(interval: Double, answerTimeout: Double) {
        self.interval = interval
        self.answerTimeout = answerTimeout
    }

    /// Whether a ping was sent and no frame was received since.
    var isAwaitingAnswer: Bool { self.pingSentAt != .infinity }

    /// A connection begins.
    mutating func start(at now: Double) {
        self.lastSentAt = now
        self.lastReceivedAt = now
        self.pingSentAt = .infinity
    }

    mutating func frameSent(at now: Double) { self.lastSentAt = now }

    mutating func frameReceived(at now: Double) {
        self.lastReceivedAt = now
        self.pingSentAt = .infinity
    }

    mutating func pingSent(at now: Double) { self.pingSentAt = now }

    /// When a ping is due; infinite while one is not answered.
    var pingAt: Double { self.isAwaitingAnswer ? .infinity : min(self.lastSentAt, self.lastReceivedAt) + self.interval }

    /// When the connection counts as lost; infinite if no ping is unanswered.
    var lostAt: Double { self.pingSentAt + self.answerTimeout }
}
