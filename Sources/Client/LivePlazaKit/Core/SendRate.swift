// SPDX-License-Identifier: Apache-2.0
internal import MachineKit

/// Limits the calls that a client sends to 100 in any second.
///
/// The server closes a connection that sends 200 frames in a second.
struct SendRate: Sendable {
    private static let maxCallsPerSecond = 100
    /// When the last calls were sent, oldest first; at most `maxCallsPerSecond`.
    private var sendTimes: [MonotonicTime] = []

    /// When the next call may be sent: a second after the oldest of the last 100; `distantPast` before there are 100.
    var allowedAt: MonotonicTime {
        self.sendTimes.count < Self.maxCallsPerSecond ? .distantPast : self.sendTimes[0] + .seconds(1)
    }

    mutating func callSent(at now: MonotonicTime) {
        self.sendTimes.append(now)
        if self.sendTimes.count > Self.maxCallsPerSecond { self.sendTimes.removeFirst() }
    }
}
