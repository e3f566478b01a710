// SPDX-License-Identifier: Apache-2.0
import CoreKit
import PlazaModel

/// Who is connected with whom (I12), and what becomes of a live that goes.
extension ConnectionStep {
    mutating func opened(_ id: LiveID, owner: UserInfo, isVoice: Bool) {
        if let last = self.live(id) {
            // An opening that is told again is not a new one.
            if last.value.owner.userID == owner.userID, last.value.isVoice == isVoice { return }
            self.withdraw(id)
            self.tellSeats()
        }
        let revision = Revision.next(after: self.live(id)?.value.revision ?? 0, at: self.moment)
        self.set(id, HostedLive(owner: owner, isVoice: isVoice, revision: revision))
        self.journal[.floors(LiveKey(self.app, id))] = nil
    }

    /// The live is out of connection and battle, and only then do its seats hear of the end (reference 19); they hear of
    /// it also when the live is not known here.
    mutating func ended(_ id: LiveID, _ ending: Ending) {
        if self.live(id) != nil {
            self.withdraw(id)
            self.tellSeats()
            self.set(id, nil)
            self.journal[.floors(LiveKey(self.app, id))] = nil
        }
        self.effects.append(.seat(SeatInput(LiveKey(self.app, id), .ended(ending: ending))))
    }

    /// The live's host is gone: out of battle and connection, and its requests end.
    ///
    /// To those whom it asked it has cancelled, to the one who asked it has declined.
    mutating func withdraw(_ id: LiveID) {
        guard let live = self.live(id) else { return }
        if live.value.connection != nil { self.disconnect(id) }
        for invitee in live.value.outgoing where self.endRequest(id, invitee) != nil {
            self.notify(invitee, .coHostRequestCancelled(inviter: self.member(id), invitee: invitee))
        }
        if let inviter = live.value.incoming, self.endRequest(inviter, id) != nil {
            self.notify(inviter, .coHostRequestRejected(invitee: self.member(id)))
        }
    }

    mutating func exit(_ id: LiveID, _ caller: Caller) throws(ReplyError) -> CallResult {
        guard try self.owned(id, by: caller).value.connection != nil else {
            throw ReplyError(.noSuchConnection, "the live is in no connection")
        }
        self.disconnect(id)
        return .done
    }

    /// `id`, which is in no connection, joins the one of `inviter`, or begins one with it.
    ///
    /// The newcomer takes over the connection's id and template; `templateID` is for one that begins.
    mutating func connect(_ id: LiveID, to inviter: LiveID, templateID: Int) {
        var view: ConnectionView
        if let connection = self.connection(self.connection(of: inviter)) {
            view = connection
        } else {
            view = ConnectionView(
                id: ConnectionID("c-\(self.moment.offset)"), members: [self.member(inviter)], templateID: templateID)
            self.update(inviter) { $0.connection = view.id }
        }
        let isNew = view.members.count == 1
        view.members.append(self.member(id))
        self.set(view.id, view)
        self.update(id) { $0.connection = view.id }
        if !isNew { self.showFight(of: view, in: id) }
        for member in view.members {
            // Those who are connected now need not ask each other any more.
            if self.endRequest(id, member.live) != nil {
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
        guard var view = self.connection(self.connection(of: id)),
            let index = view.members.firstIndex(where: { $0.live == id })
        else { return }
        let leaver = view.members.remove(at: index)
        let isOver = view.members.count == 1
        if isOver { for last in view.members { self.leaveBattles(last.live) } }
        self.forgetConnection(id)
        self.touch(id, .coHostLeft(member: leaver))
        for member in view.members {
            self.touch(member.live, .coHostLeft(member: leaver))
            self.forgetMute(of: id, by: member.live)
        }
        if isOver {
            for last in view.members { self.forgetConnection(last.live) }
            self.set(view.id, nil)
        } else {
            self.set(view.id, view)
        }
    }

    private mutating func forgetConnection(_ id: LiveID) {
        self.hideBattle(of: id)
        self.update(id) {
            $0.connection = nil
            $0.seats = nil
            $0.muted = []
        }
    }
}
