// SPDX-License-Identifier: Apache-2.0
internal import MachineKit
internal import PlazaModel

// MARK: - Occupancy

extension AudienceMachine {
    /// Reports changes of the occupancy to the directory: the owner's presence, and whether the live is empty.
    ///
    /// The directory uses the reports to suspend and dismiss lives. Presence reports at most once a second, and reports
    /// the latest value in the end. The loss of the leases must not suspend or end a live. So while the leases are
    /// uncertain, presence reports only that the owner or a viewer has arrived (I5 in docs/RULES.md).
    func reportOccupancy(_ key: LiveKey, at now: Timestamp, in rows: inout Rows, into effects: inout [Effect]) {
        guard var row = rows.live(key) else { return }
        var ownerPresence = row.ownerPresence
        var isEmpty = row.count == 0 && ownerPresence != .present && !row.hasUnrecordedJoins
        if row.isStale || row.isOwnerUnconfirmed {
            if ownerPresence != .present { ownerPresence = row.reportedOwnerPresence }
            isEmpty = isEmpty && row.wasReportedEmpty
        }
        row.occupancyDue = nil
        if ownerPresence != row.reportedOwnerPresence || isEmpty != row.wasReportedEmpty {
            let nextTime = row.occupancyReportedAt + Self.countInterval
            if now < nextTime {
                row.occupancyDue = nextTime
            } else {
                (row.reportedOwnerPresence, row.wasReportedEmpty, row.occupancyReportedAt) = (
                    ownerPresence, isEmpty, now
                )
                let report = DirectoryCommand.occupancy(live: key.live, owner: ownerPresence, isEmpty: isEmpty)
                effects.append(.directory(DirectoryInput(app: key.app, report)))
            }
        }
        rows[.live(key)] = .live(row: row)
    }
}
