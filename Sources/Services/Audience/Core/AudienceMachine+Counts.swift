// SPDX-License-Identifier: Apache-2.0
internal import MachineKit
internal import PlazaModel

// MARK: - Counts

extension AudienceMachine {
    /// Stores a live's new count, and publishes the count now or one second after the last published count.
    func updateCount(
        _ key: LiveKey, _ count: Int, at now: Timestamp, in rows: inout Rows, into effects: inout [Effect]
    ) {
        guard var row = rows.live(key) else { return }
        row.count = count
        rows[.live(key)] = .live(row: row)
        self.publishCount(key, at: now, in: &rows, into: &effects)
        self.reportOccupancy(key, at: now, in: &rows, into: &effects)
    }

    /// Publishes a changed count at most once a second; a count that changes too soon is published at `countDue`.
    ///
    /// The last value is always published. While the leases are stale, nothing is published.
    func publishCount(_ key: LiveKey, at now: Timestamp, in rows: inout Rows, into effects: inout [Effect]) {
        guard var row = rows.live(key) else { return }
        row.countDue = nil
        if !row.isStale, row.count != row.publishedCount || row.totalViewers != row.publishedTotal {
            let next = row.publishedAt + Self.countInterval
            if now < next {
                row.countDue = next
            } else {
                self.publishCountNow(key, &row, at: now, into: &effects)
            }
        }
        rows[.live(key)] = .live(row: row)
    }

    /// Publishes the count, even if unchanged or less than a second after the last published count.
    func publishCountNow(_ key: LiveKey, _ row: inout LiveRow, at now: Timestamp, into effects: inout [Effect]) {
        (row.publishedCount, row.publishedTotal, row.publishedAt, row.countDue) = (
            row.count, row.totalViewers, now, nil
        )
        effects.append(.count(row.record(key, at: now)))
    }
}
