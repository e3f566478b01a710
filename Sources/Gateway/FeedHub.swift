// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
package import CoreKit
package import GatewayCore
internal import PlazaModel

/// Between the thread that reads feeds and the shards: the rings of the partitions that are followed, and which shard
/// has viewers of which live.
///
/// A shard that subscribes and then asks the ring sees every item once: what is in the ring by then is in the answer,
/// and what comes later is posted.
package final class FeedHub: Sendable {
    /// How long a partition without viewers is read on, for those who come back.
    static let idlePatience = Milliseconds.seconds(60)

    private struct Partition {
        var memory: FeedMemory
        var isLoaded = false
        /// A bit for each shard that has viewers.
        var interest: [LiveKey: UInt64] = [:]
        var idleSince: Timestamp?
    }

    private struct State {
        var partitions: [Int: Partition] = [:]
        var source: (any FeedSource)?
    }

    private let partitions: Int
    private let span: Milliseconds
    private let policies: Policies
    private let state = Locked(State())
    private let post: @Sendable (Int, [ShardMessage]) -> Void

    /// A hub that posts to shards by `post`.
    ///
    /// - Parameters:
    ///   - partitions: of every topic.
    ///   - span: how long an item is kept.
    ///   - policies: say whose newcomers get messages of before.
    ///   - post: hands messages to a shard.
    init(
        partitions: Int, span: Milliseconds = FeedShelf.span, policies: Policies = Policies(),
        post: @escaping @Sendable (Int, [ShardMessage]) -> Void
    ) {
        self.partitions = partitions
        self.span = span
        self.policies = policies
        self.post = post
    }

    /// Names who reads; partitions that are wanted already are followed now.
    func attach(_ source: any FeedSource) {
        let wanted = self.state.withLock { state in
            state.source = source
            return state.partitions.keys.sorted()
        }
        for partition in wanted { source.follow(partition) }
    }

    /// Forgets who reads, so that nothing new is followed.
    func detach() { self.state.withLock { $0.source = nil } }

    /// The feed partition of a live.
    func partition(of key: LiveKey) -> Int { PlazaTopic.partition(of: key.text, among: self.partitions) }

    /// A shard has viewers of the live.
    ///
    /// - Returns: whether the partition has been read up to its end; if not, `loaded` follows.
    func subscribe(_ key: LiveKey, shard: Int) -> Bool {
        let number = self.partition(of: key)
        let (isLoaded, source) = self.state.withLock { state in
            let isNew = state.partitions[number] == nil
            var partition =
                state.partitions.removeValue(forKey: number) ?? Partition(memory: FeedMemory(span: self.span))
            partition.interest[key, default: 0] |= 1 << UInt64(shard)
            partition.idleSince = nil
            state.partitions[number] = partition
            return (partition.isLoaded, isNew ? state.source : nil)
        }
        source?.follow(number)
        return isLoaded
    }

    /// A shard has no viewers of the live any more.
    func unsubscribe(_ key: LiveKey, shard: Int) {
        let number = self.partition(of: key)
        let now = MonotonicClock.now
        self.state.withLock { state in
            guard let mask = state.partitions[number]?.interest[key] else { return }
            let left = mask & ~(1 << UInt64(shard))
            state.partitions[number]?.interest[key] = left == 0 ? nil : left
            if state.partitions[number]?.interest.isEmpty == true { state.partitions[number]?.idleSince = now }
        }
    }

    /// What came after `position` in a live, if all of it is in memory.
    func answer(_ key: LiveKey, after position: FeedPosition) -> FeedRing.Answer {
        self.read(key) { $0.shelf.answer(key, after: position) } ?? .cannot
    }

    /// Where a live's feed stands, as far as it was read.
    func place(_ key: LiveKey) -> FeedToken? { self.read(key) { $0.shelf.place(key) } ?? nil }

    /// Whether all that came after `position` is in memory.
    func canAnswer(_ key: LiveKey, after position: FeedPosition) -> Bool {
        self.read(key) { $0.shelf.ring(key)?.canAnswer(after: position) ?? false } ?? false
    }

    /// The position from which on all items of a live are in memory.
    func oldest(_ key: LiveKey) -> FeedPosition? {
        self.read(key) { $0.shelf.ring(key).map { FeedPosition(epoch: $0.epoch, number: $0.oldest) } } ?? nil
    }

    /// How to serve a client that comes back.
    func resume(_ key: LiveKey, after token: FeedToken) -> FeedMemory.ResumePlan {
        let now = MonotonicClock.now
        return self.read(key) { $0.resume(key, after: token, at: now) } ?? .refused(.unknown)
    }

    /// The messages up to number `last` that a newcomer gets, as far as they are in memory, and what to ask for more; nil
    /// when its app wants none.
    func history(_ key: LiveKey, epoch: Int64, upTo last: Int64) -> (messages: [FeedPiece], search: ReplayRequest?)? {
        let count = self.policies[key.app].historyCount
        if count == 0 { return nil }
        return self.read(key) { memory in
            let messages = memory.history(key, epoch: epoch, count: count, upTo: last)
            return (messages, memory.search(key, epoch: epoch, count: count))
        }
    }

    /// A reader of the past has found something; any thread.
    func learn(_ outcomes: [ReplayOutcome]) {
        self.state.withLock { state in
            for outcome in outcomes {
                state.partitions[self.partition(of: outcome.request.key)]?.memory.learn(outcome)
            }
        }
    }

    /// A live's record is gone: its name is forgotten.
    func forget(_ key: LiveKey) {
        let number = self.partition(of: key)
        self.state.withLock { $0.partitions[number]?.memory.forget(key) }
    }

    private func read<R: Sendable>(_ key: LiveKey, _ body: (borrowing FeedMemory) -> R) -> R? {
        let number = self.partition(of: key)
        return self.state.withLock { state in
            guard let memory = state.partitions[number]?.memory else { return nil }
            let result = body(memory)
            return result
        }
    }

    /// The shards with viewers of the live, as bits.
    func interest(in key: LiveKey) -> UInt64 {
        let number = self.partition(of: key)
        return self.state.withLock { $0.partitions[number]?.interest[key] ?? 0 }
    }

    /// Records of a partition, in order; called by the feed thread.
    ///
    /// - Parameters:
    ///   - records: those that are not too old.
    ///   - number: the partition.
    ///   - end: the offset behind the last record that was read.
    package func received(_ records: [FeedRecord], partition number: Int, end: Int64) {
        let batches = self.state.withLock { state -> [Int: [ShardMessage]] in
            guard var partition = state.partitions.removeValue(forKey: number) else { return [:] }
            var batches: [Int: [ShardMessage]] = [:]
            if partition.isLoaded { partition.memory.wasRead(to: end) }
            for record in records {
                let keepsMessages = self.policies[record.key.app].historyCount > 0
                let verdict = partition.memory.append(record, keepsMessages: keepsMessages)
                guard verdict == .fresh, partition.isLoaded else { continue }
                var mask = partition.interest[record.key] ?? 0
                while mask != 0 {
                    let shard = mask.trailingZeroBitCount
                    mask &= mask - 1
                    Self.add(record, to: &batches[shard, default: []])
                }
            }
            state.partitions[number] = partition
            return batches
        }
        for (shard, messages) in batches { self.post(shard, messages) }
    }

    /// A partition has been read up to its end; called by the feed thread, once for each `follow`.
    ///
    /// - Parameters:
    ///   - number: the partition.
    ///   - end: its end.
    package func loaded(partition number: Int, end: Int64) {
        let isKnown = self.state.withLock { state in
            state.partitions[number]?.isLoaded = true
            state.partitions[number]?.memory.wasRead(to: end)
            return state.partitions[number] != nil
        }
        if isKnown { for shard in 0..<64 { self.post(shard, [.loaded(partition: number)]) } }
    }

    /// Lets go of old items, and of partitions that had no viewers for a while.
    package func tick(at now: Timestamp) {
        let (idle, source) = self.state.withLock { state in
            var idle: [Int] = []
            for number in state.partitions.keys.sorted() {
                if let since = state.partitions[number]?.idleSince, now - since > Self.idlePatience {
                    state.partitions[number] = nil
                    idle.append(number)
                } else {
                    state.partitions[number]?.memory.prune(at: now)
                }
            }
            return (idle, state.source)
        }
        for number in idle { source?.unfollow(number) }
    }

    /// Partitions that are read, items of the last minute and their bytes, and bytes of messages for newcomers.
    var sizes: (partitions: Int, items: Int, bytes: Int, messageBytes: Int) {
        self.state.withLock { state in
            state.partitions.values.reduce(into: (state.partitions.count, 0, 0, 0)) { sum, partition in
                sum.1 += partition.memory.shelf.itemCount
                sum.2 += partition.memory.shelf.byteCount
                sum.3 += partition.memory.messageBytes
            }
        }
    }

    /// Items of one live that come together are one message.
    private static func add(_ record: FeedRecord, to messages: inout [ShardMessage]) {
        if case .feed(record.key, epoch: record.epoch, var pieces)? = messages.last {
            messages.removeLast()
            pieces.append(record.piece)
            messages.append(.feed(record.key, epoch: record.epoch, pieces))
        } else {
            messages.append(.feed(record.key, epoch: record.epoch, [record.piece]))
        }
    }
}
