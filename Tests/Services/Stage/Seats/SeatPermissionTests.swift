// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel
import StageCore
import Testing

/// The part of the permission matrix that concerns seats (R15.4 to R15.7).
struct SeatPermissionTests {
    enum Role: String, CaseIterable { case owner, admin, guest, server }

    /// A call, and its expected codes for each role.
    struct Rule: CustomTestStringConvertible, Sendable {
        let name: String
        /// The expected codes for owner, admin, guest and server, in this order.
        let codes: [ReplyCode]
        /// The live's mode at the time of the call.
        var mode: TakeSeatMode = .apply
        let command: @Sendable (Caller) -> SeatCommand
        var testDescription: String { self.name }
    }

    /// `seated` sits on seat 1, `applicant` has an open application, and `other` has no seat and no request.
    static let rules: [Rule] = [
        Rule(name: "accept an application", codes: [.success, .success, .noPermission, .success]) {
            .acceptApplication(user: "applicant", caller: $0)
        },
        Rule(name: "reject an application", codes: [.success, .success, .noPermission, .success]) {
            .rejectApplication(user: "applicant", caller: $0)
        },
        Rule(name: "invite", codes: [.success, .success, .noPermission, .success]) {
            .invite(user: "other", seatIndex: -1, timeoutSeconds: 10, extraInfo: "", caller: $0)
        },
        Rule(name: "kick off", codes: [.success, .success, .noPermission, .success]) {
            .kickOff(user: "seated", caller: $0)
        },
        Rule(name: "lock", codes: [.success, .success, .noPermission, .success]) {
            .lock(seatIndex: 2, isLocked: true, caller: $0)
        },
        Rule(name: "unlock", codes: [.success, .success, .noPermission, .success]) {
            .lock(seatIndex: 3, isLocked: false, caller: $0)
        },
        Rule(name: "move others", codes: [.success, .success, .noPermission, .success]) {
            .move(user: "seated", to: 2, policy: .abortWhenOccupied, caller: $0)
        },
        Rule(name: "close a device", codes: [.success, .success, .noPermission, .success]) {
            .lockDevice(user: "seated", device: .microphone, isLocked: true, caller: $0)
        },
        Rule(name: "open a device", codes: [.success, .success, .noPermission, .success]) {
            .lockDevice(user: "seated", device: .camera, isLocked: false, caller: $0)
        },
        Rule(name: "lock a seat's device", codes: [.success, .success, .noPermission, .success]) {
            .lock(seatIndex: 1, isLocked: nil, microphone: nil, camera: true, caller: $0)
        },
        Rule(name: "set one's own device without a seat", codes: [.notOnSeat, .notOnSeat, .notOnSeat, .notOnSeat]) {
            .device(microphone: true, camera: nil, suspend: nil, caller: $0)
        },
        Rule(name: "place on a seat", codes: [.noPermission, .noPermission, .noPermission, .success]) {
            .place(user: "other", seatIndex: 2, caller: $0)
        },
        Rule(name: "read the open requests", codes: [.success, .success, .success, .success]) { .requests(caller: $0) },
        Rule(name: "move oneself without a seat", codes: [.notOnSeat, .notOnSeat, .notOnSeat, .notOnSeat]) { caller in
            .move(user: caller.userID, to: 2, policy: .abortWhenOccupied, caller: caller)
        },
        Rule(name: "apply", codes: [.noPermission, .success, .success, .noPermission]) {
            .apply(seatIndex: 2, timeoutSeconds: 10, extraInfo: "", caller: $0)
        },
        Rule(name: "take in free mode", codes: [.success, .success, .success, .noPermission], mode: .free) {
            .take(seatIndex: 2, caller: $0)
        },
        Rule(name: "leave without a seat", codes: [.notOnSeat, .notOnSeat, .notOnSeat, .notOnSeat]) {
            .leave(caller: $0)
        },
        Rule(name: "accept another's invitation", codes: [.failed, .failed, .failed, .noPermission]) {
            .acceptInvitation(inviter: "olga", caller: $0)
        },
    ]

    /// Rules: R6.8, R7.4, R7.17.
    @Test(arguments: Self.rules, Role.allCases)
    func `each role may make exactly the calls that the permission matrix allows`(rule: Rule, role: Role) throws {
        // Seat 1 is occupied, seat 3 is locked, and the seats 0 and 2 are free.
        var harness = SeatHarness(SeatHarness.live(mode: .free, admins: ["adam"]))
        _ = harness.call("seated") { .take(seatIndex: 1, caller: $0) }
        _ = harness.call("olga") { .lock(seatIndex: 3, isLocked: true, caller: $0) }
        // Only in apply mode does an application stay open.
        _ = harness.handle(.infoChanged(info: SeatHarness.live(mode: .apply, admins: ["adam"])))
        _ = harness.call("applicant") { .apply(seatIndex: -1, timeoutSeconds: 100, extraInfo: "", caller: $0) }
        if rule.mode == .free {
            _ = harness.handle(.infoChanged(info: SeatHarness.live(mode: .free, admins: ["adam"])))
        }

        let caller =
            switch role {
            case .owner: harness.callers.user("olga")
            case .admin: harness.callers.user("adam")
            case .guest: harness.callers.user("gina")
            case .server: harness.callers.server()
            }
        let stageBefore = harness.stage
        let effects = harness.handle(rule.command(caller))
        let roleIndex = try #require(Role.allCases.firstIndex(of: role))
        #expect(effects.code == rule.codes[roleIndex])
        if rule.codes[roleIndex] != .success {
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
        _ = harness.handle(.infoChanged(info: SeatHarness.live(admins: [])))
        #expect(harness.call("adam") { .cancelInvitation(user: "gus", caller: $0) }.code == .success)
        #expect(harness.call("gina") { .acceptInvitation(inviter: "adam", caller: $0) }.result == .seat(index: 0))
        #expect(harness.call("adam") { .kickOff(user: "gina", caller: $0) }.code == .noPermission)
    }
}
