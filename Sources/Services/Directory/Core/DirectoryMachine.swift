// SPDX-License-Identifier: Apache-2.0
package import MachineKit
package import PlazaModel

/// The rows of one partition of the directory.
package typealias DirectoryRows = Journal<DirectoryKey, DirectoryRow>

/// The directory decides who owns a live, when lives begin and end, what their info is, and who may do what in them.
///
/// Presence (the machine that knows who is in a live) executes some calls that need a permission, such as kicks. These
/// calls also pass through the directory, which checks the permission. Therefore an admin whose rights are revoked has
/// none from the offset of the revocation on.
package struct DirectoryMachine: Machine {
    /// How long the row of an ended live is stored; until it is removed, calls get the error that the live has ended.
    package static let endedLifetime = Milliseconds.seconds(300)
    /// The minimum time between two creates of lives with the same id.
    package static let createInterval = Milliseconds.seconds(1)

    /// After how many milliseconds a client may repeat a create whose id belongs to a live that is still ending.
    static let closingRetryMilliseconds: Int64 = 100
    /// The policy of each app: its limits, its dismissal policy, and whether it has webhooks.
    let policies: Policies
    /// The apps' word filters, updated at the start of each batch.
    private(set) var filters = WordFilterTable()

    /// Creates a directory with the apps' `policies`.
    package init(policies: Policies) { self.policies = policies }

    /// Updates the word filters from the apps' current settings.
    package mutating func updateSettings(_ apps: AppTable) { self.filters.update(from: apps) }

    package func handle(
        _ input: DirectoryInput, in rows: inout DirectoryRows, at moment: Moment, into effects: inout [Effect]
    ) {
        let app = input.app
        switch input.command {
        case .create(let live, let changes, let owner, let caller):
            let request = CreateRequest(key: LiveKey(app, live), changes: changes, owner: owner, caller: caller)
            self.claimOwner(request, in: &rows, at: moment, into: &effects)
        case .open(let live, let changes, let owner, let caller):
            let request = CreateRequest(key: LiveKey(app, live), changes: changes, owner: owner, caller: caller)
            self.openLive(request, in: &rows, at: moment, into: &effects)
        case .enter(let live, let owner, let caller):
            self.replyToReentry(LiveKey(app, live), owner, caller, in: &rows, at: moment, into: &effects)
        case .repeatOpen(let live, let caller):
            self.repeatReplyOfOpening(LiveKey(app, live), caller, in: rows, into: &effects)
        case .release(let owner, let live, let thenReply):
            self.removeClaim(of: UserKey(app, owner), live, thenReply, in: &rows, into: &effects)
        case .closed(let live, let epoch):
            self.makeIDReusable(LiveKey(app, live), epoch, in: &rows)
        case .occupancy(let live, let ownerPresence, let isEmpty):
            self.updateOccupancy(
                LiveKey(app, live), ownerPresence, isEmpty: isEmpty, in: &rows, at: moment, into: &effects)
        // The user is the live's owner, or a user with a ban or a mute.
        case .profile(let live, let user):
            self.updateOwnerProfile(LiveKey(app, live), user, in: &rows, at: moment, into: &effects)
            self.updateSanctionProfile(LiveKey(app, live), user, in: &rows)
        case .bans(let live, let offset, let count, let caller):
            let call = LiveCall(key: LiveKey(app, live), command: input.command, caller: caller)
            self.replyWithSanctions(
                call, .bans, offset: offset, count: count, in: rows, at: moment.now, into: &effects)
        case .mutes(let live, let offset, let count, let caller):
            let call = LiveCall(key: LiveKey(app, live), command: input.command, caller: caller)
            self.replyWithSanctions(
                call, .mutes, offset: offset, count: count, in: rows, at: moment.now, into: &effects)
        case .floor(let live, let user, let ticket):
            self.raiseFence(LiveKey(app, live), user, ticket, in: &rows)
        case .appSettings(let change, let caller):
            self.changeSettings(change, app, caller, in: &rows, at: moment, into: &effects)
        case .updateInfo(let live, _, let caller), .setMetadata(let live, _, let caller),
            .deleteMetadata(let live, _, let caller), .setAdmin(let live, _, let caller),
            .adminMembershipVerified(let live, _, let caller), .revokeAdmin(let live, _, let caller),
            .kick(let live, _, let caller), .ban(let live, _, _, _, let caller), .unban(let live, _, let caller),
            .mute(let live, _, _, let caller), .end(let live, let caller):
            let call = LiveCall(key: LiveKey(app, live), command: input.command, caller: caller)
            self.decide(call, in: &rows, at: moment, into: &effects)
        }
    }

    package func handleDueRow(
        _ key: DirectoryKey, in rows: inout DirectoryRows, at moment: Moment, into effects: inout [Effect]
    ) {
        switch key {
        case .live(let live): self.handleDueLive(live, in: &rows, at: moment, into: &effects)
        case .bans, .mutes: self.removeExpiredSanctions(key, in: &rows, at: moment.now, into: &effects)
        case .liveCalls, .ownerCalls, .appCalls:
            let isExpired = rows.update(key) { $0.expire(at: moment) } ?? true
            if isExpired { rows[key] = nil }
        case .claim, .app:
            // These rows are never due. A claim is removed with its live, and an app's settings are permanent.
            break
        }
    }

    /// Revokes all tickets (proofs of a join) of a kicked user that are lower than `ticket`.
    private func raiseFence(_ key: LiveKey, _ user: UserID, _ ticket: Ticket, in rows: inout DirectoryRows) {
        guard case .live(var row)? = rows[.live(key)] else { return }
        row.floors.raiseFloor(of: user, to: ticket)
        rows[.live(key)] = .live(row: row)
    }
}
