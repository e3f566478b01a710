// SPDX-License-Identifier: Apache-2.0
import CoreKit
import PlazaModel
import StageCore
import Testing

/// Whom hosts may invite or place, and what they can read and be told late (reference 6).
struct SeatGuestTests {
    @Test func `an invitation goes by way of presence, which knows who is in the room`() {
        var rig = SeatRig()
        let host = rig.callers.user("olga")
        let invite = SeatInput(
            SeatRig.room,
            .invite(user: "gina", seatIndex: 1, timeoutSeconds: 30, extraInfo: "come", caller: host))
        let offer = SeatOffer.invitation(seatIndex: 1, timeoutSeconds: 30, extraInfo: "come")
        let asked = Effect.audience(
            AudienceInput(SeatRig.room, .vouchGuest(user: "gina", offer: offer, caller: host)))
        #expect(rig.rig.send(invite) == [asked])
        #expect(rig.rig.send(invite) == [asked], "I15: asked again while presence has it, it is passed on again")
        let back = SeatInput(SeatRig.room, .vouched(user: info("gina"), offer: offer, caller: host))
        let expiry = rig.rig.moment.now + .seconds(30)
        #expect(
            rig.rig.send(back) == [
                rig.notice(
                    to: "gina",
                    .invitationReceived(host: info("olga"), seatIndex: 1, expiresAt: expiry, extraInfo: "come")),
                rig.success(.done, to: host),
            ])
        #expect(rig.rig.send(back) == [rig.success(.done, to: host)], "I15: vouched for twice, it invites once")
        #expect(rig.rig.send(invite) == [rig.success(.done, to: host)])
    }

    @Test func `a guest who is not in the room can be neither invited nor placed`() {
        var rig = SeatRig()
        rig.absent = ["gina"]
        #expect(
            rig.call("olga") {
                .invite(user: "gina", seatIndex: -1, timeoutSeconds: 30, extraInfo: "", caller: $0)
            }.code == 100005)
        #expect(rig.tell(.place(user: "gina", seatIndex: -1, caller: rig.callers.server())).code == 100005)
        #expect(rig.call("gina") { .acceptInvitation(inviter: "olga", caller: $0) }.code == -1)
        #expect(rig.seated == [nil, nil, nil, nil])
    }

    @Test func `an offer that presence vouches for is looked at again`() {
        var rig = SeatRig()
        let admin = rig.callers.user("adam")
        let offer = SeatOffer.invitation(seatIndex: 1, timeoutSeconds: 30, extraInfo: "")
        _ = rig.rig.send(
            SeatInput(
                SeatRig.room,
                .invite(user: "gina", seatIndex: 1, timeoutSeconds: 30, extraInfo: "", caller: admin)))
        _ = rig.tell(.infoChanged(info: SeatRig.live(admins: [])))
        #expect(
            rig.tell(.vouched(user: info("gina"), offer: offer, caller: admin)).code == 100006,
            "it is no admin any more")
        let stranger = rig.callers.user("olga")
        #expect(
            rig.tell(.vouched(user: info("gina"), offer: offer, caller: stranger)).code
                == ReplyCode.requestForgotten.code, "what never was asked here cannot come back")
    }

    @Test func `what cannot be invited to is refused with the reference's code`() {
        var rig = SeatRig(SeatRig.live(seats: 3, mode: .free))
        _ = rig.call("gina") { .take(seatIndex: 0, caller: $0) }
        func invite(_ user: UserID, _ index: Int, timeout: Int64 = 30) -> Int? {
            rig.call("olga") {
                .invite(user: user, seatIndex: index, timeoutSeconds: timeout, extraInfo: "", caller: $0)
            }.code
        }
        #expect(invite("gina", -1) == 100210, "seated already")
        #expect(invite("olga", -1) == 100002)
        #expect(invite("gus", 0) == 100201)
        #expect(invite("gus", 3) == -2344)
        #expect(invite("gus", 1, timeout: 1801) == 100002)
        #expect(invite("gus", 1) == 0)
        #expect(invite("gus", 2) == 100102)
        _ = rig.call("olga") { .lock(seatIndex: 2, isLocked: true, caller: $0) }
        #expect(invite("gerd", 2) == 100200)
    }

    @Test func `the app's server places a member on a seat, whose own requests are void then`() {
        var rig = SeatRig()
        _ = rig.call("gina") { .apply(seatIndex: 2, timeoutSeconds: 60, extraInfo: "", caller: $0) }
        let server = rig.callers.server()
        let effects = rig.tell(.place(user: "gina", seatIndex: 3, caller: server))
        #expect(effects.first == rig.notice(to: "gina", .applicationNoResponse(reason: .alreadySeated)))
        #expect(effects.result == .seat(index: 3))
        #expect(rig.seated == [nil, nil, nil, "gina"])
        #expect(rig.tell(.place(user: "gina", seatIndex: -1, caller: rig.callers.server())).code == 100210)
        #expect(rig.tell(.place(user: "gus", seatIndex: 3, caller: rig.callers.server())).code == 100201)
        #expect(rig.tell(.place(user: "gus", seatIndex: 9, caller: rig.callers.server())).code == -2344)
    }

    @Test func `a host that enters late reads what waits for an answer`() {
        var rig = SeatRig()
        let expiry = rig.rig.moment.now + .seconds(60)
        _ = rig.call("gina") { .apply(seatIndex: 2, timeoutSeconds: 60, extraInfo: "hi", caller: $0) }
        _ = rig.call("olga") { .invite(user: "gus", seatIndex: -1, timeoutSeconds: 60, extraInfo: "", caller: $0) }
        let host = rig.callers.user("adam")
        let result = CallResult.seatRequests(
            applications: [OpenApplication(guest: info("gina"), seatIndex: 2, expiresAt: expiry)],
            invitations: [
                OpenInvitation(guest: info("gus"), host: info("olga"), seatIndex: -1, expiresAt: expiry)
            ])
        #expect(rig.tell(.requests(caller: host)) == [rig.success(result, to: host)])
        _ = rig.call("gina") { .cancelApplication(caller: $0) }
        #expect(
            rig.tell(.requests(caller: host)).result
                == .seatRequests(
                    applications: [],
                    invitations: [
                        OpenInvitation(guest: info("gus"), host: info("olga"), seatIndex: -1, expiresAt: expiry)
                    ]), "a question, not a call that is kept: asked again it is answered anew")
    }

    @Test func `an application that is taken back is told to all hosts, and then there is none`() {
        var rig = SeatRig()
        #expect(rig.call("gina") { .cancelApplication(caller: $0) }.code == -1, "there was none")
        _ = rig.call("gina") { .apply(seatIndex: 2, timeoutSeconds: 60, extraInfo: "", caller: $0) }
        let caller = rig.callers.user("gina")
        #expect(
            rig.tell(.cancelApplication(caller: caller)) == [
                rig.notice(to: "olga", .applicationCancelled(guest: info("gina"))),
                rig.notice(to: "adam", .applicationCancelled(guest: info("gina"))),
                rig.notice(to: "anna", .applicationCancelled(guest: info("gina"))), rig.success(.done, to: caller),
            ])
        #expect(rig.call("gina") { .cancelApplication(caller: $0) }.code == -1)
        #expect(rig.call("olga") { .acceptApplication(user: "gina", caller: $0) }.code == -2311, "too late")
    }

    @Test func `with no seat left an applicant learns whether they are taken or locked`() {
        var rig = SeatRig(SeatRig.live(seats: 2))
        func apply(_ user: UserID, _ index: Int) -> Int? {
            rig.call(user) { .apply(seatIndex: index, timeoutSeconds: 60, extraInfo: "", caller: $0) }.code
        }
        #expect(apply("gina", 1) == 0)
        #expect(apply("gina", 1) == -2312, "the same again")
        #expect(apply("gina", -1) == 100102, "another one")
        _ = rig.call("adam") { .take(seatIndex: 0, caller: $0) }
        _ = rig.call("olga") { .lock(seatIndex: 1, isLocked: true, caller: $0) }
        #expect(apply("gus", -1) == -2340)
        #expect(rig.call("olga") { .acceptApplication(user: "gina", caller: $0) }.code == 100200)
        _ = rig.call("olga") { .lock(seatIndex: 1, isLocked: false, caller: $0) }
        _ = rig.call("anna") { .take(seatIndex: 1, caller: $0) }
        #expect(apply("gus", -1) == 100205)
    }

    @Test func `a user makes so many seat calls a second, and may send the one too many again`() {
        var rig = SeatRig(SeatRig.live(mode: .free))
        for _ in 0..<Limits.seatCallsPerSecond { #expect(rig.call("gina") { .leave(caller: $0) }.code == 100206) }
        let late = rig.callers.user("gina")
        let refused = rig.tell(.take(seatIndex: 1, caller: late))
        guard case .failure(let error)? = refused.replies.last?.outcome else {
            Issue.record("not refused: \(refused)")
            return
        }
        #expect(error.code == .tooFrequent && error.retryAfter == 1000)
        #expect(rig.call("gus") { .take(seatIndex: 2, caller: $0) }.code == 0, "others are untouched")
        _ = rig.pass(milliseconds: 1000)
        #expect(rig.tell(.take(seatIndex: 1, caller: late)).result == .seat(index: 1))
        for _ in 0..<2 * Limits.seatCallsPerSecond {
            var server = rig.callers.server()
            server.request.session = "one"
            #expect(rig.tell(.kickOff(user: "gerd", caller: server)).code == 100206, "a server may")
        }
    }
}
