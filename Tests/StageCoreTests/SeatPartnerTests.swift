// SPDX-License-Identifier: Apache-2.0
import CoreKit
import PlazaModel
import StageCore
import Testing

/// What connected lives and the app's backend are told of the seats.
struct SeatPartnerTests {
    private static let view = ConnectionView(
        id: "c-1",
        members: [
            ConnectionMember(live: "room", host: info("olga"), joinedAt: Timestamp(milliseconds: 0)),
            ConnectionMember(
                live: "duet", host: info("dora"), joinedAt: Timestamp(milliseconds: 0),
                seats: [Seat(index: 0, occupant: SeatUser(user: info("dora"), role: .owner, live: "duet"))]),
        ], templateID: 601)

    private func connect(_ rig: inout SeatRig, _ view: ConnectionView?, revision: Int64) -> [Effect] {
        rig.tell(.connection(view: view, battle: nil, revision: revision, events: []))
    }

    @Test func `while connected, partners are told each change of the seats`() {
        var rig = SeatRig(SeatRig.live(mode: .free, template: 600))
        #expect(self.connect(&rig, Self.view, revision: 1).last == rig.seatsTold)
        let taken = rig.call("gina") { .take(seatIndex: 3, caller: $0) }
        #expect(taken.contains(rig.seatsTold))
        let on = rig.call("gina") { .device(microphone: true, camera: nil, suspend: nil, caller: $0) }
        #expect(on.contains(rig.seatsTold))
        #expect(!self.connect(&rig, Self.view, revision: 2).contains(rig.seatsTold), "nothing new of its own")
        var other = Self.view
        other.id = "c-2"
        #expect(self.connect(&rig, other, revision: 3).contains(rig.seatsTold), "new partners")
        _ = self.connect(&rig, nil, revision: 4)
        let left = rig.call("gina") { .leave(caller: $0) }
        #expect(!left.contains { if case .connection = $0 { true } else { false } }, "nobody is there to tell")
    }

    @Test func `a voice live tells when it becomes too full to connect, and when it is so no longer`() {
        var rig = SeatRig(SeatRig.live(seats: 8, mode: .free))
        func take(_ number: Int) -> [Effect] {
            rig.call(UserID("g\(number)")) { .take(seatIndex: -1, caller: $0) }
        }
        for number in 0..<6 { #expect(!take(number).contains(rig.seatsTold)) }
        #expect(take(6).contains(rig.seatsTold))
        #expect(!take(7).contains(rig.seatsTold))
        #expect(!rig.tell(.userGone(user: "g1")).contains(rig.seatsTold))
        #expect(rig.tell(.userGone(user: "g2")).contains(rig.seatsTold))
    }

    @Test func `a connection's template replaces the live's own, with everybody on stage, and gives way again`() {
        var rig = SeatRig(SeatRig.live(mode: .free, keepsOwner: true, template: 800))
        #expect(rig.stage?.record.layout.canvas.templateID == 800)
        let joined = self.connect(&rig, Self.view, revision: 1)
        #expect(joined.stages.first?.layout.canvas.templateID == 601)
        #expect(joined.stages.first?.layout.regions.map(\.userID.text) == ["olga", "dora"])
        _ = rig.tell(.infoChanged(info: SeatRig.live(mode: .free, keepsOwner: true, template: 601)))
        #expect(rig.stage?.record.layout.canvas.templateID == 601)
        _ = rig.tell(.infoChanged(info: SeatRig.live(mode: .free, keepsOwner: true, template: 801)))
        #expect(rig.stage?.record.layout.canvas.templateID == 601, "the live's own waits")
        let alone = self.connect(&rig, nil, revision: 2)
        #expect(alone.stages.first?.layout.canvas.templateID == 801)
        #expect(alone.stages.first?.layout.regions.contains { $0.live == "duet" } == false)
    }

    @Test func `a backend with webhooks is told who sits where and what is locked, not of microphones`() {
        var rig = SeatRig(nil)
        var policy = AppPolicy()
        policy.hasWebhooks = true
        rig.rig = Rig(SeatMachine(policies: Policies(["demo": policy])))
        func told(_ effects: [Effect]) -> [[UserID?]] {
            effects.compactMap {
                guard case .webhook(let event) = $0, case .seatsChanged(let seats) = event.content else { return nil }
                return seats.map { $0.occupant?.user.userID }
            }
        }
        #expect(told(rig.tell(.opened(epoch: 7, info: SeatRig.live(mode: .free)))) == [[nil, nil, nil, nil]])
        #expect(told(rig.call("gina") { .take(seatIndex: 1, caller: $0) }) == [[nil, "gina", nil, nil]])
        let on = rig.call("gina") { .device(microphone: true, camera: nil, suspend: nil, caller: $0) }
        #expect(told(on) == [])
        let closed = rig.call("olga") {
            .lockDevice(user: "gina", device: .microphone, isLocked: true, caller: $0)
        }
        #expect(told(closed).count == 1)
        #expect(told(rig.call("olga") { .lock(seatIndex: 3, isLocked: true, caller: $0) }).count == 1)
        #expect(told(rig.call("gina") { .leave(caller: $0) }) == [[nil, nil, nil, nil]])
        #expect(told(rig.tell(.ended(ending: ending()))) == [], "the room's own end is told instead")
        var silent = SeatRig(SeatRig.live(mode: .free))
        #expect(told(silent.call("gina") { .take(seatIndex: 1, caller: $0) }) == [])
    }

    @Test func `the owner is asked for after a restart of presence also while it does not sit`() {
        var rig = SeatRig(SeatRig.live(mode: .free))
        _ = rig.call("gina") { .take(seatIndex: 2, caller: $0) }
        #expect(
            rig.tell(.confirmOccupants) == [
                .audience(AudienceInput(SeatRig.room, .confirm(user: "gina"))),
                .audience(AudienceInput(SeatRig.room, .confirm(user: "olga"))),
            ])
        _ = rig.tell(.userGone(user: "olga"))
        #expect(rig.tell(.confirmOccupants).count == 1)
    }
}
