// SPDX-License-Identifier: Apache-2.0

/// An input of the seat machine, which decides who sits on a live's seats; keyed by live.
package struct SeatInput: Hashable, Sendable, Codable {
    /// The version of the record's format.
    package var v = 1
    package var key: LiveKey
    package var command: SeatCommand

    package init(_ key: LiveKey, _ command: SeatCommand) {
        self.key = key
        self.command = command
    }
}

/// How a move to an occupied seat is handled (R7.6).
package enum MoveSeatPolicy: Int, Hashable, Sendable, Codable {
    case abortWhenOccupied = 0
    case forceReplace = 1
    case swapPosition = 2
}

/// An offer of a seat to a user.
///
/// The seat machine sends the offer to presence, the machine that tracks the audience. Presence verifies that the user
/// is in the live, and sends the offer back.
package enum SeatOffer: Hashable, Sendable, Codable {
    /// An invitation to a seat.
    case invitation(seatIndex: Int, timeoutSeconds: Int64, extraInfo: String)
    /// The app's server puts the user on a seat (`SeatCommand.place`), as soon as presence has sent the offer back.
    case placement(seatIndex: Int)
}

/// The seat machine's commands.
///
/// A seat index of -1 means the lowest seat that is free and unlocked.
package enum SeatCommand: Hashable, Sendable, Codable {
    /// The directory opened the live.
    indirect case opened(epoch: Int64, info: LiveInfo)
    /// The directory changed the live's info.
    indirect case infoChanged(info: LiveInfo)
    /// The live has ended and has left its co-host connection: empties the seats and forwards the end to presence, the
    /// machine that tracks the audience.
    indirect case ended(ending: Ending)
    case apply(seatIndex: Int, timeoutSeconds: Int64, extraInfo: String, caller: Caller)
    case cancelApplication(caller: Caller)
    case acceptApplication(user: UserID, caller: Caller)
    case rejectApplication(user: UserID, caller: Caller)
    case invite(user: UserID, seatIndex: Int, timeoutSeconds: Int64, extraInfo: String, caller: Caller)
    case cancelInvitation(user: UserID, caller: Caller)
    case acceptInvitation(inviter: UserID, caller: Caller)
    case rejectInvitation(inviter: UserID, caller: Caller)
    case take(seatIndex: Int, caller: Caller)
    case leave(caller: Caller)
    case kickOff(user: UserID, caller: Caller)
    case move(user: UserID, to: Int, policy: MoveSeatPolicy, caller: Caller)
    /// Locks (true) or unlocks (false) a seat, and its microphone and camera for whoever sits there; nil leaves a lock
    /// as it is.
    case lock(seatIndex: Int, isLocked: Bool?, microphone: Bool?, camera: Bool?, caller: Caller)
    /// Opens (true) or closes (false) the caller's own microphone and camera, and says why the caller is not seen or
    /// heard for a while; nil leaves a value as it is.
    case device(microphone: Bool?, camera: Bool?, suspend: SuspendStatus?, caller: Caller)
    /// A host closes and locks a device of another user, or unlocks the device.
    case lockDevice(user: UserID, device: Device, isLocked: Bool, caller: Caller)
    /// The app's server puts a user of the live on a seat.
    case place(user: UserID, seatIndex: Int, caller: Caller)
    /// A host reads all open applications and invitations; a guest reads its own applications and invitations.
    case requests(caller: Caller)
    /// Presence has verified that the user is in the live, so the offer is carried out.
    case guestMembershipVerified(user: UserInfo, offer: SeatOffer, caller: Caller)
    /// Presence reports that the user is no longer in the live.
    case userGone(user: UserID)
    /// Presence reports that the user is in the live.
    case userBack(user: UserInfo)
    /// Presence reports the user's new name or avatar.
    case profile(user: UserInfo)
    /// Presence had lost its leases, and reports that a new presence epoch (docs/GLOSSARY.md) has settled; the seat
    /// machine then asks whether the occupants of the seats are still in the live.
    case confirmOccupants
    /// Presence raises the user's revocation floor, its lowest valid ticket, to `ticket`.
    case floor(user: UserID, ticket: Ticket)
    /// The connection machine reports the events since its last report, and the complete present state: the live's
    /// connection, the live's battle and the connection's other battles.
    case connection(
        view: ConnectionView?, battle: BattleView?, revision: Int64, events: [StageEvent],
        otherBattles: [BattleView]? = nil)

    /// The names on the wire.
    private enum CodingKeys: String, CodingKey {
        case opened, infoChanged, ended, apply, cancelApplication, acceptApplication, rejectApplication, invite,
            cancelInvitation, acceptInvitation, rejectInvitation, take, leave, kickOff, move, lock, device,
            lockDevice, place, requests, userGone, userBack, profile, confirmOccupants, floor, connection
        case guestMembershipVerified = "vouched"
    }
}
