// SPDX-License-Identifier: Apache-2.0
import Concurrency
import Gateway
import GatewayCore
import MachineKit
import Observability
import PlazaModel
import Testing

/// Slow readers, which are viewers whose clients do not read what the gateway sends.
///
/// At first the gateway sheds (leaves out) items of low classes. When the whole delivery budget is exhausted, all
/// further items are owed: held back until the viewer reads.
@Suite(.serialized, .timeLimit(.minutes(1))) struct SlowReaderTests {
    private let live = FakeCluster.key("room")

    /// A gateway with a small delivery budget, which disconnects a reader that makes no progress for `timeout`.
    private func cluster(timeout: Milliseconds) throws -> FakeCluster {
        let cluster = try FakeCluster { settings in
            settings.shards = 1
            settings.budget = DeliveryBudget(bytes: 64 << 10, timeout: timeout)
            settings.sendBufferBytes = 32 << 10
        }
        cluster.create("room")
        return cluster
    }

    /// The counts of items that were due to viewers, and of what became of these items (I10 in docs/RULES.md).
    ///
    /// `disconnected` items were lost with their viewer's connection.
    private struct DeliveryCounts {
        let due, delivered, shed, disconnected, owed: Int

        init(_ cluster: FakeCluster) {
            self.due = cluster.metric("gateway_feed_due_total")
            self.delivered = cluster.metric("gateway_feed_delivered_total")
            self.shed = cluster.metric("gateway_feed_shed_total")
            self.disconnected = cluster.metric("gateway_feed_disconnected_total")
            self.owed = cluster.metric("gateway_feed_owed")
        }

        /// Whether the number of due items is the sum of the other four numbers.
        var isBalanced: Bool { self.due == self.delivered + self.shed + self.disconnected + self.owed }
    }

    /// Reads the counts, which the shard updates ten times a second, until they satisfy a condition, for at most 10 s.
    private func deliveryCounts(
        _ cluster: FakeCluster, until condition: (DeliveryCounts) -> Bool
    ) -> DeliveryCounts {
        let deadline = ContinuousClock.now + .seconds(10)
        var counts = DeliveryCounts(cluster)
        while !condition(counts), ContinuousClock.now < deadline {
            DedicatedThread.sleep(for: .milliseconds(20))
            counts = DeliveryCounts(cluster)
        }
        return counts
    }

    /// Publishes a tip, a message and a control item, and reads them with the quick reader.
    ///
    /// - Returns: the numbers of the items that the quick reader got.
    private func publish(_ cluster: FakeCluster, readBy quick: WireClient) throws -> [Int64] {
        let text = String(repeating: "x", count: 4000)
        cluster.publish(self.live, .audienceJoined(user: UserInfo(userID: "eve")))
        cluster.publishText(self.live, text)
        cluster.publish(self.live, .metadataChanged(set: ["k": text], removed: []))
        return try quick.itemNumbers(upTo: self.lastNumber(cluster))
    }

    /// The number of the last item that was published.
    private func lastNumber(_ cluster: FakeCluster) -> Int64 {
        cluster.state.withLock { $0.lastNumber[self.live] ?? 0 }
    }

    @Test func `I10 for a reader that stops, items are shed by class, others get all, and the ledger balances`()
        throws
    {
        let cluster = try self.cluster(timeout: .seconds(30))
        let slow = try cluster.viewer("slow", of: "room", receiveBuffer: 8 << 10)
        let quick = try cluster.viewer("quick", of: "room")
        var quickNumbers: [Int64] = []
        // The quick reader reads everything. The slow reader reads nothing until its budget is exhausted, which takes
        // far fewer than 10,000 items.
        while cluster.metric("gateway_feed_owed") == 0, quickNumbers.count < 10_000 {
            quickNumbers += try self.publish(cluster, readBy: quick)
        }
        let last = self.lastNumber(cluster)
        #expect(quickNumbers == Array(1...last), "the quick reader misses no item")
        // The samples of this metric have the feed class as their label.
        let shedSamples = cluster.registry.snapshot().first { $0.name == "gateway_feed_shed_total" }?.samples ?? []
        #expect(shedSamples.contains { $0.labels.pairs.first?.value == "barrage" && $0.value != .number(0) })
        #expect(shedSamples.allSatisfy { $0.labels.pairs.first?.value != "control" || $0.value == .number(0) })
        // The slow reader reads again. The items that were held back are then sent from the cache, in order, each once.
        var slowNumbers: [Int64] = []
        while (slowNumbers.last ?? 0) < last { slowNumbers += try slow.nextItemNumbers() }
        #expect(slowNumbers == slowNumbers.sorted() && Set(slowNumbers).count == slowNumbers.count)
        // One more item, number `last + 1`, reaches both readers.
        cluster.publishText(self.live, "after")
        #expect(try slow.itemNumbers(upTo: last + 1).last == last + 1)
        #expect(try quick.itemNumbers(upTo: last + 1).last == last + 1)
        // Each of the last + 1 items is due to both readers.
        let counts = self.deliveryCounts(cluster) { $0.due == 2 * Int(last + 1) && $0.isBalanced && $0.owed == 0 }
        #expect(counts.owed == 0)
        #expect(counts.isBalanced)
        let slowReaderItemCount = slowNumbers.count + 1
        #expect(
            counts.shed + slowReaderItemCount == Int(last) + 1,
            "each item that the slow reader did not get is counted as shed")
    }

    @Test func `I10 a reader that makes no progress is disconnected with the code of a slow reader`() throws {
        let cluster = try self.cluster(timeout: Milliseconds(300))
        let slow = try cluster.viewer("slow", of: "room", receiveBuffer: 8 << 10)
        let quick = try cluster.viewer("quick", of: "room")
        var rounds = 0
        while cluster.metric("gateway_feed_disconnected_total") == 0, rounds < 10_000 {
            _ = try self.publish(cluster, readBy: quick)
            rounds += 1
        }
        #expect(try slow.closeCode() == DisconnectCode.slowReader.code)
        #expect(cluster.refusalCount(.outputOfConnection) == 1)
        let counts = self.deliveryCounts(cluster) { $0.disconnected > 0 && $0.isBalanced && $0.owed == 0 }
        #expect(counts.disconnected > 0 && counts.owed == 0)
        #expect(counts.isBalanced)
    }
}
