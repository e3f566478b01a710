// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel

/// Decides which seats and profiles connected lives see of each other (R2.15, R7.12, R8.15).
extension ConnectionStep {
    /// The connection as the live `id` shows it: with the other members' seats, and the members that `id` has muted.
    mutating func view(for id: LiveID) -> ConnectionView? {
        guard var view = self.connection(self.connection(of: id)) else { return nil }
        for index in view.members.indices where view.members[index].live != id {
            view.members[index].seats = self.live(view.members[index].live)?.value.seats
        }
        view.mutedLives = self.live(id)?.value.muted ?? []
        return view
    }

    /// Stores the changed seats of a live, and notifies the other members if they see a difference.
    ///
    /// They see the occupied seats of a video live, but the first six seats of a voice live, even empty ones (R7.12,
    /// R7.13).
    mutating func updateSeats(_ id: LiveID, _ seats: [Seat]) {
        guard let live = self.live(id) else { return }
        let occupied = seats.filter { $0.occupant != nil }
        let isCrowded = live.value.isVoice && occupied.count > Limits.voiceCoHostSeats
        if live.value.isCrowded != isCrowded { self.update(id) { $0.isCrowded = isCrowded } }
        guard let connection = self.connection(live.value.connection) else { return }
        let shown =
            live.value.isVoice ? Array(seats.prefix(Limits.voiceCoHostSeats)) : Array(occupied.prefix(Limits.seatCount))
        if live.value.seats == shown { return }
        self.update(id) { $0.seats = shown }
        for member in connection.members where member.live != id { self.markChanged(member.live) }
    }

    /// Replaces the profile of the live's owner.
    ///
    /// All members of the connection and of the battle see the new profile. The profiles of other users are ignored.
    mutating func updateOwnerProfile(_ id: LiveID, _ owner: UserInfo) {
        guard let live = self.live(id), live.value.owner.userID == owner.userID, live.value.owner != owner else {
            return
        }
        self.update(id) { $0.owner = owner }
        if var view = self.connection(live.value.connection),
            let index = view.members.firstIndex(where: { $0.live == id })
        {
            view.members[index].host = owner
            self.set(view.id, view)
            for member in view.members { self.markChanged(member.live) }
        }
        if var battle = self.battle(live.value.battle),
            let index = battle.view?.sides.firstIndex(where: { $0.live == id })
        {
            battle.view?.sides[index].host = owner
            self.set(battle.id, battle)
            for viewer in self.lives(showing: battle) { self.markChanged(viewer) }
        }
    }
}
