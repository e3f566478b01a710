// SPDX-License-Identifier: Apache-2.0
package import MachineKit
package import PlazaModel

/// A gateway's cache of one feed partition: the items of the last minute, the last messages of lives whose app shows
/// them to new viewers, and the offset up to which the partition was read.
package struct FeedCache: Sendable {
    /// How a client that resumes is served.
    package enum ResumePlan: Hashable, Sendable {
        /// From the cache.
        case cache
        /// From the cache, after the item with this number: the client joined before it got an item.
        case cacheAfter(Int64)
        /// From the cache, once this gateway has read up to the client's position; another gateway has sent items that
        /// this one has not read yet.
        case later
        /// By the replay reader, then from the cache.
        case reader(ReplayRequest)
        /// Not at all: the client loads a snapshot instead.
        case refused(ReplayRefusal)
    }

    /// The items of the last minute.
    package private(set) var recent: PartitionFeedCache
    /// The offset up to which the partition was read; nil before its end was reached for the first time.
    package private(set) var end: Int64?
    private var messages = PartitionFeedCache(messages: Limits.history)
    /// The lives, with their epochs, whose feed was already searched for earlier messages.
    private var searched: [LiveKey: Int64] = [:]

    /// An empty cache.
    package init(span: Milliseconds = PartitionFeedCache.span) { self.recent = PartitionFeedCache(span: span) }

    /// The size of the messages kept for new viewers.
    ///
    /// A message that is also a recent item is counted in both sizes.
    package var messageBytes: Int { self.messages.byteCount }

    /// Adds an item.
    ///
    /// - Parameters:
    ///   - record: The item's record.
    ///   - keepsMessages: Whether the app shows earlier messages to new viewers.
    /// - Returns: Whether the item is new, repeated or stale.
    package mutating func append(_ record: FeedRecord, keepsMessages: Bool) -> FeedRing.Verdict {
        let verdict = self.recent.append(record.item, of: record.key, epoch: record.epoch)
        if keepsMessages, verdict == .fresh, record.item.feedClass == .barrage {
            _ = self.messages.append(record.item, of: record.key, epoch: record.epoch)
        }
        return verdict
    }

    /// Records that the partition was read up to `offset`.
    package mutating func partitionRead(to offset: Int64) { self.end = max(self.end ?? 0, offset) }

    /// Removes the items that are older than the span.
    package mutating func prune(at now: MonotonicTime) { self.recent.prune(at: now) }

    /// Forgets a live.
    package mutating func forget(_ key: LiveKey) {
        self.recent.forget(key)
        self.messages.forget(key)
        self.searched[key] = nil
    }

    /// Decides how to serve a client that has all items up to `token`.
    package func resume(_ key: LiveKey, after token: FeedToken, at now: MonotonicTime) -> ResumePlan {
        let position = token.position
        if position.number == 0, let start = token.offset { return self.resume(key, token, from: start) }
        guard let ring = self.recent.ring(key), ring.epoch >= position.epoch else {
            guard position.number >= 0 else { return .refused(.unknown) }
            return self.readerPlan(key, token, before: nil, end: self.end)
        }
        guard ring.epoch == position.epoch else { return .refused(.otherLive) }
        guard position.number >= 0 else { return .refused(.unknown) }
        guard ring.last - position.number <= ReplayLimits.items else { return .refused(.tooMany) }
        if ring.canAnswer(after: position) {
            if position.number <= ring.last { return .cache }
            // The feed was read beyond the token's record and contains no such item.
            if let offset = token.offset, let end = self.end, offset < end { return .refused(.gone) }
            return .later
        }
        // Cached items that expire before the replay reader answers would be missing, so the reader reads those too.
        let span = self.recent.span ?? PartitionFeedCache.span
        let kept = ring.first(from: now - span + ReplayLimits.resumeTimeout)
        let end = kept?.offset ?? ring.lastOffset.map { $0 + 1 }
        return self.readerPlan(key, token, before: kept?.number ?? ring.last + 1, end: end)
    }

    /// Decides how to serve a client that has not received an item of the live: it joined when the partition had been
    /// read up to `start`, and lacks all items from that offset on (R15.14).
    private func resume(_ key: LiveKey, _ token: FeedToken, from start: Int64) -> ResumePlan {
        let epoch = token.position.epoch
        guard let ring = self.recent.ring(key), ring.epoch >= epoch else {
            // Nothing was read since the client joined, or only items that are not cached any more.
            guard let end = self.end, start < end else { return .cache }
            return self.readerPlan(key, token, before: nil, end: end)
        }
        guard ring.epoch == epoch else { return .refused(.otherLive) }
        if let number = ring.number(from: start) { return .cacheAfter(number - 1) }
        let kept = ring.kept.first
        return self.readerPlan(
            key, token, before: kept?.number ?? ring.last + 1, end: kept?.offset ?? ring.lastOffset.map { $0 + 1 })
    }

    private func readerPlan(_ key: LiveKey, _ token: FeedToken, before: Int64?, end: Int64?) -> ResumePlan {
        guard self.end != nil, let end, let start = token.offset, start < end else { return .refused(.unknown) }
        guard end - start <= ReplayLimits.span else { return .refused(.tooMany) }
        let target = ReplayRequest.Target.items(after: token.position.number, at: start)
        return .reader(ReplayRequest(key, epoch: token.position.epoch, target, before: before, end: end))
    }

    /// Returns the live's last `count` messages up to number `last`, as far as they are cached.
    package func history(_ key: LiveKey, epoch: Int64, count: Int, upTo last: Int64 = .max) -> [EncodedFeedItem] {
        guard let ring = self.messages.ring(key), ring.epoch == epoch else { return [] }
        return ring.kept.prefix { $0.number <= last }.suffix(count)
    }

    /// Returns the replay request that finds those of the last `count` messages that are not cached.
    ///
    /// - Returns: Nil if the cache has all of them, or if the live was searched already.
    package func search(_ key: LiveKey, epoch: Int64, count: Int) -> ReplayRequest? {
        let ring = self.recent.ring(key).flatMap { $0.epoch == epoch ? $0 : nil }
        let kept = self.history(key, epoch: epoch, count: count)
        if kept.count >= count || ring?.since == 1 || self.searched[key] == epoch { return nil }
        let end = kept.first?.offset ?? ring?.sinceOffset ?? self.end
        guard self.end != nil, let end, end > 0 else { return nil }
        let target = ReplayRequest.Target.messages(count: count - kept.count)
        return ReplayRequest(key, epoch: epoch, target, before: kept.first?.number ?? ring?.since, end: end)
    }

    /// Adds the messages and the position that the replay reader found.
    package mutating func addReplayed(_ outcome: ReplayOutcome) {
        let request = outcome.request
        if request.before == nil, let last = outcome.last { self.recent.setLatest(request.key, last) }
        guard case .messages = request.target, case .found(let items) = outcome.answer else { return }
        self.messages.prepend(Array(items), to: request.key, epoch: request.epoch)
        self.searched[request.key] = request.epoch
    }
}
