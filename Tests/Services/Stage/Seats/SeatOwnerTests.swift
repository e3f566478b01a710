// SPDX-License-Identifier: Apache-2.0
import MachineKit
import MachineTestSupport
import PlazaModel
import StageCore
import Testing

/// Owners who leave and return, changed templates and seat counts, and changed names (R7.2, R7.1, R6.23).
///
/// A live that is made with `keepsOwner: true` keeps its owner: it reserves seat 0 for olga. A seat index of -1 means
/// any free seat. The templates 600, 602 and 800 have nine seats each, 601 has seven and 400 has two.
struct SeatOwnerTests {
    @Test func `in a live that keeps its owner, an owner who returns gets seat 0, which nobody could take meanwhile`() {
        var harness = SeatHarness(SeatHarness.live(mode: .free, keepsOwner: true))
        #expect(
            harness.handle(.userGone(user: "olga")) == harness.published([.seatLeft(index: 0, user: userInfo("olga"))]))
        #expect(harness.call("gina") { .take(seatIndex: -1, caller: $0) }.result == .seat(index: 1))
        #expect(harness.handle(.userBack(user: userInfo("gus"))) == [], "only the owner gets its seat again")
        #expect(
            harness.handle(.userBack(user: userInfo("olga")))
                == harness.published([.seatTaken(index: 0, user: userInfo("olga"))]))
        #expect(harness.handle(.userBack(user: userInfo("olga"))) == [], "a repeated report changes nothing")
        #expect(harness.seated == ["olga", "gina", nil, nil])
    }

    @Test func `in a live that does not keep its owner, the owner has to take a seat itself`() {
        var harness = SeatHarness(SeatHarness.live(mode: .free))
        #expect(harness.handle(.userBack(user: userInfo("olga"))) == [])
        #expect(harness.call("olga") { .take(seatIndex: 2, caller: $0) }.result == .seat(index: 2))
        _ = harness.handle(.userGone(user: "olga"))
        #expect(harness.handle(.userBack(user: userInfo("olga"))) == [])
        #expect(harness.seated == [nil, nil, nil, nil])
    }

    @Test func `in a live that keeps its owner, the owner can sit only on seat 0`() {
        var harness = SeatHarness(SeatHarness.live(mode: .free, keepsOwner: true))
        #expect(harness.call("olga") { .leave(caller: $0) }.result == .done)
        #expect(harness.call("olga") { .take(seatIndex: 2, caller: $0) }.code == .noPermission)
        #expect(harness.call("olga") { .take(seatIndex: -1, caller: $0) }.result == .seat(index: 0))
    }

    @Test func `in a scheduled live, seat 0 stays empty until the owner joins`() {
        var live = SeatHarness.live(keepsOwner: true)
        live.status = .scheduled
        var harness = SeatHarness(live)
        #expect(harness.seated == [nil, nil, nil, nil])
        #expect(harness.handle(.userBack(user: userInfo("olga"))).stages.count == 1)
        #expect(harness.seated == ["olga", nil, nil, nil])
    }

    @Test func `when a live begins to keep its owner, the owner gets seat 0, and a guest there is moved or removed`() {
        // Seat 0 is empty and locked, and olga sits on seat 3.
        var harness = SeatHarness(SeatHarness.live(mode: .free))
        _ = harness.call("olga") { .take(seatIndex: 3, caller: $0) }
        _ = harness.call("olga") { .lock(seatIndex: 0, isLocked: true, caller: $0) }
        #expect(
            harness.handle(.infoChanged(info: SeatHarness.live(mode: .free, keepsOwner: true)))
                == harness.published([.seatUnlocked(index: 0), .userMoved(user: userInfo("olga"), from: 3, to: 0)]))

        var withGuestOnSeatZero = SeatHarness(SeatHarness.live(mode: .free))
        _ = withGuestOnSeatZero.call("gina") { .take(seatIndex: 0, caller: $0) }
        #expect(
            withGuestOnSeatZero.handle(.infoChanged(info: SeatHarness.live(mode: .free, keepsOwner: true)))
                == withGuestOnSeatZero.published([
                    .seatTaken(index: 0, user: userInfo("olga")), .userMoved(user: userInfo("gina"), from: 0, to: 1),
                ]))
        #expect(withGuestOnSeatZero.seated == ["olga", "gina", nil, nil])

        var withFreedSeat = SeatHarness(SeatHarness.live(seats: 3, mode: .free))
        for (user, index) in [("gina", 0), ("gus", 1), ("olga", 2)] as [(UserID, Int)] {
            _ = withFreedSeat.call(user) { .take(seatIndex: index, caller: $0) }
        }
        _ = withFreedSeat.handle(.infoChanged(info: SeatHarness.live(seats: 3, mode: .free, keepsOwner: true)))
        #expect(withFreedSeat.seated == ["olga", "gus", "gina"], "gina gets the seat that olga left")

        var withOneSeat = SeatHarness(SeatHarness.live(seats: 1, mode: .free))
        _ = withOneSeat.call("gina") { .take(seatIndex: 0, caller: $0) }
        let effects = withOneSeat.handle(.infoChanged(info: SeatHarness.live(seats: 1, mode: .free, keepsOwner: true)))
        #expect(effects.notices.map(\.content) == [.kickedOffSeat(seatIndex: 0, by: userInfo("olga"))])
        #expect(withOneSeat.seated == ["olga"], "a guest without another free seat loses its seat")
    }

    /// Rules: R6.23.
    @Test func `when a live changes its template, as many occupants as possible keep a seat`() {
        var harness = SeatHarness(SeatHarness.live(mode: .free, keepsOwner: true, template: 600))
        for (user, index) in [("gina", 1), ("gus", 7), ("gerd", 8)] as [(UserID, Int)] {
            _ = harness.call(user) { .take(seatIndex: index, caller: $0) }
        }
        #expect(harness.stage?.record.layout.canvas.templateID == 600)

        // gus on seat 7 and gerd on seat 8 move to the lowest free seats.
        let withSevenSeats = harness.handle(
            .infoChanged(info: SeatHarness.live(mode: .free, keepsOwner: true, template: 601)))
        #expect(
            withSevenSeats
                == harness.published([
                    .userMoved(user: userInfo("gus"), from: 7, to: 2),
                    .userMoved(user: userInfo("gerd"), from: 8, to: 3),
                ]))
        #expect(harness.stage?.record.layout.canvas.templateID == 601)
        #expect(harness.stage?.record.layout.regions.count == 4, "template 601 shows the four occupied seats")

        // Only olga and gina, on the seats 0 and 1, keep a seat.
        let withTwoSeats = harness.handle(
            .infoChanged(info: SeatHarness.live(mode: .free, keepsOwner: true, template: 400)))
        #expect(withTwoSeats.notices.map(\.to.user) == ["gus", "gerd"])
        #expect(
            withTwoSeats.notices.map(\.content) == [
                .kickedOffSeat(seatIndex: 2, by: userInfo("olga")),
                .kickedOffSeat(seatIndex: 3, by: userInfo("olga")),
            ])
        #expect(harness.seated == ["olga", "gina"])

        let withNineSeats = harness.handle(
            .infoChanged(info: SeatHarness.live(mode: .free, keepsOwner: true, template: 800)))
        #expect(withNineSeats.stages.first?.layout.regions.count == 9, "template 800 keeps its empty cells")
        // Template 602 also has nine seats: a change of the layout alone is published too.
        let withOtherLayout = harness.handle(
            .infoChanged(info: SeatHarness.live(mode: .free, keepsOwner: true, template: 602)))
        #expect(withOtherLayout.stages.first?.layout.regions.count == 2, "template 602 shows the two occupied seats")
    }

    /// Rules: R7.5.
    @Test func `the number of seats of a voice live can grow and shrink`() {
        var harness = SeatHarness(SeatHarness.live(seats: 3))
        _ = harness.handle(.infoChanged(info: SeatHarness.live(seats: 6)))
        #expect(harness.seated.count == 6)
        _ = harness.handle(.infoChanged(info: SeatHarness.live(seats: 0)))
        #expect(
            harness.call("gina") { .apply(seatIndex: -1, timeoutSeconds: 0, extraInfo: "", caller: $0) }.code
                == .roomHasNoSeats)
    }

    /// Rules: R7.18.
    @Test func `a live without seats has a stage without seats`() {
        var harness = SeatHarness.unopened
        #expect(harness.handle(.opened(epoch: 7, info: SeatHarness.live(seats: 0))).stages.map(\.seats) == [[]])
    }

    /// Rules: R2.12.
    @Test func `a new name of a user is shown on its seat and in notices of its requests`() {
        // gina sits on seat 1, and olga has invited gus.
        var harness = SeatHarness(SeatHarness.live(mode: .free))
        _ = harness.call("gina") { .take(seatIndex: 1, caller: $0) }
        _ = harness.call("olga") { .invite(user: "gus", seatIndex: -1, timeoutSeconds: 60, extraInfo: "", caller: $0) }
        let gina = UserInfo(userID: "gina", userName: "Regina", avatarURL: "https://example.org/g")
        #expect(harness.handle(.profile(user: gina)) == harness.published([]))
        #expect(harness.stage?.seats[1].occupant?.user == gina)
        #expect(harness.handle(.profile(user: gina)) == [], "the name has not changed")
        let olga = UserInfo(userID: "olga", userName: "Olga II")
        #expect(harness.handle(.profile(user: olga)) == [], "a user without a seat does not change the stage")
        // The invitation is cancelled because olga leaves. The notice to gus has the new name.
        #expect(
            harness.handle(.userGone(user: "olga")).notices.map(\.content) == [.invitationCancelled(host: olga)])
    }

    @Test func `a newer live with the same id opens even before the end of the previous live arrives`() {
        var harness = SeatHarness(SeatHarness.live(mode: .free))
        _ = harness.call("gina") { .take(seatIndex: 1, caller: $0) }
        let opened = harness.handle(.opened(epoch: 8, info: SeatHarness.live(seats: 2)))
        #expect(opened.stages.first?.epoch == 8)
        #expect(harness.seated == [nil, nil])
        #expect(
            harness.handle(.ended(ending: ending(epoch: 7))).stages == [], "the late end belongs to the previous live")
    }
}
