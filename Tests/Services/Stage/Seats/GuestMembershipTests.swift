// SPDX-License-Identifier: Apache-2.0
import MachineKit
import MachineTestSupport
import PlazaModel
import StageCore
import Testing

/// Invitations and placements, for which presence (the machine that knows who is in the live) must verify that the
/// guest is in the live (R6.14, R6.16).
///
/// Other tests are about queries for open requests (R1.15), about applications that are cancelled or fail, and about
/// the rate limit of seat calls.
///
/// olga is the owner; adam and anna are admins.
struct GuestMembershipTests {
    /// The seat index of a call that leaves the choice of a free seat to the machine.
    private static let anySeat = -1

    /// Rules: R6.13.
    @Test func `an invitation is sent after presence has verified that the guest is in the live`() {
        var harness = SeatHarness()
        let host = harness.callers.user("olga")
        let invite = SeatInput(
            SeatHarness.room,
            .invite(user: "gina", seatIndex: 1, timeoutSeconds: 30, extraInfo: "come", caller: host))
        // The test itself answers for presence: unlike `handle`, `machine.send` returns the question to presence.
        let offer = SeatOffer.invitation(seatIndex: 1, timeoutSeconds: 30, extraInfo: "come")
        let verificationRequest = Effect.audience(
            AudienceInput(SeatHarness.room, .verifyGuestMembership(user: "gina", offer: offer, caller: host)))
        #expect(harness.machine.send(invite) == [verificationRequest])
        #expect(
            harness.machine.send(invite) == [verificationRequest],
            "I15: a call that is repeated before presence answers is passed on to presence again")
        let verified = SeatInput(
            SeatHarness.room, .guestMembershipVerified(user: userInfo("gina"), offer: offer, caller: host))
        let expiry = harness.machine.moment.now + .seconds(30)
        #expect(
            harness.machine.send(verified) == [
                harness.notice(
                    to: "gina",
                    .invitationReceived(host: userInfo("olga"), seatIndex: 1, expiresAt: expiry, extraInfo: "come")),
                harness.success(.done, to: host),
            ])
        #expect(
            harness.machine.send(verified) == [harness.success(.done, to: host)],
            "I15: a second verification of the same call sends no second invitation")
        #expect(
            harness.machine.send(invite) == [harness.success(.done, to: host)],
            "I15: a call that is repeated after the answer gets the same reply")
    }

    /// Rules: R6.14.
    @Test func `a user who is not in the live can be neither invited nor placed`() {
        var harness = SeatHarness()
        harness.absent = ["gina"]
        #expect(
            harness.call("olga") {
                .invite(user: "gina", seatIndex: Self.anySeat, timeoutSeconds: 30, extraInfo: "", caller: $0)
            }.code == .notMember)
        #expect(
            harness.handle(.place(user: "gina", seatIndex: Self.anySeat, caller: harness.callers.server())).code
                == .notMember)
        #expect(
            harness.call("gina") { .acceptInvitation(inviter: "olga", caller: $0) }.code == .failed,
            "no invitation was sent")
        #expect(harness.seated == [nil, nil, nil, nil])
    }

    @Test func `the seat machine checks an invitation again after presence has verified the guest`() {
        var harness = SeatHarness()
        let admin = harness.callers.user("adam")
        let offer = SeatOffer.invitation(seatIndex: 1, timeoutSeconds: 30, extraInfo: "")
        // Before presence answers, adam's rights are revoked.
        _ = harness.machine.send(
            SeatInput(
                SeatHarness.room,
                .invite(user: "gina", seatIndex: 1, timeoutSeconds: 30, extraInfo: "", caller: admin)))
        _ = harness.handle(.infoChanged(info: SeatHarness.live(admins: [])))
        #expect(
            harness.handle(.guestMembershipVerified(user: userInfo("gina"), offer: offer, caller: admin)).code
                == .noPermission,
            "the caller is no longer an admin")
        // olga has made no call with this request id.
        let callerWithoutPendingCall = harness.callers.user("olga")
        #expect(
            harness.handle(
                .guestMembershipVerified(user: userInfo("gina"), offer: offer, caller: callerWithoutPendingCall)
            ).code
                == .requestForgotten, "presence can answer only calls that were passed on to it")
    }

    /// Rules: R6.16.
    @Test func `an invitation that cannot be made fails with the code of its reason`() {
        var harness = SeatHarness(SeatHarness.live(seats: 3, mode: .free))
        _ = harness.call("gina") { .take(seatIndex: 0, caller: $0) }
        /// The code of the reply when olga invites a user.
        func invite(_ user: UserID, seat index: Int, timeoutSeconds: Int64 = 30) -> ReplyCode? {
            harness.call("olga") {
                .invite(user: user, seatIndex: index, timeoutSeconds: timeoutSeconds, extraInfo: "", caller: $0)
            }.code
        }
        #expect(invite("gina", seat: Self.anySeat) == .userAlreadyOnSeat)
        #expect(invite("olga", seat: Self.anySeat) == .badParameter, "a host cannot invite itself")
        #expect(invite("gus", seat: 0) == .seatOccupied)
        #expect(invite("gus", seat: 3) == .noSuchSeat)
        #expect(invite("gus", seat: 1, timeoutSeconds: 1801) == .badParameter, "the maximum is 1800 s")
        #expect(invite("gus", seat: 1) == .success)
        #expect(invite("gus", seat: 2) == .requestConflict, "olga's invitation of gus to seat 1 is open")
        _ = harness.call("olga") { .lock(seatIndex: 2, isLocked: true, caller: $0) }
        #expect(invite("gerd", seat: 2) == .seatLocked)
    }

    /// Rules: R7.16.
    @Test func `the app's server places a member on a seat, and the member's open application ends`() {
        var harness = SeatHarness()
        _ = harness.call("gina") { .apply(seatIndex: 2, timeoutSeconds: 60, extraInfo: "", caller: $0) }
        let server = harness.callers.server()
        let effects = harness.handle(.place(user: "gina", seatIndex: 3, caller: server))
        #expect(effects.first == harness.notice(to: "gina", .applicationNoResponse(reason: .alreadySeated)))
        #expect(effects.result == .seat(index: 3))
        #expect(harness.seated == [nil, nil, nil, "gina"])
        #expect(
            harness.handle(.place(user: "gina", seatIndex: Self.anySeat, caller: harness.callers.server())).code
                == .userAlreadyOnSeat)
        #expect(
            harness.handle(.place(user: "gus", seatIndex: 3, caller: harness.callers.server())).code == .seatOccupied)
        #expect(harness.handle(.place(user: "gus", seatIndex: 9, caller: harness.callers.server())).code == .noSuchSeat)
    }

    /// Rules: R1.15, R1.19.
    @Test func `a host can read all open requests, and a repeated query gets a new answer`() {
        var harness = SeatHarness()
        let expiry = harness.machine.moment.now + .seconds(60)
        _ = harness.call("gina") { .apply(seatIndex: 2, timeoutSeconds: 60, extraInfo: "hi", caller: $0) }
        _ = harness.call("olga") {
            .invite(user: "gus", seatIndex: Self.anySeat, timeoutSeconds: 60, extraInfo: "", caller: $0)
        }
        let host = harness.callers.user("adam")
        let result = CallResult.seatRequests(
            applications: [OpenApplication(guest: userInfo("gina"), seatIndex: 2, expiresAt: expiry)],
            invitations: [
                OpenInvitation(
                    guest: userInfo("gus"), host: userInfo("olga"), seatIndex: Self.anySeat, expiresAt: expiry)
            ], at: harness.machine.moment.now)
        #expect(harness.handle(.requests(caller: host)) == [harness.success(result, to: host)])
        _ = harness.call("gina") { .cancelApplication(caller: $0) }
        #expect(
            harness.handle(.requests(caller: host)).result
                == .seatRequests(
                    applications: [],
                    invitations: [
                        OpenInvitation(
                            guest: userInfo("gus"), host: userInfo("olga"), seatIndex: Self.anySeat, expiresAt: expiry)
                    ], at: harness.machine.moment.now),
            "a query is not recorded: a repeated query gets a new answer")
    }

    /// Rules: R6.25.
    @Test func `a guest reads its own open requests, but not those of other guests`() {
        var harness = SeatHarness()
        let expiry = harness.machine.moment.now + .seconds(60)
        _ = harness.call("gina") { .apply(seatIndex: 2, timeoutSeconds: 60, extraInfo: "hi", caller: $0) }
        _ = harness.call("olga") {
            .invite(user: "gus", seatIndex: Self.anySeat, timeoutSeconds: 60, extraInfo: "", caller: $0)
        }
        let now = harness.machine.moment.now
        let application = OpenApplication(guest: userInfo("gina"), seatIndex: 2, expiresAt: expiry)
        let invitation = OpenInvitation(
            guest: userInfo("gus"), host: userInfo("olga"), seatIndex: Self.anySeat, expiresAt: expiry)
        #expect(
            harness.call("gina") { .requests(caller: $0) }.result
                == .seatRequests(applications: [application], invitations: [], at: now))
        #expect(
            harness.call("gus") { .requests(caller: $0) }.result
                == .seatRequests(applications: [], invitations: [invitation], at: now))
        #expect(
            harness.call("gerd") { .requests(caller: $0) }.result
                == .seatRequests(applications: [], invitations: [], at: now), "gerd has no request")
    }

    /// Rules: R6.9.
    @Test func `a cancelled application is reported to all hosts, and cannot be cancelled again`() {
        var harness = SeatHarness()
        #expect(harness.call("gina") { .cancelApplication(caller: $0) }.code == .failed, "gina has not applied yet")
        _ = harness.call("gina") { .apply(seatIndex: 2, timeoutSeconds: 60, extraInfo: "", caller: $0) }
        let caller = harness.callers.user("gina")
        #expect(
            harness.handle(.cancelApplication(caller: caller)) == [
                harness.notice(to: "olga", .applicationCancelled(guest: userInfo("gina"))),
                harness.notice(to: "adam", .applicationCancelled(guest: userInfo("gina"))),
                harness.notice(to: "anna", .applicationCancelled(guest: userInfo("gina"))),
                harness.success(.done, to: caller),
            ])
        #expect(harness.call("gina") { .cancelApplication(caller: $0) }.code == .failed)
        #expect(harness.call("olga") { .acceptApplication(user: "gina", caller: $0) }.code == .requestGone)
    }

    /// Rules: R6.6.
    @Test func `when no seat is free, the error says whether all seats are taken or some are locked`() {
        var harness = SeatHarness(SeatHarness.live(seats: 2))
        /// The code of the reply when a user applies for a seat.
        func apply(_ user: UserID, seat index: Int) -> ReplyCode? {
            harness.call(user) { .apply(seatIndex: index, timeoutSeconds: 60, extraInfo: "", caller: $0) }.code
        }
        #expect(apply("gina", seat: 1) == .success)
        #expect(apply("gina", seat: 1) == .requestRepeated, "gina has applied for the same seat")
        #expect(apply("gina", seat: Self.anySeat) == .requestConflict, "gina has applied for another seat index")
        // adam takes seat 0, and olga locks the empty seat 1.
        _ = harness.call("adam") { .take(seatIndex: 0, caller: $0) }
        _ = harness.call("olga") { .lock(seatIndex: 1, isLocked: true, caller: $0) }
        #expect(apply("gus", seat: Self.anySeat) == .seatLimit, "seat 1 is empty, but locked")
        #expect(harness.call("olga") { .acceptApplication(user: "gina", caller: $0) }.code == .seatLocked)
        // Now both seats are taken, and none is locked.
        _ = harness.call("olga") { .lock(seatIndex: 1, isLocked: false, caller: $0) }
        _ = harness.call("anna") { .take(seatIndex: 1, caller: $0) }
        #expect(apply("gus", seat: Self.anySeat) == .allSeatsTaken)
    }

    /// Rules: R12.5.
    @Test func `seat calls above the rate limit of a user are rejected, and may be sent again later`() {
        var harness = SeatHarness(SeatHarness.live(mode: .free))
        for _ in 0..<Limits.seatCallsPerSecond {
            #expect(harness.call("gina") { .leave(caller: $0) }.code == .notOnSeat)
        }
        let caller = harness.callers.user("gina")
        let callAboveLimit = harness.handle(.take(seatIndex: 1, caller: caller))
        guard case .failure(let error)? = callAboveLimit.replies.last?.outcome else {
            Issue.record("the call above the rate limit is not rejected: \(callAboveLimit)")
            return
        }
        // The limit holds for each second of the clock. A second has just begun, so the next one begins after 1000 ms.
        #expect(error.code == .tooFrequent && error.retryAfter == 1000)
        #expect(
            harness.call("gus") { .take(seatIndex: 2, caller: $0) }.code == .success, "other users are not affected")
        _ = harness.advance(milliseconds: 1000)
        #expect(
            harness.handle(.take(seatIndex: 1, caller: caller)).result == .seat(index: 1),
            "the rejected call may be sent again with its request id")
        for _ in 0..<2 * Limits.seatCallsPerSecond {
            // All these calls have the session of the server. A user could not make as many calls in one second.
            let server = harness.callers.server()
            #expect(
                harness.handle(.kickOff(user: "gerd", caller: server)).code == .notOnSeat, "a server has no rate limit")
        }
    }
}
