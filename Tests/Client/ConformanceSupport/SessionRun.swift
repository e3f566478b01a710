// SPDX-License-Identifier: Apache-2.0
internal import LivePlazaKit
internal import PlazaWire

/// Plays a session of clients/conformance/sessions.json; the README there describes the steps.
package final class SessionRun {
    /// How often the call of a step with `until` is made at most.
    private static let maxCallCount = 10
    /// How long the state of a step with `until` is awaited after each call.
    private static let waitAfterCall = Duration.seconds(1)
    /// How long a state is awaited that must come.
    private static let waitForState = Duration.seconds(30)

    private let session: ConformanceSession
    private let environment: any SessionEnvironment
    private let methods: StoreMethods
    /// The id of the session's live.
    private let live: String
    /// The other users who have made calls, by name.
    private var otherUsers: [String: UncutUser] = [:]
    /// The client that is in the live since its beginning and is never cut off.
    private var witness: LivePlaza?
    /// The results of calls, by the names that steps give the calls.
    private var results: [String: JSONValue] = [:]
    /// Whether the present step is inside a `cut` step, which has planned the only cut of all its steps.
    private var isInCutStep = false

    /// Makes a run of a session.
    ///
    /// - Parameters:
    ///   - session: the session.
    ///   - environment: the cluster on which it is played, with the client of the session's user.
    package init(_ session: ConformanceSession, _ environment: any SessionEnvironment) {
        (self.session, self.environment) = (session, environment)
        self.live = environment.id(session.live)
        self.methods = StoreMethods(
            plaza: environment.plaza, userID: environment.id(session.user), token: environment.token(session.user))
    }

    /// Plays the session.
    ///
    /// - Throws: `CaseFailure` at the first step that fails.
    package func run() async throws {
        for step in self.session.steps { try await self.runStep(step) }
    }

    private func runStep(_ step: JSONValue) async throws {
        guard let (kind, value) = step.members.first, step.members.count == 1 else {
            throw CaseFailure("a step without a kind: \(step)")
        }
        // A step inside a `cut` step can refer to the result of the step before it, so each of these steps is resolved
        // only when its turn comes.
        if kind == "cut" { return try await self.runWithOneCut(CaseParams(value: value).values("steps")) }
        do {
            let params = CaseParams(value: try self.resolve(value))
            switch kind {
            case "call": try await self.call(params)
            case "other": try await self.callOfOtherUser(params)
            case "witness": self.witness = try await self.enter("witness")
            case "state": if let difference = self.stateDifference(params) { throw CaseFailure(difference) }
            case "wait":
                await self.environment.wait(atMost: Self.waitForState) { self.stateDifference(params) == nil }
                if let difference = self.stateDifference(params) { throw CaseFailure(difference) }
            case "sameStates": try await self.expectSameStates(messages: params.texts("messages"))
            default: throw CaseFailure("no step of this kind")
            }
        } catch {
            throw CaseFailure("\(kind) \(String(decoding: Wire.encode(value), as: UTF8.self)): \(error)")
        }
    }

    /// Performs steps, during one of which the connection of the user under test is cut once.
    private func runWithOneCut(_ steps: [JSONValue]) async throws {
        self.environment.planCut()
        self.isInCutStep = true
        for step in steps { try await self.runStep(step) }
        self.isInCutStep = false
        await self.environment.waitUntilReconnected()
    }

    /// Makes a call of the user under test: once, or repeatedly until a store has the state of `until`.
    private func call(_ params: CaseParams) async throws {
        guard params.has("until") else { return try await self.callOnce(params) }
        let expectedState = params.object("until")
        for _ in 0..<Self.maxCallCount {
            try await self.callOnce(params)
            await self.environment.wait(atMost: Self.waitAfterCall) { self.stateDifference(expectedState) == nil }
            if self.stateDifference(expectedState) == nil { return }
        }
        throw CaseFailure(self.stateDifference(expectedState) ?? "the state has come too late")
    }

    /// Makes a call of the user under test, whose connection is cut meanwhile.
    private func callOnce(_ params: CaseParams) async throws {
        let methodParams = CaseParams(value: params.value.members["params"] ?? .null)
        var isKnown = true
        if !self.isInCutStep { self.environment.planCut() }
        let outcome = await self.environment.outcome { done in
            isKnown = self.methods.call(
                params.text("store"), params.text("method"), methodParams, live: self.live, done)
            if !isKnown { done(.success(.null)) }
        }
        guard isKnown else { throw CaseFailure("this runner does not know the store or its method") }
        if !self.isInCutStep { await self.environment.waitUntilReconnected() }
        let result = try Self.result(outcome)
        if let expected = params.value.members["is"],
            let difference = Reflection.difference(result, expected, at: "the result")
        {
            throw CaseFailure(difference)
        }
        if params.has("as") { self.results[params.text("as")] = result }
    }

    /// Makes a call of the protocol for a user who is never cut off; logs the user in before the first call.
    private func callOfOtherUser(_ params: CaseParams) async throws {
        let name = params.text("user")
        let user: UncutUser
        if let knownUser = self.otherUsers[name] {
            user = knownUser
        } else {
            let isBackend = name == "backend"
            user = try await isBackend ? self.environment.logInBackend() : self.environment.logIn(name)
            self.otherUsers[name] = user
        }
        let result = try await user.call(params.text("method"), params.object("params").value)
        if params.has("as") { self.results[params.text("as")] = result }
    }

    /// Makes a client that is never cut off, and that logs in and enters the live.
    private func enter(_ name: String) async throws -> LivePlaza {
        let plaza = self.environment.makeClient(name)
        let methods = StoreMethods(
            plaza: plaza, userID: self.environment.id(name), token: self.environment.token(name))
        let join = CaseParams(value: ["liveID": .text(self.live)])
        for (store, method, params) in [("login", "login", CaseParams(value: .null)), ("liveList", "joinLive", join)] {
            let outcome = await self.environment.outcome { done in
                _ = methods.call(store, method, params, live: self.live, done)
            }
            do {
                _ = try Self.result(outcome)
            } catch {
                throw CaseFailure("\(method) of the \(name): \(error)")
            }
        }
        return plaza
    }

    private static func result(_ outcome: StoreMethods.Outcome?) throws(CaseFailure) -> JSONValue {
        switch outcome {
        case .success(let result): return result
        case .failure(let error): throw CaseFailure("the call failed: \(error)")
        case nil: throw CaseFailure("the call has not ended")
        }
    }

    /// Compares the state of a store of the user under test with the one that a step expects; nil if they match.
    private func stateDifference(_ params: CaseParams) -> String? {
        let state = self.methods.state(of: params.text("store"), live: self.live)
        return Reflection.difference(state, params.value.members["is"] ?? .null, at: params.text("store"))
    }

    /// Expects that the messages of the user under test have these texts, and that the user's stores equal those of the
    /// witness and those of a newcomer.
    private func expectSameStates(messages: [String]) async throws {
        guard let witness = self.witness else { throw CaseFailure("there is no witness yet") }
        let newcomer = try await self.enter("newcomer")
        func states(_ plaza: LivePlaza) -> StoreStates {
            var states = StoreStates(plaza, self.live)
            states.clearUserSpecificStates(hasSimulatedTime: self.environment.hasSimulatedTime)
            return states
        }
        func differences() -> [String] {
            var userStates = states(self.environment.plaza)
            guard userStates.messages == messages else { return ["the messages are \(userStates.messages)"] }
            let fromWitness = userStates.differences(from: states(witness)).map { "the witness differs: \($0)" }
            // The newcomer has no messages from before the join, so messages are not compared.
            var newcomerStates = states(newcomer)
            (userStates.messages, newcomerStates.messages) = ([], [])
            return fromWitness + userStates.differences(from: newcomerStates).map { "the newcomer differs: \($0)" }
        }
        await self.environment.wait(atMost: Self.waitForState) { differences().isEmpty }
        let remaining = differences()
        if !remaining.isEmpty { throw CaseFailure(remaining.joined(separator: "; ")) }
    }

    /// Replaces `{"$id": name}` by the id of a user or live, and `{"$result": [name, key, …]}` by a part of the result
    /// of an earlier call.
    private func resolve(_ value: JSONValue) throws(CaseFailure) -> JSONValue {
        switch value {
        case .array(let values):
            var resolved: [JSONValue] = []
            for value in values { resolved.append(try self.resolve(value)) }
            return .array(resolved)
        case .object(let members):
            if case .text(let name)? = members["$id"] { return .text(self.environment.id(name)) }
            if case .array(let path)? = members["$result"] { return try self.partOfResult(path) }
            var resolved: [String: JSONValue] = [:]
            for (name, member) in members { resolved[name] = try self.resolve(member) }
            return .object(resolved)
        default: return value
        }
    }

    private func partOfResult(_ path: [JSONValue]) throws(CaseFailure) -> JSONValue {
        var value = JSONValue.object(self.results)
        for key in path {
            guard case .text(let name) = key, let member = value.members[name] else {
                throw CaseFailure("there is no result \(path)")
            }
            value = member
        }
        return value
    }
}
