// SPDX-License-Identifier: Apache-2.0
package import CoreKit
package import PlazaModel

/// The rows of one partition of the directory.
package typealias DirectoryRows = Journal<DirectoryKey, DirectoryRow>

/// The directory: which lives there are, who owns them, and who may do what in them.
///
/// Privileged calls that presence carries out (kick, the membership of an admin-to-be) pass through it, so that a
/// revoked admin is powerless from that offset on.
package struct DirectoryMachine: Machine {
    /// How long an ended live is still known, so that late calls learn that it ended.
    package static let endedLifetime = Milliseconds.seconds(300)
    /// How soon the same live may be created again.
    package static let createInterval = Milliseconds.seconds(1)

    let policies: Policies
    /// What the apps have set for themselves, as it is when a batch begins: the word filter is for names and notices too.
    package var apps = AppTable()

    /// A directory under the apps' `policies`.
    package init(policies: Policies) { self.policies = policies }

    package func handle(
        _ input: DirectoryInput, in rows: inout DirectoryRows, at moment: Moment, into effects: inout [Effect]
    ) {
        let app = input.app
        switch input.command {
        case .create(let live, let changes, let owner, let caller):
            let request = CreateRequest(key: LiveKey(app, live), changes: changes, owner: owner, caller: caller)
            self.create(request, in: &rows, at: moment, into: &effects)
        case .open(let live, let changes, let owner, let caller):
            let request = CreateRequest(key: LiveKey(app, live), changes: changes, owner: owner, caller: caller)
            self.open(request, in: &rows, at: moment, into: &effects)
        case .enter(let live, let owner, let caller):
            self.enter(LiveKey(app, live), owner, caller, in: &rows, at: moment.now, into: &effects)
        case .repeatOpen(let live, let caller):
            self.repeatOpen(LiveKey(app, live), caller, in: rows, into: &effects)
        case .release(let owner, let live, let thenReply):
            self.release(UserKey(app, owner), live, thenReply, in: &rows, into: &effects)
        case .closed(let live, let epoch):
            self.closed(LiveKey(app, live), epoch, in: &rows)
        case .occupancy(let live, let owner, let isEmpty):
            self.occupied(LiveKey(app, live), owner, isEmpty: isEmpty, in: &rows, at: moment, into: &effects)
        case .profile(let live, let user):
            self.renamed(LiveKey(app, live), user, in: &rows, at: moment, into: &effects)
        case .bans(let live, let offset, let count, let caller):
            let call = RoomCall(key: LiveKey(app, live), command: input.command, caller: caller)
            self.list(call, .bans(call.key), offset: offset, count: count, in: rows, into: &effects)
        case .mutes(let live, let offset, let count, let caller):
            let call = RoomCall(key: LiveKey(app, live), command: input.command, caller: caller)
            self.list(call, .mutes(call.key), offset: offset, count: count, in: rows, into: &effects)
        case .floor(let live, let user, let ticket):
            self.raiseFloor(LiveKey(app, live), user, ticket, in: &rows)
        case .appSettings(let change, let caller):
            self.changeSettings(change, app, caller, in: &rows, at: moment, into: &effects)
        case .updateInfo(let live, _, let caller), .setMetadata(let live, _, let caller),
            .deleteMetadata(let live, _, let caller), .setAdmin(let live, _, let caller),
            .setAdminVouched(let live, _, let caller), .revokeAdmin(let live, _, let caller),
            .kick(let live, _, let caller), .ban(let live, _, _, _, let caller), .unban(let live, _, let caller),
            .mute(let live, _, _, let caller), .end(let live, let caller):
            let call = RoomCall(key: LiveKey(app, live), command: input.command, caller: caller)
            self.decide(call, in: &rows, at: moment, into: &effects)
        }
    }

    package func due(
        _ key: DirectoryKey, in rows: inout DirectoryRows, at moment: Moment, into effects: inout [Effect]
    ) {
        switch key {
        case .room(let live): self.roomDue(live, in: &rows, at: moment, into: &effects)
        case .bans, .mutes: self.sanctionsDue(key, in: &rows, at: moment.now, into: &effects)
        case .roomCalls, .ownerCalls, .appCalls:
            rows[key] = nil
        case .claim, .app:
            // Never due: a claim goes with its live, an app's settings stay.
            break
        }
    }

    private func raiseFloor(_ key: LiveKey, _ user: UserID, _ ticket: Ticket, in rows: inout DirectoryRows) {
        guard case .room(var room)? = rows[.room(key)] else { return }
        room.floors.raise(user, to: ticket)
        rows[.room(key)] = .room(row: room)
    }
}
