// SPDX-License-Identifier: Apache-2.0
import MachineKit
import MachineTestSupport
import PlazaModel
import StageCore
import Testing

/// Applications, invitations, and taking, locking and moving seats.
///
/// olga is the owner; adam and anna are admins. A live that keeps its owner reserves seat 0 for olga. In apply mode,
/// which the tests use unless they say otherwise, a guest needs a host's consent to take a seat; in free mode a guest
/// needs none. A seat index of -1 means any free seat.
struct SeatMachineTests {
    /// Rules: R7.1.
    @Test func `a live that keeps its owner opens with the owner on seat 0, and publishes one stage`() {
        var harness = SeatHarness.unopened
        let effects = harness.handle(.opened(epoch: 7, info: SeatHarness.live(keepsOwner: true)))
        #expect(effects == harness.published([.seatTaken(index: 0, user: userInfo("olga"))]))
        #expect(harness.seated == ["olga", nil, nil, nil])
        #expect(harness.stage?.seats[0].occupant?.role == .owner)
        #expect(
            harness.handle(.opened(epoch: 7, info: SeatHarness.live())).isEmpty, "a repeated opening changes nothing"
        )
    }

    // The info of each live asks for 5 seats. This number has an effect only in voice lives (templates 50 and 70). The
    // template 999 is unknown and counts as 600.
    @Test(arguments: [(600, 9), (601, 7), (800, 9), (801, 7), (200, 4), (70, 5), (50, 5), (999, 9)])
    func `the template sets the number of seats, except in voice lives, where the owner names it`(
        template: Int, expectedSeats: Int
    ) {
        let harness = SeatHarness(SeatHarness.live(seats: 5, template: template))
        #expect(harness.seated.count == expectedSeats)
    }

    /// Rules: R6.1, R6.2, R6.12.
    @Test func `an application is sent to all hosts, and the first host's answer ends the application`() {
        var harness = SeatHarness()
        let applicant = harness.callers.user("gina")
        let expiry = harness.machine.moment.now + .seconds(30)
        #expect(
            harness.handle(.apply(seatIndex: 2, timeoutSeconds: 30, extraInfo: "hi", caller: applicant)) == [
                harness.notice(
                    to: "olga",
                    .applicationReceived(guest: userInfo("gina"), seatIndex: 2, expiresAt: expiry, extraInfo: "hi")),
                harness.notice(
                    to: "adam",
                    .applicationReceived(guest: userInfo("gina"), seatIndex: 2, expiresAt: expiry, extraInfo: "hi")),
                harness.notice(
                    to: "anna",
                    .applicationReceived(guest: userInfo("gina"), seatIndex: 2, expiresAt: expiry, extraInfo: "hi")),
                harness.success(.seat(index: nil), to: applicant),
            ])
        let host = harness.callers.user("adam")
        let accepted = harness.handle(.acceptApplication(user: "gina", caller: host))
        #expect(
            accepted == [
                harness.notice(to: "gina", .applicationAnswered(host: userInfo("adam"), accepted: true)),
                harness.notice(
                    to: "olga", .applicationProcessed(guest: userInfo("gina"), by: userInfo("adam"), accepted: true)),
                harness.notice(
                    to: "anna", .applicationProcessed(guest: userInfo("gina"), by: userInfo("adam"), accepted: true)),
            ] + harness.published([.seatTaken(index: 2, user: userInfo("gina"))])
                + [harness.success(.seat(index: 2), to: host, changesStage: true)])
        #expect(harness.call("olga") { .rejectApplication(user: "gina", caller: $0) }.code == .requestGone)
        #expect(harness.seated == [nil, nil, "gina", nil])
        // The answered application does not time out after its 30 s.
        #expect(harness.advance(milliseconds: 40_000).notices.isEmpty, "an application ends only once")
    }

    /// Rules: R6.19.
    @Test func `I13 an unanswered application times out once, with notices to both sides`() {
        var harness = SeatHarness(SeatHarness.live(admins: []))
        // A time-out of 0 means the default of 10 s.
        #expect(
            harness.call("gina") { .apply(seatIndex: -1, timeoutSeconds: 0, extraInfo: "", caller: $0) }.code
                == .success)
        #expect(harness.advance(milliseconds: 9_999) == [])
        #expect(
            harness.advance(milliseconds: 1) == [
                harness.notice(to: "gina", .applicationNoResponse(reason: .timeout)),
                harness.notice(to: "olga", .applicationTimedOut(guest: userInfo("gina"))),
            ])
        #expect(harness.call("olga") { .acceptApplication(user: "gina", caller: $0) }.code == .requestGone)
    }

    @Test func `I13 an answer at the moment of the time-out is too late, even before a tick has expired the request`() {
        var harness = SeatHarness()
        _ = harness.call("gina") { .apply(seatIndex: -1, timeoutSeconds: 1, extraInfo: "", caller: $0) }
        // The clock advances without a tick.
        harness.machine.moment.now = harness.machine.moment.now + .seconds(1)
        let effects = harness.call("olga") { .acceptApplication(user: "gina", caller: $0) }
        #expect(effects.first == harness.notice(to: "gina", .applicationNoResponse(reason: .timeout)))
        #expect(effects.code == .requestGone)
        #expect(harness.seated == [nil, nil, nil, nil])
    }

    /// Rules: R6.18.
    @Test func `when a guest accepts an invitation, its other invitation and its application end`() {
        var harness = SeatHarness(SeatHarness.live(admins: ["adam"]))
        _ = harness.call("olga") { .invite(user: "gina", seatIndex: 1, timeoutSeconds: 60, extraInfo: "", caller: $0) }
        _ = harness.call("adam") { .invite(user: "gina", seatIndex: -1, timeoutSeconds: 60, extraInfo: "", caller: $0) }
        _ = harness.call("gina") { .apply(seatIndex: 3, timeoutSeconds: 60, extraInfo: "", caller: $0) }
        let guest = harness.callers.user("gina")
        let effects = harness.handle(.acceptInvitation(inviter: "olga", caller: guest))
        #expect(
            effects == [
                harness.notice(to: "adam", .invitationNoResponse(guest: userInfo("gina"), reason: .alreadySeated)),
                harness.notice(to: "gina", .invitationCancelled(host: userInfo("adam"))),
                harness.notice(to: "gina", .applicationNoResponse(reason: .alreadySeated)),
                harness.notice(to: "olga", .applicationCancelled(guest: userInfo("gina"))),
                harness.notice(to: "adam", .applicationCancelled(guest: userInfo("gina"))),
                harness.notice(to: "olga", .invitationAnswered(guest: userInfo("gina"), accepted: true)),
            ] + harness.published([.seatTaken(index: 1, user: userInfo("gina"))])
                + [harness.success(.seat(index: 1), to: guest, changesStage: true)])
    }

    /// Rules: R6.10.
    @Test(arguments: [true, false])
    func `cancelling an answered application or invitation is rejected and has no effect`(isAccepted: Bool) {
        var harness = SeatHarness()
        _ = harness.call("gina") { .apply(seatIndex: 2, timeoutSeconds: 60, extraInfo: "", caller: $0) }
        _ = harness.call("adam") {
            isAccepted ? .acceptApplication(user: "gina", caller: $0) : .rejectApplication(user: "gina", caller: $0)
        }
        let seatedBefore = harness.seated
        #expect(seatedBefore[2] == (isAccepted ? "gina" : nil))
        let applicationCancel = harness.call("gina") { .cancelApplication(caller: $0) }
        #expect(applicationCancel.code == .failed && harness.seated == seatedBefore)
        #expect(applicationCancel.count == 1, "the reply is the only effect")

        _ = harness.call("olga") { .invite(user: "gus", seatIndex: 1, timeoutSeconds: 60, extraInfo: "", caller: $0) }
        _ = harness.call("gus") {
            isAccepted ? .acceptInvitation(inviter: "olga", caller: $0) : .rejectInvitation(inviter: "olga", caller: $0)
        }
        #expect(harness.seated[1] == (isAccepted ? "gus" : nil))
        let invitationCancel = harness.call("olga") { .cancelInvitation(user: "gus", caller: $0) }
        #expect(invitationCancel.code == .failed)
        #expect(invitationCancel.count == 1, "the reply is the only effect")
        #expect(harness.seated[1] == (isAccepted ? "gus" : nil))
    }

    /// Rules: R6.17.
    @Test func `an invitation ends when the guest rejects it, the host cancels it, or it times out`() {
        var harness = SeatHarness()
        /// olga invites gina for 5 s.
        func invite(_ harness: inout SeatHarness) {
            #expect(
                harness.call("olga") {
                    .invite(user: "gina", seatIndex: -1, timeoutSeconds: 5, extraInfo: "", caller: $0)
                }.code == .success)
        }
        invite(&harness)
        #expect(
            harness.call("gina") { .rejectInvitation(inviter: "olga", caller: $0) }.first
                == harness.notice(to: "olga", .invitationAnswered(guest: userInfo("gina"), accepted: false)))
        invite(&harness)
        #expect(
            harness.call("olga") { .cancelInvitation(user: "gina", caller: $0) }.first
                == harness.notice(to: "gina", .invitationCancelled(host: userInfo("olga"))))
        #expect(harness.call("olga") { .cancelInvitation(user: "gina", caller: $0) }.code == .failed)
        invite(&harness)
        #expect(
            harness.advance(milliseconds: 5_000) == [
                harness.notice(
                    to: "olga", .invitationNoResponse(guest: userInfo("gina"), reason: .timeout)),
                harness.notice(to: "gina", .invitationTimedOut(host: userInfo("olga"))),
            ])
        #expect(harness.call("gina") { .acceptInvitation(inviter: "olga", caller: $0) }.code == .failed)
    }

    /// Rules: R1.7, R6.3.
    @Test func `in free mode, an application for any seat takes the lowest free unlocked seat at once`() {
        var harness = SeatHarness(SeatHarness.live(mode: .free))
        _ = harness.call("olga") { .lock(seatIndex: 0, isLocked: true, caller: $0) }
        #expect(
            harness.call("gina") { .apply(seatIndex: -1, timeoutSeconds: 0, extraInfo: "", caller: $0) }.result
                == .seat(index: 1))
        #expect(harness.call("gus") { .take(seatIndex: -1, caller: $0) }.result == .seat(index: 2))
        #expect(harness.seated == [nil, "gina", "gus", nil])
    }

    /// Rules: R3.15, R6.2, R7.3.
    @Test func `in apply mode, a guest's call to take a seat is an application of 60 s, but hosts sit down at once`() {
        var harness = SeatHarness(SeatHarness.live(admins: ["adam"]))
        #expect(
            harness.call("gina") { .take(seatIndex: 1, caller: $0) }.result == .seat(index: nil),
            "a result without an index means an application")
        #expect(harness.advance(milliseconds: 59_999).notices == [])
        #expect(harness.advance(milliseconds: 1).notices.map(\.to.user) == ["gina", "olga", "adam"])
        #expect(harness.call("adam") { .take(seatIndex: 1, caller: $0) }.result == .seat(index: 1))
        #expect(harness.call("olga") { .take(seatIndex: 0, caller: $0) }.result == .seat(index: 0))
    }

    /// Rules: R6.4, R6.5.
    @Test func `an invalid application fails with the code of its reason`() {
        var harness = SeatHarness(SeatHarness.live(seats: 3))
        func apply(
            _ harness: inout SeatHarness, _ user: UserID, seat index: Int, timeoutSeconds: Int64 = 0
        ) -> ReplyCode? {
            harness.call(user) {
                .apply(seatIndex: index, timeoutSeconds: timeoutSeconds, extraInfo: "", caller: $0)
            }.code
        }
        // Of the three seats, seat 0 is locked, adam has seat 1, and seat 2 is free.
        _ = harness.call("olga") { .lock(seatIndex: 0, isLocked: true, caller: $0) }
        _ = harness.call("adam") { .take(seatIndex: 1, caller: $0) }
        #expect(apply(&harness, "gina", seat: 0) == .seatLocked)
        #expect(apply(&harness, "gina", seat: 1) == .seatOccupied)
        #expect(apply(&harness, "gina", seat: 3) == .noSuchSeat)
        #expect(apply(&harness, "gina", seat: -2) == .noSuchSeat)
        #expect(apply(&harness, "gina", seat: 2, timeoutSeconds: 1801) == .badParameter, "the maximum is 1800 s")
        #expect(apply(&harness, "gina", seat: 2, timeoutSeconds: -1) == .badParameter)
        #expect(apply(&harness, "adam", seat: 2) == .alreadySeated)
        #expect(apply(&harness, "gina", seat: 2) == .success)
        #expect(apply(&harness, "gina", seat: -1) == .requestConflict, "gina's application for seat 2 is open")
        // A host may take a seat for which a guest has applied.
        _ = harness.call("anna") { .take(seatIndex: 2, caller: $0) }
        #expect(apply(&harness, "gus", seat: -1) == .seatLimit, "seat 0 is empty, but locked")
        var withoutSeats = SeatHarness(SeatHarness.live(seats: 0))
        #expect(apply(&withoutSeats, "gina", seat: -1) == .roomHasNoSeats)
        var unopened = SeatHarness.unopened
        #expect(apply(&unopened, "gina", seat: -1) == .noSuchRoom)
        // A live that has ended does not exist any more.
        _ = harness.handle(.ended(ending: ending()))
        #expect(apply(&harness, "gus", seat: -1) == .noSuchRoom)
    }

    /// Rules: R6.11.
    @Test func `an application whose seat is no longer free cannot be accepted, and stays open`() {
        var harness = SeatHarness()
        // gina applies for seat 2, then adam sits down there.
        _ = harness.call("gina") { .apply(seatIndex: 2, timeoutSeconds: 60, extraInfo: "", caller: $0) }
        _ = harness.call("adam") { .take(seatIndex: 2, caller: $0) }
        #expect(harness.call("olga") { .acceptApplication(user: "gina", caller: $0) }.code == .seatOccupied)
        _ = harness.call("adam") { .leave(caller: $0) }
        #expect(harness.call("olga") { .acceptApplication(user: "gina", caller: $0) }.result == .seat(index: 2))
    }

    /// Rules: R6.22, R7.7.
    @Test func `I11 locking a seat removes its occupant first`() {
        var harness = SeatHarness(SeatHarness.live(mode: .free))
        _ = harness.call("gina") { .take(seatIndex: 1, caller: $0) }
        let host = harness.callers.user("adam")
        #expect(
            harness.handle(.lock(seatIndex: 1, isLocked: true, caller: host)) == [
                harness.notice(to: "gina", .kickedOffSeat(seatIndex: 1, by: userInfo("adam")))
            ] + harness.published([.seatLeft(index: 1, user: userInfo("gina")), .seatLocked(index: 1)])
                + [harness.success(.done, to: host, changesStage: true)])
        #expect(
            harness.call("adam") { .lock(seatIndex: 1, isLocked: true, caller: $0) }.stages == [],
            "the seat is locked already")
        #expect(harness.call("gina") { .take(seatIndex: 1, caller: $0) }.code == .seatLocked)
        #expect(harness.call("anna") { .lock(seatIndex: 1, isLocked: false, caller: $0) }.stages.count == 1)
        #expect(harness.call("gina") { .take(seatIndex: 1, caller: $0) }.code == .success)
    }

    /// Rules: R7.6.
    @Test func `I11 a move onto an occupied seat is rejected, replaces the occupant or swaps, as its policy says`() {
        var harness = SeatHarness(SeatHarness.live(mode: .free))
        _ = harness.call("gina") { .take(seatIndex: 0, caller: $0) }
        _ = harness.call("gus") { .take(seatIndex: 1, caller: $0) }
        #expect(
            harness.call("adam") { .move(user: "gina", to: 1, policy: .abortWhenOccupied, caller: $0) }.code
                == .seatOccupied)
        let swap = harness.call("adam") { .move(user: "gina", to: 1, policy: .swapPosition, caller: $0) }
        #expect(swap.feedItems.count == 1)
        let movedEvents: [StageEvent] = [
            .userMoved(user: userInfo("gus"), from: 1, to: 0), .userMoved(user: userInfo("gina"), from: 0, to: 1),
        ]
        #expect(Array(swap.prefix(2)) == harness.published(movedEvents))
        #expect(harness.seated == ["gus", "gina", nil, nil])
        #expect(
            harness.call("gina") { .move(user: "gina", to: 0, policy: .forceReplace, caller: $0) }.code
                == .seatOccupied,
            "a guest cannot remove another guest")
        let replaced = harness.call("adam") { .move(user: "gina", to: 0, policy: .forceReplace, caller: $0) }
        #expect(replaced.first == harness.notice(to: "gus", .kickedOffSeat(seatIndex: 0, by: userInfo("adam"))))
        #expect(harness.seated == ["gina", nil, nil, nil])
        #expect(harness.call("gina") { .move(user: "gina", to: 3, policy: .swapPosition, caller: $0) }.code == .success)
        #expect(
            harness.call("gina") { .move(user: "gina", to: 9, policy: .swapPosition, caller: $0) }.code == .noSuchSeat)
        #expect(
            harness.call("adam") { .move(user: "gus", to: 0, policy: .swapPosition, caller: $0) }.code == .notOnSeat)
    }

    /// Rules: R7.2.
    @Test func `in a live that keeps its owner, nobody takes or locks the owner's seat, or moves the owner`() {
        var harness = SeatHarness(SeatHarness.live(mode: .free, keepsOwner: true))
        _ = harness.call("gina") { .take(seatIndex: 1, caller: $0) }
        #expect(harness.call("adam") { .kickOff(user: "olga", caller: $0) }.code == .noPermission)
        #expect(harness.call("adam") { .lock(seatIndex: 0, isLocked: true, caller: $0) }.code == .noPermission)
        #expect(
            harness.call("adam") { .move(user: "olga", to: 2, policy: .abortWhenOccupied, caller: $0) }.code
                == .noPermission)
        #expect(
            harness.call("adam") { .move(user: "gina", to: 0, policy: .forceReplace, caller: $0) }.code == .seatOccupied
        )
        // The owner leaves the live, so seat 0 is empty.
        _ = harness.handle(.userGone(user: "olga"))
        #expect(
            harness.call("gus") { .take(seatIndex: 0, caller: $0) }.code == .seatOccupied,
            "the seat is reserved for the owner"
        )
        #expect(harness.call("olga") { .take(seatIndex: -1, caller: $0) }.result == .seat(index: 0))
    }
}
