// SPDX-License-Identifier: Apache-2.0
import CoreKit
import PlazaModel
import StageCore
import Testing

/// The permission matrix (reference 18): every action, by every role, in the own and in a foreign live, inside and outside.
@Suite struct MatrixTests {
    private static let actions: [Action] =
        Action.rooms + Action.presence + Action.messages + Action.hosting + Action.guests
        + Action.connections

    @Test func `the people of the matrix are where it says`() {
        let state = Town.world.state
        #expect(state.people[Town.concert] == ["anna", "bob", "carl", "olga", "sven"])
        #expect(state.people[Town.party] == ["anna", "bob", "carl", "otto", "sven"])
        #expect(Set(Self.actions.map(\.description)).count == Self.actions.count)
        for (cell, scene) in Town.scenes {
            let isIn = scene.world.state.people[cell.key.live]?.contains(cell.role.user) ?? false
            let hasJoined = cell.isIn && cell.role != .server && cell.role != .stranger
            let isBanned = cell.role == .banned && cell.isOwn
            // The owner out of the matrix is a second device of one who is in.
            let isOwner = cell.role == .owner && cell.isOwn
            #expect(isIn == (hasJoined && !isBanned || isOwner), "\(cell)")
            #expect((scene.ticket != nil) == hasJoined, "\(cell)")
        }
    }

    @Test(arguments: MatrixTests.actions) func `I2 I6 I17 who may do what, and a refused call leaves all as it was`(
        action: Action
    ) throws {
        for cell in Cell.all {
            var (world, ticket) = try #require(Town.scenes[cell])
            let key = cell.key
            let role: CallerRole = cell.role == .server ? .server : .user
            action.prepare(&world, key, world.caller(cell.role.user, role, ticket: ticket))
            world.settle()
            let before = world.state
            let caller = world.caller(cell.role.user, role, ticket: ticket)
            let effects = world.run(action.call(world, key, caller))
            let outcome = effects.outcome(of: caller)
            switch action.verdict(cell) {
            case .allowed:
                guard case .success? = outcome else {
                    Issue.record("\(cell): \(action) is refused: \(String(describing: outcome))")
                    continue
                }
            case .gives(let result):
                #expect(outcome == .success(result: result), "\(cell): \(action)")
            case .refused(let code):
                guard case .failure(let error)? = outcome else {
                    Issue.record("\(cell): \(action) is allowed, not refused with \(code.name)")
                    continue
                }
                #expect(error.code == code, "\(cell): \(action) is refused with \(error.code.name): \(error.message)")
                #expect(!error.message.isEmpty)
                #expect(effects.shown == [], "\(cell): \(action) is refused, and shows")
                #expect(world.state == before, "\(cell): \(action) is refused, and changes something")
            }
        }
    }

    @Test func `I1 I17 a live's name is its owner's, who enters by creating it, and free in another app`() throws {
        for cell in Cell.all {
            var world = try #require(Town.scenes[cell]).world
            world.settle()
            let before = world.state
            let caller = world.caller(cell.role.user, cell.role == .server ? .server : .user)
            let create = DirectoryCommand.create(
                live: cell.key.live, changes: LiveChanges(), owner: caller.user, caller: caller)
            let outcome = world.outcome(.room(cell.key, create), of: caller)
            switch (cell.role, cell.isOwn, outcome) {
            case (.stranger, _, .success?), (.owner, true, .success?): break
            case (.owner, false, .failure(let error)?): #expect(error.code == .inAnotherRoom, "\(cell)")
            case (.admin, _, .failure(let error)?), (.viewer, _, .failure(let error)?),
                (.seated, _, .failure(let error)?), (.muted, _, .failure(let error)?),
                (.banned, _, .failure(let error)?), (.server, _, .failure(let error)?):
                #expect(error.code == .roomExists, "\(cell)")
            default: Issue.record("\(cell): \(String(describing: outcome))")
            }
            if cell.role != .stranger { #expect(world.state == before, "\(cell)") }
        }
    }

    @Test func `I6 a ticket of before a kick is no way back in`() {
        for action in Self.actions where action.outside == .notInRoom {
            var world = Town.world
            let key = LiveKey(World.app, Town.concert)
            let ticket = Town.enter("gina", key, &world)
            action.prepare(&world, key, world.caller("gina", ticket: ticket))
            _ = world.run(.room(key, .kick(live: key.live, user: "gina", caller: world.server())))
            world.settle()
            let before = world.state
            let caller = world.caller("gina", ticket: ticket)
            let effects = world.run(action.call(world, key, caller))
            guard case .failure(let error)? = effects.outcome(of: caller) else {
                Issue.record("\(action) is allowed after a kick")
                continue
            }
            #expect(error.code == .staleTicket, "\(action): \(error.code.name)")
            #expect(world.state == before, "\(action)")
        }
    }

    @Test func `a revoked admin is powerless from then on, and what it approved stays`() throws {
        var world = Town.world
        let key = LiveKey(World.app, Town.concert)
        let ticket = Town.enter("adam", key, &world)
        let accept = SeatCommand.acceptApplication(user: "carl", caller: world.caller("adam", ticket: ticket))
        _ = world.run(.stage(key, accept))
        let olga = world.caller("olga", ticket: Town.enter("olga", key, &world))
        _ = world.run(.room(key, .revokeAdmin(live: key.live, user: "adam", caller: olga)))
        world.settle()
        let after = world.state
        for (code, call) in [
            (ReplyCode.needsOwnerOrAdmin, { .room(key, .kick(live: key.live, user: "bob", caller: $0)) }),
            (.noPermission, { .stage(key, .kickOff(user: "sven", caller: $0)) }),
            (.needsOwnerOrAdmin, { .room(key, .setMetadata(live: key.live, values: ["a": "b"], caller: $0)) }),
        ] as [(ReplyCode, (Caller) -> Effect)] {
            let caller = world.caller("adam", ticket: ticket)
            guard case .failure(let error)? = world.outcome(call(caller), of: caller) else {
                Issue.record("a revoked admin is not refused with \(code.name)")
                continue
            }
            #expect(error.code == code)
        }
        #expect(world.state == after)
        guard case .stage(let stage)? = world.seats.rows[.stage(key)] else {
            Issue.record("there is no stage")
            return
        }
        #expect(stage.value.seats.contains { $0.occupant?.user.userID == "carl" })
    }
}
