// SPDX-License-Identifier: Apache-2.0
import CallScripts
import LivePlazaKit
import LivePlazaTransport
import PlazaModel
import PlazaWire
import ProtocolClient
import Synchronization
import TestSupport
import Testing

/// What a user's stores show when the user's connection to a real cluster is cut at every call of every store.
///
/// Each case of a host or guest runs a whole session and cuts the connection once per call, always after the same
/// number of frames. Some cuts come before the call, some between the call and its reply, and some after the reply.
/// Every call must succeed and be applied once. At the end the user's stores must equal those of a witness, who enters
/// at the beginning and is never cut off, and those of a newcomer, who enters at the end. `SimulatedCallCutTests` runs
/// the same sessions on a cluster in memory.
@Suite(.serialized, .enabled(if: LiveCluster.kafkaHome != nil, "needs a real Kafka: set KAFKA_HOME"))
struct StoreCallCutTests {
    /// How many frames are still delivered, counted from the beginning of a call, before the connection is cut.
    private static let frameCountsBeforeCut = [0, 1, 2, 3, 4, 5]

    /// How many users enter their lives at a time.
    private static let entriesAtATime = 10

    @Test(.timeLimit(.minutes(5)))
    func `I7 I15 every call of hosts and guests is applied once although the connection is cut at each call`()
        async throws
    {
        try await LiveCluster.with(LiveCluster.options(kafkaBrokers: 1)) { cluster in
            let harness = try ClusterHarness(cluster)
            let transport = try LoopTransport()
            let hub = try ClientHub()
            defer { hub.stop() }
            // The sessions of hosts last longer than those of guests.
            let hostCases = Self.frameCountsBeforeCut.map { count in
                ConcurrentCase("a host, cut off after \(count) frames") {
                    try await HostScript(
                        ClusterCallScriptSession("host", cutAfterFrames: count, harness, transport, hub)
                    ).run()
                }
            }
            let guestCases = Self.frameCountsBeforeCut.map { count in
                ConcurrentCase("a guest, cut off after \(count) frames") {
                    try await GuestScript(
                        ClusterCallScriptSession("guest", cutAfterFrames: count, harness, transport, hub)
                    ).run()
                }
            }
            await ConcurrentCase.run(hostCases + guestCases)
            let entryCases = [true, false].flatMap { createsLive in
                EntryScript.frameCountsBeforeCut.map { count in
                    let user = EntryScript.userName(createsLive: createsLive)
                    return ConcurrentCase("a \(user) who enters, cut off after \(count) frames") {
                        try await EntryScript(
                            createsLive: createsLive,
                            ClusterCallScriptSession(user, cutAfterFrames: count, harness, transport, hub)
                        ).run()
                    }
                }
            }
            await ConcurrentCase.run(entryCases, atMost: Self.entriesAtATime)
        }
    }
}

/// A session on a cluster of real processes, with users and lives of its own.
private final class ClusterCallScriptSession: CallScriptSession {
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
        return UncutUser(name) { method, json in
            let params = try Wire.decode(JSONValue.self, from: Array(json.utf8))
            var live: LiveID?
            if case .text(let text)? = params.members["live"] { live = LiveID(text) }
            let result = try await client.call(method, params, live: live)
            return String(decoding: Wire.encode(result), as: UTF8.self)
        }
    }

    func planCut() { self.user.network.cut(afterFrames: self.frameCountBeforeCut) }

    /// If no frame follows in a second at which the cut could come, it comes then.
    func waitUntilReconnected() async {
        let network = self.user.network
        await Self.wait(atMost: .seconds(1)) { !network.isCutPlanned }
        if network.isCutPlanned { network.cut() }
        await Self.wait {
            let state = self.plaza.loginStore.state.value
            return state.loginStatus == .unlogin || network.isOpen && state.connectionStatus == .connected
        }
    }

    func result<Value: Sendable>(
        of start: (@escaping (Result<Value, ErrorInfo>) -> Void) -> Void
    ) async -> Result<Value, ErrorInfo>? {
        while true {
            let pendingResult = PendingResult<Value>()
            start { pendingResult.value = $0 }
            await Self.wait(atMost: Self.callTimeout * 2) { pendingResult.value != nil }
            // A script calls as fast as it can, and a session may make 10 seat calls a second (R12.5).
            guard case .failure(let error) = pendingResult.value, error.name == .tooFrequent,
                let wait = error.retryAfter
            else { return pendingResult.value }
            try? await Task.sleep(for: wait)
        }
    }

    func wait(until condition: () -> Bool) async { await Self.wait(until: condition) }

    private static func wait(atMost limit: Duration = .seconds(30), until condition: () -> Bool) async {
        let deadline = ContinuousClock.now + limit
        while !condition(), ContinuousClock.now < deadline { try? await Task.sleep(for: .milliseconds(10)) }
    }
}

/// The result of a call, once the call has ended.
private final class PendingResult<Value: Sendable>: Sendable {
    private let result = Mutex<Result<Value, ErrorInfo>?>(nil)

    var value: Result<Value, ErrorInfo>? {
        get { self.result.withLock { $0 } }
        set { self.result.withLock { $0 = newValue } }
    }
}
