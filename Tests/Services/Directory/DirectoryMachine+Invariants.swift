// SPDX-License-Identifier: Apache-2.0
import MachineKit
import MachineTestSupport
import PlazaModel

@testable import DirectoryCore

extension DirectoryMachine: CheckedMachine {
    /// Lists the violations of the invariants in the rows of a directory with a single partition.
    ///
    /// The directory must have handled all commands that it sent to itself, because each running live must have a claim
    /// (the row that says which live its owner runs), and each claim a running live.
    func violations(in rows: DirectoryRows, at now: Timestamp) -> [String] {
        var violations: [String] = []
        for key in rows.sortedKeys {
            switch (key, rows[key]) {
            case (.live(let live), .live(let row)?):
                violations += self.checkLive(live, row).map { "\(key.text): \($0)" }
            case (.claim(let owner), .claim(let claim)?):
                if !rows.isRunning(LiveKey(owner.app, claim.live), ownedBy: owner.user) {
                    violations.append("\(key.text): a claim for \(claim.live), which the owner does not run (I1)")
                }
            case (.liveCalls, .calls(let window)?), (.ownerCalls, .calls(let window)?),
                (.appCalls, .calls(let window)?):
                if window.storage.count > IdempotencyLimits.maxOutcomes {
                    violations.append("\(key.text): too many outcomes (I16)")
                }
            case (.bans, .sanctions(let list)?), (.mutes, .sanctions(let list)?):
                violations += self.checkPage(list, key, rows).map { "\(key.text): \($0)" }
                if !rows.hasRunningLive(key) { violations.append("\(key.text): without a running live") }
            case (.app, .app(let row)?):
                if row.settings.words.count > AppLimits.words { violations.append("\(key.text): too many words (I16)") }
                if row.settings.gifts.reduce(0, { $0 + $1.gifts.count }) > AppLimits.gifts {
                    violations.append("\(key.text): too many gifts (I16)")
                }
            default: violations.append("\(key.text): a row of a kind that does not fit its key")
            }
            if case .live(let live) = key {
                for kind in [SanctionKind.bans, .mutes] {
                    violations += self.checkList(rows.sanctions(kind, of: live)).map { "\(key.text): \(kind) \($0)" }
                }
            }
            if case .live(let live) = key, case .live(let row)? = rows[key], row.ended == nil {
                let owner = UserKey(live.app, row.info.liveOwner.userID)
                if rows[.claim(owner)] != .claim(claim: OwnerClaim(live: live.live)) {
                    violations.append("\(key.text): runs without its owner's claim (I1)")
                }
            }
        }
        return violations
    }

    /// Lists the violations in the row of one live.
    private func checkLive(_ key: LiveKey, _ row: LiveRow) -> [String] {
        var violations: [String] = []
        let info = row.info
        if info.liveID != key.live { violations.append("info of another live") }
        if row.ended != nil, row.dismissAt != nil { violations.append("an ended live with a dismissal time (I1)") }
        if (row.ended == nil) != (row.removeAt == nil) {
            violations.append("a removal time without an end, or an end without it (I1)")
        }
        if row.revision < row.epoch { violations.append("revision before its creation") }
        if Set(info.admins).count != info.admins.count { violations.append("the same admin twice") }
        if info.admins.contains(info.liveOwner.userID) { violations.append("the owner is an admin") }
        if info.admins.count > self.policies[key.app].maxAdmins { violations.append("too many admins") }
        let metadata = info.metaData
        if metadata.count > Limits.metadataKeys
            || metadata.keys.contains(where: { $0.utf8.count > Limits.metadataKeyBytes })
            || metadata.values.contains(where: { $0.utf8.count > Limits.metadataValueBytes })
            || metadata.values.reduce(0, { $0 + $1.utf8.count }) > Limits.metadataTotalBytes
        {
            violations.append("metadata over a limit (I2)")
        }
        return violations
    }
}

extension DirectoryMachine {
    /// Lists the violations in one page of bans or mutes.
    ///
    /// The pages of a list are numbered without gaps, and the last page is not empty.
    private func checkPage(_ list: SanctionList, _ key: DirectoryKey, _ rows: DirectoryRows) -> [String] {
        var violations: [String] = []
        if list.entries.count > SanctionLimits.perRow { violations.append("too many entries in one row (I16)") }
        guard let (kind, live, page) = key.sanctionPage else { return violations }
        let isLast = rows[kind.key(of: live, page: page + 1)] == nil
        if list.entries.isEmpty, isLast { violations.append("the last page is empty") }
        if page > 0, rows[kind.key(of: live, page: page - 1)] == nil { violations.append("no page before it") }
        return violations
    }

    /// Lists the violations in a whole list of bans or mutes.
    private func checkList(_ list: SanctionList) -> [String] {
        var violations: [String] = []
        let users = list.entries.map(\.user)
        if users != users.sorted() || Set(users).count != users.count {
            violations.append("not sorted, or a user twice")
        }
        if users.count > SanctionLimits.perLive { violations.append("too many entries in the list (I16)") }
        return violations
    }
}

extension DirectoryRows {
    /// Whether `key` is a page of the bans or mutes of a running live.
    fileprivate func hasRunningLive(_ key: DirectoryKey) -> Bool {
        switch key {
        case .bans(let live, _), .mutes(let live, _):
            guard case .live(let row)? = self[.live(live)] else { return false }
            return row.ended == nil
        default: return false
        }
    }

    /// Whether the live is running and belongs to `owner`.
    fileprivate func isRunning(_ key: LiveKey, ownedBy owner: UserID) -> Bool {
        guard case .live(let row)? = self[.live(key)] else { return false }
        return row.ended == nil && row.info.liveOwner.userID == owner
    }
}
