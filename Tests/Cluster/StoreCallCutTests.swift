// SPDX-License-Identifier: Apache-2.0
import ConformanceSupport
import LivePlazaKit
import LivePlazaTransport
import PlazaModel
import PlazaWire
import ProtocolClient
import Synchronization
import TestSupport
import Testing

/// Tests what a user's stores show when the user's connection to a real cluster is cut at every call of every store.
///
/// Each case plays a session of `clients/conformance/sessions.json` and cuts the connection once per call, always after
/// the same number of frames. Some cuts come before the call, some between the call and its reply, and some after the
/// reply. Every call must succeed and be applied once. At the end the user's stores must equal those of a witness, who
/// enters at the beginning and is never cut off, and those of a newcomer, who enters at the end.
/// `SimulatedCallCutTests` plays the same sessions on a cluster in memory.
@Suite(.serialized, .enabled(if: TestCluster.kafkaHome != nil, "needs a real Kafka: set KAFKA_HOME"))
struct StoreCallCutTests {
    /// How many cases run at a time: all cases of the two sessions that make each call, which have six cases each.
    private static let casesAtATime = 12

    @Test(.timeLimit(.minutes(5)))
    func `I7 I15 every call of hosts and guests is applied once although the connection is cut at each call`()
        async throws
    {
        let sessions = try SessionFile().sessions
        try await TestCluster.with(TestCluster.options(kafkaBrokers: 1)) { cluster in
            let harness = try ClusterHarness(cluster)
            let transport = try LoopTransport()
            let hub = try ClientHub()
            defer { hub.stop() }
            let cases = sessions.flatMap { session in
                session.framesBeforeCut.map { count in
                    ConcurrentCase("\(session.name), cut off after \(count) frames") {
                        let environment = ClusterSessionEnvironment(
                            session.user, cutAfterFrames: count, harness, transport, hub)
                        try await SessionRun(session, environment).run()
                    }
                }
            }
            await ConcurrentCase.run(cases, atMost: Self.casesAtATime)
        }
    }
}

/// A cluster of real processes for a session with users and lives of its own.
private final class ClusterSessionEnvironment: SessionEnvironment {
    /// How long a call may take: longer than by default, because a cut at each call exceeds the rate at which a user
    /// may enter a live (R12.8), and the client then waits for up to 2 s before it resumes.
    private static let callTimeout = Duration.seconds(30)

    let plaza: LivePlaza
    let hasSimulatedTime = false
    private let user: StoreUser
    private let frameCountBeforeCut: Int
    private let harness: ClusterHarness
    private let transport: LoopTransport
    private let hub: ClientHub
    /// The beginning of all ids of this session.
    private let prefix = ClusterHarness.uniqueName("cut")

    /// - Parameters:
    ///   - user: the user under test.
    ///   - frameCount: how many frames are delivered before each cut.
    ///   - harness: the cluster.
    ///   - transport: opens the connections of clients with stores.
    ///   - hub: the loop of clients without stores.
    init(
        _ user: String, cutAfterFrames frameCount: Int, _ harness: ClusterHarness, _ transport: LoopTransport,
        _ hub: ClientHub
    ) {
        (self.frameCountBeforeCut, self.harness, self.transport, self.hub) = (frameCount, harness, transport, hub)
        self.user = StoreUser("\(self.prefix)-\(user)", harness, over: transport, callTimeout: Self.callTimeout)
        self.plaza = self.user.plaza
    }

    func id(_ name: String) -> String { "\(self.prefix)-\(name)" }

    func token(_ name: String) -> String { self.harness.token(self.id(name)) }

    func makeClient(_ name: String) -> LivePlaza { StoreUser(self.id(name), self.harness, over: self.transport).plaza }

    func logIn(_ name: String) -> UncutUser { self.uncutUser(name, isServer: false) }

    func logInBackend() -> UncutUser { self.uncutUser("backend", isServer: true) }

    private func uncutUser(_ name: String, isServer: Bool) -> UncutUser {
        let client = self.harness.client(self.id(name), isServer: isServer, on: self.hub)
        return UncutUser { method, json in
            let params = try Wire.decode(JSONValue.self, from: Array(json.utf8))
            var live: LiveID?
            if case .text(let text)? = params.members["live"] { live = LiveID(text) }
            let result = try await client.call(method, params, live: live)
            return String(decoding: Wire.encode(result), as: UTF8.self)
        }
    }

    func planCut() { self.user.network.cut(afterFrames: self.frameCountBeforeCut) }

    /// Cuts the connection after a second if too few frames have followed for the planned cut.
    func waitUntilReconnected() async {
        let network = self.user.network
        await self.wait(atMost: .seconds(1)) { !network.isCutPlanned }
        if network.isCutPlanned { network.cut() }
        await self.wait(atMost: .seconds(30)) {
            let state = self.plaza.loginStore.state.value
            return state.loginStatus == .unlogin || network.isOpen && state.connectionStatus == .connected
        }
    }

    func outcome(of start: (@escaping StoreMethods.Done) -> Void) async -> StoreMethods.Outcome? {
        while true {
            let pendingOutcome = PendingOutcome()
            start { pendingOutcome.value = $0 }
            await self.wait(atMost: Self.callTimeout * 2) { pendingOutcome.value != nil }
            // A session makes calls as fast as it can, and a user may make 10 seat calls a second (R12.5).
            guard case .failure(let error) = pendingOutcome.value, error.name == .tooFrequent,
                let pause = error.retryAfter
            else { return pendingOutcome.value }
            try? await Task.sleep(for: pause)
        }
    }

    func wait(atMost limit: Duration, until condition: () -> Bool) async {
        let deadline = ContinuousClock.now + limit
        while !condition(), ContinuousClock.now < deadline { try? await Task.sleep(for: .milliseconds(10)) }
    }
}

/// The outcome of a call, once the call has ended.
private final class PendingOutcome: Sendable {
    private let outcome = Mutex<StoreMethods.Outcome?>(nil)

    var value: StoreMethods.Outcome? {
        get { self.outcome.withLock { $0 } }
        set { self.outcome.withLock { $0 = newValue } }
    }
}
