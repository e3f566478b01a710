// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel

/// The status of a live (R3.30, R4.15) and its automatic dismissal (R3.59, R3.60, R3.61).
///
/// Both depend on who is in the live, which presence reports. The app's dismissal policy ends a live that has been
/// empty, or whose owner has been gone, for too long.
extension DirectoryMachine {
    /// Applies presence's report on whether the owner is in the live and whether the live is empty.
    func updateOccupancy(
        _ key: LiveKey, _ ownerPresence: OwnerPresence, isEmpty: Bool, in rows: inout DirectoryRows, at moment: Moment,
        into effects: inout [Effect]
    ) {
        guard case .live(var row)? = rows[.live(key)], row.ended == nil else { return }
        row.emptySince = isEmpty ? (row.emptySince ?? moment.now) : nil
        switch ownerPresence {
        case .present:
            row.ownerGone = nil
            row.info.status = .running
        case .left, .offline:
            // Presence also reports `left` before the owner's first join. Then a scheduled live stays scheduled.
            if row.info.status == .scheduled { break }
            row.info.status = .suspended
            let isOffline = ownerPresence == .offline
            if row.ownerGone?.isOffline != isOffline {
                row.ownerGone = LiveRow.OwnerGone(isOffline: isOffline, since: moment.now)
            }
        }
        row.dismissAt = self.dismissalTime(of: row, app: key.app)
        guard case .live(let oldRow)? = rows[.live(key)], oldRow != row else { return }
        if row.info.status != oldRow.info.status {
            row.revision = moment.offset
            effects.append(.live(row.record(app: key.app)))
            let content = FeedContent.infoChanged(info: row.info, revision: row.revision)
            effects.append(.barrage(BarrageInput(key, .publish(content: content))))
        }
        rows[.live(key)] = .live(row: row)
    }

    /// When the app's dismissal policy ends the live if the occupancy stays the same; nil if the policy never ends it.
    func dismissalTime(of row: LiveRow, app: AppID) -> Timestamp? {
        let policy = self.policies[app].dismissal
        var times: [Timestamp] = []
        if let emptySince = row.emptySince, policy.afterNoUsersSeconds > 0 {
            times.append(emptySince + .seconds(policy.afterNoUsersSeconds))
        }
        if let ownerGone = row.ownerGone {
            let seconds = ownerGone.isOffline ? policy.afterOwnerOfflineSeconds : policy.afterOwnerLeaveSeconds
            if seconds > 0 { times.append(ownerGone.since + .seconds(seconds)) }
        }
        return times.min()
    }

    /// Removes the row of an ended live, or ends a running live whose dismissal time has passed.
    func handleDueLive(_ key: LiveKey, in rows: inout DirectoryRows, at moment: Moment, into effects: inout [Effect]) {
        guard case .live(var row)? = rows[.live(key)] else { return }
        guard row.ended == nil else {
            rows[.live(key)] = nil
            effects.append(.liveRemoved(key))
            return
        }
        // The policy may have changed since the dismissal time was computed.
        row.dismissAt = self.dismissalTime(of: row, app: key.app)
        guard let dismissAt = row.dismissAt, dismissAt <= moment.now else {
            rows[.live(key)] = .live(row: row)
            return
        }
        let endEffects = self.endLive(key, &row, for: nil, in: &rows, at: moment.now)
        row.revision = moment.offset
        rows[.live(key)] = .live(row: row)
        effects.append(.live(row.record(app: key.app)))
        effects += endEffects
    }
}
