// SPDX-License-Identifier: Apache-2.0
package import LivePlazaKit
internal import Testing

/// A session of one user, the user under test, whose connection a cluster cuts at each call.
///
/// `HostScript` and `GuestScript` make the calls. There is one session type for the cluster in memory, and one for a
/// cluster of real processes.
package protocol CallScriptSession: AnyObject {
    /// The client of the user under test, which is not logged in at the beginning.
    var plaza: LivePlaza { get }
    /// Whether the time passes alike for all clients, as on a simulated clock.
    var hasSimulatedTime: Bool { get }

    /// The id of a user or live of this session; other sessions on the same cluster have other ids.
    func id(_ name: String) -> String
    /// A token with which the user `id(name)` can log in.
    func token(_ name: String) -> String
    /// Makes a client that is never cut off.
    func makeClient(_ name: String) -> LivePlaza
    /// Logs a user in that has no stores, whose calls the script makes itself, and that is never cut off.
    func logIn(_ name: String) async throws -> UncutUser
    /// Logs the app's backend in.
    func logInBackend() async throws -> UncutUser

    /// Lets the connection of the user under test be cut after some further frames.
    func planCut()
    /// Waits until the planned cut has come, and the user under test is connected again.
    func waitUntilReconnected() async
    /// Makes a call and waits until it has ended.
    ///
    /// - Returns: the call's result; nil if the call has not ended in time.
    func result<Value: Sendable>(
        of start: (@escaping (Result<Value, ErrorInfo>) -> Void) -> Void
    ) async -> Result<Value, ErrorInfo>?
    /// Waits until a condition holds, or until it is certain that it will not.
    func wait(until condition: () -> Bool) async
}

extension CallScriptSession {
    /// Makes a call of the user under test, whose connection is cut meanwhile.
    ///
    /// - Throws: `CallFailure` if the call fails or does not end.
    @discardableResult
    package func call<Value: Sendable>(
        _ name: String, _ start: (@escaping (Result<Value, ErrorInfo>) -> Void) -> Void
    ) async throws -> Value {
        self.planCut()
        let result = await self.result(of: start)
        await self.waitUntilReconnected()
        return try CallFailure.value(of: result, name)
    }

    /// Makes a call of the user under test, during which a cut may come that was planned before.
    ///
    /// - Throws: `CallFailure` if the call fails or does not end.
    @discardableResult
    func callWithoutNewCut<Value: Sendable>(
        _ name: String, _ start: (@escaping (Result<Value, ErrorInfo>) -> Void) -> Void
    ) async throws -> Value {
        try CallFailure.value(of: await self.result(of: start), name)
    }

    /// Makes a client that is never cut off, and that logs in and enters a live.
    package func enter(_ name: String, _ live: String) async throws -> LivePlaza {
        let plaza = self.makeClient(name)
        let login = await self.result {
            plaza.loginStore.login(sdkAppID: 1, userID: self.id(name), userSig: self.token(name), completion: $0)
        }
        try CallFailure.value(of: login, "\(name) logs in")
        let join = await self.result { plaza.liveListStore.joinLive(liveID: live, completion: $0) }
        _ = try CallFailure.value(of: join, "\(name) enters")
        return plaza
    }

    /// Waits until a condition holds, which the next call needs.
    package func require(_ what: String, _ condition: () -> Bool) async throws {
        await self.wait(until: condition)
        try #require(condition(), "expected that \(what)")
    }

    /// Expects that the messages of the user under test have these texts, and that the user's stores equal those of the
    /// witness, who has been in the live since its beginning, and those of a newcomer.
    package func expectSameStores(in live: String, as witness: LivePlaza, messageTexts: [String]) async throws {
        let newcomer = try await self.enter("newcomer", live)
        func states(_ plaza: LivePlaza) -> StoreStates {
            var states = StoreStates(plaza, live)
            states.clearUserSpecificStates(hasSimulatedTime: self.hasSimulatedTime)
            return states
        }
        func differencesFromNewcomer() -> [String] {
            // The newcomer has no messages from before the join, so messages are not compared.
            var (userStates, newcomerStates) = (states(self.plaza), states(newcomer))
            (userStates.messages, newcomerStates.messages) = ([], [])
            return userStates.differences(from: newcomerStates)
        }
        await self.wait {
            states(self.plaza).messages == messageTexts
                && states(self.plaza).differences(from: states(witness)).isEmpty && differencesFromNewcomer().isEmpty
        }
        #expect(states(self.plaza).messages == messageTexts)
        #expect(states(self.plaza).differences(from: states(witness)) == [], "the witness differs")
        #expect(differencesFromNewcomer() == [], "the newcomer differs")
    }
}

/// A user without stores who is never cut off, and whose calls a script makes itself.
package struct UncutUser {
    private let name: String
    /// Makes a call of a method with parameters in JSON, and returns the JSON of the result.
    private let makeCall: (_ method: String, _ json: String) async throws -> String

    package init(_ name: String, _ makeCall: @escaping (_ method: String, _ json: String) async throws -> String) {
        self.name = name
        self.makeCall = makeCall
    }

    /// Makes a call of the protocol.
    ///
    /// - Parameters:
    ///   - method: a method of PROTOCOL.md, section 5.
    ///   - json: an object with its parameters.
    /// - Returns: the JSON of the result.
    /// - Throws: `CallFailure` if the call fails.
    @discardableResult
    package func call(_ method: String, _ json: String) async throws -> String {
        do {
            return try await self.makeCall(method, json)
        } catch {
            throw CallFailure("\(self.name)'s call \(method) \(json)", "\(error)")
        }
    }

    /// Adds a gift to the app, as its backend.
    func addGift() async throws {
        try await self.call(
            "app.setGifts",
            #"{"categories":[{"categoryID":"c","name":"C","gifts":[{"giftID":"rose","name":"R"}]}]}"#)
    }
}

/// A call that has failed.
package struct CallFailure: Error, CustomStringConvertible {
    package let description: String

    init(_ call: String, _ reason: String) { self.description = "\(call): \(reason)" }

    /// The value of a successful result; nil stands for a call that has not ended.
    @discardableResult
    fileprivate static func value<Value>(
        of result: Result<Value, ErrorInfo>?, _ call: String
    ) throws(CallFailure) -> Value {
        switch result {
        case .success(let value): return value
        case .failure(let error): throw CallFailure(call, "\(error)")
        case nil: throw CallFailure(call, "no answer")
        }
    }
}
