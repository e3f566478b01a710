// SPDX-License-Identifier: Apache-2.0
import ClusterKit
import LivePlazaKit
import LoadKit
import PlazaModel
import TestSupport
import Testing

/// Presence with real time and a real Redis.
@Suite(.serialized, .enabled(if: LiveCluster.kafkaHome != nil, "needs a real Kafka: set KAFKA_HOME"))
struct PresenceClusterTests {
    /// A host's live with viewers in it, each a real client.
    private struct Room {
        let live: LiveID
        let host: Person
        let viewers: [Person]

        init(_ harness: ClusterHarness, viewers count: Int, on hub: ClientHub) async throws {
            self.live = LiveID(ClusterHarness.name("room"))
            self.host = Person("host", harness.client("\(self.live)-host", on: hub))
            try await self.host.call("live.create", CallParams(live: self.live), live: self.live)
            try await self.host.call("live.join", CallParams(live: self.live), live: self.live)
            var viewers: [Person] = []
            for index in 0..<count {
                let viewer = Person("viewer \(index)", harness.client("\(self.live)-v\(index)", on: hub))
                try await viewer.call("live.join", CallParams(live: self.live), live: self.live)
                viewers.append(viewer)
            }
            self.viewers = viewers
        }

        func count(_ expected: Int, isStale: Bool = false, within seconds: Double) async throws {
            let what = "a count of \(expected), stale: \(isStale)"
            _ = try await self.host.hear(what, within: seconds) { update -> Bool? in
                guard case .event(.counts(let count)) = update else { return nil }
                return count.count == expected && count.stale == isStale ? true : nil
            }
        }

        /// How many tips so far say that somebody left.
        func leaveTips(listening seconds: Double) async -> Int {
            await self.host.listen(seconds: seconds)
            var tips = 0
            while (try? await self.host.see("a tip", within: 0.01, Self.left)) != nil { tips += 1 }
            return tips
        }

        static func left(_ content: FeedContent) -> UserID? {
            if case .audienceLeft(let user) = content { user.userID } else { nil }
        }
    }

    @Test(.timeLimit(.minutes(4)))
    func `I4 a silent viewer goes offline between 90 and 92 s after its last sign of life, and others stay`()
        async throws
    {
        try await LiveCluster.with(LiveCluster.options(realKafka: 1)) { cluster in
            let hub = try ClientHub()
            defer { hub.stop() }
            let room = try await Room(try ClusterHarness(cluster), viewers: 3, on: hub)
            try await room.count(3, within: 10)
            let silent = ContinuousClock.now
            room.viewers[1].client.stop()
            let left = try await room.host.see("the tip that the silent viewer left", within: 100, Room.left)
            let seconds = (ContinuousClock.now - silent) / .seconds(1)
            print("a silent viewer went offline after \(seconds) s")
            #expect(left == UserID("\(room.live)-v1"))
            #expect(seconds >= 90, "\(seconds) s")
            #expect(seconds <= 92, "\(seconds) s")
            #expect(await room.leaveTips(listening: 3) == 0)
            try await room.count(2, within: 5)
        }
    }

    @Test(.timeLimit(.minutes(3)))
    func `I5 Redis dies and comes back empty: the count is true again within 15 s, and nobody is said to have left`()
        async throws
    {
        try await LiveCluster.with(LiveCluster.options(realKafka: 1)) { cluster in
            let hub = try ClientHub()
            defer { hub.stop() }
            let room = try await Room(try ClusterHarness(cluster), viewers: 5, on: hub)
            try await room.count(5, within: 10)
            try await cluster.kill("redis")
            try await room.count(5, isStale: true, within: 10)
            // Chat goes on without Redis.
            try await room.viewers[0].call(
                "barrage.sendText", CallParams(live: room.live, text: "still here"), live: room.live)
            try await cluster.restart("redis")
            let back = ContinuousClock.now
            try await room.count(5, within: 15)
            print("the count was true again \((ContinuousClock.now - back) / .seconds(1)) s after Redis came back")
            #expect(await room.leaveTips(listening: 3) == 0)
        }
    }

    @Test(.timeLimit(.minutes(3)))
    func `I4 with a lease of 6 s a viewer that comes back in time never left`() async throws {
        var options = LiveCluster.options(realKafka: 1)
        options.leaseSeconds = 6
        try await LiveCluster.with(options) { cluster in
            let hub = try ClientHub()
            defer { hub.stop() }
            let room = try await Room(try ClusterHarness(cluster), viewers: 2, on: hub)
            try await room.count(2, within: 10)
            for _ in 0..<3 {
                room.viewers[0].client.cut()
                try await Task.sleep(for: .seconds(2))
            }
            #expect(await room.leaveTips(listening: 1) == 0)
            room.viewers[1].client.stop()
            let left = try await room.host.see("that the other left", within: 12, Room.left)
            #expect(left == UserID("\(room.live)-v1"))
        }
    }
}
