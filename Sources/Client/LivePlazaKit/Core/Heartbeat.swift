// SPDX-License-Identifier: Apache-2.0

/// When to send a ping, and when a connection is taken as lost.
///
/// Not every transport shows the server's WebSocket pings. Therefore the client sends a call after a silence of either
/// side. All times are milliseconds of the core's clock.
struct Heartbeat: Sendable {
    /// After how long a silence a ping is sent.
    let interval: Double
    /// How long anything may take to come after it.
    let answerTimeout: Double
    private var lastSent = 0.0
    private var lastReceived = 0.0
    /// When the ping was sent that nothing came after; infinite if there is none.
    private var pingSent = Double.infinity

    init(interval: Double, answerTimeout: Double) {
        self.interval = interval
        self.answerTimeout = answerTimeout
    }

    /// Whether a ping is not answered.
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

    /// When the connection is taken as lost.
    var lostAt: Double { self.pingSent + self.answerTimeout }
}
