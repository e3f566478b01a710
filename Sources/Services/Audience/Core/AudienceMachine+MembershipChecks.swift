// SPDX-License-Identifier: Apache-2.0
internal import MachineKit
internal import PlazaModel

// MARK: - Checks whether a user is in the live

extension AudienceMachine {
    /// Answers the directory, which has asked whether a user who will become an admin is in the live.
    ///
    /// If the user is in the live, returns the call to the directory; otherwise replies to the caller with an error.
    func handleAdminMembership(
        _ user: UserID, _ caller: Caller, _ key: LiveKey, _ result: LeaseResult, in rows: Rows,
        into effects: inout [Effect]
    ) {
        if case .membership(let isMember) = result {
            if isMember {
                effects.append(
                    .directory(
                        DirectoryInput(
                            app: key.app, .adminMembershipVerified(live: key.live, user: user, caller: caller))))
                return
            }
            // Stale leases (not certain) may lack users who are in the live.
            if rows.live(key)?.isStale == false {
                effects.append(.failure(.notMember, "the user is not in the live", to: caller, app: key.app))
                return
            }
        }
        effects.append(.reply(Reply(to: caller, app: key.app, .failure(error: Self.redisUnavailableError))))
    }

    /// Answers the seat machine, which has asked whether a guest is in the live.
    ///
    /// If the guest is in the live, returns the offer to the seat machine, with the guest's current profile; otherwise
    /// replies to the caller with an error.
    func handleGuestMembership(
        _ offer: SeatOffer, _ caller: Caller, _ key: LiveKey, _ result: LeaseResult, in rows: Rows,
        into effects: inout [Effect]
    ) {
        if case .profile(let guest) = result {
            if let guest {
                effects.append(
                    .seat(SeatInput(key, .guestMembershipVerified(user: guest, offer: offer, caller: caller))))
                return
            }
            if rows.live(key)?.isStale == false {
                effects.append(.failure(.notMember, "the user is not in the live", to: caller, app: key.app))
                return
            }
        }
        effects.append(.reply(Reply(to: caller, app: key.app, .failure(error: Self.redisUnavailableError))))
    }

    /// Answers the question of the seat or connection machine, or of presence itself, whether `user` is still in the
    /// live.
    ///
    /// If the user is gone, the seat machine gets a notification; if the owner is gone, the connection machine gets one
    /// too. For the owner, presence also updates its own row.
    func handlePresenceConfirmation(
        _ user: UserID, _ key: LiveKey, _ moment: Moment, _ result: LeaseResult, in rows: inout Rows,
        into effects: inout [Effect]
    ) {
        // While the leases are stale or unavailable, presence gives no answer.
        // When a new epoch has settled, presence makes the seat and connection machines ask again.
        guard case .membership(let isMember) = result, var row = rows.live(key), !row.isStale else { return }
        if !isMember { self.notifyOfLeave(user, key, row, into: &effects) }
        guard user == row.owner else { return }
        row.isOwnerUnconfirmed = false
        if isMember {
            row.ownerPresence = .present
        } else if row.ownerPresence == .present {
            row.ownerPresence = .offline
        }
        rows[.live(key)] = .live(row: row)
        self.reportOccupancy(key, at: moment.now, in: &rows, into: &effects)
    }
}
