// SPDX-License-Identifier: Apache-2.0
import CoreKit
import PlazaModel
import StageCore
import Testing

struct SeatMachineTests {
    @Test func `opening seats the kept owner on seat 0 and tells one stage`() {
        var rig = SeatRig(nil)
        let effects = rig.tell(.opened(epoch: 7, info: SeatRig.live(keepsOwner: true)))
        #expect(effects == rig.published([.seatTaken(index: 0, user: info("olga"))]))
        #expect(rig.seated == ["olga", nil, nil, nil])
        #expect(rig.stage?.seats[0].occupant?.role == .owner)
        #expect(rig.tell(.opened(epoch: 7, info: SeatRig.live())).isEmpty, "an opening told twice changes nothing")
    }

    @Test(arguments: [(600, 9), (601, 7), (800, 9), (801, 7), (200, 4), (70, 5), (50, 5), (999, 9)])
    func `the template decides how many seats there are, in voice lives the host`(template: Int, count: Int) {
        let rig = SeatRig(SeatRig.live(seats: 5, template: template))
        #expect(rig.seated.count == count)
    }

    @Test func `an application goes to all hosts, and its first answer ends it for all`() {
        var rig = SeatRig()
        let asking = rig.callers.user("gina")
        let expiry = rig.rig.moment.now + .seconds(30)
        #expect(
            rig.tell(.apply(seatIndex: 2, timeoutSeconds: 30, extraInfo: "hi", caller: asking)) == [
                rig.notice(
                    to: "olga",
                    .applicationReceived(guest: info("gina"), seatIndex: 2, expiresAt: expiry, extraInfo: "hi")),
                rig.notice(
                    to: "adam",
                    .applicationReceived(guest: info("gina"), seatIndex: 2, expiresAt: expiry, extraInfo: "hi")),
                rig.notice(
                    to: "anna",
                    .applicationReceived(guest: info("gina"), seatIndex: 2, expiresAt: expiry, extraInfo: "hi")),
                rig.success(.seat(index: nil), to: asking),
            ])
        let host = rig.callers.user("adam")
        let accepted = rig.tell(.acceptApplication(user: "gina", caller: host))
        #expect(
            accepted == [
                rig.notice(to: "gina", .applicationAnswered(host: info("adam"), accepted: true)),
                rig.notice(
                    to: "olga", .applicationProcessed(guest: info("gina"), by: info("adam"), accepted: true)),
                rig.notice(
                    to: "anna", .applicationProcessed(guest: info("gina"), by: info("adam"), accepted: true)),
            ] + rig.published([.seatTaken(index: 2, user: info("gina"))])
                + [rig.success(.seat(index: 2), to: host, changed: true)])
        #expect(rig.call("olga") { .rejectApplication(user: "gina", caller: $0) }.code == -2311)
        #expect(rig.seated == [nil, nil, "gina", nil])
        #expect(rig.pass(milliseconds: 40_000).notices.isEmpty)
    }

    @Test func `I13 an application that nobody answers times out once, on both sides`() {
        var rig = SeatRig(SeatRig.live(admins: []))
        #expect(
            rig.call("gina") { .apply(seatIndex: -1, timeoutSeconds: 0, extraInfo: "", caller: $0) }.code == 0)
        #expect(rig.pass(milliseconds: 9_999) == [])
        #expect(
            rig.pass(milliseconds: 1) == [
                rig.notice(to: "gina", .applicationNoResponse(reason: .timeout)),
                rig.notice(to: "olga", .applicationTimedOut(guest: info("gina"))),
            ])
        #expect(rig.call("olga") { .acceptApplication(user: "gina", caller: $0) }.code == -2311)
    }

    @Test func `I13 an answer at the moment of the time-out comes too late, whoever drives the machine`() {
        var rig = SeatRig()
        _ = rig.call("gina") { .apply(seatIndex: -1, timeoutSeconds: 1, extraInfo: "", caller: $0) }
        rig.rig.moment.now = rig.rig.moment.now + .seconds(1)
        let effects = rig.call("olga") { .acceptApplication(user: "gina", caller: $0) }
        #expect(effects.first == rig.notice(to: "gina", .applicationNoResponse(reason: .timeout)))
        #expect(effects.code == -2311)
        #expect(rig.seated == [nil, nil, nil, nil])
    }

    @Test func `an invitation is accepted, and the guest's other requests are void`() {
        var rig = SeatRig(SeatRig.live(admins: ["adam"]))
        _ = rig.call("olga") { .invite(user: "gina", seatIndex: 1, timeoutSeconds: 60, extraInfo: "", caller: $0) }
        _ = rig.call("adam") { .invite(user: "gina", seatIndex: -1, timeoutSeconds: 60, extraInfo: "", caller: $0) }
        _ = rig.call("gina") { .apply(seatIndex: 3, timeoutSeconds: 60, extraInfo: "", caller: $0) }
        let guest = rig.callers.user("gina")
        let effects = rig.tell(.acceptInvitation(inviter: "olga", caller: guest))
        #expect(
            effects == [
                rig.notice(to: "adam", .invitationNoResponse(guest: info("gina"), reason: .alreadySeated)),
                rig.notice(to: "gina", .invitationCancelled(host: info("adam"))),
                rig.notice(to: "gina", .applicationNoResponse(reason: .alreadySeated)),
                rig.notice(to: "olga", .applicationCancelled(guest: info("gina"))),
                rig.notice(to: "adam", .applicationCancelled(guest: info("gina"))),
                rig.notice(to: "olga", .invitationAnswered(guest: info("gina"), accepted: true)),
            ] + rig.published([.seatTaken(index: 1, user: info("gina"))])
                + [rig.success(.seat(index: 1), to: guest, changed: true)])
    }

    @Test(arguments: [true, false]) func `cancelling after an answer is refused and has no effect`(isAccepted: Bool) {
        var rig = SeatRig()
        _ = rig.call("gina") { .apply(seatIndex: 2, timeoutSeconds: 60, extraInfo: "", caller: $0) }
        _ = rig.call("adam") {
            isAccepted ? .acceptApplication(user: "gina", caller: $0) : .rejectApplication(user: "gina", caller: $0)
        }
        let seated = rig.seated
        #expect(seated[2] == (isAccepted ? "gina" : nil))
        let late = rig.call("gina") { .cancelApplication(caller: $0) }
        #expect(late.code == -1 && late.count == 1 && rig.seated == seated)
        _ = rig.call("olga") { .invite(user: "gus", seatIndex: 1, timeoutSeconds: 60, extraInfo: "", caller: $0) }
        _ = rig.call("gus") {
            isAccepted ? .acceptInvitation(inviter: "olga", caller: $0) : .rejectInvitation(inviter: "olga", caller: $0)
        }
        #expect(rig.seated[1] == (isAccepted ? "gus" : nil))
        let after = rig.call("olga") { .cancelInvitation(user: "gus", caller: $0) }
        #expect(after.code == -1 && after.count == 1 && (rig.seated[1] == "gus") == isAccepted)
    }

    @Test func `an invitation ends by a no, by the inviter, or by time`() {
        var rig = SeatRig()
        func invite(_ rig: inout SeatRig) {
            #expect(
                rig.call("olga") {
                    .invite(user: "gina", seatIndex: -1, timeoutSeconds: 5, extraInfo: "", caller: $0)
                }.code == 0)
        }
        invite(&rig)
        #expect(
            rig.call("gina") { .rejectInvitation(inviter: "olga", caller: $0) }.first
                == rig.notice(to: "olga", .invitationAnswered(guest: info("gina"), accepted: false)))
        invite(&rig)
        #expect(
            rig.call("olga") { .cancelInvitation(user: "gina", caller: $0) }.first
                == rig.notice(to: "gina", .invitationCancelled(host: info("olga"))))
        #expect(rig.call("olga") { .cancelInvitation(user: "gina", caller: $0) }.code == -1)
        invite(&rig)
        #expect(
            rig.pass(milliseconds: 5_000) == [
                rig.notice(
                    to: "olga", .invitationNoResponse(guest: info("gina"), reason: .timeout)),
                rig.notice(to: "gina", .invitationTimedOut(host: info("olga"))),
            ])
        #expect(rig.call("gina") { .acceptInvitation(inviter: "olga", caller: $0) }.code == -1)
    }

    @Test func `in free mode applying is sitting down, on the lowest free unlocked seat`() {
        var rig = SeatRig(SeatRig.live(mode: .free))
        _ = rig.call("olga") { .lock(seatIndex: 0, isLocked: true, caller: $0) }
        #expect(
            rig.call("gina") { .apply(seatIndex: -1, timeoutSeconds: 0, extraInfo: "", caller: $0) }.result
                == .seat(index: 1))
        #expect(rig.call("gus") { .take(seatIndex: -1, caller: $0) }.result == .seat(index: 2))
        #expect(rig.seated == [nil, "gina", "gus", nil])
    }

    @Test func `in apply mode taking a seat is an application of 60 seconds, but hosts sit at once`() {
        var rig = SeatRig(SeatRig.live(admins: ["adam"]))
        #expect(rig.call("gina") { .take(seatIndex: 1, caller: $0) }.result == .seat(index: nil))
        #expect(rig.pass(milliseconds: 59_999).notices == [])
        #expect(rig.pass(milliseconds: 1).notices.count == 3)
        #expect(rig.call("adam") { .take(seatIndex: 1, caller: $0) }.result == .seat(index: 1))
        #expect(rig.call("olga") { .take(seatIndex: 0, caller: $0) }.result == .seat(index: 0))
    }

    @Test func `what cannot be applied for is refused with the reference's code`() {
        var rig = SeatRig(SeatRig.live(seats: 3))
        func apply(_ rig: inout SeatRig, _ user: UserID, _ index: Int, timeout: Int64 = 0) -> Int? {
            rig.call(user) { .apply(seatIndex: index, timeoutSeconds: timeout, extraInfo: "", caller: $0) }.code
        }
        _ = rig.call("olga") { .lock(seatIndex: 0, isLocked: true, caller: $0) }
        _ = rig.call("adam") { .take(seatIndex: 1, caller: $0) }
        #expect(apply(&rig, "gina", 0) == 100200)
        #expect(apply(&rig, "gina", 1) == 100201)
        #expect(apply(&rig, "gina", 3) == -2344)
        #expect(apply(&rig, "gina", -2) == -2344)
        #expect(apply(&rig, "gina", 2, timeout: 1801) == 100002)
        #expect(apply(&rig, "gina", 2, timeout: -1) == 100002)
        #expect(apply(&rig, "adam", 2) == 100203)
        #expect(apply(&rig, "gina", 2) == 0)
        #expect(apply(&rig, "gina", -1) == 100102)
        _ = rig.call("anna") { .take(seatIndex: 2, caller: $0) }
        #expect(apply(&rig, "gus", -1) == -2340, "seat 0 is empty, but locked")
        var none = SeatRig(SeatRig.live(seats: 0))
        #expect(apply(&none, "gina", -1) == 100211)
        var closed = SeatRig(nil)
        #expect(apply(&closed, "gina", -1) == 100004)
        _ = rig.tell(.ended(ending: ending()))
        #expect(apply(&rig, "gus", -1) == 100004)
    }

    @Test func `an accepted application whose seat is gone stays open`() {
        var rig = SeatRig()
        _ = rig.call("gina") { .apply(seatIndex: 2, timeoutSeconds: 60, extraInfo: "", caller: $0) }
        _ = rig.call("adam") { .take(seatIndex: 2, caller: $0) }
        #expect(rig.call("olga") { .acceptApplication(user: "gina", caller: $0) }.code == 100201)
        _ = rig.call("adam") { .leave(caller: $0) }
        #expect(rig.call("olga") { .acceptApplication(user: "gina", caller: $0) }.result == .seat(index: 2))
    }

    @Test func `I11 locking a seat puts its occupant off first`() {
        var rig = SeatRig(SeatRig.live(mode: .free))
        _ = rig.call("gina") { .take(seatIndex: 1, caller: $0) }
        let host = rig.callers.user("adam")
        #expect(
            rig.tell(.lock(seatIndex: 1, isLocked: true, caller: host)) == [
                rig.notice(to: "gina", .kickedOffSeat(seatIndex: 1, by: info("adam")))
            ] + rig.published([.seatLeft(index: 1, user: info("gina")), .seatLocked(index: 1)])
                + [rig.success(.done, to: host, changed: true)])
        #expect(rig.call("adam") { .lock(seatIndex: 1, isLocked: true, caller: $0) }.stages == [])
        #expect(rig.call("gina") { .take(seatIndex: 1, caller: $0) }.code == 100200)
        #expect(rig.call("anna") { .lock(seatIndex: 1, isLocked: false, caller: $0) }.stages.count == 1)
        #expect(rig.call("gina") { .take(seatIndex: 1, caller: $0) }.code == 0)
    }

    @Test func `I11 moving onto an occupied seat aborts, replaces or swaps`() {
        var rig = SeatRig(SeatRig.live(mode: .free))
        _ = rig.call("gina") { .take(seatIndex: 0, caller: $0) }
        _ = rig.call("gus") { .take(seatIndex: 1, caller: $0) }
        #expect(
            rig.call("adam") { .move(user: "gina", to: 1, policy: .abortWhenOccupied, caller: $0) }.code == 100201)
        let swap = rig.call("adam") { .move(user: "gina", to: 1, policy: .swapPosition, caller: $0) }
        #expect(
            swap.told.count == 1
                && Array(swap.prefix(2))
                    == rig.published([
                        .userMoved(user: info("gus"), from: 1, to: 0), .userMoved(user: info("gina"), from: 0, to: 1),
                    ])
        )
        #expect(rig.seated == ["gus", "gina", nil, nil])
        #expect(
            rig.call("gina") { .move(user: "gina", to: 0, policy: .forceReplace, caller: $0) }.code == 100201,
            "a guest displaces nobody")
        let replaced = rig.call("adam") { .move(user: "gina", to: 0, policy: .forceReplace, caller: $0) }
        #expect(replaced.first == rig.notice(to: "gus", .kickedOffSeat(seatIndex: 0, by: info("adam"))))
        #expect(rig.seated == ["gina", nil, nil, nil])
        #expect(rig.call("gina") { .move(user: "gina", to: 3, policy: .swapPosition, caller: $0) }.code == 0)
        #expect(rig.call("gina") { .move(user: "gina", to: 9, policy: .swapPosition, caller: $0) }.code == -2344)
        #expect(rig.call("adam") { .move(user: "gus", to: 0, policy: .swapPosition, caller: $0) }.code == 100206)
    }

    @Test func `nobody takes, locks or moves the kept owner's seat`() {
        var rig = SeatRig(SeatRig.live(mode: .free, keepsOwner: true))
        _ = rig.call("gina") { .take(seatIndex: 1, caller: $0) }
        #expect(rig.call("adam") { .kickOff(user: "olga", caller: $0) }.code == 100006)
        #expect(rig.call("adam") { .lock(seatIndex: 0, isLocked: true, caller: $0) }.code == 100006)
        #expect(rig.call("adam") { .move(user: "olga", to: 2, policy: .abortWhenOccupied, caller: $0) }.code == 100006)
        #expect(rig.call("adam") { .move(user: "gina", to: 0, policy: .forceReplace, caller: $0) }.code == 100201)
        _ = rig.tell(.userGone(user: "olga"))
        #expect(rig.call("gus") { .take(seatIndex: 0, caller: $0) }.code == 100201, "it waits for her")
        #expect(rig.call("olga") { .take(seatIndex: -1, caller: $0) }.result == .seat(index: 0))
    }
}
