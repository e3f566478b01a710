// SPDX-License-Identifier: Apache-2.0
import Concurrency
import GatewayCore
import MachineKit
import PlazaModel
import Testing

@testable import Gateway

/// The hub that follows (reads) feed partitions, and posts each live's items to the shards with viewers of the live.
///
/// A shard subscribes to a live. `subscribe` returns whether the live's partition has been read up to its end.
@Suite struct FeedHubTests {
    /// A feed source that records the hub's calls, and the messages that the hub posts to shards.
    private final class Recorder: FeedSource {
        let calls = Locked<[String]>([])
        /// The partitions that the feed thread would read after the hub's calls.
        let requested = Locked(RequestedPartitions())
        /// Runs once: when the hub calls `unfollow`, before the source handles this call.
        let beforeUnfollow = Locked<(@Sendable () -> Void)?>(nil)
        let posted = Locked<[(shard: Int, message: MailboxMessage)]>([])

        func follow(_ partition: Int, request: Int64) {
            self.calls.withLock { $0.append("follow \(partition)") }
            self.requested.withLock { $0.follow(partition, request: request) }
        }

        func unfollow(_ partition: Int, request: Int64) {
            let action = self.beforeUnfollow.withLock { action in
                defer { action = nil }
                return action
            }
            action?()
            self.calls.withLock { $0.append("unfollow \(partition)") }
            self.requested.withLock { $0.unfollow(partition, request: request) }
        }

        /// Returns the numbers of the items that were posted to a shard.
        func itemNumbers(ofShard shard: Int) -> [Int64] {
            self.posted.withLock { $0 }.flatMap { post -> [Int64] in
                guard post.shard == shard, case .feed(_, _, let items) = post.message else { return [] }
                return items.map(\.number)
            }
        }
    }

    private let recorder = Recorder()
    private let hub: FeedHub
    private let key = LiveKey("demo", "room")

    init() {
        let recorder = self.recorder
        self.hub = FeedHub(partitions: 1) { shard, messages in
            recorder.posted.withLock { posted in posted += messages.map { (shard, $0) } }
        }
        self.hub.attach(recorder)
    }

    /// Delivers the records of items with these numbers to the hub, as the feed thread does.
    ///
    /// The JSON of each item is `{}`. The items have no offsets, and the partition's end offset is arbitrary.
    private func write(_ numbers: ClosedRange<Int64>, to key: LiveKey? = nil) {
        let now = MonotonicClock.now
        self.hub.received(
            numbers.map { number in
                let item = EncodedFeedItem(
                    number: number, feedClass: .barrage, readAt: now, bytes: Array("{}".utf8))
                return FeedRecord(key: key ?? self.key, epoch: 10, item: item)
            }, partition: 0, endOffset: numbers.upperBound)
    }

    @Test func `items are posted only to shards with viewers, and only after the partition was read up to its end`() {
        #expect(self.hub.subscribe(self.key, shard: 1) == false, "the partition was not read yet")
        self.write(1...3)
        #expect(
            self.recorder.itemNumbers(ofShard: 1).isEmpty,
            "nothing is posted before the partition is read up to its end")
        self.hub.partitionLoaded(0, endOffset: 0)
        self.write(4...5)
        // The broker delivers item 5 twice.
        self.write(5...6)
        self.write(1...2, to: LiveKey("demo", "other"))
        #expect(self.recorder.itemNumbers(ofShard: 1) == [4, 5, 6])
        #expect(self.recorder.itemNumbers(ofShard: 0).isEmpty, "shard 0 has not subscribed to the live")
        #expect(self.hub.subscribe(self.key, shard: 0))
        self.write(7...7)
        #expect(self.recorder.itemNumbers(ofShard: 0) == [7])
        #expect(self.hub.latestToken(self.key)?.position == FeedPosition(epoch: 10, number: 7))
        guard case .complete(let items) = self.hub.items(of: self.key, after: FeedPosition(epoch: 10, number: 2)) else {
            Issue.record("the hub's cache lacks some of the items after item 2")
            return
        }
        #expect(items.map(\.number) == Array(3...7))
    }

    @Test func `a partition without viewers is followed for 60 s, and then not until the next subscription`() {
        _ = self.hub.subscribe(self.key, shard: 0)
        self.hub.partitionLoaded(0, endOffset: 0)
        self.write(1...3)
        self.hub.unsubscribe(self.key, shard: 0)
        let now = MonotonicClock.now
        self.hub.sweep(at: now + .seconds(59))
        #expect(self.recorder.calls.withLock { $0 } == ["follow 0"])
        #expect(self.hub.subscribe(self.key, shard: 0), "a subscription within 60 s finds the partition loaded")
        self.hub.unsubscribe(self.key, shard: 0)
        self.hub.sweep(at: MonotonicClock.now + .seconds(61))
        #expect(self.recorder.calls.withLock { $0 } == ["follow 0", "unfollow 0"])
        #expect(self.hub.sizes.partitions == 0)
        self.write(4...4)
        #expect(self.hub.subscribe(self.key, shard: 0) == false, "the partition must be read again")
        #expect(self.recorder.calls.withLock { $0 } == ["follow 0", "unfollow 0", "follow 0"])
    }

    @Test func `a partition is still read if a viewer joins while the hub unfollows the partition`() {
        _ = self.hub.subscribe(self.key, shard: 0)
        self.hub.partitionLoaded(0, endOffset: 0)
        self.hub.unsubscribe(self.key, shard: 0)
        self.recorder.beforeUnfollow.withLock { action in
            action = { [hub, key] in #expect(hub.subscribe(key, shard: 1) == false) }
        }
        self.hub.sweep(at: MonotonicClock.now + .seconds(61))
        #expect(self.recorder.calls.withLock { $0 } == ["follow 0", "follow 0", "unfollow 0"])
        let requested = self.recorder.requested.withLock { $0 }
        #expect(requested.followed == [0])
        #expect(
            requested.unfollowed == [0],
            "the hub's cache of the partition is empty, so the partition must be read anew")
        self.hub.partitionLoaded(0, endOffset: 0)
        self.write(1...1)
        #expect(self.recorder.itemNumbers(ofShard: 1) == [1])
        // The viewer leaves, and nobody else comes.
        self.hub.unsubscribe(self.key, shard: 1)
        self.hub.sweep(at: MonotonicClock.now + .seconds(61))
        #expect(self.recorder.requested.withLock { $0.followed.isEmpty })
    }

    @Test func `a subscription before the hub has a feed source is followed when the source is attached`() {
        // This hub has no feed source yet.
        let hub = FeedHub(partitions: 1) { _, _ in }
        _ = hub.subscribe(self.key, shard: 0)
        hub.attach(self.recorder)
        #expect(self.recorder.calls.withLock { $0 } == ["follow 0"])
    }
}
