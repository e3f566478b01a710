// SPDX-License-Identifier: Apache-2.0
import MachineKit
import MachineTestSupport
import PlazaModel
import StageCore
import Testing

/// Which role may make which call about seats (R15.4 to R15.7).
struct SeatPermissionTests {
    /// The role of the caller: olga, adam, gina, or the app's server; no caller has a seat or a request.
    enum Role: String, CaseIterable { case owner, admin, viewer, server }

    /// A call, and the expected code for each role.
    struct Call: CustomTestStringConvertible, Sendable {
        let name: String
        /// The expected codes for owner, admin, viewer and server, in this order.
        let codes: [ReplyCode]
        /// Whether guests need a host's consent (`apply`) or not (`free`) when the call is made.
        var mode: TakeSeatMode = .apply
        let command: @Sendable (Caller) -> SeatCommand
        var testDescription: String { self.name }
    }

    /// When the call is made, seat 1 is taken by `seated`, seat 3 is locked, and the seats 0 and 2 are free.
    ///
    /// `applicant` has applied for any free seat, and `other` has no seat and no request.
    static let calls: [Call] = [
        Call(name: "accept an application", codes: [.success, .success, .noPermission, .success]) {
            .acceptApplication(user: "applicant", caller: $0)
        },
        Call(name: "reject an application", codes: [.success, .success, .noPermission, .success]) {
            .rejectApplication(user: "applicant", caller: $0)
        },
        Call(name: "invite to a seat", codes: [.success, .success, .noPermission, .success]) {
            .invite(user: "other", seatIndex: -1, timeoutSeconds: 10, extraInfo: "", caller: $0)
        },
        Call(name: "kick off a seat", codes: [.success, .success, .noPermission, .success]) {
            .kickOff(user: "seated", caller: $0)
        },
        Call(name: "lock a free seat", codes: [.success, .success, .noPermission, .success]) {
            .lock(seatIndex: 2, isLocked: true, caller: $0)
        },
        Call(name: "unlock a seat", codes: [.success, .success, .noPermission, .success]) {
            .lock(seatIndex: 3, isLocked: false, caller: $0)
        },
        Call(name: "move another user", codes: [.success, .success, .noPermission, .success]) {
            .move(user: "seated", to: 2, policy: .abortWhenOccupied, caller: $0)
        },
        Call(name: "lock a user's microphone", codes: [.success, .success, .noPermission, .success]) {
            .lockDevice(user: "seated", device: .microphone, isLocked: true, caller: $0)
        },
        Call(name: "unlock a user's camera", codes: [.success, .success, .noPermission, .success]) {
            .lockDevice(user: "seated", device: .camera, isLocked: false, caller: $0)
        },
        Call(name: "lock the camera of a seat", codes: [.success, .success, .noPermission, .success]) {
            .lock(seatIndex: 1, isLocked: nil, microphone: nil, camera: true, caller: $0)
        },
        Call(name: "turn on one's microphone without a seat", codes: [.notOnSeat, .notOnSeat, .notOnSeat, .notOnSeat]) {
            .device(microphone: true, camera: nil, suspend: nil, caller: $0)
        },
        Call(name: "place a user on a seat", codes: [.noPermission, .noPermission, .noPermission, .success]) {
            .place(user: "other", seatIndex: 2, caller: $0)
        },
        Call(name: "read the open requests", codes: [.success, .success, .success, .success]) { .requests(caller: $0) },
        Call(name: "move oneself without a seat", codes: [.notOnSeat, .notOnSeat, .notOnSeat, .notOnSeat]) { caller in
            .move(user: caller.userID, to: 2, policy: .abortWhenOccupied, caller: caller)
        },
        Call(name: "apply for a seat", codes: [.noPermission, .success, .success, .noPermission]) {
            .apply(seatIndex: 2, timeoutSeconds: 10, extraInfo: "", caller: $0)
        },
        Call(name: "take a seat in free mode", codes: [.success, .success, .success, .noPermission], mode: .free) {
            .take(seatIndex: 2, caller: $0)
        },
        Call(name: "leave without a seat", codes: [.notOnSeat, .notOnSeat, .notOnSeat, .notOnSeat]) {
            .leave(caller: $0)
        },
        Call(name: "accept an invitation that does not exist", codes: [.failed, .failed, .failed, .noPermission]) {
            .acceptInvitation(inviter: "olga", caller: $0)
        },
    ]

    /// Rules: R6.8, R7.4, R7.17.
    @Test(arguments: Self.calls, Role.allCases)
    func `each role may make exactly the calls that the rules allow`(call: Call, role: Role) throws {
        // In free mode, `seated` gets seat 1 without the consent of a host.
        var harness = SeatHarness(SeatHarness.live(mode: .free, admins: ["adam"]))
        _ = harness.call("seated") { .take(seatIndex: 1, caller: $0) }
        _ = harness.call("olga") { .lock(seatIndex: 3, isLocked: true, caller: $0) }
        // In apply mode, the application stays open; in free mode, it would take a seat at once.
        _ = harness.handle(.infoChanged(info: SeatHarness.live(mode: .apply, admins: ["adam"])))
        _ = harness.call("applicant") { .apply(seatIndex: -1, timeoutSeconds: 100, extraInfo: "", caller: $0) }
        if call.mode == .free {
            _ = harness.handle(.infoChanged(info: SeatHarness.live(mode: .free, admins: ["adam"])))
        }

        let caller =
            switch role {
            case .owner: harness.callers.user("olga")
            case .admin: harness.callers.user("adam")
            case .viewer: harness.callers.user("gina")
            case .server: harness.callers.server()
            }
        let stageBefore = harness.stage
        let effects = harness.handle(call.command(caller))
        let roleIndex = try #require(Role.allCases.firstIndex(of: role))
        #expect(effects.code == call.codes[roleIndex])
        if call.codes[roleIndex] != .success {
            #expect(harness.stage == stageBefore, "a rejected call changes nothing")
            #expect(effects.count == 1, "a rejected call notifies nobody")
        }
    }

    /// Rules: R6.20.
    @Test func `the invitation of a former admin stays valid, and the former admin can cancel it`() {
        var harness = SeatHarness()
        for guest: UserID in ["gina", "gus"] {
            _ = harness.call("adam") {
                .invite(user: guest, seatIndex: -1, timeoutSeconds: 60, extraInfo: "", caller: $0)
            }
        }
        // Now adam is no longer an admin.
        _ = harness.handle(.infoChanged(info: SeatHarness.live(admins: [])))
        #expect(harness.call("adam") { .cancelInvitation(user: "gus", caller: $0) }.code == .success)
        #expect(harness.call("gina") { .acceptInvitation(inviter: "adam", caller: $0) }.result == .seat(index: 0))
        #expect(harness.call("adam") { .kickOff(user: "gina", caller: $0) }.code == .noPermission)
    }
}
