// SPDX-License-Identifier: Apache-2.0
package import CoreKit

/// What the directory's inbox carries, keyed by live, by owner for the claim that a user runs one live at a
/// time, or by app for its settings.
package struct DirectoryInput: Hashable, Sendable, Codable {
    package var v = 1
    package var app: AppID
    package var command: DirectoryCommand

    package init(app: AppID, _ command: DirectoryCommand) {
        self.app = app
        self.command = command
    }
}

/// The directory's commands: those with a caller are calls, the rest are its own second steps.
package enum DirectoryCommand: Hashable, Sendable, Codable {
    /// First step of a create, keyed by the owner.
    case create(live: LiveID, changes: LiveChanges, owner: UserInfo, caller: Caller)
    /// Second step, keyed by the live: the owner's claim stands.
    case open(live: LiveID, changes: LiveChanges, owner: UserInfo, caller: Caller)
    /// Second step of a create by the owner who runs this live already: it enters, and nothing is opened (reference 3.1).
    case enter(live: LiveID, owner: UserID, caller: Caller)
    /// Second step of a create that was sent again: the answer that `open` gave is given again; it opens nothing.
    case repeatOpen(live: LiveID, caller: Caller)
    /// Keyed by the owner: the live ended, or was refused in the second step; then the caller is answered.
    case release(owner: UserID, live: LiveID, thenReply: Reply?)
    case updateInfo(live: LiveID, changes: LiveChanges, caller: Caller)
    case setMetadata(live: LiveID, values: [String: String], caller: Caller)
    case deleteMetadata(live: LiveID, keys: [String], caller: Caller)
    case setAdmin(live: LiveID, user: UserID, caller: Caller)
    /// Presence vouches that the user is in the room.
    case setAdminVouched(live: LiveID, user: UserID, caller: Caller)
    case revokeAdmin(live: LiveID, user: UserID, caller: Caller)
    case kick(live: LiveID, user: UserID, caller: Caller)
    /// Puts users out, here or not, and keeps them out for so many seconds; -1: for good.
    case ban(live: LiveID, users: [UserID], durationSeconds: Int64, reason: String, caller: Caller)
    case unban(live: LiveID, users: [UserID], caller: Caller)
    /// Answers with a page of the bans.
    case bans(live: LiveID, offset: Int, count: Int, caller: Caller)
    /// Lets users write nothing for so many seconds; -1: for good, 0: they may write again.
    case mute(live: LiveID, users: [UserID], durationSeconds: Int64, caller: Caller)
    /// Answers with a page of the mutes.
    case mutes(live: LiveID, offset: Int, count: Int, caller: Caller)
    case end(live: LiveID, caller: Caller)
    /// The fan-out: the end of the live has passed all machines, so its name is free.
    case closed(live: LiveID, epoch: Int64)
    /// Presence: where the owner is, and whether nobody is in the live, the owner neither; on each change.
    case occupancy(live: LiveID, owner: OwnerPresence, isEmpty: Bool)
    /// Presence: the live's owner has another name or picture.
    case profile(live: LiveID, user: UserInfo)
    /// Presence tells the user's floor: the user's calls with a ticket below it are refused.
    case floor(live: LiveID, user: UserID, ticket: Ticket)
    /// Keyed by the app alone; by an app's server only.
    case appSettings(change: AppSettingsChange, caller: Caller)
}

/// Where a live's owner is.
package enum OwnerPresence: String, Hashable, Sendable, Codable {
    case present
    /// It has left.
    case left
    /// Its signs of life have stopped.
    case offline
}

/// What presence's inbox carries, keyed by live.
package struct AudienceInput: Hashable, Sendable, Codable {
    package var v = 1
    package var key: LiveKey
    package var command: AudienceCommand

    package init(_ key: LiveKey, _ command: AudienceCommand) {
        self.key = key
        self.command = command
    }
}

/// A member of a live's audience as a gateway knows it.
package struct Presence: Hashable, Sendable, Codable {
    package var session: SessionID
    package var user: UserInfo
    package var ticket: Ticket
    /// Milliseconds since the client's last sign of life when the gateway wrote this.
    package var silentFor: Int64

    package init(session: SessionID, user: UserInfo, ticket: Ticket, silentFor: Int64) {
        self.session = session
        self.user = user
        self.ticket = ticket
        self.silentFor = silentFor
    }
}

/// One heartbeat within a batch: no more than what a lease needs.
package struct Beat: Hashable, Sendable, Codable {
    package var session: SessionID
    package var user: UserID
    package var ticket: Ticket
    /// Milliseconds since the client's last sign of life when the gateway wrote this.
    package var silentFor: Int64

    package init(session: SessionID, user: UserID, ticket: Ticket, silentFor: Int64) {
        self.session = session
        self.user = user
        self.ticket = ticket
        self.silentFor = silentFor
    }
}

/// Presence's commands; what is large stands apart, so that frequent ones move as little as they need.
package enum AudienceCommand: Hashable, Sendable, Codable {
    /// The directory opened the live.
    case opened(epoch: Int64, owner: UserInfo)
    /// The live ended, and its seats are empty: everybody is out. Passed on to the fan-out.
    indirect case ended(epoch: Int64, ending: Ending)
    case join(caller: Caller)
    case leave(caller: Caller)
    case heartbeats(beats: [Beat])
    /// A gateway's answer to a new presence epoch: who is here (I5).
    case assert(members: [Presence])
    /// Authorised by the directory.
    case kick(user: UserID, reason: KickReason, caller: Caller)
    /// Authorised, kept and answered by the directory: the user is out at once, and its joins are refused until `until`;
    /// nil: for good. `caller` is who banned, for the user's notice.
    case banned(user: UserID, until: Timestamp?, caller: Caller?)
    /// The directory lifted a ban, before its end.
    case unbanned(user: UserID)
    /// The directory muted a user, or lifted that: viewers are told, with the name that the user has here, if it is here.
    case announceMute(user: UserID, isDisable: Bool, until: Timestamp?)
    /// Who is shown as admin, and how many users the live may have (0: as many as the app allows); told by the directory
    /// at each change.
    case rights(admins: [UserID], maxMembers: Int)
    /// The caller has another name or picture from now on, in the list, on its seat and to all viewers.
    case profile(caller: Caller)
    /// A gateway closed the session for good, for its user signed in elsewhere or its token ended: a leave that nobody waits
    /// for.
    case signOff(session: SessionID, user: UserID, ticket: Ticket)
    /// Answers with a page of the list; an empty cursor begins it.
    case list(cursor: String, count: Int, caller: Caller)
    /// Sends the user back to the directory as a vouched admin-to-be, or answers that it is not a member.
    case vouchAdmin(user: UserID, caller: Caller)
    /// Sends a host's offer back to the seats with the user as it is known here, or answers that it is not a member.
    case vouchGuest(user: UserID, offer: SeatOffer, caller: Caller)
    /// Seats or connections ask after a restart of presence whether the user is still here; unknown is a leave.
    case confirm(user: UserID)
}

/// What the fan-out's inbox carries, keyed by live.
package struct BarrageInput: Hashable, Sendable, Codable {
    package var v = 1
    package var key: LiveKey
    package var command: BarrageCommand

    package init(_ key: LiveKey, _ command: BarrageCommand) {
        self.key = key
        self.command = command
    }
}

/// The fan-out's commands; what is large stands apart, so that messages move as little as they need.
package enum BarrageCommand: Hashable, Sendable, Codable {
    /// The directory opened the live; the feed begins.
    case opened(epoch: Int64, owner: UserID)
    /// The live ended, and everybody is out: `liveEnded` is the feed's last item (I1), and the caller is answered.
    indirect case ended(ending: Ending)
    case sendText(text: String, extensionInfo: [String: String]?, caller: Caller)
    case sendCustom(businessID: String, data: String, caller: Caller)
    /// A gift of the app's catalogue; no receiver: for the live's owner.
    case sendGift(giftID: GiftID, count: Int, receivers: [UserID], caller: Caller)
    case sendLikes(count: Int, caller: Caller)
    /// A message or gift that is refused before the app's backend is asked about it (PROTOCOL.md, section 17).
    case refused(why: Refusal, caller: Caller)
    /// A message or gift that the app's backend refused, with what it said, or did not answer about.
    indirect case forbidden(error: ReplyError, isGift: Bool, caller: Caller)
    /// How loud the caller speaks, 0 to 100; 0: it fell silent.
    case speaking(level: Int, caller: Caller)
    /// Answers with the live's figures.
    case summary(caller: Caller)
    /// The end of a live that has ended already, sent again: answers with its figures.
    case repeatEnding(caller: Caller)
    /// Directory, presence and stage tell what belongs into the feed: control items and tips.
    case tell(content: FeedContent)
    /// Room mute as the live's info has it, who is spared by it, and whether gifts are on.
    case rights(isMessageDisable: Bool, admins: [UserID], isGiftEnabled: Bool)
    /// Authorised by the directory: the user may not write until then; nil: for good.
    case muted(user: UserID, until: Timestamp?)
    case unmuted(user: UserID)
    case floor(user: UserID, ticket: Ticket)
}

/// What the seat machine's inbox carries, keyed by live.
package struct SeatInput: Hashable, Sendable, Codable {
    package var v = 1
    package var key: LiveKey
    package var command: SeatCommand

    package init(_ key: LiveKey, _ command: SeatCommand) {
        self.key = key
        self.command = command
    }
}

/// What happens to the occupant of the seat that someone is moved to (reference 7, MoveSeatPolicy).
package enum MoveSeatPolicy: Int, Hashable, Sendable, Codable {
    case abortWhenOccupied = 0
    case forceReplace = 1
    case swapPosition = 2
}

/// What a host offers a user who must be in the room for it; carried to presence and back.
package enum SeatOffer: Hashable, Sendable, Codable {
    /// To be asked to a seat.
    case invitation(seatIndex: Int, timeoutSeconds: Int64, extraInfo: String)
    /// To be put on a seat by the app's server.
    case placement(seatIndex: Int)
}

/// The seat machine's commands.
///
/// A seat index of -1 is any free unlocked seat, the lowest first.
package enum SeatCommand: Hashable, Sendable, Codable {
    indirect case opened(epoch: Int64, info: LiveInfo)
    indirect case infoChanged(info: LiveInfo)
    /// The live ended, and is in no connection any more. Passed on to presence.
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
    /// Locks and unlocks a seat, and the devices of whoever sits on it; nil leaves a lock as it is.
    case lock(seatIndex: Int, isLocked: Bool?, microphone: Bool?, camera: Bool?, caller: Caller)
    /// The caller's own devices; nil leaves one as it is.
    case device(microphone: Bool?, camera: Bool?, suspend: SuspendStatus?, caller: Caller)
    /// A host forces a device off and locks it, or lifts that lock.
    case lockDevice(user: UserID, device: Device, isLocked: Bool, caller: Caller)
    /// The app's server puts a user of the room on a seat.
    case place(user: UserID, seatIndex: Int, caller: Caller)
    /// A host reads the open applications and invitations.
    case requests(caller: Caller)
    /// Presence: the user is in the room; the offer goes on.
    case vouched(user: UserInfo, offer: SeatOffer, caller: Caller)
    /// Presence: the user's last session is gone (left, kicked, expired, unknown).
    case userGone(user: UserID)
    /// Presence: the user's first session has entered.
    case userBack(user: UserInfo)
    /// Presence: the user is shown otherwise from now on.
    case profile(user: UserInfo)
    /// Presence: a new presence epoch has settled; confirm the occupants.
    case confirmOccupants
    case floor(user: UserID, ticket: Ticket)
    /// The connection machine tells this live's connection, its battle and the connection's others, whole, with what led
    /// to it.
    case connection(
        view: ConnectionView?, battle: BattleView?, revision: Int64, events: [StageEvent],
        otherBattles: [BattleView]? = nil)
}
