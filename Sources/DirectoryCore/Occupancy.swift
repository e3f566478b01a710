// SPDX-License-Identifier: Apache-2.0
import CoreKit
import PlazaModel

/// What follows from who is in a live: its status (reference 3.2), and its end by itself (reference 3.4).
extension DirectoryMachine {
    /// Presence tells where the owner is, and whether anybody is in the live.
    func occupied(
        _ key: LiveKey, _ owner: OwnerPresence, isEmpty: Bool, in rows: inout DirectoryRows, at moment: Moment,
        into effects: inout [Effect]
    ) {
        guard case .room(var room)? = rows[.room(key)], room.ended == nil else { return }
        room.emptySince = isEmpty ? room.emptySince ?? moment.now : nil
        switch owner {
        case .present:
            room.ownerGone = nil
            room.info.status = .running
        case .left, .offline:
            // Whoever is awaited has not gone.
            if room.info.status == .scheduled { break }
            room.info.status = .suspended
            let isOffline = owner == .offline
            if room.ownerGone?.isOffline != isOffline {
                room.ownerGone = RoomRow.OwnerGone(isOffline: isOffline, since: moment.now)
            }
        }
        room.dismissAt = self.dismissal(of: room, app: key.app)
        guard case .room(let before)? = rows[.room(key)], before != room else { return }
        if room.info.status != before.info.status {
            room.revision = moment.offset
            effects.append(.room(room.record(app: key.app)))
            effects.append(.barrage(BarrageInput(key, .tell(content: .infoChanged(info: room.info)))))
        }
        rows[.room(key)] = .room(row: room)
    }

    /// When the live ends by itself as things are, by its app's policy.
    func dismissal(of room: RoomRow, app: AppID) -> Timestamp? {
        let policy = self.policies[app].dismissal
        var ends: [Timestamp] = []
        if let since = room.emptySince, policy.afterNoUsersSeconds > 0 {
            ends.append(since + .seconds(policy.afterNoUsersSeconds))
        }
        if let gone = room.ownerGone {
            let seconds = gone.isOffline ? policy.afterOwnerOfflineSeconds : policy.afterOwnerLeaveSeconds
            if seconds > 0 { ends.append(gone.since + .seconds(seconds)) }
        }
        return ends.min()
    }

    /// An ended live's row goes, or a running live ends by itself.
    func roomDue(_ key: LiveKey, in rows: inout DirectoryRows, at moment: Moment, into effects: inout [Effect]) {
        guard case .room(var room)? = rows[.room(key)] else { return }
        guard room.ended == nil else {
            rows[.room(key)] = nil
            effects.append(.roomGone(key))
            return
        }
        // The policy may be another than when the time was set.
        room.dismissAt = self.dismissal(of: room, app: key.app)
        guard let dismissAt = room.dismissAt, dismissAt <= moment.now else {
            rows[.room(key)] = .room(row: room)
            return
        }
        let told = self.end(key, &room, for: nil, in: &rows, at: moment.now)
        room.revision = moment.offset
        rows[.room(key)] = .room(row: room)
        effects.append(.room(room.record(app: key.app)))
        effects += told
    }
}
