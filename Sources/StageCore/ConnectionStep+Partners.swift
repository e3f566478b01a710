// SPDX-License-Identifier: Apache-2.0
import CoreKit
import PlazaModel

/// What the members of a connection see of each other: hosts, seats, and whose sound a live leaves out.
extension ConnectionStep {
    /// The connection as `id` shows it: with the others' seats, and what its own mix leaves out.
    mutating func view(for id: LiveID) -> ConnectionView? {
        guard var view = self.connection(self.connection(of: id)) else { return nil }
        for index in view.members.indices where view.members[index].live != id {
            view.members[index].seats = self.live(view.members[index].live)?.value.seats
        }
        view.mutedLives = self.live(id)?.value.muted ?? []
        return view
    }

    /// The live's seats as its seat machine has them; its partners are told what changed for them.
    ///
    /// They see the occupied seats of a video live, and of a voice live the first six, empty ones too (reference 7).
    mutating func seatsChanged(_ id: LiveID, _ seats: [Seat]) {
        guard let live = self.live(id) else { return }
        let occupied = seats.filter { $0.occupant != nil }
        let isCrowded = live.value.isVoice && occupied.count > Limits.voiceCoHostSeats
        if live.value.isCrowded != isCrowded { self.update(id) { $0.isCrowded = isCrowded } }
        guard let connection = self.connection(live.value.connection) else { return }
        let shown =
            live.value.isVoice ? Array(seats.prefix(Limits.voiceCoHostSeats)) : Array(occupied.prefix(Limits.seatCount))
        if live.value.seats == shown { return }
        self.update(id) { $0.seats = shown }
        for member in connection.members where member.live != id { self.touch(member.live) }
    }

    /// Takes in how a user is called now: of a live's owner, for all members of the connection and the battle to see.
    mutating func renamed(_ id: LiveID, _ owner: UserInfo) {
        guard let live = self.live(id), live.value.owner.userID == owner.userID, live.value.owner != owner else {
            return
        }
        self.update(id) { $0.owner = owner }
        if var view = self.connection(live.value.connection),
            let index = view.members.firstIndex(where: { $0.live == id })
        {
            view.members[index].host = owner
            self.set(view.id, view)
            for member in view.members { self.touch(member.live) }
        }
        if var battle = self.battle(live.value.battle),
            let index = battle.view?.sides.firstIndex(where: { $0.live == id })
        {
            battle.view?.sides[index].host = owner
            self.set(battle.id, battle)
            for viewer in self.lives(showing: battle) { self.touch(viewer) }
        }
    }

    /// Leaves another member's sound out of the mix of `id`, or takes it in again; the other is not told (reference 8).
    mutating func muteRemote(
        _ id: LiveID, _ other: LiveID, _ isMuted: Bool, _ caller: Caller
    ) throws(ReplyError) -> CallResult {
        let live = try self.hosted(id, by: caller)
        guard let connection = live.value.connection, other != id, self.live(other)?.value.connection == connection
        else {
            throw ReplyError(.noSuchConnection, "the live to mute is not connected with this one")
        }
        if live.value.muted.contains(other) == isMuted { return .done }
        self.update(id) {
            if isMuted { $0.muted.append(other) } else { $0.muted.removeAll { $0 == other } }
        }
        self.touch(id, .coHostMuted(live: other, isMuted: isMuted))
        return .done
    }

    /// A member that has left is muted no more.
    mutating func forgetMute(of other: LiveID, by id: LiveID) {
        guard self.live(id)?.value.muted.contains(other) == true else { return }
        self.update(id) { $0.muted.removeAll { $0 == other } }
    }
}
