// SPDX-License-Identifier: Apache-2.0
package import MachineKit
package import PlazaModel

/// A gateway's cache of one feed partition, from which resuming clients and new viewers are served.
///
/// It has the items of the last minute, the last messages of lives whose app shows earlier messages to new viewers, and
/// the offset up to which the partition was read.
package struct FeedCache: Sendable {
    /// How a client that resumes is served.
    package enum ResumePlan: Hashable, Sendable {
        /// From the cache.
        case cache
        /// From the cache, after the item with this number: the client has joined the live, but received no item.
        case cacheAfter(Int64)
        /// From the cache, once this gateway has read up to the client's position: another gateway has sent items that
        /// this gateway has not read yet.
        case waitForFeed
        /// First by the replay reader, then from the cache.
        case reader(ReplayRequest)
        /// Not at all: the client loads a snapshot instead.
        case refused(ReplayRefusal)
    }

    /// The items of the last minute; each live has a `FeedRing` with its items.
    package private(set) var recent: PartitionFeedCache
    /// The offset up to which the partition was read; nil before its end was reached for the first time.
    package private(set) var readOffset: Int64?
    /// The last messages of the lives whose app shows them to new viewers.
    private var messages = PartitionFeedCache(messages: Limits.history)
    /// The lives for which the replay reader has already searched for earlier messages, each with its epoch.
    private var searchedEpochs: [LiveKey: Int64] = [:]

    /// Creates an empty cache.
    package init(span: Milliseconds = PartitionFeedCache.span) { self.recent = PartitionFeedCache(span: span) }

    /// The size of the messages kept for new viewers.
    ///
    /// A message that is also a recent item is counted in both sizes.
    package var messageBytes: Int { self.messages.byteCount }

    /// Adds an item.
    ///
    /// - Parameters:
    ///   - record: The item's record.
    ///   - keepsHistory: Whether the app shows earlier messages to new viewers.
    /// - Returns: Whether the item is new, repeated or stale.
    package mutating func append(_ record: FeedRecord, keepsHistory: Bool) -> FeedRing.Verdict {
        let verdict = self.recent.append(record.item, of: record.key, epoch: record.epoch)
        if keepsHistory, verdict == .fresh, record.item.feedClass == .barrage {
            _ = self.messages.append(record.item, of: record.key, epoch: record.epoch)
        }
        return verdict
    }

    /// Records that the partition was read up to `offset`.
    package mutating func partitionRead(to offset: Int64) { self.readOffset = max(self.readOffset ?? 0, offset) }

    /// Removes the items that are older than the cache's span: one minute by default.
    package mutating func prune(at now: MonotonicTime) { self.recent.prune(at: now) }

    /// Removes a live's items and messages, and forgets that its feed was searched for earlier messages.
    package mutating func forget(_ key: LiveKey) {
        self.recent.forget(key)
        self.messages.forget(key)
        self.searchedEpochs[key] = nil
    }

    /// Decides how to serve a client that has all items up to `token`.
    package func planResume(_ key: LiveKey, after token: FeedToken, at now: MonotonicTime) -> ResumePlan {
        let position = token.position
        // The token that a join returns has number 0 and the offset up to which the partition was read then.
        if position.number == 0, let joinOffset = token.offset {
            return self.planResume(key, token, fromOffset: joinOffset)
        }
        guard let ring = self.recent.ring(key), ring.epoch >= position.epoch else {
            // The cache has no item of the client's live. Item numbers begin with 1, so a token with a negative number
            // is not valid.
            guard position.number >= 0 else { return .refused(.unknown) }
            return self.planReplay(key, token, beforeNumber: nil, endOffset: self.readOffset)
        }
        guard ring.epoch == position.epoch else { return .refused(.otherLive) }
        guard position.number >= 0 else { return .refused(.unknown) }
        guard ring.lastNumber - position.number <= ReplayLimits.maxItems else { return .refused(.tooMany) }
        if ring.hasAllItems(after: position) {
            if position.number <= ring.lastNumber { return .cache }
            // The feed was read beyond the offset of the token, and has no item with the token's number.
            if let offset = token.offset, let readOffset = self.readOffset, offset < readOffset {
                return .refused(.gone)
            }
            return .waitForFeed
        }
        // Some cached items may expire before the replay reader answers: those that this gateway read before
        // `now - span + resumeTimeout`. The reader reads them, too, so that none is missing.
        let span = self.recent.span ?? PartitionFeedCache.span
        let firstItemToStay = ring.firstItem(readSince: now - span + ReplayLimits.resumeTimeout)
        return self.planReplay(key, token, before: firstItemToStay, in: ring)
    }

    /// Decides how to serve a client that has joined the live, but has not received any item of it.
    ///
    /// The client joined when the partition had been read up to `joinOffset`, and lacks all items from that offset on
    /// (R15.14).
    private func planResume(_ key: LiveKey, _ token: FeedToken, fromOffset joinOffset: Int64) -> ResumePlan {
        let epoch = token.position.epoch
        guard let ring = self.recent.ring(key), ring.epoch >= epoch else {
            // While the end of the partition was not reached, it is unknown whether the cache begins after the join.
            guard let readOffset = self.readOffset else { return .refused(.unknown) }
            // If nothing was read since the client joined, the cache will get all items that the client lacks.
            // Otherwise the reader looks for the items that were read, but are no longer cached.
            guard joinOffset < readOffset else { return .cache }
            return self.planReplay(key, token, beforeNumber: nil, endOffset: readOffset)
        }
        guard ring.epoch == epoch else { return .refused(.otherLive) }
        if let number = ring.firstNumber(fromOffset: joinOffset) { return .cacheAfter(number - 1) }
        return self.planReplay(key, token, before: ring.keptItems.first, in: ring)
    }

    /// Plans that the replay reader reads the items before `item`, and that the cache then serves `item` and later
    /// ones.
    ///
    /// If `item` is nil, the reader reads all items up to the last one that was added to `ring`.
    private func planReplay(
        _ key: LiveKey, _ token: FeedToken, before item: EncodedFeedItem?, in ring: FeedRing
    ) -> ResumePlan {
        self.planReplay(
            key, token, beforeNumber: item?.number ?? ring.lastNumber + 1,
            endOffset: item?.offset ?? ring.lastOffset.map { $0 + 1 })
    }

    /// Plans that the replay reader reads from the token's offset up to, but without, `endOffset`.
    ///
    /// The plan is a refusal if an offset is unknown, if the offsets are not in order, or if there are too many records
    /// between them.
    private func planReplay(
        _ key: LiveKey, _ token: FeedToken, beforeNumber: Int64?, endOffset: Int64?
    ) -> ResumePlan {
        guard self.readOffset != nil, let endOffset, let startOffset = token.offset, startOffset < endOffset else {
            return .refused(.unknown)
        }
        guard endOffset - startOffset <= ReplayLimits.maxScanRecords else { return .refused(.tooMany) }
        let target = ReplayRequest.Target.items(after: token.position.number, startOffset: startOffset)
        return .reader(
            ReplayRequest(
                key, epoch: token.position.epoch, target, beforeNumber: beforeNumber, endOffset: endOffset))
    }

    /// Returns the cached messages among the live's last `count` messages up to number `lastNumber`.
    package func history(_ key: LiveKey, epoch: Int64, count: Int, upTo lastNumber: Int64 = .max) -> [EncodedFeedItem] {
        guard let ring = self.messages.ring(key), ring.epoch == epoch else { return [] }
        return ring.keptItems.prefix { $0.number <= lastNumber }.suffix(count)
    }

    /// Returns the replay request that searches for those of the last `count` messages that are not cached.
    ///
    /// - Returns: Nil if the cache has all of the messages, if the live was searched already, or if it is not known
    ///   where the search must begin.
    package func searchRequest(_ key: LiveKey, epoch: Int64, count: Int) -> ReplayRequest? {
        let ring = self.recent.ring(key).flatMap { $0.epoch == epoch ? $0 : nil }
        let cached = self.history(key, epoch: epoch, count: count)
        // A ring whose gapless sequence begins with item 1 has had all items of the live: a search would find no
        // others.
        if cached.count >= count || ring?.sequenceStart == 1 || self.searchedEpochs[key] == epoch { return nil }
        let endOffset = cached.first?.offset ?? ring?.sequenceStartOffset ?? self.readOffset
        guard self.readOffset != nil, let endOffset, endOffset > 0 else { return nil }
        let target = ReplayRequest.Target.messages(count: count - cached.count)
        return ReplayRequest(
            key, epoch: epoch, target, beforeNumber: cached.first?.number ?? ring?.sequenceStart, endOffset: endOffset)
    }

    /// Adds the messages and the live's latest position that the replay reader found.
    package mutating func addReplayed(_ outcome: ReplayOutcome) {
        let request = outcome.request
        // Without `beforeNumber`, this cache had no item of the live, so the last item that was read is the latest one.
        if request.beforeNumber == nil, let latest = outcome.latestToken { self.recent.setLatest(request.key, latest) }
        guard case .messages = request.target, case .found(let items) = outcome.answer else { return }
        self.messages.prepend(Array(items), to: request.key, epoch: request.epoch)
        self.searchedEpochs[request.key] = request.epoch
    }
}
