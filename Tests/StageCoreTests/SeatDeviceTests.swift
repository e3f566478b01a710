// SPDX-License-Identifier: Apache-2.0
import CoreKit
import PlazaModel
import StageCore
import Testing

/// Microphones and cameras on stage (reference 7).
struct SeatDeviceTests {
    /// A live in free mode where `gina` sits on seat 1.
    private func rig() -> SeatRig {
        var rig = SeatRig(SeatRig.live(mode: .free))
        _ = rig.call("gina") { .take(seatIndex: 1, caller: $0) }
        return rig
    }

    private func device(
        _ rig: inout SeatRig, _ user: UserID, microphone: Bool? = nil, camera: Bool? = nil,
        suspend: SuspendStatus? = nil
    ) -> [Effect] {
        rig.call(user) { .device(microphone: microphone, camera: camera, suspend: suspend, caller: $0) }
    }

    @Test func `who sits tells of its own devices, and viewers see it in one revision`() {
        var rig = self.rig()
        let caller = rig.callers.user("gina")
        let effects = rig.tell(.device(microphone: true, camera: nil, suspend: .inBackground, caller: caller))
        #expect(effects == rig.published([]) + [rig.success(.done, to: caller, changed: true)])
        #expect(rig.stage?.seats[1].occupant?.isMicrophoneOn == true)
        #expect(rig.stage?.seats[1].occupant?.isCameraOn == false)
        #expect(rig.stage?.seats[1].occupant?.suspendStatus == .inBackground)
        #expect(self.device(&rig, "gina", microphone: true).stages == [], "nothing is new")
        #expect(self.device(&rig, "gus", microphone: true).code == 100206)
    }

    @Test(arguments: [(Device.microphone, -2361), (.camera, -2371)])
    func `a host closes a device: off, locked, told to its owner; opening lifts the lock alone`(
        device: Device, code: Int
    ) {
        var rig = self.rig()
        _ = self.device(&rig, "gina", microphone: true, camera: true)
        let host = rig.callers.user("adam")
        #expect(
            rig.tell(.lockDevice(user: "gina", device: device, isLocked: true, caller: host)) == [
                rig.notice(to: "gina", .deviceClosedByAdmin(device: device, by: info("adam")))
            ] + rig.published([]) + [rig.success(.done, to: host, changed: true)])
        func isOn() -> Bool? {
            let gina = rig.stage?.seats[1].occupant
            return device == .microphone ? gina?.isMicrophoneOn : gina?.isCameraOn
        }
        #expect(isOn() == false)
        #expect(self.device(&rig, "gina", microphone: true, camera: true).code == code)
        #expect(self.device(&rig, "gina", microphone: false, camera: false).code == 0, "off it may be always")
        let again = rig.call("anna") { .lockDevice(user: "gina", device: device, isLocked: true, caller: $0) }
        #expect(again.notices == [] && again.stages == [], "closed is closed")
        let opened = rig.call("olga") { .lockDevice(user: "gina", device: device, isLocked: false, caller: $0) }
        #expect(
            opened.first
                == rig.notice(
                    to: "gina", .deviceOpenedByAdmin(device: device, policy: .unlockOnly, by: info("olga"))))
        #expect(isOn() == false, "the user itself opens it")
        #expect(self.device(&rig, "gina", microphone: true, camera: true).code == 0)
    }

    @Test(arguments: [(Device.microphone, -2360), (.camera, -2370)])
    func `a seat's device lock holds for whoever sits there, and stays behind`(device: Device, code: Int) {
        var rig = self.rig()
        _ = self.device(&rig, "gina", microphone: true, camera: true)
        func lock(_ index: Int, _ isLocked: Bool) -> [Effect] {
            rig.call("adam") {
                .lock(
                    seatIndex: index, isLocked: nil, microphone: device == .microphone ? isLocked : nil,
                    camera: device == .camera ? isLocked : nil, caller: $0)
            }
        }
        #expect(
            lock(1, true).notices.map(\.content) == [.deviceClosedByAdmin(device: device, by: info("adam"))])
        #expect(rig.seated[1] == "gina", "only a lock of the seat itself puts off")
        #expect(self.device(&rig, "gina", microphone: true, camera: true).code == code)
        _ = rig.call("gina") { .move(user: "gina", to: 2, policy: .abortWhenOccupied, caller: $0) }
        #expect(self.device(&rig, "gina", microphone: true, camera: true).code == 0, "another seat, another lock")
        _ = rig.call("gus") { .take(seatIndex: 1, caller: $0) }
        #expect(self.device(&rig, "gus", microphone: true, camera: true).code == code)
        #expect(
            lock(1, false).notices.map(\.content) == [
                .deviceOpenedByAdmin(device: device, policy: .unlockOnly, by: info("adam"))
            ])
        #expect(self.device(&rig, "gus", microphone: true, camera: true).code == 0)
    }

    @Test func `who is moved onto a seat with a locked device is told so, and that it is open elsewhere`() {
        var rig = self.rig()
        _ = self.device(&rig, "gina", microphone: true, camera: true)
        _ = rig.call("gus") { .take(seatIndex: 3, caller: $0) }
        _ = rig.call("adam") { .lock(seatIndex: 3, isLocked: nil, microphone: nil, camera: true, caller: $0) }
        let closed = NoticeContent.deviceClosedByAdmin(device: .camera, by: info("adam"))
        let opened = NoticeContent.deviceOpenedByAdmin(device: .camera, policy: .unlockOnly, by: info("adam"))
        let swapped = rig.call("adam") { .move(user: "gina", to: 3, policy: .swapPosition, caller: $0) }
        #expect(rig.stage?.seats[3].occupant?.isCameraOn == false && rig.seated[1] == "gus")
        #expect(swapped.notices.map(\.content) == [opened, closed])
        #expect(swapped.notices.map(\.to.user) == ["gus", "gina"])
        let back = rig.call("adam") { .move(user: "gina", to: 2, policy: .abortWhenOccupied, caller: $0) }
        #expect(back.notices.map(\.content) == [opened])
        let own = rig.call("gina") { .move(user: "gina", to: 3, policy: .abortWhenOccupied, caller: $0) }
        #expect(own.notices == [], "who moves itself knows")
    }

    @Test func `what a host closed stays closed on another seat, and is forgotten with the seat`() {
        var rig = self.rig()
        _ = rig.call("adam") { .lockDevice(user: "gina", device: .microphone, isLocked: true, caller: $0) }
        _ = rig.call("gina") { .move(user: "gina", to: 3, policy: .abortWhenOccupied, caller: $0) }
        #expect(self.device(&rig, "gina", microphone: true).code == -2361)
        _ = rig.call("gina") { .leave(caller: $0) }
        _ = rig.call("gina") { .take(seatIndex: 3, caller: $0) }
        #expect(self.device(&rig, "gina", microphone: true).code == 0)
    }

    @Test func `two are swapped with their own locks, and get those of their new seats`() {
        var rig = self.rig()
        _ = rig.call("gus") { .take(seatIndex: 2, caller: $0) }
        _ = self.device(&rig, "gus", microphone: true, camera: true)
        _ = rig.call("adam") { .lockDevice(user: "gina", device: .microphone, isLocked: true, caller: $0) }
        _ = rig.call("adam") {
            .lock(seatIndex: 1, isLocked: nil, microphone: nil, camera: true, caller: $0)
        }
        _ = rig.call("olga") { .move(user: "gina", to: 2, policy: .swapPosition, caller: $0) }
        let (gus, gina) = (rig.stage?.seats[1].occupant, rig.stage?.seats[2].occupant)
        #expect(gus?.isMicrophoneOn == true && gus?.isCameraOn == false && gus?.allowOpenCamera == false)
        #expect(gina?.allowOpenMicrophone == false && gina?.allowOpenCamera == true)
    }

    @Test func `a host's own device, nobody's, and a taken seat with its devices`() {
        var rig = self.rig()
        #expect(
            rig.call("adam") { .lockDevice(user: "gus", device: .camera, isLocked: true, caller: $0) }.code == -1,
            "the reference's user not found")
        _ = rig.call("adam") { .take(seatIndex: 2, caller: $0) }
        let own = rig.call("adam") { .lockDevice(user: "adam", device: .camera, isLocked: true, caller: $0) }
        #expect(own.code == 0 && own.notices == [], "it knows")
        let all = rig.call("olga") {
            .lock(seatIndex: 1, isLocked: true, microphone: true, camera: nil, caller: $0)
        }
        #expect(all.notices.map(\.content) == [.kickedOffSeat(seatIndex: 1, by: info("olga"))])
        #expect(rig.stage?.seats[1] == Seat(index: 1, isLocked: true, isMicrophoneLocked: true))
        let none = rig.call("olga") {
            .lock(seatIndex: 1, isLocked: nil, microphone: nil, camera: nil, caller: $0)
        }
        #expect(none.code == 0 && none.stages == [])
    }

    @Test func `an admin has no power over the owner's seat and devices`() {
        var rig = SeatRig(SeatRig.live(mode: .free))
        _ = rig.call("olga") { .take(seatIndex: 2, caller: $0) }
        _ = rig.call("gina") { .take(seatIndex: 1, caller: $0) }
        let before = rig.stage
        let tries: [(Caller) -> SeatCommand] = [
            { .kickOff(user: "olga", caller: $0) },
            { .lockDevice(user: "olga", device: .microphone, isLocked: true, caller: $0) },
            { .lock(seatIndex: 2, isLocked: true, caller: $0) },
            { .lock(seatIndex: 2, isLocked: nil, microphone: true, camera: nil, caller: $0) },
            { .move(user: "olga", to: 3, policy: .abortWhenOccupied, caller: $0) },
            { .move(user: "gina", to: 2, policy: .forceReplace, caller: $0) },
            { .move(user: "gina", to: 2, policy: .swapPosition, caller: $0) },
        ]
        for command in tries {
            let effects = rig.call("adam", command)
            #expect(effects.code == 100006 && effects.count == 1)
        }
        #expect(rig.stage == before)
        let server = rig.callers.server()
        #expect(rig.tell(.kickOff(user: "olga", caller: server)).code == 0, "the app's server has")
    }
}
