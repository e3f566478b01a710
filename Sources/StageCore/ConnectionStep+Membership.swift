// SPDX-License-Identifier: Apache-2.0
import CoreKit
import PlazaModel

/// Who is connected with whom (I12), and what becomes of a live that goes.
extension ConnectionStep {
    mutating func opened(_ id: LiveID, owner: UserInfo, isVoice: Bool) {
        if let last = self.live(id) {
            // An opening that is told again is not a new one.
            if last.owner.userID == owner.userID, last.isVoice == isVoice { return }
            self.withdraw(id)
            self.tellSeats()
        }
        let revision = Revision.next(after: self.live(id)?.revision ?? 0, at: self.moment)
        self.journal[.live(LiveKey(self.app, id))] = .live(
            live: HostedLive(owner: owner, isVoice: isVoice, revision: revision))
    }

    /// The live is out of connection and battle, and only then do its seats hear of the end (reference 19); they hear of
    /// it also when the live is not known here.
    mutating func ended(_ id: LiveID, _ ending: Ending) {
        let key = LiveKey(self.app, id)
        if self.live(id) != nil {
            self.withdraw(id)
            self.tellSeats()
            self.journal[.live(key)] = nil
            self.journal[.floors(key)] = nil
        }
        self.effects.append(.seat(SeatInput(key, .ended(ending: ending))))
    }

    /// The live's host is gone: out of battle and connection, and its requests end.
    ///
    /// To those whom it asked it has cancelled, to the one who asked it has declined.
    mutating func withdraw(_ id: LiveID) {
        guard let live = self.live(id) else { return }
        if live.connection != nil { self.disconnect(id) }
        for invitee in live.outgoing where self.endRequest(id, invitee) {
            self.notify(invitee, .coHostRequestCancelled(inviter: self.member(id), invitee: invitee))
        }
        if let inviter = live.incoming, self.endRequest(inviter, id) {
            self.notify(inviter, .coHostRequestRejected(invitee: self.member(id)))
        }
    }

    mutating func exit(_ id: LiveID, _ caller: Caller) throws(ReplyError) -> CallResult {
        guard try self.owned(id, by: caller).connection != nil else {
            throw ReplyError(.noSuchConnection, "the live is in no connection")
        }
        self.disconnect(id)
        return .done
    }

    /// `id`, which is in no connection, joins the one of `inviter`, or begins one with it.
    mutating func connect(_ id: LiveID, to inviter: LiveID, templateID: Int) {
        var view: ConnectionView
        if let connection = self.connection(self.live(inviter)?.connection) {
            view = connection
        } else {
            view = ConnectionView(
                id: ConnectionID("c-\(self.moment.offset)"), members: [self.member(inviter)], templateID: templateID)
        }
        let isNew = view.members.count == 1
        view.members.append(self.member(id))
        self.set(view)
        self.update(id) { $0.connection = view.id }
        self.update(inviter) { $0.connection = view.id }
        for member in view.members {
            // Those who are connected now need not ask each other any more.
            if self.endRequest(id, member.live) {
                for live in [id, member.live] {
                    self.notify(live, .coHostRequestCancelled(inviter: self.member(id), invitee: member.live))
                }
            }
            for joined in isNew ? view.members : view.members.suffix(1) {
                self.touch(member.live, .coHostJoined(member: joined))
            }
        }
    }

    /// Takes `id` out of its connection and of any battle there; with one live left, the connection ends.
    mutating func disconnect(_ id: LiveID) {
        self.leaveBattles(id)
        guard var view = self.connection(self.live(id)?.connection),
            let index = view.members.firstIndex(where: { $0.live == id })
        else { return }
        let leaver = view.members.remove(at: index)
        let isOver = view.members.count == 1
        if isOver { for last in view.members { self.leaveBattles(last.live) } }
        self.forgetConnection(id)
        self.touch(id, .coHostLeft(member: leaver))
        for member in view.members {
            self.touch(member.live, .coHostLeft(member: leaver))
            self.update(member.live) { $0.muted.removeAll { $0 == id } }
        }
        if isOver {
            for last in view.members { self.forgetConnection(last.live) }
            self.journal[.connection(self.app, view.id)] = nil
        } else {
            self.set(view)
        }
    }

    private mutating func forgetConnection(_ id: LiveID) {
        self.hideBattle(of: id)
        self.update(id) {
            $0.connection = nil
            $0.seats = []
            $0.muted = []
        }
    }

    /// The owner is back in its running live: in no connection, for losing it was leaving; partners are asked anew.
    mutating func userBack(_ id: LiveID, _ user: UserInfo) {
        if let live = self.live(id), live.owner.userID == user.userID, live.connection == nil {
            self.update(id) { $0.owner = user }
        }
    }

    /// The live's seats as its seat machine has them: kept for the partners, who are told.
    mutating func seatsChanged(_ id: LiveID, _ seats: [Seat]) {
        guard let live = self.live(id) else { return }
        let occupied = seats.count { $0.occupant != nil }
        let shown =
            live.isVoice
            ? Array(seats.prefix(Limits.voiceCoHostSeats))
            : Array(seats.filter { $0.occupant != nil }.prefix(Limits.seatCount))
        let connection = self.connection(live.connection)
        self.update(id) {
            $0.isCrowded = $0.isVoice && occupied > Limits.voiceCoHostSeats
            $0.seats = connection == nil ? [] : shown
        }
        guard let connection, live.seats != shown else { return }
        for member in connection.members where member.live != id { self.touch(member.live) }
    }

    /// The connection as `id` shows it: with the others' seats, and what its own mix leaves out.
    func view(for id: LiveID) -> ConnectionView? {
        guard let live = self.live(id), var view = self.connection(live.connection) else { return nil }
        for index in view.members.indices where view.members[index].live != id {
            view.members[index].seats = self.live(view.members[index].live)?.seats ?? []
        }
        view.mutedLives = live.muted
        return view
    }

    /// Leaves another member out of the mix of `id`, or takes it in again.
    mutating func muteRemote(
        _ id: LiveID, _ other: LiveID, _ isMuted: Bool, _ caller: Caller
    ) throws(ReplyError) -> CallResult {
        let live = try self.hosted(id, by: caller)
        guard let connection = live.connection, other != id, self.live(other)?.connection == connection else {
            throw ReplyError(.noSuchConnection, "the lives are not connected")
        }
        if live.muted.contains(other) == isMuted { return .done }
        self.update(id) {
            $0.muted.removeAll { $0 == other }
            if isMuted { $0.muted.append(other) }
        }
        self.touch(id, .coHostMuted(live: other, isMuted: isMuted))
        return .done
    }
}
