// SPDX-License-Identifier: Apache-2.0
import CoreKit
import PlazaModel
import StageCore
import Testing

/// The owner that comes and goes, templates that change, names that change (reference 3, 7 and 9).
struct SeatOwnerTests {
    @Test func `a kept owner sits again when it is back, and nobody takes its seat meanwhile`() {
        var rig = SeatRig(SeatRig.live(mode: .free, keepsOwner: true))
        #expect(
            rig.tell(.userGone(user: "olga")) == rig.published([.seatLeft(index: 0, user: info("olga"))]))
        #expect(rig.call("gina") { .take(seatIndex: -1, caller: $0) }.result == .seat(index: 1))
        #expect(rig.tell(.userBack(user: info("gus"))) == [], "only the owner has a seat to come back to")
        #expect(
            rig.tell(.userBack(user: info("olga"))) == rig.published([.seatTaken(index: 0, user: info("olga"))]))
        #expect(rig.tell(.userBack(user: info("olga"))) == [], "told again")
        #expect(rig.seated == ["olga", "gina", nil, nil])
    }

    @Test func `an owner that is not kept takes a seat by itself`() {
        var rig = SeatRig(SeatRig.live(mode: .free))
        #expect(rig.tell(.userBack(user: info("olga"))) == [])
        #expect(rig.call("olga") { .take(seatIndex: 2, caller: $0) }.result == .seat(index: 2))
        _ = rig.tell(.userGone(user: "olga"))
        #expect(rig.tell(.userBack(user: info("olga"))) == [])
        #expect(rig.seated == [nil, nil, nil, nil])
    }

    @Test func `an owner that is kept sits nowhere but on seat 0`() {
        var rig = SeatRig(SeatRig.live(mode: .free, keepsOwner: true))
        #expect(rig.call("olga") { .leave(caller: $0) }.result == .done)
        #expect(rig.call("olga") { .take(seatIndex: 2, caller: $0) }.code == 100006)
        #expect(rig.call("olga") { .take(seatIndex: -1, caller: $0) }.result == .seat(index: 0))
    }

    @Test func `in a live that waits for its owner seat 0 stays empty until the owner enters`() {
        var live = SeatRig.live(keepsOwner: true)
        live.status = .scheduled
        var rig = SeatRig(live)
        #expect(rig.seated == [nil, nil, nil, nil])
        #expect(rig.tell(.userBack(user: info("olga"))).stages.count == 1)
        #expect(rig.seated == ["olga", nil, nil, nil])
    }

    @Test func `an owner that is kept from now on has seat 0, and a guest there moves or is put off`() {
        var rig = SeatRig(SeatRig.live(mode: .free))
        _ = rig.call("olga") { .take(seatIndex: 3, caller: $0) }
        _ = rig.call("olga") { .lock(seatIndex: 0, isLocked: true, caller: $0) }
        #expect(
            rig.tell(.infoChanged(info: SeatRig.live(mode: .free, keepsOwner: true)))
                == rig.published([.seatUnlocked(index: 0), .userMoved(user: info("olga"), from: 3, to: 0)]))
        var taken = SeatRig(SeatRig.live(mode: .free))
        _ = taken.call("gina") { .take(seatIndex: 0, caller: $0) }
        #expect(
            taken.tell(.infoChanged(info: SeatRig.live(mode: .free, keepsOwner: true)))
                == taken.published([
                    .seatTaken(index: 0, user: info("olga")), .userMoved(user: info("gina"), from: 0, to: 1),
                ]))
        #expect(taken.seated == ["olga", "gina", nil, nil])
        var freed = SeatRig(SeatRig.live(seats: 3, mode: .free))
        for (user, index) in [("gina", 0), ("gus", 1), ("olga", 2)] as [(UserID, Int)] {
            _ = freed.call(user) { .take(seatIndex: index, caller: $0) }
        }
        _ = freed.tell(.infoChanged(info: SeatRig.live(seats: 3, mode: .free, keepsOwner: true)))
        #expect(freed.seated == ["olga", "gus", "gina"], "the seat that the owner left is free")
        var full = SeatRig(SeatRig.live(seats: 1, mode: .free))
        _ = full.call("gina") { .take(seatIndex: 0, caller: $0) }
        let put = full.tell(.infoChanged(info: SeatRig.live(seats: 1, mode: .free, keepsOwner: true)))
        #expect(put.notices.map(\.content) == [.kickedOffSeat(seatIndex: 0, by: info("olga"))])
        #expect(full.seated == ["olga"], "a guest who finds no other seat is put off")
    }

    @Test func `a live that changes its template in mid-live keeps its people, as far as there are seats`() {
        var rig = SeatRig(SeatRig.live(mode: .free, keepsOwner: true, template: 600))
        for (user, index) in [("gina", 1), ("gus", 7), ("gerd", 8)] as [(UserID, Int)] {
            _ = rig.call(user) { .take(seatIndex: index, caller: $0) }
        }
        #expect(rig.stage?.record.layout.canvas.templateID == 600)
        let fewer = rig.tell(.infoChanged(info: SeatRig.live(mode: .free, keepsOwner: true, template: 601)))
        #expect(
            fewer
                == rig.published([
                    .userMoved(user: info("gus"), from: 7, to: 2), .userMoved(user: info("gerd"), from: 8, to: 3),
                ]))
        #expect(rig.stage?.record.layout.canvas.templateID == 601)
        #expect(rig.stage?.record.layout.regions.count == 4)
        let two = rig.tell(.infoChanged(info: SeatRig.live(mode: .free, keepsOwner: true, template: 400)))
        #expect(
            two.notices.map(\.to.user) == ["gus", "gerd"]
                && two.notices.map(\.content) == [
                    .kickedOffSeat(seatIndex: 2, by: info("olga")), .kickedOffSeat(seatIndex: 3, by: info("olga")),
                ])
        #expect(rig.seated == ["olga", "gina"])
        let same = rig.tell(.infoChanged(info: SeatRig.live(mode: .free, keepsOwner: true, template: 800)))
        #expect(same.stages.first?.layout.regions.count == 9, "empty cells stay")
        _ = rig.tell(.infoChanged(info: SeatRig.live(mode: .free, keepsOwner: true, template: 602)))
        #expect(rig.stage?.record.layout.regions.count == 2, "a layout that changes alone is a revision too")
    }

    @Test func `a voice live's number of seats may grow and shrink`() {
        var rig = SeatRig(SeatRig.live(seats: 3))
        _ = rig.tell(.infoChanged(info: SeatRig.live(seats: 6)))
        #expect(rig.seated.count == 6)
        _ = rig.tell(.infoChanged(info: SeatRig.live(seats: 0)))
        #expect(rig.call("gina") { .apply(seatIndex: -1, timeoutSeconds: 0, extraInfo: "", caller: $0) }.code == 100211)
    }

    @Test func `a live without seats shows a stage with none`() {
        var rig = SeatRig(nil)
        #expect(rig.tell(.opened(epoch: 7, info: SeatRig.live(seats: 0))).stages.map(\.seats) == [[]])
    }

    @Test func `a new name is shown on the seat and to those who answer`() {
        var rig = SeatRig(SeatRig.live(mode: .free))
        _ = rig.call("gina") { .take(seatIndex: 1, caller: $0) }
        _ = rig.call("olga") { .invite(user: "gus", seatIndex: -1, timeoutSeconds: 60, extraInfo: "", caller: $0) }
        let gina = UserInfo(userID: "gina", userName: "Regina", avatarURL: "https://example.org/g")
        #expect(rig.tell(.profile(user: gina)) == rig.published([]))
        #expect(rig.stage?.seats[1].occupant?.user == gina)
        #expect(rig.tell(.profile(user: gina)) == [])
        let olga = UserInfo(userID: "olga", userName: "Olga II")
        #expect(rig.tell(.profile(user: olga)) == [], "she is not on stage")
        #expect(
            rig.tell(.userGone(user: "olga")).notices.map(\.content) == [.invitationCancelled(host: olga)])
    }

    @Test func `a newer live of the same name opens even before the end of the last one arrives`() {
        var rig = SeatRig(SeatRig.live(mode: .free))
        _ = rig.call("gina") { .take(seatIndex: 1, caller: $0) }
        let opened = rig.tell(.opened(epoch: 8, info: SeatRig.live(seats: 2)))
        #expect(opened.stages.first?.epoch == 8)
        #expect(rig.seated == [nil, nil])
        #expect(rig.tell(.ended(ending: ending(7))).stages == [], "the late end is of the live before")
    }
}
