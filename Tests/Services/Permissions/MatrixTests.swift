// SPDX-License-Identifier: Apache-2.0
import MachineKit
import MachineTestSupport
import PlazaModel
import StageCore
import Testing

/// The permission matrix (R15.1 to R15.11): every action by every role, in the live of the role and in another live, by
/// members and by users who have not joined.
@Suite struct MatrixTests {
    private static let actions: [Action] =
        Action.directory + Action.presence + Action.messages + Action.seatsOfOthers + Action.ownSeat
        + Action.connections

    @Test func `in the initial states, exactly the users who have joined are in the lives and have tickets`() {
        let state = MatrixFixture.harness.state
        // adam has left `concert`, mia has not joined it, and bert is banned.
        #expect(state.members[MatrixFixture.concert] == ["anna", "bob", "carl", "olga", "sven"])
        #expect(state.members[MatrixFixture.party] == ["anna", "bob", "carl", "otto", "sven"])
        #expect(Set(Self.actions.map(\.description)).count == Self.actions.count, "no two actions have the same name")
        for (cell, initial) in MatrixFixture.initialStates {
            let isMember = initial.harness.state.members[cell.key.live]?.contains(cell.role.user) ?? false
            // A server joins no live, and for a stranger, the live does not exist.
            let getsTicket = cell.hasJoined && cell.role != .server && cell.role != .stranger
            let isBanned = cell.role == .banned && cell.hasRole
            // The owner joined when the live was created, so the owner is a member also in the cell whose
            // `hasJoined` is false. There the owner calls without a ticket, like a device that has not joined.
            let isOwner = cell.role == .owner && cell.hasRole
            let mustBeMember = isOwner || (getsTicket && !isBanned)
            #expect(isMember == mustBeMember, "\(cell)")
            #expect((initial.ticket != nil) == getsTicket, "\(cell)")
        }
    }

    /// Rules: R3.38, R3.54, R4.5, R4.7, R5.5, R5.9, R6.21, R7.17, R11.7, R15.1, R15.2, R15.3, R15.4, R15.5, R15.6,
    /// R15.7, R15.8, R15.9, R15.10, R15.11.
    @Test(arguments: MatrixTests.actions)
    func `I2 I6 I17 every role gets the expected outcome, and a rejected call changes nothing`(
        action: Action
    ) throws {
        for cell in Cell.all {
            var (harness, ticket) = try #require(MatrixFixture.initialStates[cell])
            let key = cell.key
            let role: CallerRole = cell.role == .server ? .server : .user
            action.prepare(&harness, key, harness.caller(cell.role.user, role, ticket: ticket))
            harness.handleAllDue()
            let stateBefore = harness.state
            let caller = harness.caller(cell.role.user, role, ticket: ticket)
            let effects = harness.send(action.call(harness, key, caller))
            let outcome = effects.outcome(of: caller)
            switch action.expectedOutcome(cell) {
            case .allowed:
                guard case .success? = outcome else {
                    Issue.record("\(cell): \(action) is rejected, but must be allowed: \(String(describing: outcome))")
                    continue
                }
            case .allowedWith(let result):
                #expect(outcome == .success(result: result), "\(cell): \(action)")
            case .rejected(let code):
                guard case .failure(let error)? = outcome else {
                    Issue.record("\(cell): \(action) is allowed, but must be rejected with \(code.name)")
                    continue
                }
                #expect(error.code == code, "\(cell): \(action) is rejected with \(error.code.name): \(error.message)")
                #expect(!error.message.isEmpty)
                #expect(effects.visible == [], "\(cell): \(action) is rejected, but has visible effects")
                #expect(harness.state == stateBefore, "\(cell): \(action) is rejected, but changes the state")
            }
        }
    }

    /// Rules: R3.6.
    @Test func `I1 I17 only a live's owner can create it again, and its id is free in another app`() throws {
        for cell in Cell.all {
            var harness = try #require(MatrixFixture.initialStates[cell]).harness
            harness.handleAllDue()
            let stateBefore = harness.state
            let caller = harness.caller(cell.role.user, cell.role == .server ? .server : .user)
            let create = DirectoryCommand.create(
                live: cell.key.live, changes: LiveChanges(), owner: caller.user, caller: caller)
            let outcome = harness.outcome(.directoryCommand(cell.key, create), of: caller)
            // A stranger belongs to another app, where the id is free. The owner of `concert` may repeat the creation
            // of `concert`, but may not create `party`, because an owner has only one live.
            switch (cell.role, cell.hasRole, outcome) {
            case (.stranger, _, .success?), (.owner, true, .success?): break
            case (.owner, false, .failure(let error)?): #expect(error.code == .inAnotherRoom, "\(cell)")
            case (.admin, _, .failure(let error)?), (.viewer, _, .failure(let error)?),
                (.seated, _, .failure(let error)?), (.muted, _, .failure(let error)?),
                (.banned, _, .failure(let error)?), (.server, _, .failure(let error)?):
                #expect(error.code == .roomExists, "\(cell)")
            default: Issue.record("\(cell): expected another outcome than \(String(describing: outcome))")
            }
            // Only the stranger creates a new live.
            if cell.role != .stranger { #expect(harness.state == stateBefore, "\(cell)") }
        }
    }

    /// Rules: R15.12.
    @Test func `I6 a ticket from before a kick is rejected in every call that requires membership`() {
        for action in Self.actions where action.outside == .notInRoom {
            var harness = MatrixFixture.harness
            let key = LiveKey(MatrixHarness.app, MatrixFixture.concert)
            let ticket = MatrixFixture.join("gina", key, &harness)
            action.prepare(&harness, key, harness.caller("gina", ticket: ticket))
            _ = harness.send(.directoryCommand(key, .kick(live: key.live, user: "gina", caller: harness.server())))
            harness.handleAllDue()
            let stateBefore = harness.state
            let caller = harness.caller("gina", ticket: ticket)
            let effects = harness.send(action.call(harness, key, caller))
            guard case .failure(let error)? = effects.outcome(of: caller) else {
                Issue.record("\(action) is allowed after a kick, but must be rejected")
                continue
            }
            #expect(error.code == .staleTicket, "\(action): \(error.code.name)")
            #expect(harness.state == stateBefore, "\(action)")
        }
    }

    @Test func `a revoked admin has no rights any more, and a guest whom the admin accepted keeps its seat`() throws {
        var harness = MatrixFixture.harness
        let key = LiveKey(MatrixHarness.app, MatrixFixture.concert)
        // The admin adam accepts carl's application. Then olga revokes adam's rights.
        let adamsTicket = MatrixFixture.join("adam", key, &harness)
        let accept = SeatCommand.acceptApplication(user: "carl", caller: harness.caller("adam", ticket: adamsTicket))
        _ = harness.send(.seatCommand(key, accept))
        let ownerCaller = harness.caller("olga", ticket: MatrixFixture.join("olga", key, &harness))
        _ = harness.send(.directoryCommand(key, .revokeAdmin(live: key.live, user: "adam", caller: ownerCaller)))
        harness.handleAllDue()
        let stateAfterRevocation = harness.state
        let rejectedCalls: [(code: ReplyCode, call: (Caller) -> Effect)] = [
            (.needsOwnerOrAdmin, { .directoryCommand(key, .kick(live: key.live, user: "bob", caller: $0)) }),
            (.noPermission, { .seatCommand(key, .kickOff(user: "sven", caller: $0)) }),
            (
                .needsOwnerOrAdmin,
                { .directoryCommand(key, .setMetadata(live: key.live, values: ["a": "b"], caller: $0)) }
            ),
        ]
        for (code, call) in rejectedCalls {
            let caller = harness.caller("adam", ticket: adamsTicket)
            guard case .failure(let error)? = harness.outcome(call(caller), of: caller) else {
                Issue.record("a call of the revoked admin is not rejected with \(code.name)")
                continue
            }
            #expect(error.code == code)
        }
        #expect(harness.state == stateAfterRevocation)
        guard case .stage(let stage)? = harness.seats.rows[.stage(key)] else {
            Issue.record("the live has no stage")
            return
        }
        #expect(stage.value.seats.contains { $0.occupant?.user.userID == "carl" })
    }
}
