// SPDX-License-Identifier: Apache-2.0
import CoreKit
import PlazaModel
import StageCore
import Testing

/// What other machines tell the seats, and calls that come again.
struct SeatFactTests {
    @Test func `I6 a user below its floor cannot act, and can again with a new ticket`() {
        var rig = SeatRig(SeatRig.live(mode: .free))
        _ = rig.tell(.floor(user: "gina", ticket: Ticket(60)))
        #expect(
            rig.tell(.take(seatIndex: 1, caller: rig.callers.user("gina", ticket: Ticket(59)))).code
                == ReplyCode.staleTicket.code)
        #expect(rig.tell(.take(seatIndex: 1, caller: rig.callers.user("gina", ticket: nil))).code == -2101)
        #expect(rig.tell(.take(seatIndex: 1, caller: rig.callers.user("gina", ticket: Ticket(60)))).code == 0)
        #expect(rig.call("gus") { .take(seatIndex: 2, caller: $0) }.code == 0, "other users are untouched")
    }

    @Test func `a user who is gone leaves its seat, and its requests end with a word to the other side`() {
        var rig = SeatRig(SeatRig.live(admins: []))
        _ = rig.call("olga") { .invite(user: "gus", seatIndex: -1, timeoutSeconds: 60, extraInfo: "", caller: $0) }
        _ = rig.call("gus") { .apply(seatIndex: -1, timeoutSeconds: 60, extraInfo: "", caller: $0) }
        #expect(
            rig.tell(.userGone(user: "gus")) == [
                rig.notice(to: "olga", .invitationAnswered(guest: info("gus"), accepted: false)),
                rig.notice(to: "olga", .applicationCancelled(guest: info("gus"))),
            ])
        _ = rig.call("olga") { .take(seatIndex: 3, caller: $0) }
        _ = rig.call("olga") { .invite(user: "gina", seatIndex: -1, timeoutSeconds: 60, extraInfo: "", caller: $0) }
        #expect(
            rig.tell(.userGone(user: "olga")) == [
                rig.notice(to: "gina", .invitationCancelled(host: info("olga")))
            ] + rig.published([.seatLeft(index: 3, user: info("olga"))]))
        #expect(rig.pass(milliseconds: 59_000) == [])
        #expect(rig.seated == [nil, nil, nil, nil])
    }

    @Test func `I5 after a restart of presence each occupant is asked for`() {
        var rig = SeatRig(SeatRig.live(mode: .free, keepsOwner: true))
        _ = rig.call("gina") { .take(seatIndex: 2, caller: $0) }
        #expect(
            rig.tell(.confirmOccupants) == [
                .audience(AudienceInput(SeatRig.room, .confirm(user: "olga"))),
                .audience(AudienceInput(SeatRig.room, .confirm(user: "gina"))),
            ])
    }

    @Test func `new info changes mode, admins and the number of seats in one revision`() {
        var rig = SeatRig(SeatRig.live(mode: .free))
        _ = rig.call("adam") { .take(seatIndex: 0, caller: $0) }
        _ = rig.call("gina") { .take(seatIndex: 3, caller: $0) }
        let before = rig.stage?.revision ?? 0
        let fewer = rig.tell(.infoChanged(info: SeatRig.live(seats: 3, mode: .free, admins: ["adam"])))
        #expect(fewer == rig.published([.userMoved(user: info("gina"), from: 3, to: 1)]), "there is a free seat")
        let effects = rig.tell(.infoChanged(info: SeatRig.live(seats: 1, mode: .apply, admins: ["anna"])))
        #expect(
            effects == [rig.notice(to: "gina", .kickedOffSeat(seatIndex: 1, by: info("olga")))]
                + rig.published([.seatLeft(index: 1, user: info("gina"))]))
        #expect(rig.seated == ["adam"])
        #expect(rig.stage?.seats[0].occupant?.role == .generalUser)
        #expect(rig.stage.map { $0.revision > before } == true)
        #expect(rig.call("adam") { .kickOff(user: "adam", caller: $0) }.code == 100006)
        _ = rig.tell(.infoChanged(info: SeatRig.live(seats: 2, mode: .apply, admins: ["anna"])))
        #expect(rig.tell(.infoChanged(info: SeatRig.live(seats: 2, mode: .free, admins: ["anna"]))) == [])
        #expect(rig.call("gus") { .take(seatIndex: 1, caller: $0) }.code == 0, "the mode counts without a revision")
    }

    @Test func `I13 the end of the live drops all requests, and its stage is gone after five minutes`() {
        var rig = SeatRig(SeatRig.live(keepsOwner: true))
        _ = rig.call("gina") { .apply(seatIndex: -1, timeoutSeconds: 1800, extraInfo: "", caller: $0) }
        let passedOn = Effect.audience(AudienceInput(SeatRig.room, .ended(epoch: 7, ending: ending())))
        let ended = rig.tell(.ended(ending: ending()))
        #expect(rig.stage.map { ended == [.stage($0.record), passedOn] } == true)
        #expect(rig.seated == [nil, nil, nil, nil])
        #expect(rig.tell(.ended(ending: ending())) == [passedOn], "told again, the end goes on again")
        #expect(rig.tell(.userGone(user: "gina")) == [])
        #expect(rig.pass(milliseconds: 299_999) == [])
        #expect(rig.pass(milliseconds: 1) == [.stageGone(SeatRig.room)])
        #expect(rig.rig.journal.count == 0)
    }

    @Test func `a live that is created anew under its old name goes on with higher revisions`() {
        var rig = SeatRig()
        let first = rig.tell(.ended(ending: ending())).stages.last?.revision ?? .max
        let again = rig.tell(.opened(epoch: 9, info: SeatRig.live()))
        #expect(again.stages.first.map { $0.revision > first && $0.epoch == 9 } == true)
        #expect(rig.pass(milliseconds: 300_000) == [], "the old end is forgotten")
        #expect(rig.tell(.ended(ending: ending(8))).stages == [], "an end of the live before this one")
        #expect(rig.tell(.opened(epoch: 8, info: SeatRig.live())) == [])
    }

    @Test func `connection and battle become part of the one stage, and older words about them are ignored`() {
        var rig = SeatRig()
        let member = ConnectionMember(live: "room", host: info("olga"), joinedAt: rig.rig.moment.now)
        let view = ConnectionView(id: "c-1", members: [member])
        let joined = [StageEvent.coHostJoined(member: member)]
        #expect(
            rig.tell(.connection(view: view, battle: nil, revision: 5, events: joined)) == rig.published(joined)
                + [rig.seatsTold])
        #expect(rig.stage?.record.connection == view)
        #expect(rig.tell(.connection(view: nil, battle: nil, revision: 5, events: [])) == [])
        #expect(rig.tell(.connection(view: nil, battle: nil, revision: 4, events: [])) == [])
        #expect(rig.stage?.record.connection == view)
        #expect(rig.tell(.connection(view: nil, battle: nil, revision: 6, events: [])).stages.count == 1)
        #expect(rig.stage?.record.connection == nil)
    }

    @Test func `I15 a call that comes again is answered again and done once`() {
        var rig = SeatRig(SeatRig.live(mode: .free))
        let taking = rig.callers.user("gina")
        let first = rig.tell(.take(seatIndex: 1, caller: taking))
        _ = rig.call("gina") { .leave(caller: $0) }
        let again = rig.tell(.take(seatIndex: 1, caller: taking))
        #expect(again == [first.last].compactMap { $0 })
        #expect(rig.seated == [nil, nil, nil, nil], "the repeated call seats nobody")
        var refused = rig.callers.user("gus")
        refused.request.counter = 1000
        #expect(rig.tell(.leave(caller: refused)).code == 100206)
        _ = rig.call("gus") { .take(seatIndex: 2, caller: $0) }
        #expect(rig.tell(.leave(caller: refused)).code == 100206, "a refusal is an answer too")
        for _ in 0..<17 {
            _ = rig.pass(milliseconds: 500)
            _ = rig.call("gina") { .leave(caller: $0) }
        }
        #expect(rig.tell(.take(seatIndex: 1, caller: taking)).code == ReplyCode.requestForgotten.code)
    }

    @Test func `I15 outcomes are kept for a minute, rounded up to ten seconds`() {
        var rig = SeatRig()
        _ = rig.pass(milliseconds: 1)
        _ = rig.call("gina") { .leave(caller: $0) }
        #expect(rig.rig.journal.count == 2)
        _ = rig.pass(milliseconds: 69_998)
        #expect(rig.rig.journal.count == 2)
        _ = rig.pass(milliseconds: 1)
        #expect(rig.rig.journal.count == 1)
    }

    @Test func `I16 a live holds so many open requests, then refuses with a hint`() {
        var rig = SeatRig()
        for number in 0..<Limits.openSeatRequests {
            _ = rig.call(UserID("g\(number)")) {
                .apply(seatIndex: -1, timeoutSeconds: 60, extraInfo: "", caller: $0)
            }
        }
        let refused = rig.call("gina") { .apply(seatIndex: -1, timeoutSeconds: 60, extraInfo: "", caller: $0) }
        guard case .failure(let error)? = refused.replies.last?.outcome else {
            Issue.record("not refused: \(refused)")
            return
        }
        #expect(error.code == .overloaded && error.retryAfter != nil)
        let long = String(repeating: "x", count: Limits.extraInfoBytes + 1)
        #expect(
            rig.call("gus") { .apply(seatIndex: -1, timeoutSeconds: 60, extraInfo: long, caller: $0) }.code == 100002)
    }
}
