// SPDX-License-Identifier: Apache-2.0
import CoreKit
import PlazaModel

extension DirectoryMachine {
    /// What is wrong with the rows of one partition; empty when all invariants hold.
    ///
    /// - Parameters:
    ///   - rows: the rows.
    ///   - isWhole: the partition is the only one and nothing that the directory told itself is under way; then claims
    ///     and running lives must match one to one.
    /// - Returns: a line for each broken invariant.
    package func checkInvariants(_ rows: DirectoryRows, isWhole: Bool = false) -> [String] {
        var broken: [String] = []
        for key in rows.sortedKeys {
            switch (key, rows[key]) {
            case (.room(let live), .room(let room)?): broken += self.checkRoom(live, room).map { "\(key.text): \($0)" }
            case (.claim(let owner), .claim(let claim)?):
                if isWhole, !rows.runs(LiveKey(owner.app, claim.live), owner.user) {
                    broken.append("\(key.text): claims \(claim.live), which the owner does not run (I1)")
                }
            case (.roomCalls, .calls(let window)?), (.ownerCalls, .calls(let window)?),
                (.appCalls, .calls(let window)?):
                if window.kept.count > OutcomeWindow.limit { broken.append("\(key.text): too many outcomes (I16)") }
            case (.bans, .sanctions(let list)?), (.mutes, .sanctions(let list)?):
                broken += self.checkSanctions(list).map { "\(key.text): \($0)" }
                if !rows.runs(key) { broken.append("\(key.text): without a running live") }
            case (.app, .app(let row)?):
                if row.settings.words.count > AppLimits.words { broken.append("\(key.text): too many words (I16)") }
                if row.settings.gifts.reduce(0, { $0 + $1.gifts.count }) > AppLimits.gifts {
                    broken.append("\(key.text): too many gifts (I16)")
                }
            default: broken.append("\(key.text): a row of another kind")
            }
            if isWhole, case .room(let live) = key, case .room(let room)? = rows[key], room.ended == nil {
                let owner = UserKey(live.app, room.info.liveOwner.userID)
                if rows[.claim(owner)] != .claim(claim: OwnerClaim(live: live.live)) {
                    broken.append("\(key.text): runs without its owner's claim (I1)")
                }
            }
        }
        return broken
    }

    private func checkRoom(_ key: LiveKey, _ room: RoomRow) -> [String] {
        var broken: [String] = []
        let info = room.info
        if info.liveID != key.live { broken.append("info of another live") }
        if room.ended != nil, room.dismissAt != nil { broken.append("ended, and to be dismissed (I1)") }
        if (room.ended == nil) != (room.removeAt == nil) { broken.append("ended without an end of its row (I1)") }
        if room.revision < room.epoch { broken.append("revision before its creation") }
        if Set(info.admins).count != info.admins.count { broken.append("an admin twice") }
        if info.admins.contains(info.liveOwner.userID) { broken.append("the owner is an admin") }
        if info.admins.count > self.policies[key.app].maxAdmins { broken.append("too many admins") }
        let metadata = info.metaData
        if metadata.count > Limits.metadataKeys
            || metadata.keys.contains(where: { $0.utf8.count > Limits.metadataKeyBytes })
            || metadata.values.contains(where: { $0.utf8.count > Limits.metadataValueBytes })
            || metadata.values.reduce(0, { $0 + $1.utf8.count }) > Limits.metadataTotalBytes
        {
            broken.append("metadata over a limit (I2)")
        }
        return broken
    }
}

extension DirectoryMachine {
    private func checkSanctions(_ list: SanctionList) -> [String] {
        var broken: [String] = []
        let users = list.entries.map(\.user)
        if users != users.sorted() || Set(users).count != users.count { broken.append("not sorted, or a user twice") }
        if users.isEmpty { broken.append("empty") }
        if users.count > SanctionLimits.perLive { broken.append("too many (I16)") }
        return broken
    }
}

extension DirectoryRows {
    /// Whether the live of a row of bans or mutes runs.
    fileprivate func runs(_ key: DirectoryKey) -> Bool {
        guard case .bans(let live) = key, case .room(let room)? = self[.room(live)] else {
            guard case .mutes(let live) = key, case .room(let room)? = self[.room(live)] else { return false }
            return room.ended == nil
        }
        return room.ended == nil
    }

    fileprivate func runs(_ key: LiveKey, _ owner: UserID) -> Bool {
        guard case .room(let room)? = self[.room(key)] else { return false }
        return room.ended == nil && room.info.liveOwner.userID == owner
    }
}
