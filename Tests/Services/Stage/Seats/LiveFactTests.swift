// SPDX-License-Identifier: Apache-2.0
import MachineKit
import MachineTestSupport
import PlazaModel
import StageCore
import Testing

/// Facts that other machines report to the seat machine, repeated calls, and the limits of requests.
///
/// olga is the owner; adam and anna are admins. A seat index of -1 means any free seat. A presence epoch begins when
/// presence (the machine that knows who is in a live) has lost its data in Redis.
struct LiveFactTests {
    @Test func `I6 a user with a revoked ticket cannot act, and can again with a new ticket`() {
        var harness = SeatHarness(SeatHarness.live(mode: .free))
        // gina's floor, the lowest ticket that is still valid, is 60. The ticket of the other users is 50.
        _ = harness.handle(.floor(user: "gina", ticket: Ticket(60)))
        #expect(
            harness.handle(.take(seatIndex: 1, caller: harness.callers.user("gina", ticket: Ticket(59)))).code
                == .staleTicket)
        #expect(
            harness.handle(.take(seatIndex: 1, caller: harness.callers.user("gina", ticket: nil))).code == .notInRoom)
        #expect(
            harness.handle(.take(seatIndex: 1, caller: harness.callers.user("gina", ticket: Ticket(60)))).code
                == .success)
        #expect(harness.call("gus") { .take(seatIndex: 2, caller: $0) }.code == .success, "the floor is only gina's")
    }

    /// Rules: R1.14, R3.29, R18.3.
    @Test func `a user who leaves the live loses its seat, and its requests end with a notice to the other side`() {
        // gus has applied, and olga has invited gus; then gus leaves. olga sits on seat 3 and has invited gina; then
        // olga leaves.
        var harness = SeatHarness(SeatHarness.live(admins: []))
        _ = harness.call("olga") { .invite(user: "gus", seatIndex: -1, timeoutSeconds: 60, extraInfo: "", caller: $0) }
        _ = harness.call("gus") { .apply(seatIndex: -1, timeoutSeconds: 60, extraInfo: "", caller: $0) }
        #expect(
            harness.handle(.userGone(user: "gus")) == [
                harness.notice(to: "olga", .invitationAnswered(guest: userInfo("gus"), accepted: false)),
                harness.notice(to: "olga", .applicationCancelled(guest: userInfo("gus"))),
            ])
        _ = harness.call("olga") { .take(seatIndex: 3, caller: $0) }
        _ = harness.call("olga") { .invite(user: "gina", seatIndex: -1, timeoutSeconds: 60, extraInfo: "", caller: $0) }
        #expect(
            harness.handle(.userGone(user: "olga")) == [
                harness.notice(to: "gina", .invitationCancelled(host: userInfo("olga")))
            ] + harness.published([.seatLeft(index: 3, user: userInfo("olga"))]))
        #expect(harness.advance(milliseconds: 60_000) == [], "no open request is left that could time out")
        #expect(harness.seated == [nil, nil, nil, nil])
    }

    @Test func `I5 in a new presence epoch, the seat machine asks whether each occupant is present`() {
        var harness = SeatHarness(SeatHarness.live(mode: .free, keepsOwner: true))
        _ = harness.call("gina") { .take(seatIndex: 2, caller: $0) }
        #expect(
            harness.handle(.confirmOccupants) == [
                .audience(AudienceInput(SeatHarness.room, .confirm(user: "olga"))),
                .audience(AudienceInput(SeatHarness.room, .confirm(user: "gina"))),
            ])
    }

    @Test func `in a new presence epoch, the seat machine asks about all occupants and an owner without a seat`() {
        var harness = SeatHarness(SeatHarness.live(mode: .free))
        _ = harness.call("gina") { .take(seatIndex: 2, caller: $0) }
        #expect(
            harness.handle(.confirmOccupants) == [
                .audience(AudienceInput(SeatHarness.room, .confirm(user: "gina"))),
                .audience(AudienceInput(SeatHarness.room, .confirm(user: "olga"))),
            ])
        _ = harness.handle(.userGone(user: "olga"))
        #expect(
            harness.handle(.confirmOccupants).count == 1,
            "expected a question about gina only, because presence has already reported that olga is gone")
    }

    /// Rules: R1.5.
    @Test func `new info of the live changes mode, admins and the number of seats in one revision`() {
        // The admin adam sits on seat 0, and gina on seat 3.
        var harness = SeatHarness(SeatHarness.live(mode: .free))
        _ = harness.call("adam") { .take(seatIndex: 0, caller: $0) }
        _ = harness.call("gina") { .take(seatIndex: 3, caller: $0) }
        let revisionBefore = harness.stage?.revision ?? 0
        let withFewerSeats = harness.handle(
            .infoChanged(info: SeatHarness.live(seats: 3, mode: .free, admins: ["adam"])))
        #expect(
            withFewerSeats == harness.published([.userMoved(user: userInfo("gina"), from: 3, to: 1)]),
            "gina moves from the removed seat 3 to the free seat 1")
        let withOneSeat = harness.handle(.infoChanged(info: SeatHarness.live(seats: 1, mode: .apply, admins: ["anna"])))
        #expect(
            withOneSeat == [harness.notice(to: "gina", .kickedOffSeat(seatIndex: 1, by: userInfo("olga")))]
                + harness.published([.seatLeft(index: 1, user: userInfo("gina"))]))
        #expect(harness.seated == ["adam"])
        #expect(harness.stage?.seats[0].occupant?.role == .generalUser, "adam is no longer an admin")
        #expect(harness.stage.map { $0.revision > revisionBefore } == true)
        #expect(harness.call("adam") { .kickOff(user: "adam", caller: $0) }.code == .noPermission)
        _ = harness.handle(.infoChanged(info: SeatHarness.live(seats: 2, mode: .apply, admins: ["anna"])))
        // The mode is not part of the published stage.
        #expect(harness.handle(.infoChanged(info: SeatHarness.live(seats: 2, mode: .free, admins: ["anna"]))) == [])
        #expect(
            harness.call("gus") { .take(seatIndex: 1, caller: $0) }.code == .success,
            "the new mode applies although no revision was published")
    }

    /// Rules: R18.3.
    @Test func `I13 the end of the live ends all requests, and the live's stage is removed after five minutes`() {
        // olga sits on seat 0, and gina has an open application.
        var harness = SeatHarness(SeatHarness.live(keepsOwner: true))
        _ = harness.call("gina") { .apply(seatIndex: -1, timeoutSeconds: 1800, extraInfo: "", caller: $0) }
        let passedOnEnd = Effect.audience(AudienceInput(SeatHarness.room, .ended(epoch: 7, ending: ending())))
        let ended = harness.handle(.ended(ending: ending()))
        #expect(harness.stage.map { ended == [.stage($0.record), passedOnEnd] } == true)
        #expect(harness.seated == [nil, nil, nil, nil])
        #expect(harness.handle(.ended(ending: ending())) == [passedOnEnd], "a repeated end is passed on again")
        #expect(harness.handle(.userGone(user: "gina")) == [])
        #expect(harness.advance(milliseconds: 299_999) == [])
        #expect(harness.advance(milliseconds: 1) == [.stageRemoved(SeatHarness.room)])
        #expect(harness.stage == nil)
        // The row with the outcome of gina's call is removed at most 370 s after the call. By then, 300 + 80 = 380 s
        // have passed.
        #expect(harness.advance(milliseconds: 80_000) == [])
        #expect(harness.machine.rows.count == 0, "no row is left")
    }

    @Test func `a live that is created again with the same id has higher revisions than before`() {
        var harness = SeatHarness()
        let lastRevision = harness.handle(.ended(ending: ending())).stages.last?.revision ?? .max
        let reopened = harness.handle(.opened(epoch: 9, info: SeatHarness.live()))
        #expect(reopened.stages.first.map { $0.revision > lastRevision && $0.epoch == 9 } == true)
        #expect(harness.advance(milliseconds: 300_000) == [], "the removal of the ended stage is cancelled")
        // Epoch 8 is older than the open live with epoch 9.
        #expect(harness.handle(.ended(ending: ending(epoch: 8))).stages == [])
        #expect(harness.handle(.opened(epoch: 8, info: SeatHarness.live())) == [])
    }

    @Test func `a reported connection becomes part of the stage, and a report without a newer revision is ignored`() {
        var harness = SeatHarness()
        let member = ConnectionMember(live: "room", host: userInfo("olga"), joinedAt: harness.machine.moment.now)
        let view = ConnectionView(id: "c-1", members: [member])
        let joined = [StageEvent.coHostJoined(member: member)]
        #expect(
            harness.handle(.connection(view: view, battle: nil, revision: 5, events: joined))
                == harness.published(joined) + [harness.seatsReport])
        #expect(harness.stage?.record.connection == view)
        #expect(harness.handle(.connection(view: nil, battle: nil, revision: 5, events: [])) == [])
        #expect(harness.handle(.connection(view: nil, battle: nil, revision: 4, events: [])) == [])
        #expect(harness.stage?.record.connection == view)
        #expect(harness.handle(.connection(view: nil, battle: nil, revision: 6, events: [])).stages.count == 1)
        #expect(harness.stage?.record.connection == nil)
    }

    @Test func `I15 a repeated call is answered again, but executed once`() {
        var harness = SeatHarness(SeatHarness.live(mode: .free))
        // gina takes seat 1 and leaves it. Then gina's first call is repeated.
        let caller = harness.callers.user("gina")
        let firstEffects = harness.handle(.take(seatIndex: 1, caller: caller))
        _ = harness.call("gina") { .leave(caller: $0) }
        let repeatedEffects = harness.handle(.take(seatIndex: 1, caller: caller))
        let firstReply = Array(firstEffects.suffix(1))
        #expect(repeatedEffects == firstReply, "the reply is the only effect of a repeated call")
        #expect(harness.seated == [nil, nil, nil, nil], "the repeated call seats nobody")

        // The call of gus is rejected. It is repeated when gus has a seat, and gets the recorded rejection again.
        var rejectedCaller = harness.callers.user("gus")
        rejectedCaller.request.counter = 1000
        #expect(harness.handle(.leave(caller: rejectedCaller)).code == .notOnSeat)
        _ = harness.call("gus") { .take(seatIndex: 2, caller: $0) }
        #expect(harness.handle(.leave(caller: rejectedCaller)).code == .notOnSeat, "a rejection is recorded too")

        // A session's window has the outcomes of its last 16 calls. So the 17 calls below displace the outcome of
        // gina's first call. The pauses keep the calls below the rate limit.
        for _ in 0..<17 {
            _ = harness.advance(milliseconds: 500)
            _ = harness.call("gina") { .leave(caller: $0) }
        }
        #expect(harness.handle(.take(seatIndex: 1, caller: caller)).code == .requestForgotten)
    }

    @Test func `I15 the row of a session is removed six minutes after its last call, rounded up to ten seconds`() {
        var harness = SeatHarness()
        // The clock begins at 1,000,000 ms, so the call is made at 1,000,001 ms. Its outcome expires 60,000 ms later,
        // and its counter `droppedCounterLifetime` (300,000 ms) after that, at 1,360,001 ms. Each time is rounded up to
        // a multiple of 10,000 ms.
        _ = harness.advance(milliseconds: 1)
        _ = harness.call("gina") { .leave(caller: $0) }
        #expect(harness.machine.rows.count == 2, "the rows of the stage and of the session")
        // The clock advances to 1,069,999 ms, then to the time of the removal, 1,370,000 ms.
        _ = harness.advance(milliseconds: 69_998)
        #expect(harness.machine.rows.count == 2)
        _ = harness.advance(milliseconds: IdempotencyLimits.droppedCounterLifetime.count + 1)
        #expect(harness.machine.rows.count == 1, "only the row of the stage is left")
    }

    /// Rules: R17.3.
    @Test
    func `I16 a request above the limit of open requests gets a retry delay, and too long extra info is rejected`() {
        var harness = SeatHarness()
        for number in 0..<Limits.openSeatRequests {
            _ = harness.call(UserID("g\(number)")) {
                .apply(seatIndex: -1, timeoutSeconds: 60, extraInfo: "", caller: $0)
            }
        }
        let lastRequest = harness.call("gina") { .apply(seatIndex: -1, timeoutSeconds: 60, extraInfo: "", caller: $0) }
        guard case .failure(let error)? = lastRequest.replies.last?.outcome else {
            Issue.record("the request above the limit is not rejected: \(lastRequest)")
            return
        }
        #expect(error.code == .overloaded && error.retryAfter != nil)
        let tooLongInfo = String(repeating: "x", count: Limits.extraInfoBytes + 1)
        #expect(
            harness.call("gus") { .apply(seatIndex: -1, timeoutSeconds: 60, extraInfo: tooLongInfo, caller: $0) }.code
                == .badParameter)
    }
}
