// SPDX-License-Identifier: Apache-2.0
import MachineKit
import MachineTestSupport
import PlazaModel
import Testing

@testable import StageCore

/// Who may call the connection machine on behalf of a live.
struct ConnectionPermissionTests {
    /// Who calls: the owner of `bistro`, another user, or the app's server.
    enum CallerKind: String, CaseIterable { case owner, otherUser, server }

    /// A call for `bistro`, and the expected code for each kind of caller.
    struct Call: CustomTestStringConvertible, Sendable {
        let name: String
        /// The expected codes for owner, other user and server, in this order.
        let codes: [ReplyCode]
        /// The command of the call; it gets the battle to which bistro is invited.
        let command: @Sendable (BattleID, Caller) -> ConnectionCommand
        var testDescription: String { self.name }
    }

    /// When the call is made, arena, bistro and cafe are connected, and arena has invited bistro and cafe to a battle.
    static let calls: [Call] = [
        Call(name: "send a co-host request", codes: [.success, .needsOwner, .success]) {
            .coHostRequest(from: "bistro", to: ["disco"], caller: $1)
        },
        Call(
            name: "accept a co-host request that does not exist",
            codes: [.noSuchConnection, .needsOwner, .noSuchConnection]
        ) {
            .accept(live: "bistro", inviter: "disco", caller: $1)
        },
        Call(
            name: "reject a co-host request that does not exist",
            codes: [.noSuchConnection, .needsOwner, .noSuchConnection]
        ) {
            .reject(live: "bistro", inviter: "disco", caller: $1)
        },
        Call(
            name: "cancel a co-host request that does not exist",
            codes: [.noSuchConnection, .needsOwner, .noSuchConnection]
        ) {
            .cancelRequest(from: "bistro", to: ["disco"], caller: $1)
        },
        Call(name: "exit the connection", codes: [.success, .needsOwner, .success]) {
            .exit(live: "bistro", caller: $1)
        },
        Call(name: "request another battle", codes: [.battlePending, .needsOwner, .battlePending]) {
            .battleRequest(from: "bistro", to: ["cafe"], needResponse: true, caller: $1)
        },
        Call(name: "accept the battle", codes: [.success, .needsOwner, .success]) {
            .acceptBattle(battle: $0, live: "bistro", caller: $1)
        },
        Call(name: "reject the battle", codes: [.success, .needsOwner, .success]) {
            .rejectBattle(battle: $0, live: "bistro", caller: $1)
        },
        Call(name: "cancel the battle as an invitee", codes: [.noPermission, .needsOwner, .noPermission]) {
            .cancelBattle(battle: $0, live: "bistro", to: ["bistro"], caller: $1)
        },
        Call(name: "exit a requested battle", codes: [.battleNotStarted, .needsOwner, .battleNotStarted]) {
            .exitBattle(battle: $0, live: "bistro", caller: $1)
        },
        Call(name: "update the scores", codes: [.noPermission, .noPermission, .success]) {
            .updateScores(
                battle: $0, operation: .overwrite, scores: [ScoreUpdate(live: "bistro", score: 1)], caller: $1)
        },
    ]

    /// Rules: R8.22.
    @Test(arguments: Self.calls, CallerKind.allCases)
    func `only the owner of a live and the server act for the live, and only the server changes scores`(
        call: Call, callerKind: CallerKind
    ) throws {
        var harness = ConnectionHarness(["arena", "bistro", "cafe", "disco"])
        harness.connect("arena", "bistro", "cafe")
        let battle = harness.requestBattle("arena", against: "bistro", "cafe")
        let caller =
            switch callerKind {
            case .owner: harness.callers.user("host-bistro")
            case .otherUser: harness.callers.user("adam")
            case .server: harness.callers.server()
            }
        let effects = harness.handle(call.command(battle, caller))
        let expectedCode = call.codes[try #require(CallerKind.allCases.firstIndex(of: callerKind))]
        #expect(effects.code == expectedCode)
        if expectedCode != .success { #expect(effects.count == 1, "a rejected call notifies nobody") }
    }
}
