// SPDX-License-Identifier: Apache-2.0
import AudienceCore
import CoreKit
import PlazaModel
import Testing

/// Presence vouches for those whom a host invites to a seat (reference 6: 100005).
struct VouchTests {
    private let offer = SeatOffer.invitation(seatIndex: 2, timeoutSeconds: 30, extraInfo: "x")

    @Test func `an offer goes back to the seats with the guest as it is shown here`() {
        var room = Room()
        let caller = Room.caller(Room.owner, 1, ticket: 110)
        let command = AudienceCommand.vouchGuest(user: "alice", offer: self.offer, caller: caller)
        #expect(room.plan(command).command == .profile(live: Room.key, user: "alice"))
        #expect(
            room.send(command, .done(entries: [], answer: .profile(Room.alice))) == [
                .seat(SeatInput(Room.key, .vouched(user: Room.alice, offer: self.offer, caller: caller)))
            ])
    }

    @Test func `a guest who is not here is refused, and nobody knows while the leases are away`() {
        var room = Room()
        let caller = Room.caller(Room.owner, 1, ticket: 110)
        let command = AudienceCommand.vouchGuest(user: "alice", offer: self.offer, caller: caller)
        #expect(Room.refusal(caller, room.send(command, .done(entries: [], answer: .profile(nil)))) == .notMember)
        #expect(Room.refusal(caller, room.sendAway(command)) == .unavailable)
        _ = room.send(.ended(epoch: 7, ending: Room.ending))
        #expect(Room.refusal(caller, room.send(command)) == .noSuchRoom)
    }
}
