// SPDX-License-Identifier: Apache-2.0
import MachineTestSupport
import PlazaModel

/// Calls that the seat machine decides; the live is a video live in apply mode, whose owner has seat 0.
///
/// Hosts are the owner and the admins. carl has applied for a seat, sven sits on seat 3, a seated caller on seat 4, and
/// the other seats are free. bob is a viewer and anna an admin; see `MatrixFixture`. A seat index of -1 means any free
/// seat.
extension Action {
    /// A call to the seat machine that, by default, hosts and server may make; `command` gets the live and the caller.
    private static func seatHostCall(
        _ name: String, owner: ExpectedOutcome = .allowed, admin: ExpectedOutcome = .allowed,
        viewer: ExpectedOutcome = .noPermission,
        seated: ExpectedOutcome? = nil, server: ExpectedOutcome = .allowed,
        prepare: @escaping Preparation = { _, _, _ in },
        _ command: @escaping @Sendable (LiveID, Caller) -> SeatCommand
    ) -> Action {
        Action(name, owner: owner, admin: admin, viewer: viewer, seated: seated, server: server, prepare: prepare) {
            _, key, caller in .seatCommand(key, command(key.live, caller))
        }
    }

    /// The caller gets seat 5, unless the caller has a seat already or may not have one.
    ///
    /// In apply mode, `take` is an application if the caller is not a host; anna accepts it.
    private static let sittingDown: Preparation = { harness, key, caller in
        _ = harness.send(.seatCommand(key, .take(seatIndex: 5, caller: harness.nextCall(of: caller))))
        let anna = harness.caller("anna", ticket: MatrixFixture.join("anna", key, &harness))
        _ = harness.send(.seatCommand(key, .acceptApplication(user: caller.userID, caller: anna)))
    }

    /// The admin anna invites the caller to a seat.
    private static let beingInvited: Preparation = { harness, key, caller in
        let anna = harness.caller("anna", ticket: MatrixFixture.join("anna", key, &harness))
        let invite = SeatCommand.invite(
            user: caller.userID, seatIndex: -1, timeoutSeconds: 1800, extraInfo: "", caller: anna)
        _ = harness.send(.seatCommand(key, invite))
    }

    /// Calls about the seats and requests of other users.
    ///
    /// Nobody can lock seat 0, or move or remove the owner from it.
    static let seatsOfOthers: [Action] = [
        .seatHostCall("accept an application") { .acceptApplication(user: "carl", caller: $1) },
        .seatHostCall("reject an application") { .rejectApplication(user: "carl", caller: $1) },
        .seatHostCall("invite to a seat") {
            .invite(user: "bob", seatIndex: -1, timeoutSeconds: 30, extraInfo: "", caller: $1)
        },
        .seatHostCall(
            "cancel an invitation", viewer: .nothingPending,
            prepare: { harness, key, caller in
                let invite = SeatCommand.invite(
                    user: "bob", seatIndex: -1, timeoutSeconds: 1800, extraInfo: "",
                    caller: harness.nextCall(of: caller))
                _ = harness.send(.seatCommand(key, invite))
            }
        ) { .cancelInvitation(user: "bob", caller: $1) },
        .seatHostCall("see the open requests", viewer: .allowed) { .requests(caller: $1) },
        .seatHostCall("lock a seat") { .lock(seatIndex: 7, isLocked: true, microphone: nil, camera: nil, caller: $1) },
        .seatHostCall("lock a seat's microphone") {
            .lock(seatIndex: 7, isLocked: nil, microphone: true, camera: nil, caller: $1)
        },
        .seatHostCall("lock the owner's seat", owner: .noPermission, admin: .noPermission, server: .noPermission) {
            .lock(seatIndex: 0, isLocked: true, microphone: nil, camera: nil, caller: $1)
        },
        .seatHostCall("kick a user off its seat") { .kickOff(user: "sven", caller: $1) },
        .seatHostCall(
            "kick the owner off its seat", owner: .noPermission, admin: .noPermission, server: .noPermission
        ) { .kickOff(user: MatrixFixture.owner(of: $0), caller: $1) },
        .seatHostCall("move another user") { .move(user: "sven", to: 6, policy: .abortWhenOccupied, caller: $1) },
        .seatHostCall("move the owner", owner: .noPermission, admin: .noPermission, server: .noPermission) {
            .move(user: MatrixFixture.owner(of: $0), to: 6, policy: .abortWhenOccupied, caller: $1)
        },
        .seatHostCall("lock a user's microphone") {
            .lockDevice(user: "sven", device: .microphone, isLocked: true, caller: $1)
        },
        .seatHostCall("unlock a user's camera") {
            .lockDevice(user: "sven", device: .camera, isLocked: false, caller: $1)
        },
        .seatHostCall("lock the owner's microphone", admin: .noPermission) {
            .lockDevice(user: MatrixFixture.owner(of: $0), device: .microphone, isLocked: true, caller: $1)
        },
        .seatHostCall("put a user on a seat", owner: .noPermission, admin: .noPermission) {
            .place(user: "bob", seatIndex: 6, caller: $1)
        },
    ]

    /// Calls of users about their own seat and their own requests.
    ///
    /// A result without an index means that the call has become an application.
    static let ownSeat: [Action] = [
        // The owner of a live cannot apply for a seat (R6.8).
        Action(
            "apply for a seat", owner: .noPermission, admin: .allowedWith(.seat(index: nil)),
            viewer: .allowedWith(.seat(index: nil)), seated: .alreadySeated, server: .noPermission
        ) { _, key, caller in
            .seatCommand(key, .apply(seatIndex: -1, timeoutSeconds: 30, extraInfo: "", caller: caller))
        },
        // The owner has seat 0, so seat 1 is the lowest free seat.
        Action(
            "apply for a seat in free mode", owner: .noPermission, admin: .allowedWith(.seat(index: 1)),
            viewer: .allowedWith(.seat(index: 1)), seated: .alreadySeated, server: .noPermission,
            prepare: Action.changingInfo(LiveChanges(seatMode: .free))
        ) { _, key, caller in
            .seatCommand(key, .apply(seatIndex: -1, timeoutSeconds: 30, extraInfo: "", caller: caller))
        },
        Action(
            "take a seat", owner: .alreadySeated, admin: .allowedWith(.seat(index: 5)),
            viewer: .allowedWith(.seat(index: nil)), seated: .alreadySeated, server: .noPermission
        ) { _, key, caller in .seatCommand(key, .take(seatIndex: 5, caller: caller)) },
        Action(
            "take a seat in free mode", owner: .alreadySeated, admin: .allowedWith(.seat(index: 5)),
            viewer: .allowedWith(.seat(index: 5)), seated: .alreadySeated, server: .noPermission,
            prepare: Action.changingInfo(LiveChanges(seatMode: .free))
        ) { _, key, caller in .seatCommand(key, .take(seatIndex: 5, caller: caller)) },
        Action(
            "leave a seat", admin: .notOnSeat, viewer: .notOnSeat, seated: .allowed, server: .notOnSeat
        ) { _, key, caller in .seatCommand(key, .leave(caller: caller)) },
        Action("leave a seat after sitting down", server: .notOnSeat, prepare: Action.sittingDown) { _, key, caller in
            .seatCommand(key, .leave(caller: caller))
        },
        // An owner who keeps its seat cannot move; every other user can.
        Action(
            "move oneself", owner: .noPermission, admin: .notOnSeat, viewer: .notOnSeat, seated: .allowed,
            server: .notOnSeat, call: Action.moveOneself),
        Action(
            "move oneself after sitting down", owner: .noPermission, server: .notOnSeat, prepare: Action.sittingDown,
            call: Action.moveOneself),
        Action(
            "turn one's microphone on", admin: .notOnSeat, viewer: .notOnSeat, seated: .allowed, server: .notOnSeat,
            call: Action.turnMicrophoneOn),
        Action(
            "turn a microphone on that a host has locked", admin: .notOnSeat, viewer: .notOnSeat,
            seated: .rejected(.microphoneNeedsHost), server: .notOnSeat,
            prepare: { harness, key, caller in
                // An admin may not lock the owner's microphone, so a lock of the owner's microphone is rejected.
                let anna = harness.caller("anna", ticket: MatrixFixture.join("anna", key, &harness))
                let lock = SeatCommand.lockDevice(
                    user: caller.userID, device: .microphone, isLocked: true, caller: anna)
                _ = harness.send(.seatCommand(key, lock))
            }, call: Action.turnMicrophoneOn),
        Action(
            "cancel one's application", owner: .nothingPending, seated: .nothingPending, server: .nothingPending,
            prepare: { harness, key, caller in
                let apply = SeatCommand.apply(
                    seatIndex: -1, timeoutSeconds: 1800, extraInfo: "", caller: harness.nextCall(of: caller))
                _ = harness.send(.seatCommand(key, apply))
            }
        ) { _, key, caller in .seatCommand(key, .cancelApplication(caller: caller)) },
        Action(
            "accept an invitation", owner: .nothingPending, seated: .nothingPending, server: .noPermission,
            prepare: Action.beingInvited
        ) { _, key, caller in .seatCommand(key, .acceptInvitation(inviter: "anna", caller: caller)) },
        Action(
            "reject an invitation", owner: .nothingPending, seated: .nothingPending, server: .noPermission,
            prepare: Action.beingInvited
        ) { _, key, caller in .seatCommand(key, .rejectInvitation(inviter: "anna", caller: caller)) },
    ]

    private static let moveOneself: @Sendable (MatrixHarness, LiveKey, Caller) -> Effect = { _, key, caller in
        .seatCommand(key, .move(user: caller.userID, to: 6, policy: .abortWhenOccupied, caller: caller))
    }

    private static let turnMicrophoneOn: @Sendable (MatrixHarness, LiveKey, Caller) -> Effect = { _, key, caller in
        .seatCommand(key, .device(microphone: true, camera: nil, suspend: nil, caller: caller))
    }
}
