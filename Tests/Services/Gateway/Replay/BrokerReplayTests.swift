// SPDX-License-Identifier: Apache-2.0
import Concurrency
import Foundation
import MachineKit
import PlazaModel
import ServiceShell
import TestSupport
import Testing

@testable import Gateway

/// Replays of feed items that a client has missed, from a broker.
///
/// Each test runs with the in-memory broker, and with a real Kafka if one is available.
@Suite(.serialized, .timeLimit(.minutes(2))) struct BrokerReplayTests {
    /// `.embedded` is the in-memory broker, `.full` the real Kafka.
    static let modes: [KafkaMode] = RealKafka.isAvailable ? [.embedded, .full] : [.embedded]

    // The lives' ids are unique, because all tests share the real Kafka.
    private let live = FakeCluster.key("room-\(UUID().uuidString.prefix(8))")
    private let otherLive = FakeCluster.key("other-\(UUID().uuidString.prefix(8))")

    /// Creates a gateway that caches items for one second, and shows new viewers the last `historyCount` messages.
    private func cluster(_ broker: BrokerFeeds.Broker, historyCount: Int = 0) throws -> FakeCluster {
        let cluster = try FakeCluster(feeds: broker) { settings in
            settings.feedCacheSpan = .seconds(1)
            settings.policies = Policies(["demo": AppPolicy(historyCount: historyCount)])
        }
        cluster.create(self.live.live.text)
        return cluster
    }

    /// Writes `count` items to the live, each after `viewer` has received the item before it.
    ///
    /// After each item, three items are written to another live.
    ///
    /// - Returns: the number of the last item.
    private func write(_ count: Int, in cluster: FakeCluster, receivedBy viewer: WireClient) throws -> Int64 {
        var last: Int64 = 0
        for _ in 0..<count {
            cluster.publishText(self.live)
            for _ in 0..<3 { cluster.publishText(self.otherLive) }
            last = try viewer.nextItemNumbers().last ?? 0
        }
        return last
    }

    /// Waits until all items have expired from the gateway's cache; `viewer` must be quiet meanwhile.
    private func waitUntilCacheIsEmpty(_ cluster: FakeCluster, _ viewer: WireClient) throws {
        // Each round takes 100 ms by `isQuiet`, so the wait ends after 20 s at the latest.
        var rounds = 0
        while cluster.metric("gateway_ring_items") > 0 {
            rounds += 1
            guard rounds < 200 else { throw WireClient.Failure(description: "the cache still has items after 20 s") }
            _ = viewer.isQuiet(milliseconds: 100)
        }
    }

    /// Logs in with a resume after item `number` and this feed token, and waits for the reply.
    private func resume(_ cluster: FakeCluster, _ user: String, after number: Int64, _ token: String) throws
        -> (client: WireClient, isReplayed: Bool)
    {
        // Ticket 101 is the first one that the fake cluster gives.
        let point = ResumePoint(
            live: self.live.live, ticket: Ticket(101),
            position: FeedPosition(epoch: FakeCluster.epoch, number: number), token: token)
        // The ids of the new connection's calls must be above those of the session's earlier calls.
        let (client, outcome) = try cluster.client(user, session: user, resume: point, firstID: 50)
        guard case .success(.resumed(_, _, let isReplayed)) = outcome else {
            throw WireClient.Failure(description: "the resume of \(user) failed: \(outcome)")
        }
        return (client, isReplayed)
    }

    @Test(arguments: modes)
    func `I7 a client that was away for longer than the cache reaches misses nothing, on its gateway and on a new one`(
        _ mode: KafkaMode
    ) async throws {
        try await runOnDedicatedThread {
            let broker = try BrokerFeeds.Broker(mode)
            let cluster = try self.cluster(broker)
            let eve = try cluster.viewer("eve", of: self.live.live.text)
            let bob = try cluster.viewer("bob", of: self.live.live.text)
            #expect(try self.write(5, in: cluster, receivedBy: eve) == 5)
            #expect(try bob.itemNumbers(upTo: 5) == Array(1...5))
            // Bob is away until the items that he has missed have expired.
            bob.cutConnection()
            #expect(try self.write(300, in: cluster, receivedBy: eve) == 305)
            try self.waitUntilCacheIsEmpty(cluster, eve)
            let resumed = try self.resume(cluster, "bob", after: 5, bob.token)
            #expect(resumed.isReplayed)
            #expect(try self.write(3, in: cluster, receivedBy: eve) == 308)
            #expect(try resumed.client.itemNumbers(upTo: 308) == Array(6...308))
            // Five clients with bob's position resume one after another on a new gateway, which has read nothing yet.
            let newGateway = try self.cluster(broker)
            for index in 0..<5 {
                let resumedElsewhere = try self.resume(newGateway, "u\(index)", after: 5, bob.token)
                #expect(resumedElsewhere.isReplayed)
                #expect(try resumedElsewhere.client.itemNumbers(upTo: 308) == Array(6...308))
            }
            // The offset in this token is 40 too high, so it belongs to another record. Therefore a resume with this
            // token is not replayed.
            let wrongToken = "\(FakeCluster.epoch).5.\((FeedToken(text: bob.token)?.offset ?? 0) + 40)"
            try self.waitUntilCacheIsEmpty(cluster, eve)
            #expect(try self.resume(cluster, "liar", after: 5, wrongToken).isReplayed == false)
        }
    }

    /// Rules: R5.17.
    @Test(arguments: modes)
    func `a new viewer gets messages older than the cache, then the feed, each item once`(_ mode: KafkaMode)
        async throws
    {
        try await runOnDedicatedThread {
            let broker = try BrokerFeeds.Broker(mode)
            let cluster = try self.cluster(broker, historyCount: 20)
            let eve = try cluster.viewer("eve", of: self.live.live.text)
            _ = try self.write(100, in: cluster, receivedBy: eve)
            try self.waitUntilCacheIsEmpty(cluster, eve)
            // This gateway has read nothing yet.
            let newGateway = try self.cluster(broker, historyCount: 20)
            let bob = try newGateway.viewer("bob", of: self.live.live.text)
            guard case .frame(.history(_, _, let items, let token), _) = try bob.next() else {
                Issue.record("bob's first frame is no history")
                return
            }
            #expect(items.map(\.n) == Array(81...100))
            #expect(FeedToken(text: token)?.position == FeedPosition(epoch: FakeCluster.epoch, number: 100))
            #expect(try self.write(2, in: cluster, receivedBy: eve) == 102)
            #expect(try bob.itemNumbers(upTo: 102) == [101, 102])
            let readRecordCount = newGateway.metric("gateway_replay_records_total")
            let carl = try newGateway.viewer("carl", of: self.live.live.text)
            guard case .frame(.history(_, _, let carlsItems, _), _) = try carl.next() else {
                throw WireClient.Failure(description: "carl's first frame is no history")
            }
            #expect(carlsItems.map(\.n) == Array(83...102))
            #expect(
                newGateway.metric("gateway_replay_records_total") == readRecordCount,
                "carl's history needs no further records, because the messages found for bob are cached")
        }
    }
}
