// SPDX-License-Identifier: Apache-2.0

/// When to send a ping, and when a connection counts as lost.
///
/// Not every transport reports the server's WebSocket pings. Therefore the client sends a call after one of the two
/// sides has been silent. All times are milliseconds of the core's clock.
struct Heartbeat: Sendable {
    /// A ping is sent after a silence of this time.
    let interval: Double
    /// How long the client waits for any frame after a ping.
    let answerTimeout: Double
    private var lastSent = 0.0
    private var lastReceived = 0.0
    /// When the ping was sent after which no frame was received; infinite if there is none.
    private var pingSent = Double.infinity

    init(interval: Double, answerTimeout: Double) {
        self.interval = interval
        self.answerTimeout = answerTimeout
    }

    /// Whether no frame was received since the last ping.
    var isWaiting: Bool { self.pingSent != .infinity }

    /// A connection begins.
    mutating func start(at now: Double) {
        self.lastSent = now
        self.lastReceived = now
        self.pingSent = .infinity
    }

    mutating func sent(at now: Double) { self.lastSent = now }

    mutating func received(at now: Double) {
        self.lastReceived = now
        self.pingSent = .infinity
    }

    mutating func pinged(at now: Double) { self.pingSent = now }

    /// When a ping is due; infinite while one is not answered.
    var pingAt: Double { self.isWaiting ? .infinity : min(self.lastSent, self.lastReceived) + self.interval }

    /// When the connection counts as lost.
    var lostAt: Double { self.pingSent + self.answerTimeout }
}
