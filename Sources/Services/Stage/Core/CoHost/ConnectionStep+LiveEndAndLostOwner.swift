// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel

/// Handles lives that open or end, and lives whose owner has left (R8.19 to R8.21).
extension ConnectionStep {
    /// Stores a live that has opened; an earlier live with the same id first leaves its connection and requests.
    mutating func openLive(_ id: LiveID, owner: UserInfo, isVoice: Bool) {
        if let storedLive = self.live(id) {
            // The same opening may arrive twice; the second one changes nothing.
            if storedLive.value.owner.userID == owner.userID, storedLive.value.isVoice == isVoice { return }
            self.leaveConnection(id)
            // The notifications need the earlier live, so they are sent before its row is replaced.
            self.notifySeatMachines()
        }
        let revision = Revision.next(after: self.live(id)?.value.revision ?? 0, at: self.moment)
        self.setLive(id, HostedLive(owner: owner, isVoice: isVoice, revision: revision))
        self.journal[.fence(LiveKey(self.app, id))] = nil
    }

    /// Removes an ended live from its battle and connection, then passes the end on to the seat machine (R8.21).
    ///
    /// The end is passed on even when this machine does not know the live.
    mutating func endLive(_ id: LiveID, _ ending: Ending) {
        if self.live(id) != nil {
            self.leaveConnection(id)
            self.notifySeatMachines()
            self.setLive(id, nil)
            self.journal[.fence(LiveKey(self.app, id))] = nil
        }
        self.effects.append(.seat(SeatInput(LiveKey(self.app, id), .ended(ending: ending))))
    }

    /// Makes the live leave its battle and connection, and ends its requests, because its owner has left or the live
    /// has ended.
    ///
    /// The requests that the live made count as cancelled. The request that it received counts as rejected.
    mutating func leaveConnection(_ id: LiveID) {
        guard let live = self.live(id) else { return }
        if live.value.connection != nil { self.disconnect(id) }
        for invitee in live.value.outgoing where self.endCoHostRequest(from: id, to: invitee) != nil {
            self.notifyOwner(of: invitee, self.coHostRequestCancelled(id, invitee))
        }
        if let inviter = live.value.incoming, self.endCoHostRequest(from: inviter, to: id) != nil {
            self.notifyOwner(of: inviter, .coHostRequestRejected(invitee: self.member(id)))
        }
    }
}
