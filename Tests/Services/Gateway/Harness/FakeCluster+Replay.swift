// SPDX-License-Identifier: Apache-2.0
import Concurrency
import GatewayCore
import MachineKit
import Observability
import PlazaModel
import Testing

@testable import Gateway

/// The replay source of the gateway: reads items again from the fake cluster's feeds, for clients that resume.
extension FakeCluster: ReplaySource {
    func request(_ id: ReplayID, _ request: ReplayRequest, partition: Int, deadline: MonotonicTime) -> Bool {
        let (isAccepted, answersReplays) = self.state.withLock { state in
            state.replayRequests.append(request)
            let isAccepted = state.replayQueue.add(id, request, partition: partition, deadline: deadline)
            return (isAccepted, state.answersReplays)
        }
        self.activity.wakeUp()
        if answersReplays { self.answerReplays() }
        return isAccepted
    }

    /// Serves the queued replay requests, as the gateway's replay reader does.
    ///
    /// Each scan reads a range of one partition, and serves all requests that need items of that range.
    ///
    /// - Returns: the number of scans that were needed.
    @discardableResult func answerReplays() -> Int {
        let (outcomes, scanCount) = self.state.withLock { state in
            var outcomes: [ReplayOutcome] = []
            var scanCount = 0
            while var scan = state.replayQueue.nextScan(excluding: []) {
                scanCount += 1
                for (offset, record) in (state.feeds[scan.partition] ?? []).enumerated()
                where scan.bounds.contains(Int64(offset)) {
                    scan.recordRead(record, at: Int64(offset))
                }
                let result = scan.makeResult()
                outcomes += result.groups.flatMap(\.outcomes)
                state.replayQueue.putBack(result.unfinished, partition: scan.partition)
            }
            return (outcomes, scanCount)
        }
        self.gateway.replayReceived(outcomes, reservation: nil)
        return scanCount
    }

    /// Writes a text to a feed as item `number`, without passing it to the gateway.
    func writeUncached(_ number: Int64, in key: LiveKey) {
        let content = FeedContent.text(sender: UserInfo(userID: "anna"), text: "old", extensionInfo: nil)
        self.appendUncached(
            FeedItem(
                key: key, position: FeedPosition(epoch: Self.epoch, number: number),
                at: Timestamp(milliseconds: number), content: content))
    }

    /// The offset of an item's record in its feed partition; nil if the item was not written.
    func offset(of number: Int64, in key: LiveKey) -> Int64? {
        let partition = PlazaTopic.partition(of: key.text, among: FakeCluster.partitionCount)
        return self.state.withLock { state in
            state.feeds[partition]?.first { $0.key == key && $0.item.number == number }?.item.offset
        }
    }

    /// Returns how many replays the gateway has refused for this reason, from its metrics.
    func replayRefusalCount(_ reason: String) -> Int { self.metric("gateway_replays_refused_total", label: reason) }

    /// Waits until the gateway has made `count` replay requests.
    func waitForReplayRequests(_ count: Int) throws { try self.waitUntil { $0.replayRequests.count >= count } }

    /// Checks that the delivery ledger balances (I10 in docs/RULES.md).
    ///
    /// Each item that was due to a viewer must have been delivered, shed (left out for a slow reader) or lost with the
    /// viewer's connection. No item may still be owed (held back until the viewer reads). `client` must be connected.
    func expectLedgerBalances(_ client: WireClient, sourceLocation: SourceLocation = #_sourceLocation) throws {
        func balance() -> (due: Int, settled: Int, owed: Int) {
            let settledCounts = ["delivered", "shed", "disconnected"].map { self.metric("gateway_feed_\($0)_total") }
            return (self.metric("gateway_feed_due_total"), settledCounts.reduce(0, +), self.metric("gateway_feed_owed"))
        }
        // A shard, one of the gateway's threads, updates the metrics of its ledger only ten times a second. So the
        // metrics are read again, up to 30 times, until they balance. `isQuiet` waits for up to 150 ms.
        var current = balance()
        for _ in 0..<30 where current.due != current.settled || current.owed != 0 {
            _ = client.isQuiet(milliseconds: 150)
            _ = try client.call("ping")
            current = balance()
        }
        #expect(current.owed == 0, "no item is held back any more", sourceLocation: sourceLocation)
        #expect(
            current.due == current.settled, "every due item is delivered, shed or lost with its connection",
            sourceLocation: sourceLocation)
    }

    /// Waits until the state satisfies a condition, for at most 10 s.
    func waitUntil(_ condition: (State) -> Bool) throws {
        let deadline = MonotonicClock.now + .seconds(10)
        while !self.state.withLock({ condition($0) }) {
            guard self.waitForActivity(before: deadline) else {
                throw WireClient.Failure(description: "the condition did not hold within 10 s")
            }
        }
    }

    /// Creates a cluster with a live whose feed has 400 messages; the viewer eve has read them all.
    ///
    /// All messages together are far larger than a connection's delivery budget, which is 64 KiB.
    static func makeWithLongFeed(
        in key: LiveKey, messageBytes: Int, shards: Int = 2, _ change: (inout GatewaySettings) -> Void = { _ in }
    ) throws -> (FakeCluster, eve: WireClient) {
        let cluster = try FakeCluster { settings in
            settings.shards = shards
            settings.budget = DeliveryBudget(bytes: 64 << 10)
            settings.sendBufferBytes = 32 << 10
            change(&settings)
        }
        cluster.create(key.live.text)
        let eve = try cluster.viewer("eve", of: key.live.text)
        let text = String(repeating: "x", count: messageBytes)
        for _ in 1...400 {
            cluster.publishText(key, text)
            _ = try eve.nextItemNumbers()
        }
        return (cluster, eve)
    }

    /// Lets all items in the gateway's feed cache expire, as if 61 s had passed; the cache keeps an item for 60 s.
    func expireCachedItems() { self.gateway.feeds.sweep(at: MonotonicClock.now + .seconds(61)) }
}
