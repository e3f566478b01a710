// SPDX-License-Identifier: Apache-2.0
public import Foundation
public import LivePlazaCombine
internal import MachineKit
internal import PlazaModel
internal import PlazaWire

/// Battles between connected hosts.
///
/// Scores are set by the app's server alone; the app decides who won.
public final class BattleStore: @unchecked Sendable {
    /// The states of all stores of the live, with the `handle` that makes the calls.
    private let stores: LiveStores

    /// The running battle and its hosts, and the scores, which remain after the battle.
    public var state: StatePublisher<BattleState> { self.stores.battle }
    /// Publishes requests and their ends, the beginning and the end of battles, and hosts who join and leave a battle.
    public var battleEventPublisher: PassthroughSubject<BattleEvent, Never> { self.stores.battleEvents }

    init(_ stores: LiveStores) { self.stores = stores }

    /// The store of a live of the default client.
    public static func create(liveID: String) -> BattleStore { LivePlaza.shared.battleStore(liveID: liveID) }

    /// Asks connected hosts for a battle, or begins one at once if `config.needResponse` is false.
    ///
    /// After `timedOut` the request may be open: the events of its answers name the battle, and another request then
    /// fails with `battlePending`.
    ///
    /// - Parameters:
    ///   - config: whether the hosts must accept, and the battle's duration in seconds (0 for the app's maximum).
    ///   - userIDList: the ids of the hosts to ask. A user who is not in `CoHostStore.state.value.connected` is not
    ///     asked, and gets the code 4.
    ///   - timeout: how long the request is open, in seconds, 1 to 1,800.
    ///   - completion: gets the battle, whose times are 0 until it begins. Errors: `noSuchConnection`,
    ///     `inAnotherBattle`, `battlePending`, `noValidRoom`, `battleTooFrequent`, `badParameter`, `needsOwner`.
    public func requestBattle(
        config: BattleConfig, userIDList: [String], timeout: TimeInterval, completion: BattleRequestClosure?
    ) {
        self.stores.handle.run(completion, self.requestOperation(config, userIDList, timeout))
    }

    /// Asks connected hosts for a battle, or begins one at once; see the method with a completion.
    public func requestBattle(
        config: BattleConfig, userIDList: [String], timeout: TimeInterval
    ) async throws(ErrorInfo) -> (BattleInfo, [String: Int]) {
        try await self.stores.handle.run(self.requestOperation(config, userIDList, timeout))
    }

    /// Withdraws the requests to some hosts before the battle begins, also those that were accepted.
    ///
    /// Users who were not asked, or are not hosts of the connection, are ignored. The battle begins if all others have
    /// accepted, and is off if nobody else was asked.
    ///
    /// Errors of the completion: `noSuchBattle`, `notWhileFighting`, `noPermission`.
    public func cancelBattleRequest(battleId: String, userIdList: [String], completion: CompletionClosure?) {
        self.stores.handle.run(completion, self.cancelOperation(battleId, userIdList))
    }

    /// Withdraws a request to some hosts before the battle begins.
    public func cancelBattleRequest(battleId: String, userIdList: [String]) async throws(ErrorInfo) {
        try await self.stores.handle.run(self.cancelOperation(battleId, userIdList))
    }

    /// Accepts a request.
    ///
    /// Errors of the completion: `noSuchBattle`, `battleOver`, `battlePending`.
    public func acceptBattle(battleID: String, completion: CompletionClosure?) {
        self.stores.handle.run(completion, Self.answerCall("battle.accept", battleID))
    }

    /// Accepts a request.
    public func acceptBattle(battleID: String) async throws(ErrorInfo) {
        try await self.stores.handle.run(Self.answerCall("battle.accept", battleID))
    }

    /// Declines a request.
    ///
    /// Errors of the completion: `noSuchBattle`, `battleOver`.
    public func rejectBattle(battleID: String, completion: CompletionClosure?) {
        self.stores.handle.run(completion, Self.answerCall("battle.reject", battleID))
    }

    /// Declines a request.
    public func rejectBattle(battleID: String) async throws(ErrorInfo) {
        try await self.stores.handle.run(Self.answerCall("battle.reject", battleID))
    }

    /// Leaves the battle, which continues without this host.
    ///
    /// Errors of the completion: `noSuchBattle`, `battleNotStarted`, `battleOver`, `roomNotInBattle`.
    public func exitBattle(battleID: String, completion: CompletionClosure?) {
        self.stores.handle.run(completion, StoreCall("battle.exit", ["battle": .text(battleID)]))
    }

    /// Leaves the battle, which continues without this host.
    public func exitBattle(battleID: String) async throws(ErrorInfo) {
        try await self.stores.handle.run(StoreCall("battle.exit", ["battle": .text(battleID)]))
    }

    private static func answerCall(_ method: String, _ battleID: String) -> StoreCall {
        StoreCall(method, ["battle": .text(battleID)], then: .battleAnswered(battle: battleID))
    }

    /// The code of a user who is no host of the connection.
    ///
    /// It is the code that the server gives a live outside of the connection.
    private static let notConnectedCode = 4

    private func requestOperation(
        _ config: BattleConfig, _ users: [String], _ timeout: TimeInterval
    ) -> StoreOperation<(BattleInfo, [String: Int])> {
        let liveID = self.stores.handle.liveID
        return { engine async throws(ErrorInfo) in
            try engine.checkHasLogin()
            let hosts = engine.livesOfHosts(users, in: liveID)
            if hosts.isEmpty, !users.isEmpty { throw engine.noHostError(in: liveID) }
            let call = StoreCall(
                "battle.request",
                [
                    "to": .texts(hosts.map(\.live)), "duration": .seconds(config.duration),
                    "needResponse": .bool(config.needResponse), "timeout": .seconds(timeout),
                    "extensionInfo": .text(config.extensionInfo),
                ])
            let result = try await engine.performRequest(call, [], in: .battleRequests, of: liveID) {
                result throws(ErrorInfo) in
                // A battle that has begun is no request any more.
                guard case .battle(let battle, nil, _, let codes) = result else { return [] }
                let rejected = Set(codes.filter { $0.code != 0 }.map(\.live.text))
                return hosts.map(\.live).filter { !rejected.contains($0) }
                    .map { RequestName.ownBattle(battle.text, invitee: $0) }
            }
            guard case .battle(let battle, let start, let end, let codes) = result else { throw .wrongResultKind }
            let info = BattleInfo(
                battleID: battle.text, config: config, startTime: UInt(clamping: start?.seconds ?? 0),
                endTime: UInt(clamping: end?.seconds ?? 0))
            // The server gives codes by live, the app gets them by user. A live without a code was asked, and its code
            // for the app is 0. Users who are no hosts of the connection were not named to the server.
            let codeOfLive = Dictionary(codes.map { ($0.live.text, $0.code) }, uniquingKeysWith: { first, _ in first })
            var codeOfUser: [String: Int] = [:]
            for user in users { codeOfUser[user] = Self.notConnectedCode }
            for host in hosts { codeOfUser[host.user] = codeOfLive[host.live] ?? 0 }
            return (info, codeOfUser)
        }
    }

    private func cancelOperation(_ battle: String, _ users: [String]) -> StoreOperation<Void> {
        let liveID = self.stores.handle.liveID
        return { engine async throws(ErrorInfo) in
            let lives = engine.livesOfHosts(users, in: liveID).map(\.live)
            // If none of the users is a host of the connection, the call names this live itself. A live never asks
            // itself, so nothing is withdrawn, but the server still reports whether there is such a battle.
            let targets = lives.isEmpty && !users.isEmpty ? [liveID] : lives
            let params: [String: JSONValue] = ["battle": .text(battle), "to": .texts(targets)]
            let change = LocalChange.battleRequestCancelled(battle: battle, lives: lives)
            _ = try await engine.perform(StoreCall("battle.cancel", params, then: change), in: liveID)
        }
    }
}

extension PlazaEngine {
    /// The lives of those users who are hosts of the connection; the protocol identifies hosts by their lives.
    ///
    /// - Returns: the users in their order, each once.
    fileprivate func livesOfHosts(_ users: [String], in liveID: String) -> [(user: String, live: String)] {
        let connected = self.states(of: liveID).coHost.connected
        var hosts: [(user: String, live: String)] = []
        for user in users where !hosts.contains(where: { $0.user == user }) {
            if let host = connected.first(where: { $0.userID == user }) { hosts.append((user, host.liveID)) }
        }
        return hosts
    }

    /// The error of a battle request that names no host of the connection, or is made without a connection.
    fileprivate func noHostError(in liveID: String) -> ErrorInfo {
        if self.states(of: liveID).coHost.connected.isEmpty {
            return ErrorInfo(code: ReplyCode.noSuchConnection.code, message: "the live is in no connection")
        }
        return ErrorInfo(code: ReplyCode.noValidRoom.code, message: "none of these users is a host of this connection")
    }
}
