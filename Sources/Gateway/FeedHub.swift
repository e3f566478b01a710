// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
package import CoreKit
package import GatewayCore
package import PlazaModel

/// One record of a feed partition, its JSON unread.
package struct FeedRecord: Sendable {
    /// The live.
    package var key: LiveKey
    /// The live's incarnation.
    package var epoch: Int64
    /// The item.
    package var piece: FeedPiece

    /// A record.
    package init(key: LiveKey, epoch: Int64, piece: FeedPiece) {
        self.key = key
        self.epoch = epoch
        self.piece = piece
    }
}

/// Between the thread that reads feeds and the shards: the rings of the partitions that are followed, and which shard
/// has viewers of which live.
///
/// A shard that subscribes and then asks the ring sees every item once: what is in the ring by then is in the answer,
/// and what comes later is posted.
package final class FeedHub: Sendable {
    /// How long a partition without viewers is read on, for those who come back.
    static let idlePatience = Milliseconds.seconds(60)

    private struct Partition {
        var shelf = FeedShelf()
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
    private let state = Locked(State())
    private let post: @Sendable (Int, [ShardMessage]) -> Void

    /// A hub that posts to shards by `post`.
    init(partitions: Int, post: @escaping @Sendable (Int, [ShardMessage]) -> Void) {
        self.partitions = partitions
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
            var partition = state.partitions.removeValue(forKey: number) ?? Partition()
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

    /// What came after `position` in a live, and where its feed stands.
    func answer(_ key: LiveKey, after position: FeedPosition) -> (FeedRing.Answer, FeedPosition?) {
        let number = self.partition(of: key)
        return self.state.withLock { state in
            guard let shelf = state.partitions[number]?.shelf else { return (.cannot, nil) }
            return (shelf.answer(key, after: position), shelf.position(key))
        }
    }

    /// Where a live's feed stands, as far as it was read.
    func position(_ key: LiveKey) -> FeedPosition? {
        let number = self.partition(of: key)
        return self.state.withLock { $0.partitions[number]?.shelf.position(key) }
    }

    /// The shards with viewers of the live, as bits.
    func interest(in key: LiveKey) -> UInt64 {
        let number = self.partition(of: key)
        return self.state.withLock { $0.partitions[number]?.interest[key] ?? 0 }
    }

    /// Records of a partition, in order; called by the feed thread.
    package func received(_ records: [FeedRecord], partition number: Int) {
        let batches = self.state.withLock { state -> [Int: [ShardMessage]] in
            guard var partition = state.partitions.removeValue(forKey: number) else { return [:] }
            var batches: [Int: [ShardMessage]] = [:]
            for record in records {
                let verdict = partition.shelf.append(record.piece, of: record.key, epoch: record.epoch)
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
    package func loaded(partition number: Int) {
        let isKnown = self.state.withLock { state in
            state.partitions[number]?.isLoaded = true
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
                    state.partitions[number]?.shelf.prune(at: now)
                }
            }
            return (idle, state.source)
        }
        for number in idle { source?.unfollow(number) }
    }

    /// Items, bytes and partitions held.
    var sizes: (partitions: Int, items: Int, bytes: Int) {
        self.state.withLock { state in
            state.partitions.values.reduce(into: (state.partitions.count, 0, 0)) { sum, partition in
                sum.1 += partition.shelf.itemCount
                sum.2 += partition.shelf.byteCount
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
