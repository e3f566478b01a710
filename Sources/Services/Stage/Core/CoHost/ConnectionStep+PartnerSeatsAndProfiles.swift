// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel

/// Decides which seats and profiles connected lives show of each other (R2.15, R7.12, R8.15).
extension ConnectionStep {
    /// The connection as the live `id` shows it: with the seats of the other members, and with the members that `id`
    /// has muted.
    mutating func connectionView(for id: LiveID) -> ConnectionView? {
        guard var view = self.connection(self.connectionID(of: id)) else { return nil }
        for index in view.members.indices where view.members[index].live != id {
            view.members[index].seats = self.live(view.members[index].live)?.value.seats
        }
        view.mutedLives = self.live(id)?.value.muted ?? []
        return view
    }

    /// Stores the changed seats of a live, and notifies the other members of its connection if they see a difference.
    ///
    /// The other members see the occupied seats of a video live, and the first six seats of a voice live, including
    /// empty ones (R7.12, R7.13).
    mutating func updateSeats(_ id: LiveID, _ seats: [Seat]) {
        guard let live = self.live(id) else { return }
        let occupied = seats.filter { $0.occupant != nil }
        let isCrowded = live.value.isVoice && occupied.count > Limits.voiceCoHostSeats
        if live.value.isCrowded != isCrowded { self.updateLive(id) { $0.isCrowded = isCrowded } }
        guard let connection = self.connection(live.value.connection) else { return }
        let visibleSeats =
            live.value.isVoice ? Array(seats.prefix(Limits.voiceCoHostSeats)) : Array(occupied.prefix(Limits.seatCount))
        if live.value.seats == visibleSeats { return }
        self.updateLive(id) { $0.seats = visibleSeats }
        for member in connection.members where member.live != id { self.markChanged(member.live) }
    }

    /// Replaces the profile of the live's owner.
    ///
    /// The change is sent to all members of the connection, and to all lives that show a battle in which the live takes
    /// part. The profiles of other users are ignored.
    mutating func updateOwnerProfile(_ id: LiveID, _ owner: UserInfo) {
        guard let live = self.live(id), live.value.owner.userID == owner.userID, live.value.owner != owner else {
            return
        }
        self.updateLive(id) { $0.owner = owner }
        if var view = self.connection(live.value.connection),
            let index = view.members.firstIndex(where: { $0.live == id })
        {
            view.members[index].host = owner
            self.setConnection(view.id, view)
            for member in view.members { self.markChanged(member.live) }
        }
        if var battle = self.battle(live.value.battle),
            let index = battle.view?.sides.firstIndex(where: { $0.live == id })
        {
            battle.view?.sides[index].host = owner
            self.setBattle(battle.id, battle)
            for showingLive in self.lives(showing: battle) { self.markChanged(showingLive) }
        }
    }
}
