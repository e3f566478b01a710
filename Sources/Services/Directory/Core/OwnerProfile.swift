// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel

/// The owner's name and picture in the live's info (R2.13).
extension DirectoryMachine {
    /// Stores and publishes the owner's new profile, which presence reports; profiles of other users are ignored.
    func updateOwnerProfile(
        _ key: LiveKey, _ user: UserInfo, in rows: inout DirectoryRows, at moment: Moment,
        into effects: inout [Effect]
    ) {
        guard case .live(var row)? = rows[.live(key)], row.ended == nil,
            row.info.liveOwner.userID == user.userID, row.info.liveOwner != user
        else { return }
        let oldInfo = row.info
        row.info.liveOwner = user
        row.revision = moment.offset
        rows[.live(key)] = .live(row: row)
        effects.append(.live(row.record(app: key.app)))
        let content = FeedContent.infoChanged(info: row.info, revision: row.revision)
        effects += self.effectsOfInfoChange(content, from: oldInfo, to: row.info, key)
    }
}
