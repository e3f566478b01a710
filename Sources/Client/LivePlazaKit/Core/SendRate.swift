// SPDX-License-Identifier: Apache-2.0

/// Limits the calls that a client sends to 100 in any second.
///
/// The server closes a connection that sends 200 frames in a second. All times are milliseconds of the core's clock.
struct SendRate: Sendable {
    private static let maxCallsPerSecond = 100
    /// When the last calls were sent, oldest first; at most `maxCallsPerSecond`.
    private var sendTimes: [Double] = []

    /// When the next call may be sent: a second after the oldest of the last 100; minus infinity before there are 100.
    var allowedAt: Double { self.sendTimes.count < Self.maxCallsPerSecond ? -.infinity : self.sendTimes[0] + 1000 }

    mutating func callSent(at now: Double) {
        self.sendTimes.append(now)
        if self.sendTimes.count > Self.maxCallsPerSecond { self.sendTimes.removeFirst() }
    }
}
