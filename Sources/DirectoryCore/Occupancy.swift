// SPDX-License-Identifier: Apache-2.0
import CoreKit
import PlazaModel

/// What a live's status is (reference 3.2).
extension DirectoryMachine {
    /// Presence tells where the owner is, and whether anybody is in the live.
    func occupied(
        _ key: LiveKey, _ owner: OwnerPresence, isEmpty: Bool, in rows: inout DirectoryRows, at moment: Moment,
        into effects: inout [Effect]
    ) {
        guard case .room(var room)? = rows[.room(key)], room.ended == nil else { return }
        let status: LiveStatus =
            switch owner {
            case .present: .running
            case .left, .offline: room.info.status == .scheduled ? .scheduled : .suspended
            }
        guard status != room.info.status else { return }
        room.info.status = status
        room.revision = moment.offset
        rows[.room(key)] = .room(row: room)
        effects.append(.room(room.record(app: key.app)))
        effects.append(.barrage(BarrageInput(key, .tell(content: .infoChanged(info: room.info)))))
    }
}
