// SPDX-License-Identifier: Apache-2.0
import MachineTestSupport
import PlazaModel
import Testing

/// Calls that the connection machine decides, about the live of the call and dora's live `duet`.
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

    /// A co-host request that expires after 1800 s.
    private static func requestConnection(_ from: LiveID, _ to: LiveID, _ caller: Caller) -> ConnectionCommand {
        .request(
            from: from, to: [to], layoutTemplate: 0, timeoutSeconds: 1800, extensionInfo: "", caller: caller)
    }

    /// A battle request; without `needResponse` the battle starts at once.
    private static func requestBattle(
        _ from: LiveID, _ to: LiveID, needResponse: Bool, _ caller: Caller
    ) -> ConnectionCommand {
        .requestBattle(
            from: from, to: [to], durationSeconds: 300, needResponse: needResponse,
            timeoutSeconds: needResponse ? 1800 : 0, extensionInfo: "", caller: caller)
    }

    /// `duet` sends a co-host request to the live.
    private static let coHostRequested: Preparation = { harness, key, _ in
        _ = harness.send(
            .connectionCommand(key, Action.requestConnection(MatrixFixture.duet, key.live, harness.server())))
    }

    /// The live is connected with `duet`.
    private static let connected: Preparation = { harness, key, caller in
        Action.coHostRequested(&harness, key, caller)
        let accept = ConnectionCommand.accept(
            live: key.live, inviter: MatrixFixture.duet, caller: harness.server())
        _ = harness.send(.connectionCommand(key, accept))
    }

    /// Which of the two connected lives requests a battle.
    private enum Inviter { case liveOfCall, duet }

    /// The live is connected with `duet`, and one of the two requests a battle.
    ///
    /// Without `needResponse` the battle starts at once.
    private static func battleRequested(by inviter: Inviter, needResponse: Bool) -> Preparation {
        { harness, key, caller in
            Action.connected(&harness, key, caller)
            let (from, to) =
                switch inviter {
                case .liveOfCall: (key.live, MatrixFixture.duet)
                case .duet: (MatrixFixture.duet, key.live)
                }
            let server = harness.server()
            let request = Action.requestBattle(from, to, needResponse: needResponse, server)
            let outcome = harness.outcome(.connectionCommand(key, request), of: server)
            if case .success(.battle(let battle, _, _, _))? = outcome {
                harness.battle = battle
            } else if key.app == MatrixHarness.app {
                // In another app there is no such live.
                Issue.record("the battle of \(from) with \(to) is not requested: \(String(describing: outcome))")
            }
        }
    }

    /// Calls about connections and battles.
    static let connections: [Action] = [
        .ownerCall("send a co-host request") { _, live, caller in
            Action.requestConnection(live, MatrixFixture.duet, caller)
        },
        .ownerCall(
            "cancel a co-host request",
            prepare: { harness, key, _ in
                _ = harness.send(
                    .connectionCommand(key, Action.requestConnection(key.live, MatrixFixture.duet, harness.server())))
            }
        ) { _, live, caller in .cancelRequest(from: live, to: [MatrixFixture.duet], caller: caller) },
        .ownerCall("accept a co-host request", prepare: Action.coHostRequested) { _, live, caller in
            .accept(live: live, inviter: MatrixFixture.duet, caller: caller)
        },
        .ownerCall("reject a co-host request", prepare: Action.coHostRequested) { _, live, caller in
            .reject(live: live, inviter: MatrixFixture.duet, caller: caller)
        },
        .ownerCall("exit a connection", prepare: Action.connected) { _, live, caller in
            .exit(live: live, caller: caller)
        },
        .ownerCall(
            "mute another live's host", admin: .allowed, viewer: .needsHost, prepare: Action.connected
        ) { _, live, caller in .muteRemote(live: live, other: MatrixFixture.duet, isMuted: true, caller: caller) },
        .ownerCall("start a battle", prepare: Action.connected) { _, live, caller in
            Action.requestBattle(live, MatrixFixture.duet, needResponse: false, caller)
        },
        .ownerCall("cancel a battle request", prepare: Action.battleRequested(by: .liveOfCall, needResponse: true)) {
            harness, live, caller in
            .cancelBattle(battle: harness.battle, live: live, to: [MatrixFixture.duet], caller: caller)
        },
        .ownerCall(
            "accept a battle request", prepare: Action.battleRequested(by: .duet, needResponse: true)
        ) {
            harness, live, caller in
            .acceptBattle(battle: harness.battle, live: live, caller: caller)
        },
        .ownerCall(
            "reject a battle request", prepare: Action.battleRequested(by: .duet, needResponse: true)
        ) {
            harness, live, caller in
            .rejectBattle(battle: harness.battle, live: live, caller: caller)
        },
        .ownerCall("exit a battle", prepare: Action.battleRequested(by: .liveOfCall, needResponse: false)) {
            harness, live, caller in
            .exitBattle(battle: harness.battle, live: live, caller: caller)
        },
        Action(
            "change battle scores", owner: .noPermission, admin: .noPermission, viewer: .noPermission,
            outside: .noPermission, banned: .noPermission, stranger: .noPermission,
            prepare: Action.battleRequested(by: .liveOfCall, needResponse: false)
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
            prepare: Action.battleRequested(by: .liveOfCall, needResponse: false)
        ) { harness, key, caller in
            .connectionCommand(key, .battleInfo(battle: harness.battle, live: nil, caller: caller))
        },
    ]
}
