// SPDX-License-Identifier: Apache-2.0
internal import MachineKit
internal import PlazaModel

// MARK: - Counts

extension AudienceMachine {
    /// Stores a live's new count, publishes it, and reports to the directory whether the live is empty now.
    ///
    /// Both happen at once, or when a second has passed since the last time.
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
    /// The latest value is always published in the end. While the leases are stale (not certain), nothing is published.
    func publishCount(_ key: LiveKey, at now: Timestamp, in rows: inout Rows, into effects: inout [Effect]) {
        guard var row = rows.live(key) else { return }
        row.countDue = nil
        if !row.isStale, row.count != row.publishedCount || row.totalViewers != row.publishedTotalViewers {
            let nextTime = row.publishedAt + Self.countInterval
            if now < nextTime {
                row.countDue = nextTime
            } else {
                self.publishCountNow(key, &row, at: now, into: &effects)
            }
        }
        rows[.live(key)] = .live(row: row)
    }

    /// Publishes the count without the checks of `publishCount`; the caller stores `row`.
    func publishCountNow(_ key: LiveKey, _ row: inout LiveRow, at now: Timestamp, into effects: inout [Effect]) {
        (row.publishedCount, row.publishedTotalViewers, row.publishedAt, row.countDue) = (
            row.count, row.totalViewers, now, nil
        )
        effects.append(.count(row.countRecord(key, at: now)))
    }
}
