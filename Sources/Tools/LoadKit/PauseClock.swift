// SPDX-License-Identifier: Apache-2.0

/// Measures the longest time without a delivery between two moments; all times are in microseconds of one clock.
///
/// The time until the first delivery counts, and so does the time after the last one: a feed that stops permanently
/// pauses until the end.
struct PauseClock {
    /// The longest time without a delivery so far.
    private(set) var longestMicroseconds: Int64 = 0
    /// When the last delivery was, or the measurement began; nil while nothing is measured.
    private var lastAt: Int64?

    /// Begins the measurement.
    mutating func begin(at now: Int64) { self.lastAt = now }

    /// Records a delivery; one before the beginning or after the end is ignored.
    mutating func recordDelivery(at now: Int64) {
        guard let lastAt = self.lastAt, now > lastAt else { return }
        self.longestMicroseconds = max(self.longestMicroseconds, now - lastAt)
        self.lastAt = now
    }

    /// Ends the measurement.
    mutating func end(at now: Int64) {
        self.recordDelivery(at: now)
        self.lastAt = nil
    }
}
