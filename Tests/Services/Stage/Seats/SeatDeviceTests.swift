// SPDX-License-Identifier: Apache-2.0
import MachineKit
import MachineTestSupport
import PlazaModel
import StageCore
import Testing

/// Microphones and cameras on stage (R7.8, R7.9, R7.10).
///
/// olga is the owner; adam and anna are admins. The call `lock` locks a seat, or the devices of whoever sits there. The
/// call `lockDevice` turns a device of a user off and locks it, on whichever seat the user sits. A nil leaves a lock or
/// a device as it is.
struct SeatDeviceTests {
    /// A live in free mode where `gina` sits on seat 1.
    private func harnessWithSeatedGina() -> SeatHarness {
        var harness = SeatHarness(SeatHarness.live(mode: .free))
        _ = harness.call("gina") { .take(seatIndex: 1, caller: $0) }
        return harness
    }

    /// Lets a user turn its own devices on or off.
    private func setDevices(
        _ harness: inout SeatHarness, _ user: UserID, microphone: Bool? = nil, camera: Bool? = nil,
        suspend: SuspendStatus? = nil
    ) -> [Effect] {
        harness.call(user) { .device(microphone: microphone, camera: camera, suspend: suspend, caller: $0) }
    }

    /// Rules: R1.8, R1.11, R1.12.
    @Test func `a seated user sets its own devices, and viewers see the change in one revision`() {
        var harness = self.harnessWithSeatedGina()
        let caller = harness.callers.user("gina")
        let effects = harness.handle(.device(microphone: true, camera: nil, suspend: .inBackground, caller: caller))
        // A change of devices is not an event of the stage, so the stage is published without events.
        #expect(effects == harness.published([]) + [harness.success(.done, to: caller, changesStage: true)])
        #expect(harness.stage?.seats[1].occupant?.isMicrophoneOn == true)
        #expect(harness.stage?.seats[1].occupant?.isCameraOn == false)
        #expect(harness.stage?.seats[1].occupant?.suspendStatus == .inBackground)
        #expect(self.setDevices(&harness, "gina", microphone: true).stages == [], "the microphone is on already")
        #expect(self.setDevices(&harness, "gus", microphone: true).code == .notOnSeat)
    }

    /// Rules: R7.9.
    @Test(arguments: [(Device.microphone, ReplyCode.microphoneNeedsHost), (.camera, .cameraNeedsHost)])
    func `a device that a host locks is turned off, and the user is notified; unlocking does not turn the device on`(
        device: Device, rejection: ReplyCode
    ) {
        var harness = self.harnessWithSeatedGina()
        _ = self.setDevices(&harness, "gina", microphone: true, camera: true)
        let host = harness.callers.user("adam")
        #expect(
            harness.handle(.lockDevice(user: "gina", device: device, isLocked: true, caller: host)) == [
                harness.notice(to: "gina", .deviceClosedByAdmin(device: device, by: userInfo("adam")))
            ] + harness.published([]) + [harness.success(.done, to: host, changesStage: true)])
        /// Whether gina's device is on; nil when gina has no seat.
        func isOn() -> Bool? {
            let gina = harness.stage?.seats[1].occupant
            return device == .microphone ? gina?.isMicrophoneOn : gina?.isCameraOn
        }
        #expect(isOn() == false)
        #expect(self.setDevices(&harness, "gina", microphone: true, camera: true).code == rejection)
        #expect(
            self.setDevices(&harness, "gina", microphone: false, camera: false).code == .success,
            "a locked device may be turned off")
        let secondLockEffects = harness.call("anna") {
            .lockDevice(user: "gina", device: device, isLocked: true, caller: $0)
        }
        #expect(secondLockEffects.notices == [] && secondLockEffects.stages == [], "the device is locked already")
        let unlockEffects = harness.call("olga") {
            .lockDevice(user: "gina", device: device, isLocked: false, caller: $0)
        }
        #expect(
            unlockEffects.first
                == harness.notice(
                    to: "gina", .deviceOpenedByAdmin(device: device, policy: .unlockOnly, by: userInfo("olga"))))
        #expect(isOn() == false, "only gina can turn the device on")
        #expect(self.setDevices(&harness, "gina", microphone: true, camera: true).code == .success)
    }

    /// Rules: R7.8.
    @Test(arguments: [(Device.microphone, ReplyCode.seatMicrophoneLocked), (.camera, .seatCameraLocked)])
    func `the device lock of a seat applies to whoever sits there, and does not move with an occupant`(
        device: Device, rejection: ReplyCode
    ) {
        var harness = self.harnessWithSeatedGina()
        _ = self.setDevices(&harness, "gina", microphone: true, camera: true)
        /// Lets adam lock or unlock the tested device of seat 1.
        func setDeviceLockOfSeatOne(_ isLocked: Bool) -> [Effect] {
            harness.call("adam") {
                .lock(
                    seatIndex: 1, isLocked: nil, microphone: device == .microphone ? isLocked : nil,
                    camera: device == .camera ? isLocked : nil, caller: $0)
            }
        }
        #expect(
            setDeviceLockOfSeatOne(true).notices.map(\.content) == [
                .deviceClosedByAdmin(device: device, by: userInfo("adam"))
            ])
        #expect(harness.seated[1] == "gina", "only a lock of the seat itself removes its occupant")
        #expect(self.setDevices(&harness, "gina", microphone: true, camera: true).code == rejection)
        _ = harness.call("gina") { .move(user: "gina", to: 2, policy: .abortWhenOccupied, caller: $0) }
        #expect(
            self.setDevices(&harness, "gina", microphone: true, camera: true).code == .success,
            "the new seat has no locks")
        _ = harness.call("gus") { .take(seatIndex: 1, caller: $0) }
        #expect(self.setDevices(&harness, "gus", microphone: true, camera: true).code == rejection)
        #expect(
            setDeviceLockOfSeatOne(false).notices.map(\.content) == [
                .deviceOpenedByAdmin(device: device, policy: .unlockOnly, by: userInfo("adam"))
            ])
        #expect(self.setDevices(&harness, "gus", microphone: true, camera: true).code == .success)
    }

    /// Rules: R7.11.
    @Test func `a user whom a host moves is notified of devices that the new seat locks or unlocks`() {
        var harness = self.harnessWithSeatedGina()
        _ = self.setDevices(&harness, "gina", microphone: true, camera: true)
        // gina sits on seat 1, and gus on seat 3. Then adam locks the camera of seat 3.
        _ = harness.call("gus") { .take(seatIndex: 3, caller: $0) }
        _ = harness.call("adam") { .lock(seatIndex: 3, isLocked: nil, microphone: nil, camera: true, caller: $0) }
        let locked = NoticeContent.deviceClosedByAdmin(device: .camera, by: userInfo("adam"))
        let unlocked = NoticeContent.deviceOpenedByAdmin(device: .camera, policy: .unlockOnly, by: userInfo("adam"))
        let swapped = harness.call("adam") { .move(user: "gina", to: 3, policy: .swapPosition, caller: $0) }
        #expect(harness.stage?.seats[3].occupant?.isCameraOn == false && harness.seated[1] == "gus")
        // gus leaves the seat with the locked camera, and gina now sits there.
        #expect(swapped.notices.map(\.content) == [unlocked, locked])
        #expect(swapped.notices.map(\.to.user) == ["gus", "gina"])
        let movedAgain = harness.call("adam") { .move(user: "gina", to: 2, policy: .abortWhenOccupied, caller: $0) }
        #expect(movedAgain.notices.map(\.content) == [unlocked])
        let ownMove = harness.call("gina") { .move(user: "gina", to: 3, policy: .abortWhenOccupied, caller: $0) }
        #expect(ownMove.notices == [], "a user who moves itself gets no notice")
    }

    @Test func `a device that a host locked stays locked when its user moves, until the user leaves the stage`() {
        var harness = self.harnessWithSeatedGina()
        _ = harness.call("adam") { .lockDevice(user: "gina", device: .microphone, isLocked: true, caller: $0) }
        _ = harness.call("gina") { .move(user: "gina", to: 3, policy: .abortWhenOccupied, caller: $0) }
        #expect(self.setDevices(&harness, "gina", microphone: true).code == .microphoneNeedsHost)
        _ = harness.call("gina") { .leave(caller: $0) }
        _ = harness.call("gina") { .take(seatIndex: 3, caller: $0) }
        #expect(self.setDevices(&harness, "gina", microphone: true).code == .success)
    }

    @Test func `two swapped users keep the locks of their own devices, and get the device locks of their new seats`() {
        var harness = self.harnessWithSeatedGina()
        // gina on seat 1 has a locked microphone. Seat 1 itself has a locked camera. gus on seat 2 has no lock.
        _ = harness.call("gus") { .take(seatIndex: 2, caller: $0) }
        _ = self.setDevices(&harness, "gus", microphone: true, camera: true)
        _ = harness.call("adam") { .lockDevice(user: "gina", device: .microphone, isLocked: true, caller: $0) }
        _ = harness.call("adam") {
            .lock(seatIndex: 1, isLocked: nil, microphone: nil, camera: true, caller: $0)
        }
        _ = harness.call("olga") { .move(user: "gina", to: 2, policy: .swapPosition, caller: $0) }
        let (gus, gina) = (harness.stage?.seats[1].occupant, harness.stage?.seats[2].occupant)
        #expect(gus?.isMicrophoneOn == true && gus?.isCameraOn == false && gus?.allowOpenCamera == false)
        #expect(gina?.allowOpenMicrophone == false && gina?.allowOpenCamera == true)
    }

    /// Rules: R7.10.
    @Test
    func
        `a host can lock its own device, and a seat together with its devices, but no device of a user without a seat`()
    {
        var harness = self.harnessWithSeatedGina()
        #expect(
            harness.call("adam") { .lockDevice(user: "gus", device: .camera, isLocked: true, caller: $0) }.code
                == .failed,
            "gus is on no seat (R7.10)")
        _ = harness.call("adam") { .take(seatIndex: 2, caller: $0) }
        let ownLock = harness.call("adam") { .lockDevice(user: "adam", device: .camera, isLocked: true, caller: $0) }
        #expect(ownLock.code == .success && ownLock.notices == [], "the caller gets no notice")
        let seatAndDevice = harness.call("olga") {
            .lock(seatIndex: 1, isLocked: true, microphone: true, camera: nil, caller: $0)
        }
        #expect(seatAndDevice.notices.map(\.content) == [.kickedOffSeat(seatIndex: 1, by: userInfo("olga"))])
        #expect(harness.stage?.seats[1] == Seat(index: 1, isLocked: true, isMicrophoneLocked: true))
        let lockOfNothing = harness.call("olga") {
            .lock(seatIndex: 1, isLocked: nil, microphone: nil, camera: nil, caller: $0)
        }
        #expect(lockOfNothing.code == .success && lockOfNothing.stages == [])
    }

    @Test func `an admin cannot change the owner's seat and devices, but the app's server can`() {
        var harness = SeatHarness(SeatHarness.live(mode: .free))
        _ = harness.call("olga") { .take(seatIndex: 2, caller: $0) }
        _ = harness.call("gina") { .take(seatIndex: 1, caller: $0) }
        let stageBefore = harness.stage
        let commands: [(Caller) -> SeatCommand] = [
            { .kickOff(user: "olga", caller: $0) },
            { .lockDevice(user: "olga", device: .microphone, isLocked: true, caller: $0) },
            { .lock(seatIndex: 2, isLocked: true, caller: $0) },
            { .lock(seatIndex: 2, isLocked: nil, microphone: true, camera: nil, caller: $0) },
            { .move(user: "olga", to: 3, policy: .abortWhenOccupied, caller: $0) },
            { .move(user: "gina", to: 2, policy: .forceReplace, caller: $0) },
            { .move(user: "gina", to: 2, policy: .swapPosition, caller: $0) },
        ]
        for command in commands {
            let effects = harness.call("adam", command)
            #expect(effects.code == .noPermission && effects.count == 1)
        }
        #expect(harness.stage == stageBefore)
        let server = harness.callers.server()
        #expect(harness.handle(.kickOff(user: "olga", caller: server)).code == .success)
    }
}
