// SPDX-License-Identifier: Apache-2.0
internal import MachineKit
internal import PlazaModel

// MARK: - Leaves, expired leases, and users who return

// A lease is the entry in Redis of a session in a live. The leases of a live are stale (not certain) while Redis cannot
// be reached. They are also stale after Redis has lost them: then a new epoch of the leases begins without any lease,
// and gateways assert (list) their sessions until the epoch has settled.

extension AudienceMachine {
    /// Handles the leave of a session.
    ///
    /// The reply is sent to `caller`, which is nil when the gateway has signed the session off.
    func handleLeave(
        _ caller: Caller?, _ input: AudienceInput, _ planned: PlannedInput, _ result: LeaseResult, in rows: inout Rows,
        into effects: inout [Effect]
    ) {
        // While Redis cannot be reached, there are no changes, so no leave is published: presence does not know whether
        // the user has other devices (I5 in docs/RULES.md). Such a leave makes a new epoch begin when Redis is back.
        // Once the epoch has settled, the seat and connection machines ask presence whether the users whom they show
        // are still in the live.
        for case .left(user: let user, isLast: true, count: let count) in result.changes {
            let isPublished = self.publishLeave(
                user, .left, from: input.key, count: count, at: planned.moment, in: &rows, into: &effects)
            if isPublished {
                self.sendMemberEvent(input.key, .leave, [user], at: planned.moment.now, into: &effects)
            }
        }
        if case .leave(_, _, let user, let session, let ticket)? = planned.request {
            self.revokeRecordedJoins(of: session, user, upTo: ticket, input.key, in: &rows)
        }
        guard let caller else { return }
        // The leave of a session that has left already is not an error.
        self.replyAndRecord(caller, .success(result: .done), input, planned.moment, in: &rows, into: &effects)
    }

    /// Publishes the leave of each user whose last lease has expired.
    func handleExpiredLeases(
        _ planned: PlannedInput, _ result: LeaseResult, in rows: inout Rows, into effects: inout [Effect]
    ) {
        var expired: [(key: LiveKey, users: [UserInfo])] = []
        for case .expired(let key, let user, let count) in result.changes {
            let isPublished = self.publishLeave(
                user, .offline, from: key, count: count, at: planned.moment, in: &rows, into: &effects)
            guard isPublished else { continue }
            // The expired leases of one live are consecutive.
            if expired.last?.key != key { expired.append((key, [])) }
            expired[expired.count - 1].users.append(user)
        }
        for (key, users) in expired {
            self.sendMemberEvent(key, .heartbeatInterrupt, users, at: planned.moment.now, into: &effects)
        }
    }

    /// Handles heartbeats (members' signs of life); a heartbeat of a user whose leases have expired returns the user to
    /// the live.
    ///
    /// The expiry was published as a leave, so the return is published as a join. The user's client does not notice the
    /// expiry.
    func handleHeartbeats(
        _ key: LiveKey, _ planned: PlannedInput, _ result: LeaseResult, in rows: inout Rows,
        into effects: inout [Effect]
    ) {
        for case .returned(let user, let count) in result.changes {
            guard var row = rows.live(key) else { return }
            // In a new epoch, users return by heartbeats although their leave was never published. So no join is
            // published either.
            if !row.isStale {
                if user.userID != row.owner {
                    self.publish(.audienceJoined(user: user, continuesVisit: true), to: key, into: &effects)
                }
                self.notifyOfJoin(user, key, row, into: &effects)
                self.sendMemberEvent(key, .heartbeatRecover, [user], at: planned.moment.now, into: &effects)
            }
            if user.userID == row.owner {
                row.ownerPresence = .present
                rows[.live(key)] = .live(row: row)
            }
            self.updateCount(key, count, at: planned.moment.now, in: &rows, into: &effects)
        }
    }

    /// Updates the count, and publishes the leave of a user whose last session left or whose last lease expired.
    ///
    /// The leave of the owner is not announced to the viewers, but changes the owner's presence.
    ///
    /// - Parameters:
    ///   - user: the user.
    ///   - ownerPresence: the new presence of the owner, if the user is the owner.
    ///   - key: the live.
    ///   - count: the number of users in the live after the leave.
    ///   - moment: the moment of the input.
    ///   - rows: the partition's rows.
    ///   - effects: the effects are appended to this array.
    /// - Returns: whether the leave was published; the backend gets an event only in this case.
    func publishLeave(
        _ user: UserInfo, _ ownerPresence: OwnerPresence, from key: LiveKey, count: Int, at moment: Moment,
        in rows: inout Rows, into effects: inout [Effect]
    ) -> Bool {
        guard var row = rows.live(key) else { return false }
        // While the leases are stale, the user may have another device that no gateway has asserted yet. So no leave is
        // published (I5). Once the epoch has settled, the count is correct, and the seat and connection machines ask
        // presence whether the users whom they show are still in the live.
        if !row.isStale {
            if user.userID == row.owner {
                row.ownerPresence = ownerPresence
                rows[.live(key)] = .live(row: row)
            } else {
                self.publish(.audienceLeft(user: user), to: key, into: &effects)
                row.rememberLeave(of: user.userID, at: moment.now)
                rows[.live(key)] = .live(row: row)
            }
            self.notifyOfLeave(user.userID, key, row, into: &effects)
        }
        self.updateCount(key, count, at: moment.now, in: &rows, into: &effects)
        return !row.isStale
    }
}
