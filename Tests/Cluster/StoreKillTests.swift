// SPDX-License-Identifier: Apache-2.0
import ClusterKit
import Foundation
import LivePlazaCombine
import LivePlazaKit
import LivePlazaTransport
import ProtocolClient
import TestSupport
import Testing

/// Kills a gateway to which many clients with LivePlazaKit (the Swift SDK) are connected.
@Suite(.serialized, .enabled(if: TestCluster.kafkaHome != nil, "needs a real Kafka: set KAFKA_HOME"))
struct StoreKillTests {
    private static let live = ClusterHarness.uniqueName("kill")
    /// The number of clients under test.
    ///
    /// With host and witness, 200 clients are connected at the kill. With witness and newcomer, the live has 200
    /// viewers, the maximum that a client lists.
    private static let viewerCount = 198
    /// How many viewers enter the live at the same time.
    private static let viewersAtATime = 20

    @Test(.timeLimit(.minutes(4)))
    func `I7 I8 after one of two gateways of 200 clients is killed, all show the same as a client of the other one`()
        async throws
    {
        var options = TestCluster.options(kafkaBrokers: 1)
        options.scale[.gateway] = 2
        try await TestCluster.with(options) { cluster in
            let harness = try ClusterHarness(cluster)
            let transport = try LoopTransport()
            // The host, the witness (a viewer to compare with) and the newcomer use only the gateway that survives. The
            // other clients may use both gateways; each begins at a random one.
            let survivingGateway = Array(harness.addresses.suffix(1))
            let host = try await Self.logIn("host", harness, survivingGateway, transport)
            var info = LiveInfo()
            info.liveID = Self.live
            _ = try await host.liveListStore.createLive(info)
            let witness = try await Self.logInAndEnter("witness", harness, survivingGateway, transport)
            let clients = try await Self.logInAndEnterAll(harness, transport)

            let lossCount = LossCount(of: clients)
            // The user of the first client has the name "0" (see `logInAndEnterAll`).
            let guest = clients[0]
            try await guest.coGuestStore(liveID: Self.live).applyForSeat(timeout: 60)
            try await host.coGuestStore(liveID: Self.live).acceptApplication(userID: "\(Self.live)-0")
            // The host sends 100 messages in 10 s; gateway-1 is killed after about 3 s.
            let sendingTask = Task {
                for number in 0..<100 {
                    try await host.barrageStore(liveID: Self.live).sendTextMessage(text: "\(number)")
                    // The pauses last for 10 s in all, so that the gateway is killed between the messages.
                    try await Task.sleep(for: .milliseconds(100))
                }
            }
            try await waitUntil("the witness shows a third of the messages") {
                witness.barrageStore(liveID: Self.live).state.value.messageList.count >= 33
            }
            try await cluster.kill("gateway-1")
            let killedAt = ContinuousClock.now
            try await sendingTask.value
            try await guest.likeStore(liveID: Self.live).sendLike(count: 7)
            try await guest.coGuestStore(liveID: Self.live).disConnect()

            let sentTexts = (0..<100).map(String.init)
            let newcomer = try await Self.logInAndEnter("newcomer", harness, survivingGateway, transport)
            try await expectSameStores(
                of: clients, in: Self.live, as: witness, and: newcomer, messages: sentTexts)
            // About half of the clients were connected to the gateway that was killed.
            #expect(lossCount.value >= Self.viewerCount / 4)
            let secondsSinceKill = (ContinuousClock.now - killedAt) / .seconds(1)
            print("\(Self.viewerCount) clients showed the same \(secondsSinceKill) s after the kill")
            let audience = witness.audienceStore(liveID: Self.live)
            try await audience.fetchAudienceList()
            #expect(
                audience.state.value.audienceList.count >= Self.viewerCount,
                "no viewer may have left because of the kill")
        }
    }

    /// Logs a user in at one of these gateways.
    private static func logIn(
        _ name: String, _ harness: ClusterHarness, _ gateways: [PlazaAddress], _ transport: LoopTransport
    ) async throws -> LivePlaza {
        let id = "\(Self.live)-\(name)"
        let plaza = LivePlaza(
            options: PlazaOptions(
                gateways: gateways.map { "ws://\($0.host):\($0.port)/v1" }, transport: transport,
                deliveryQueue: DispatchQueue(label: id), callTimeout: .seconds(30)))
        try await plaza.loginStore.login(sdkAppID: 1, userID: id, userSig: harness.token(id))
        return plaza
    }

    /// Logs a user in, who enters the live.
    private static func logInAndEnter(
        _ name: String, _ harness: ClusterHarness, _ gateways: [PlazaAddress], _ transport: LoopTransport
    ) async throws -> LivePlaza {
        let plaza = try await Self.logIn(name, harness, gateways, transport)
        _ = try await plaza.liveListStore.joinLive(liveID: Self.live)
        return plaza
    }

    /// Lets all viewers enter the live, some at a time; returns their clients in the order of their numbers.
    private static func logInAndEnterAll(_ harness: ClusterHarness, _ transport: LoopTransport) async throws
        -> [LivePlaza]
    {
        var clients: [LivePlaza] = []
        for start in stride(from: 0, to: Self.viewerCount, by: Self.viewersAtATime) {
            clients += try await withThrowingTaskGroup(of: (Int, LivePlaza).self) { group in
                for number in start..<min(start + Self.viewersAtATime, Self.viewerCount) {
                    group.addTask {
                        (number, try await Self.logInAndEnter("\(number)", harness, harness.addresses, transport))
                    }
                }
                var entered: [(number: Int, client: LivePlaza)] = []
                for try await numberedClient in group { entered.append(numberedClient) }
                return entered.sorted { $0.number < $1.number }.map(\.client)
            }
        }
        return clients
    }
}

/// Counts the connections that clients have lost.
private final class LossCount: @unchecked Sendable {
    private let lock = NSLock()
    private var count = 0
    private var subscriptions: Set<AnyCancellable> = []

    var value: Int { self.lock.withLock { self.count } }

    init(of clients: [LivePlaza]) {
        for client in clients {
            client.loginStore.state.subscribe(StatePublisherSelector(keyPath: \.connectionStatus))
                .sink { [weak self] status in
                    if status == .reconnecting { self?.lock.withLock { self?.count += 1 } }
                }
                .store(in: &self.subscriptions)
        }
    }
}
