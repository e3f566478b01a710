// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
package import GatewayCore
package import MachineKit
internal import PlazaModel

/// Connects the feed thread, which reads feed partitions from Kafka, with the shards.
///
/// A shard is an event loop with a part of the gateway's connections. The hub holds the caches of the followed
/// partitions, and knows which shards have viewers of each live.
///
/// A shard that reads the cache first and subscribes afterwards would miss the items in between. So a shard must
/// subscribe first. It then receives every item at least once: earlier items from the cache, later items in its
/// mailbox. The shard recognizes repeated items by their numbers and drops them.
package final class FeedHub: Sendable {
    /// How long a partition without viewers is still read, for clients that resume.
    static let idleTimeout = Milliseconds.seconds(60)
    /// The largest number of shards, because a set of shards is stored in the bits of a `UInt64`.
    private static let maxShards = 64

    /// A followed partition: one that the feed thread reads, because shards have or recently had viewers of its lives.
    private struct Partition {
        var cache: FeedCache
        /// Whether the partition was read up to its end; only then are new items posted to shards.
        var isLoaded = false
        /// The shards that have viewers of each live, one bit per shard.
        var subscribers: [LiveKey: UInt64] = [:]
        /// Since when no shard has viewers of a live of the partition; nil while one has.
        var idleSince: MonotonicTime?
    }

    private struct State {
        var partitions: [Int: Partition] = [:]
        /// Reads the followed partitions; nil before `attach` and after `detach`.
        var source: (any FeedSource)?
        /// The number of the last request to follow or unfollow a partition.
        ///
        /// Requests are decided and numbered under the lock, but passed to the source after the lock is released. So
        /// the `follow` for a new viewer can overtake an `unfollow` that was decided before it. Therefore the source
        /// obeys the request with the highest number.
        private var lastRequestNumber: Int64 = 0

        /// Returns the number of the next request to the source.
        mutating func nextRequestNumber() -> Int64 {
            self.lastRequestNumber += 1
            return self.lastRequestNumber
        }
    }

    private let partitionCount: Int
    /// How long an item is cached.
    private let span: Milliseconds
    private let policies: Policies
    private let state = Locked(State())
    /// Puts messages into the mailbox of the shard with the given number; ignores shards that do not exist.
    private let post: @Sendable (_ shard: Int, _ messages: [MailboxMessage]) -> Void

    /// Creates a hub that sends messages to shards with `post`.
    ///
    /// - Parameters:
    ///   - partitions: The number of partitions of every topic.
    ///   - span: How long an item is cached.
    ///   - policies: The app policies; they say how many earlier messages are shown to new viewers.
    ///   - post: Puts messages into the mailbox of the shard with the given number.
    init(
        partitions: Int, span: Milliseconds = PartitionFeedCache.span, policies: Policies = Policies(),
        post: @escaping @Sendable (_ shard: Int, _ messages: [MailboxMessage]) -> Void
    ) {
        self.partitionCount = partitions
        self.span = span
        self.policies = policies
        self.post = post
    }

    /// Sets the source, and makes it read the partitions that shards have subscribed to already.
    func attach(_ source: any FeedSource) {
        let requests = self.state.withLock { state in
            state.source = source
            return state.partitions.keys.sorted().map { (partition: $0, number: state.nextRequestNumber()) }
        }
        for request in requests { source.follow(request.partition, request: request.number) }
    }

    /// Removes the source, so that no further partition is followed.
    func detach() { self.state.withLock { $0.source = nil } }

    /// Returns the feed partition of a live.
    func partition(of key: LiveKey) -> Int { PlazaTopic.partition(of: key.text, among: self.partitionCount) }

    /// Registers that a shard has viewers of the live.
    ///
    /// - Returns: Whether the partition was read up to its end. If not, the shard receives `partitionLoaded` when that
    ///   happens.
    func subscribe(_ key: LiveKey, shard: Int) -> Bool {
        let number = self.partition(of: key)
        let (isLoaded, source, request) = self.state.withLock { state in
            let isNew = state.partitions[number] == nil
            // The partition is taken out while it is changed, so that its cache is not copied.
            var partition =
                state.partitions.removeValue(forKey: number) ?? Partition(cache: FeedCache(span: self.span))
            partition.subscribers[key, default: 0] |= 1 << UInt64(shard)
            partition.idleSince = nil
            state.partitions[number] = partition
            // The source already reads a partition that is not new, or `attach` will make it read the partition.
            return (partition.isLoaded, isNew ? state.source : nil, isNew ? state.nextRequestNumber() : 0)
        }
        source?.follow(number, request: request)
        return isLoaded
    }

    /// Registers that a shard has no more viewers of the live.
    func unsubscribe(_ key: LiveKey, shard: Int) {
        let number = self.partition(of: key)
        let now = MonotonicClock.now
        self.state.withLock { state in
            guard let shards = state.partitions[number]?.subscribers[key] else { return }
            let remainingShards = shards & ~(1 << UInt64(shard))
            state.partitions[number]?.subscribers[key] = remainingShards == 0 ? nil : remainingShards
            if state.partitions[number]?.subscribers.isEmpty == true { state.partitions[number]?.idleSince = now }
        }
    }

    /// Returns the items after `position` in a live; `incomplete` if some of them are not cached.
    func items(of key: LiveKey, after position: FeedPosition) -> FeedRing.Answer {
        self.withCache(of: key) { $0.recent.items(of: key, after: position) } ?? .incomplete
    }

    /// Returns the token of the last item that was read of a live; nil if none was read, or the partition is not
    /// followed.
    func latestToken(_ key: LiveKey) -> FeedToken? { self.withCache(of: key) { $0.recent.latestToken(key) } ?? nil }

    /// Returns the offset up to which the live's feed partition was read; nil before its end was reached.
    func readOffset(of key: LiveKey) -> Int64? { self.withCache(of: key) { $0.readOffset } ?? nil }

    /// Returns whether all items after `position` are cached; false if the live's partition is not followed.
    func hasAllItems(of key: LiveKey, after position: FeedPosition) -> Bool {
        self.withCache(of: key) { $0.recent.ring(key)?.hasAllItems(after: position) ?? false } ?? false
    }

    /// Returns the position of a live's oldest cached item; nil if none of its items was cached.
    ///
    /// If the cached items have all been removed, it is the position that the live's next item will have.
    func oldestPosition(_ key: LiveKey) -> FeedPosition? {
        self.withCache(of: key) { cache in
            cache.recent.ring(key).map { FeedPosition(epoch: $0.epoch, number: $0.oldestNumber) }
        } ?? nil
    }

    /// Decides how to serve a client that resumes: from the cache, by the replay reader, or not at all.
    func planResume(_ key: LiveKey, after token: FeedToken) -> FeedCache.ResumePlan {
        let now = MonotonicClock.now
        return self.withCache(of: key) { $0.planResume(key, after: token, at: now) } ?? .refused(.unknown)
    }

    /// Returns the earlier messages for a new viewer.
    ///
    /// - Returns: The cached messages up to number `lastNumber`, and the request with which the replay reader searches
    ///   for missing ones; the request is nil if there is nothing to search for. The whole result is nil if the app
    ///   shows no earlier messages, or if the partition is not followed.
    func history(_ key: LiveKey, epoch: Int64, upTo lastNumber: Int64) -> (
        messages: [EncodedFeedItem], search: ReplayRequest?
    )? {
        let count = self.policies[key.app].historyCount
        if count == 0 { return nil }
        return self.withCache(of: key) { cache in
            let messages = cache.history(key, epoch: epoch, count: count, upTo: lastNumber)
            return (messages, cache.searchRequest(key, epoch: epoch, count: count))
        }
    }

    /// Adds the outcomes of the replay reader, which reads items that are no longer cached, to the caches.
    ///
    /// May be called from any thread.
    func addReplayed(_ outcomes: [ReplayOutcome]) {
        self.state.withLock { state in
            for outcome in outcomes {
                state.partitions[self.partition(of: outcome.request.key)]?.cache.addReplayed(outcome)
            }
        }
    }

    /// Removes a live's items from the cache, after the directory has removed the live.
    func forget(_ key: LiveKey) {
        let number = self.partition(of: key)
        self.state.withLock { $0.partitions[number]?.cache.forget(key) }
    }

    /// Runs `body` with the cache of the live's partition, under the lock, and returns its result; nil if the partition
    /// is not followed.
    ///
    /// If the result of `body` is itself optional, callers merge the two optionals with `?? nil`.
    private func withCache<Value: Sendable>(of key: LiveKey, _ body: (borrowing FeedCache) -> Value) -> Value? {
        let number = self.partition(of: key)
        return self.state.withLock { state in
            guard let cache = state.partitions[number]?.cache else { return nil }
            let result = body(cache)
            return result
        }
    }

    /// Returns the shards that have viewers of the live, one bit per shard.
    func subscribers(of key: LiveKey) -> UInt64 {
        let number = self.partition(of: key)
        return self.state.withLock { $0.partitions[number]?.subscribers[key] ?? 0 }
    }

    /// Caches the records of a partition, and posts the new ones to the shards that have viewers.
    ///
    /// Called by the feed thread.
    ///
    /// - Parameters:
    ///   - records: The records in order, without those that are older than the cached span.
    ///   - number: The number of the partition.
    ///   - endOffset: The offset after the last record that was read, even if that record is not among `records`.
    package func received(_ records: [FeedRecord], partition number: Int, endOffset: Int64) {
        let messagesByShard = self.state.withLock { state -> [Int: [MailboxMessage]] in
            // The partition is taken out while it is changed, so that its cache is not copied.
            guard var partition = state.partitions.removeValue(forKey: number) else { return [:] }
            var messagesByShard: [Int: [MailboxMessage]] = [:]
            // Until the end is reached, the cache's read offset must stay nil (`FeedCache.readOffset`).
            if partition.isLoaded { partition.cache.partitionRead(to: endOffset) }
            for record in records {
                let keepsHistory = self.policies[record.key.app].historyCount > 0
                let verdict = partition.cache.append(record, keepsHistory: keepsHistory)
                guard verdict == .fresh, partition.isLoaded else { continue }
                var remainingShards = partition.subscribers[record.key] ?? 0
                while remainingShards != 0 {
                    let shard = remainingShards.trailingZeroBitCount
                    // Clears the lowest bit.
                    remainingShards &= remainingShards - 1
                    Self.append(record, to: &messagesByShard[shard, default: []])
                }
            }
            state.partitions[number] = partition
            return messagesByShard
        }
        for (shard, messages) in messagesByShard { self.post(shard, messages) }
    }

    /// Registers that a partition was read up to its end, and notifies all shards.
    ///
    /// All shards are notified, because only a shard knows which of its lives wait for the partition. Called by the
    /// feed thread, once for each `follow`.
    ///
    /// - Parameters:
    ///   - number: The number of the partition.
    ///   - endOffset: The partition's end offset.
    package func partitionLoaded(_ number: Int, endOffset: Int64) {
        let isFollowed = self.state.withLock { state in
            state.partitions[number]?.isLoaded = true
            state.partitions[number]?.cache.partitionRead(to: endOffset)
            return state.partitions[number] != nil
        }
        if isFollowed { for shard in 0..<Self.maxShards { self.post(shard, [.partitionLoaded(number)]) } }
    }

    /// Removes expired items, and stops following partitions that had no viewers for `idleTimeout`.
    package func sweep(at now: MonotonicTime) {
        let (requests, source) = self.state.withLock { state in
            var requests: [(partition: Int, number: Int64)] = []
            for partition in state.partitions.keys.sorted() {
                if let since = state.partitions[partition]?.idleSince, now - since > Self.idleTimeout {
                    state.partitions[partition] = nil
                    requests.append((partition, state.nextRequestNumber()))
                } else {
                    state.partitions[partition]?.cache.prune(at: now)
                }
            }
            return (requests, state.source)
        }
        for request in requests { source?.unfollow(request.partition, request: request.number) }
    }

    /// The numbers of followed partitions and of recent items, and the sizes of recent items and of messages for new
    /// viewers.
    var sizes: (partitions: Int, items: Int, bytes: Int, messageBytes: Int) {
        self.state.withLock { state in
            state.partitions.values.reduce(
                into: (partitions: state.partitions.count, items: 0, bytes: 0, messageBytes: 0)
            ) { sum, partition in
                sum.items += partition.cache.recent.itemCount
                sum.bytes += partition.cache.recent.byteCount
                sum.messageBytes += partition.cache.messageBytes
            }
        }
    }

    /// Appends a record to a shard's messages; consecutive items of one live share one message.
    private static func append(_ record: FeedRecord, to messages: inout [MailboxMessage]) {
        if case .feed(record.key, epoch: record.epoch, var items)? = messages.last {
            messages.removeLast()
            items.append(record.item)
            messages.append(.feed(record.key, epoch: record.epoch, items))
        } else {
            messages.append(.feed(record.key, epoch: record.epoch, [record.item]))
        }
    }
}
