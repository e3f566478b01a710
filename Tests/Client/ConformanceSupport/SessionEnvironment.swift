// SPDX-License-Identifier: Apache-2.0
package import LivePlazaKit
internal import PlazaWire

/// Where `SessionRun` plays a session: on a cluster in memory, or on one of real processes.
package protocol SessionEnvironment: AnyObject {
    /// The client of the user under test, which is not logged in at the beginning.
    var plaza: LivePlaza { get }
    /// Whether the time passes alike for all clients, as on a simulated clock.
    var hasSimulatedTime: Bool { get }

    /// The id of a user or live of this session; other sessions on the same cluster have other ids.
    func id(_ name: String) -> String
    /// A token with which the user `id(name)` can log in.
    func token(_ name: String) -> String
    /// Makes a client for another user, who is never cut off.
    func makeClient(_ name: String) -> LivePlaza
    /// Logs in a user who has no stores and is never cut off.
    func logIn(_ name: String) async throws -> UncutUser
    /// Logs in the app's backend.
    func logInBackend() async throws -> UncutUser

    /// Plans a cut of the connection of the user under test, after some further frames.
    func planCut()
    /// Waits until the planned cut has come, and the user under test is connected again.
    func waitUntilReconnected() async
    /// Makes a call of a store and waits until it has ended.
    ///
    /// - Parameter start: makes the call with the completion that it gets. Called again if the server has rejected the
    ///   call because the user makes too many.
    /// - Returns: the call's outcome; nil if the call has not ended in time.
    func outcome(of start: (@escaping StoreMethods.Done) -> Void) async -> StoreMethods.Outcome?
    /// Waits until a condition holds, until `limit` has passed, or until it is certain that the condition will not
    /// hold.
    func wait(atMost limit: Duration, until condition: () -> Bool) async
}

/// A user without stores who is never cut off, and whose calls a session makes itself.
package struct UncutUser {
    /// Makes a call with parameters in JSON, and returns the JSON of the result.
    private let makeCall: (_ method: String, _ json: String) async throws -> String

    package init(_ makeCall: @escaping (_ method: String, _ json: String) async throws -> String) {
        self.makeCall = makeCall
    }

    /// Makes a call of the protocol.
    ///
    /// - Parameters:
    ///   - method: a method of PROTOCOL.md, section 5.
    ///   - params: an object with its parameters.
    /// - Returns: the body of the result, without the kind of the result.
    /// - Throws: the error of the call.
    func call(_ method: String, _ params: JSONValue) async throws -> JSONValue {
        let json = try await self.makeCall(method, String(decoding: Wire.encode(params), as: UTF8.self))
        return try Wire.decode(JSONValue.self, from: Array(json.utf8)).members.first?.value ?? .null
    }
}
