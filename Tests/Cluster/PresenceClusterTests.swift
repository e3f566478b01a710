// SPDX-License-Identifier: Apache-2.0
import ChaosKit
import ClusterKit
import LoadKit
import PlazaModel
import ProtocolClient
import TestSupport
import Testing

/// Tests of presence (who is in a live) with a real Redis and its real timeouts.
@Suite(.enabled(if: TestCluster.kafkaHome != nil, "needs a real Kafka: set KAFKA_HOME"))
struct PresenceClusterTests {
    /// Each case has a cluster of its own.
    ///
    /// The first case lasts longest, because in it a lease of 90 s must expire.
    ///
    /// Rules: R1.3.
    @Test(.timeLimit(.minutes(4)))
    func `I4 I5 a silent viewer goes offline when its lease expires; others stay, even if Redis restarts empty`()
        async
    {
        await ConcurrentCase.run([
            ConcurrentCase("a silent viewer goes offline 90 to 92 s after its last heartbeat, and the others stay") {
                try await Self.expireASilentViewer()
            },
            ConcurrentCase("Redis restarts empty: the count is correct again within 15 s, and no leave is reported") {
                try await Self.restartRedis()
            },
            ConcurrentCase("with a lease of 6 s, a viewer that resumes within 6 s never leaves") {
                try await Self.resumeWithinLease()
            },
        ])
    }

    /// A live with a host, who owns it, and viewers, each a real client; all have joined.
    private struct PresenceFixture {
        let live: LiveID
        let host: DemoUser
        let viewers: [DemoUser]

        /// With addresses in `viewerAddresses`, the viewers connect to these in place of the gateways.
        init(
            _ harness: ClusterHarness, viewers count: Int, on hub: ClientHub, viewerAddresses: [PlazaAddress]? = nil
        ) async throws {
            self.live = LiveID(ClusterHarness.uniqueName("room"))
            self.host = DemoUser("host", harness.client("\(self.live)-host", on: hub))
            try await self.host.call("live.create", CallParams(live: self.live), live: self.live)
            try await self.host.call("live.join", CallParams(live: self.live), live: self.live)
            var viewers: [DemoUser] = []
            for index in 0..<count {
                let viewer = DemoUser(
                    "viewer \(index)",
                    harness.client("\(self.live)-viewer\(index)", on: hub, addresses: viewerAddresses))
                try await viewer.call("live.join", CallParams(live: self.live), live: self.live)
                viewers.append(viewer)
            }
            self.viewers = viewers
        }

        /// Waits until the host receives an audience count of `expected`; the owner is not counted.
        func waitForCount(_ expected: Int, isStale: Bool = false, within seconds: Double) async throws {
            let expectation = "a count of \(expected), stale: \(isStale)"
            _ = try await self.host.waitForUpdate(expectation, within: seconds) { update -> Bool? in
                guard case .event(.counts(let count)) = update else { return nil }
                return count.count == expected && count.stale == isStale ? true : nil
            }
        }

        /// Receives for `seconds`, and counts the host's leave tips: the feed items which say that a viewer has left.
        ///
        /// Tips that an earlier `waitForFeedItem` has returned are not counted.
        func countFurtherLeaveTips(withinSeconds seconds: Double) async -> Int {
            await self.host.collectUpdates(seconds: seconds)
            var tipCount = 0
            // The tips have been received, so 0.01 s is enough to find each.
            while (try? await self.host.waitForFeedItem("a tip", within: 0.01, Self.leftUser)) != nil { tipCount += 1 }
            return tipCount
        }

        /// The user whose leave the item reports; nil for any other item.
        static func leftUser(_ content: FeedContent) -> UserID? {
            if case .audienceLeft(let user) = content { user.userID } else { nil }
        }
    }

    private static func expireASilentViewer() async throws {
        try await TestCluster.with(TestCluster.options(kafkaBrokers: 1)) { cluster in
            let hub = try ClientHub()
            defer { hub.stop() }
            let fixture = try await PresenceFixture(try ClusterHarness(cluster), viewers: 3, on: hub)
            try await fixture.waitForCount(3, within: 10)
            let silentSince = ContinuousClock.now
            fixture.viewers[1].client.stop()
            let leftUser = try await fixture.host.waitForFeedItem(
                "the tip that the silent viewer left", within: 100, PresenceFixture.leftUser)
            let seconds = (ContinuousClock.now - silentSince) / .seconds(1)
            print("a silent viewer went offline after \(seconds) s")
            #expect(leftUser == UserID("\(fixture.live)-viewer1"))
            #expect(seconds >= 90, "the viewer left after \(seconds) s, before its lease of 90 s expired")
            #expect(seconds <= 92, "the viewer left only after \(seconds) s, too long after its lease expired")
            #expect(await fixture.countFurtherLeaveTips(withinSeconds: 3) == 0, "no other viewer may leave")
            try await fixture.waitForCount(2, within: 5)
        }
    }

    private static func restartRedis() async throws {
        try await TestCluster.with(TestCluster.options(kafkaBrokers: 1)) { cluster in
            let hub = try ClientHub()
            defer { hub.stop() }
            let fixture = try await PresenceFixture(try ClusterHarness(cluster), viewers: 5, on: hub)
            try await fixture.waitForCount(5, within: 10)
            try await cluster.kill("redis")
            // Without Redis, clients receive the last count, marked as stale.
            try await fixture.waitForCount(5, isStale: true, within: 10)
            #expect(try await Self.degradation(of: "audience-presence-1", in: cluster) == "presence without Redis")
            // Chat works without Redis.
            try await fixture.viewers[0].call(
                "barrage.sendText", CallParams(live: fixture.live, text: "still here"), live: fixture.live)
            try await cluster.restart("redis")
            let restartedAt = ContinuousClock.now
            try await fixture.waitForCount(5, within: 15)
            let seconds = (ContinuousClock.now - restartedAt) / .seconds(1)
            print("the count was no longer stale \(seconds) s after Redis came back")
            #expect(await fixture.countFurtherLeaveTips(withinSeconds: 3) == 0, "no viewer may leave")
            #expect(try await Self.degradation(of: "audience-presence-1", in: cluster) == nil)
        }
    }

    /// The text in which a ready process reports what it cannot do at present; nil if it can do all its work.
    private static func degradation(of name: String, in cluster: LocalCluster) async throws -> String? {
        let state = try await ClusterState.read(runDirectory: cluster.directory.path).checkingReadiness()
        let process = try #require(state.processes.first { $0.name == name })
        #expect(process.ready)
        return process.degradation
    }

    private static func resumeWithinLease() async throws {
        var options = TestCluster.options(kafkaBrokers: 1)
        options.lease = .seconds(6)
        try await TestCluster.with(options) { cluster in
            let hub = try ClientHub()
            defer { hub.stop() }
            let harness = try ClusterHarness(cluster)
            // One proxy for each gateway, so that a viewer may also resume at another gateway.
            let proxies = try FaultProxies(servers: harness.addresses.map(\.port))
            defer { proxies.stop() }
            let fixture = try await PresenceFixture(
                harness, viewers: 2, on: hub,
                viewerAddresses: proxies.ports.map { PlazaAddress(host: "127.0.0.1", port: $0) })
            try await fixture.waitForCount(2, within: 10)
            // The viewers lose their connections three times, every 2 s, and resume by themselves each time.
            for _ in 0..<3 {
                for index in proxies.ports.indices {
                    proxies.interrupt(index, .cut)
                    proxies.interrupt(index, .none)
                }
                try await Task.sleep(for: .seconds(2))
            }
            #expect(await fixture.countFurtherLeaveTips(withinSeconds: 1) == 0, "no viewer may leave")
            // For comparison, the second viewer's client stops and does not resume, so its lease of 6 s expires.
            fixture.viewers[1].client.stop()
            let leftUser = try await fixture.host.waitForFeedItem(
                "that the second viewer left", within: 12, PresenceFixture.leftUser)
            #expect(leftUser == UserID("\(fixture.live)-viewer1"))
            #expect(await fixture.countFurtherLeaveTips(withinSeconds: 1) == 0, "only the second viewer may leave")
        }
    }
}
