// SPDX-License-Identifier: Apache-2.0

/// The real gap of one process's ledger, without the differences that a reading in the middle of a change shows.
///
/// A process changes its counters one after another while its metrics are read. So one reading may show a gap that does
/// not exist. A real gap stays in every later reading.
struct LedgerGap: Sendable {
    /// In how many readings in a row a gap must be seen before it counts as real.
    static let confirmingReadings = 5

    /// The gaps of the last readings, newest last.
    private var lastReadings: [Double] = []

    /// Adds the gap of a reading.
    mutating func add(_ gap: Double) {
        self.lastReadings.append(gap)
        if self.lastReadings.count > Self.confirmingReadings { self.lastReadings.removeFirst() }
    }

    /// The part of the gap that all of the last readings have; 0 before there are enough readings.
    ///
    /// It is negative if something was counted twice.
    var confirmed: Double {
        guard self.lastReadings.count == Self.confirmingReadings, let smallest = self.lastReadings.min(),
            let largest = self.lastReadings.max()
        else { return 0 }
        return smallest > 0 ? smallest : largest < 0 ? largest : 0
    }

    /// The rest of the gap in the last reading.
    ///
    /// If the process has ended, nobody can say whether this part is real.
    var undecided: Double { (self.lastReadings.last ?? 0) - self.confirmed }
}
