// SPDX-License-Identifier: Apache-2.0
import PlazaModel

/// What the connection machine decides.
extension Action {
    /// A call of a live's owner, or of the app's server in its place.
    private static func owners(
        _ name: String, admin: Verdict = .needsOwner, viewer: Verdict = .needsOwner,
        prepare: @escaping Preparation = { _, _, _ in },
        _ command: @escaping @Sendable (World, LiveID, Caller) -> ConnectionCommand
    ) -> Action {
        Action(name, admin: admin, viewer: viewer, prepare: prepare) { world, key, caller in
            .hosts(key, command(world, key.live, caller))
        }
    }

    private static func ask(_ from: LiveID, _ to: LiveID, _ caller: Caller) -> ConnectionCommand {
        .request(
            from: from, to: [to], layoutTemplate: 0, timeoutSeconds: 1800, extensionInfo: "", caller: caller)
    }

    private static func fight(
        _ from: LiveID, _ to: LiveID, needResponse: Bool, _ caller: Caller
    ) -> ConnectionCommand {
        .requestBattle(
            from: from, to: [to], durationSeconds: 300, needResponse: needResponse,
            timeoutSeconds: needResponse ? 1800 : 0, extensionInfo: "", caller: caller)
    }

    /// Dora asks the live to connect.
    private static let asked: Preparation = { world, key, _ in
        _ = world.run(.hosts(key, Action.ask(Town.duet, key.live, world.server())))
    }

    /// The live is connected with dora's.
    private static let connected: Preparation = { world, key, caller in
        Action.asked(&world, key, caller)
        let accept = ConnectionCommand.accept(
            live: key.live, inviter: Town.duet, caller: world.server())
        _ = world.run(.hosts(key, accept))
    }

    /// A battle of the live with dora's is asked for, or runs.
    private static func battle(
        from: @escaping @Sendable (LiveID) -> LiveID, needResponse: Bool
    ) -> Preparation {
        { world, key, caller in
            Action.connected(&world, key, caller)
            let inviter = from(key.live)
            let invitee = inviter == key.live ? Town.duet : key.live
            let server = world.server()
            let request = Action.fight(inviter, invitee, needResponse: needResponse, server)
            if case .success(.battle(let battle, _, _, _))? = world.outcome(.hosts(key, request), of: server) {
                world.battle = battle
            }
        }
    }

    static let connections: [Action] = [
        .owners("ask a live to connect") { _, live, caller in Action.ask(live, Town.duet, caller) },
        .owners(
            "cancel a request to connect",
            prepare: { world, key, _ in
                _ = world.run(.hosts(key, Action.ask(key.live, Town.duet, world.server())))
            }
        ) { _, live, caller in .cancelRequest(from: live, to: [Town.duet], caller: caller) },
        .owners("accept a connection", prepare: Action.asked) { _, live, caller in
            .accept(live: live, inviter: Town.duet, caller: caller)
        },
        .owners("reject a connection", prepare: Action.asked) { _, live, caller in
            .reject(live: live, inviter: Town.duet, caller: caller)
        },
        .owners("exit a connection", prepare: Action.connected) { _, live, caller in
            .exit(live: live, caller: caller)
        },
        .owners(
            "mute another live's host", admin: .allowed, viewer: .needsHost, prepare: Action.connected
        ) { _, live, caller in .muteRemote(live: live, other: Town.duet, isMuted: true, caller: caller) },
        .owners("ask for a battle", prepare: Action.connected) { _, live, caller in
            Action.fight(live, Town.duet, needResponse: false, caller)
        },
        .owners("cancel a battle", prepare: Action.battle(from: { $0 }, needResponse: true)) {
            world, live, caller in
            .cancelBattle(battle: world.battle, live: live, to: [Town.duet], caller: caller)
        },
        .owners("accept a battle", prepare: Action.battle(from: { _ in Town.duet }, needResponse: true)) {
            world, live, caller in
            .acceptBattle(battle: world.battle, live: live, caller: caller)
        },
        .owners("reject a battle", prepare: Action.battle(from: { _ in Town.duet }, needResponse: true)) {
            world, live, caller in
            .rejectBattle(battle: world.battle, live: live, caller: caller)
        },
        .owners("exit a battle", prepare: Action.battle(from: { $0 }, needResponse: false)) {
            world, live, caller in
            .exitBattle(battle: world.battle, live: live, caller: caller)
        },
        Action(
            "change battle scores", owner: .noPermission, admin: .noPermission, viewer: .noPermission,
            outside: .noPermission, banned: .noPermission, stranger: .noPermission,
            prepare: Action.battle(from: { $0 }, needResponse: false)
        ) { world, key, caller in
            .hosts(
                key,
                .updateScores(
                    battle: world.battle, operation: .accumulate, scores: [ScoreUpdate(live: key.live, score: 5)],
                    caller: caller))
        },
        Action(
            "see a battle's details", owner: .noPermission, admin: .noPermission, viewer: .noPermission,
            outside: .noPermission, banned: .noPermission, stranger: .noPermission,
            prepare: Action.battle(from: { $0 }, needResponse: false)
        ) { world, key, caller in
            .hosts(key, .battleInfo(battle: world.battle, live: nil, caller: caller))
        },
    ]
}
