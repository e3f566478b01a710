// SPDX-License-Identifier: Apache-2.0
import ConformanceSupport
import LivePlazaKit
import LivePlazaTesting
import Testing

/// What a user's stores show when the user's connection is cut at every call of every store.
///
/// Each test plays a session of `clients/conformance/sessions.json` and cuts the connection once per call, always after
/// the same number of frames. Some cuts come before the call, some between the call and its reply, and some after the
/// reply. Every call must succeed and be applied once. At the end the user's stores must equal those of a witness, who
/// enters at the beginning and is never cut off, and those of a newcomer, who enters at the end. `StoreCallCutTests`
/// plays the same sessions on a cluster of real processes.
struct SimulatedCallCutTests {
    /// Each session with each number of frames, and without cuts.
    private static func cases() throws -> [CallCutCase] {
        try SessionFile().sessions.flatMap { session in
            (session.framesBeforeCut + [nil]).map { CallCutCase(session: session, framesBeforeCut: $0) }
        }
    }

    @Test(arguments: try Self.cases())
    func `I7 I15 every call is applied once although the connection is cut at each call`(
        testCase: CallCutCase
    ) async throws {
        try await SessionRun(testCase.session, SimulatedSessionEnvironment(testCase)).run()
    }
}

/// A session with one of its numbers of frames.
struct CallCutCase: Sendable, CustomTestStringConvertible {
    let session: ConformanceSession
    /// How many frames are still delivered before each cut; nil for a session without cuts.
    let framesBeforeCut: Int?

    var testDescription: String {
        "\(self.session.name), \(self.framesBeforeCut.map { "cut off after \($0) frames" } ?? "never cut off")"
    }
}

/// A simulated cluster on which one session is played.
private final class SimulatedSessionEnvironment: SessionEnvironment {
    let plaza: LivePlaza
    let hasSimulatedTime = true
    private let cluster: SimulatedCluster
    private let user: String
    private let framesBeforeCut: Int?

    init(_ testCase: CallCutCase) {
        self.framesBeforeCut = testCase.framesBeforeCut
        // Each number of frames has a seed of its own; 100 stands for a session without cuts.
        self.cluster = SimulatedCluster(seed: UInt64(testCase.framesBeforeCut ?? 100) + 1)
        self.user = testCase.session.user
        self.plaza = self.cluster.client(self.user)
    }

    func id(_ name: String) -> String { name }

    func token(_ name: String) -> String { self.cluster.token(name) }

    func makeClient(_ name: String) -> LivePlaza { self.cluster.client(name) }

    func logIn(_ name: String) throws -> UncutUser {
        Self.uncut(try self.cluster.user(name, userName: "The \(name)"))
    }

    func logInBackend() throws -> UncutUser { Self.uncut(try self.cluster.backend()) }

    private static func uncut(_ user: ScriptedUser) -> UncutUser {
        UncutUser { method, json in try user.call(method, json: json) }
    }

    func planCut() {
        guard let framesBeforeCut else { return }
        self.cluster.cutConnection(of: self.user, afterFrames: framesBeforeCut)
    }

    /// Does nothing, because the user has reconnected when `outcome` returns.
    func waitUntilReconnected() {}

    func outcome(of start: (@escaping StoreMethods.Done) -> Void) -> StoreMethods.Outcome? {
        var outcome: StoreMethods.Outcome?
        start { outcome = $0 }
        self.passTime()
        return outcome
    }

    /// If the condition does not hold yet, lets a fixed time pass, whatever the limit is.
    func wait(atMost limit: Duration, until condition: () -> Bool) { if !condition() { self.passTime() } }

    /// Advances the time by more than a client needs to reconnect and to send its call again.
    private func passTime() { self.cluster.advance(by: .seconds(12)) }
}
