// SPDX-License-Identifier: Apache-2.0
internal import MachineKit
internal import PlazaModel

/// Decides when the audience count of each live is sent: at most once a second.
struct CountSchedule: Sendable {
    /// The latest count of each live, if it waits because a count of this live was sent less than `interval` ago.
    private var waitingCounts: [LiveKey: LiveCount] = [:]
    private var lastSentAt: [LiveKey: MonotonicTime] = [:]

    private static let interval = Milliseconds.seconds(1)

    /// Returns the count if it can be sent now; otherwise stores it until `takeDue`.
    mutating func schedule(_ count: LiveCount, of key: LiveKey, at now: MonotonicTime) -> LiveCount? {
        guard now - (self.lastSentAt[key] ?? .distantPast) >= Self.interval else {
            self.waitingCounts[key] = count
            return nil
        }
        // A count that still waits is older.
        self.waitingCounts[key] = nil
        self.lastSentAt[key] = now
        return count
    }

    /// Removes and returns the counts that can be sent now, in a fixed order.
    mutating func takeDue(at now: MonotonicTime) -> [(key: LiveKey, count: LiveCount)] {
        var due: [(key: LiveKey, count: LiveCount)] = []
        for key in self.waitingCounts.keys.sorted()
        where now - (self.lastSentAt[key] ?? .distantPast) >= Self.interval {
            guard let count = self.waitingCounts.removeValue(forKey: key) else { continue }
            self.lastSentAt[key] = now
            due.append((key, count))
        }
        return due
    }
}
