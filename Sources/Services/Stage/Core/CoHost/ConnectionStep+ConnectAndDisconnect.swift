// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel

/// Connects lives and disconnects them (docs/RULES.md: R8.7, R8.9, R8.14, I12).
extension ConnectionStep {
    /// Makes the live leave its connection; the caller is the live's owner or the app's server.
    mutating func exitConnection(_ id: LiveID, _ caller: Caller) throws(ReplyError) -> CallResult {
        guard try self.live(id, forOwner: caller).value.connection != nil else {
            throw ReplyError(.noSuchConnection, "the live is in no connection")
        }
        self.disconnect(id)
        return .done
    }

    /// Connects `id`, which is not in a connection, with `inviter`.
    ///
    /// `id` joins the connection of `inviter`, or both form a new connection. `templateID` is the layout template of a
    /// new connection; an existing connection keeps its own.
    mutating func connect(_ id: LiveID, to inviter: LiveID, templateID: Int) {
        var view: ConnectionView
        if let connection = self.connection(self.connectionID(of: inviter)) {
            view = connection
        } else {
            // The offset of the input makes the id unique.
            view = ConnectionView(
                id: ConnectionID("c-\(self.moment.offset)"), members: [self.member(inviter)], templateID: templateID)
            self.updateLive(inviter) { $0.connection = view.id }
        }
        let isNew = view.members.count == 1
        view.members.append(self.member(id))
        self.setConnection(view.id, view)
        self.updateLive(id) { $0.connection = view.id }
        if !isNew { self.showLatestBattle(of: view, in: id) }
        for member in view.members {
            // An open request between two lives becomes void when they are connected. Only requests that `id` made can
            // be open: it can receive one request at a time, and that request is accepted now.
            if self.endCoHostRequest(from: id, to: member.live) != nil {
                for live in [id, member.live] {
                    self.notifyOwner(of: live, self.coHostRequestCancelled(id, member.live))
                }
            }
            // In a new connection all members have joined; in an existing one only the last member has.
            for joinedMember in isNew ? view.members : view.members.suffix(1) {
                self.markChanged(member.live, .coHostJoined(member: joinedMember))
            }
        }
    }

    /// Removes `id` from its connection and from its battles; when only one other live remains, the connection ends.
    mutating func disconnect(_ id: LiveID) {
        self.leaveBattles(id)
        guard var view = self.connection(self.connectionID(of: id)),
            let index = view.members.firstIndex(where: { $0.live == id })
        else { return }
        let leaver = view.members.remove(at: index)
        let isOver = view.members.count == 1
        if isOver { for remaining in view.members { self.leaveBattles(remaining.live) } }
        self.clearConnection(id)
        self.markChanged(id, .coHostLeft(member: leaver))
        for member in view.members {
            self.markChanged(member.live, .coHostLeft(member: leaver))
            self.removeMute(of: id, by: member.live)
        }
        if isOver {
            for remaining in view.members { self.clearConnection(remaining.live) }
            self.setConnection(view.id, nil)
        } else {
            self.setConnection(view.id, view)
        }
    }

    /// Clears the fields of the live that describe its connection.
    private mutating func clearConnection(_ id: LiveID) {
        self.hideBattle(of: id)
        self.updateLive(id) {
            $0.connection = nil
            $0.seats = nil
            $0.muted = []
        }
    }
}
