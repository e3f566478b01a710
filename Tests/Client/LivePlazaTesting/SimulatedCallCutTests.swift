// SPDX-License-Identifier: Apache-2.0
import CallScripts
import LivePlazaKit
import LivePlazaTesting
import Testing

/// What a user's stores show when the user's connection is cut at every call of every store.
///
/// Each test runs a whole session and cuts the connection once per call, always after the same number of frames. Some
/// cuts come before the call, some between the call and its reply, and some after the reply. Every call must succeed
/// and be applied once. At the end the user's stores must equal those of a witness, who enters at the beginning and is
/// never cut off, and those of a newcomer, who enters at the end. `StoreCallCutTests` runs the same sessions on a
/// cluster of real processes.
struct SimulatedCallCutTests {
    /// How many frames are still delivered, counted from the beginning of a call, before the connection is cut.
    private static let frameCountsBeforeCut = [0, 1, 2, 3, 4, 5, SimulatedCallScriptSession.neverCut]

    @Test(arguments: Self.frameCountsBeforeCut)
    func `I7 I15 every call of a host is applied once although the connection is cut at each call`(
        frameCount: Int
    ) async throws {
        try await HostScript(SimulatedCallScriptSession("host", cutAfterFrames: frameCount)).run()
    }

    @Test(arguments: Self.frameCountsBeforeCut)
    func `I7 I15 every call of a guest is applied once although the connection is cut at each call`(
        frameCount: Int
    ) async throws {
        try await GuestScript(SimulatedCallScriptSession("guest", cutAfterFrames: frameCount)).run()
    }

    @Test(arguments: EntryScript.frameCountsBeforeCut, [true, false])
    func `I7 I15 a user who is cut off once while it enters a live shows what others show`(
        frameCount: Int, createsLive: Bool
    ) async throws {
        let user = EntryScript.userName(createsLive: createsLive)
        let session = SimulatedCallScriptSession(user, cutAfterFrames: frameCount)
        try await EntryScript(createsLive: createsLive, session).run()
    }
}

/// A session on a cluster in memory of its own.
private final class SimulatedCallScriptSession: CallScriptSession {
    /// The frame count that stands for a session without cuts.
    static let neverCut = 100

    let plaza: LivePlaza
    let hasSimulatedTime = true
    private let cluster: SimulatedCluster
    private let user: String
    private let frameCountBeforeCut: Int

    /// - Parameters:
    ///   - user: the user under test.
    ///   - frameCount: how many frames are delivered before each cut, or `neverCut`.
    init(_ user: String, cutAfterFrames frameCount: Int) {
        self.cluster = SimulatedCluster(seed: UInt64(frameCount) + 1)
        (self.user, self.frameCountBeforeCut) = (user, frameCount)
        self.plaza = self.cluster.client(user)
    }

    func id(_ name: String) -> String { name }

    func token(_ name: String) -> String { self.cluster.token(name) }

    func makeClient(_ name: String) -> LivePlaza { self.cluster.client(name) }

    func logIn(_ name: String) throws -> UncutUser {
        Self.uncut(try self.cluster.user(name, userName: "The \(name)"))
    }

    func logInBackend() throws -> UncutUser { Self.uncut(try self.cluster.backend()) }

    private static func uncut(_ user: ScriptedUser) -> UncutUser {
        UncutUser(user.userID) { method, json in try user.call(method, json: json) }
    }

    func planCut() {
        if self.frameCountBeforeCut != Self.neverCut {
            self.cluster.cutConnection(of: self.user, afterFrames: self.frameCountBeforeCut)
        }
    }

    /// Does nothing, because the user has reconnected when `result` returns.
    func waitUntilReconnected() {}

    func result<Value: Sendable>(
        of start: (@escaping (Result<Value, ErrorInfo>) -> Void) -> Void
    ) -> Result<Value, ErrorInfo>? {
        var callResult: Result<Value, ErrorInfo>?
        start { callResult = $0 }
        self.passTime()
        return callResult
    }

    func wait(until condition: () -> Bool) { if !condition() { self.passTime() } }

    /// Advances the time by more than a client needs to reconnect and to send its call again.
    private func passTime() { self.cluster.advance(by: .seconds(12)) }
}
