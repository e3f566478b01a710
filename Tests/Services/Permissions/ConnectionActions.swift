// SPDX-License-Identifier: Apache-2.0
import PlazaModel

/// Calls that the connection machine decides.
extension Action {
    /// A call that only the live's owner and the app's server may make; `command` gets the harness, the live and the
    /// caller.
    private static func ownerCall(
        _ name: String, admin: ExpectedOutcome = .needsOwner, viewer: ExpectedOutcome = .needsOwner,
        prepare: @escaping Preparation = { _, _, _ in },
        _ command: @escaping @Sendable (MatrixHarness, LiveID, Caller) -> ConnectionCommand
    ) -> Action {
        Action(name, admin: admin, viewer: viewer, prepare: prepare) { harness, key, caller in
            .connectionCommand(key, command(harness, key.live, caller))
        }
    }

    private static func requestConnection(_ from: LiveID, _ to: LiveID, _ caller: Caller) -> ConnectionCommand {
        .request(
            from: from, to: [to], layoutTemplate: 0, timeoutSeconds: 1800, extensionInfo: "", caller: caller)
    }

    private static func requestBattle(
        _ from: LiveID, _ to: LiveID, needResponse: Bool, _ caller: Caller
    ) -> ConnectionCommand {
        .requestBattle(
            from: from, to: [to], durationSeconds: 300, needResponse: needResponse,
            timeoutSeconds: needResponse ? 1800 : 0, extensionInfo: "", caller: caller)
    }

    /// Dora, the owner of `duet`, requests a connection with the live.
    private static let connectionRequested: Preparation = { harness, key, _ in
        _ = harness.send(
            .connectionCommand(key, Action.requestConnection(MatrixFixture.duet, key.live, harness.server())))
    }

    /// The live is connected with dora's live.
    private static let connected: Preparation = { harness, key, caller in
        Action.connectionRequested(&harness, key, caller)
        let accept = ConnectionCommand.accept(
            live: key.live, inviter: MatrixFixture.duet, caller: harness.server())
        _ = harness.send(.connectionCommand(key, accept))
    }

    /// Requests a battle between the live and dora's live; without `needResponse` the battle starts at once.
    ///
    /// `inviter` gets the live of the call, and returns which of the two lives requests the battle; `{ $0 }` returns
    /// the live of the call itself.
    private static func battleRequested(
        by inviter: @escaping @Sendable (LiveID) -> LiveID, needResponse: Bool
    ) -> Preparation {
        { harness, key, caller in
            Action.connected(&harness, key, caller)
            let inviterLive = inviter(key.live)
            let invitee = inviterLive == key.live ? MatrixFixture.duet : key.live
            let server = harness.server()
            let request = Action.requestBattle(inviterLive, invitee, needResponse: needResponse, server)
            if case .success(.battle(let battle, _, _, _))? = harness.outcome(
                .connectionCommand(key, request), of: server)
            {
                harness.battle = battle
            }
        }
    }

    /// Calls about connections and battles.
    static let connections: [Action] = [
        .ownerCall("ask a live to connect") { _, live, caller in
            Action.requestConnection(live, MatrixFixture.duet, caller)
        },
        .ownerCall(
            "cancel a request to connect",
            prepare: { harness, key, _ in
                _ = harness.send(
                    .connectionCommand(key, Action.requestConnection(key.live, MatrixFixture.duet, harness.server())))
            }
        ) { _, live, caller in .cancelRequest(from: live, to: [MatrixFixture.duet], caller: caller) },
        .ownerCall("accept a connection", prepare: Action.connectionRequested) { _, live, caller in
            .accept(live: live, inviter: MatrixFixture.duet, caller: caller)
        },
        .ownerCall("reject a connection", prepare: Action.connectionRequested) { _, live, caller in
            .reject(live: live, inviter: MatrixFixture.duet, caller: caller)
        },
        .ownerCall("exit a connection", prepare: Action.connected) { _, live, caller in
            .exit(live: live, caller: caller)
        },
        .ownerCall(
            "mute another live's host", admin: .allowed, viewer: .needsHost, prepare: Action.connected
        ) { _, live, caller in .muteRemote(live: live, other: MatrixFixture.duet, isMuted: true, caller: caller) },
        .ownerCall("ask for a battle", prepare: Action.connected) { _, live, caller in
            Action.requestBattle(live, MatrixFixture.duet, needResponse: false, caller)
        },
        .ownerCall("cancel a battle", prepare: Action.battleRequested(by: { $0 }, needResponse: true)) {
            harness, live, caller in
            .cancelBattle(battle: harness.battle, live: live, to: [MatrixFixture.duet], caller: caller)
        },
        .ownerCall(
            "accept a battle", prepare: Action.battleRequested(by: { _ in MatrixFixture.duet }, needResponse: true)
        ) {
            harness, live, caller in
            .acceptBattle(battle: harness.battle, live: live, caller: caller)
        },
        .ownerCall(
            "reject a battle", prepare: Action.battleRequested(by: { _ in MatrixFixture.duet }, needResponse: true)
        ) {
            harness, live, caller in
            .rejectBattle(battle: harness.battle, live: live, caller: caller)
        },
        .ownerCall("exit a battle", prepare: Action.battleRequested(by: { $0 }, needResponse: false)) {
            harness, live, caller in
            .exitBattle(battle: harness.battle, live: live, caller: caller)
        },
        Action(
            "change battle scores", owner: .noPermission, admin: .noPermission, viewer: .noPermission,
            outside: .noPermission, banned: .noPermission, stranger: .noPermission,
            prepare: Action.battleRequested(by: { $0 }, needResponse: false)
        ) { harness, key, caller in
            .connectionCommand(
                key,
                .updateScores(
                    battle: harness.battle, operation: .accumulate, scores: [ScoreUpdate(live: key.live, score: 5)],
                    caller: caller))
        },
        Action(
            "see a battle's details", owner: .noPermission, admin: .noPermission, viewer: .noPermission,
            outside: .noPermission, banned: .noPermission, stranger: .noPermission,
            prepare: Action.battleRequested(by: { $0 }, needResponse: false)
        ) { harness, key, caller in
            .connectionCommand(key, .battleInfo(battle: harness.battle, live: nil, caller: caller))
        },
    ]
}
