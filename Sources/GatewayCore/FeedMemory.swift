// SPDX-License-Identifier: Apache-2.0
package import CoreKit
package import PlazaModel

/// What a gateway remembers of one feed partition: the items of the last minute, the last messages of lives whose app
/// wants newcomers to see some, and how far the partition was read.
package struct FeedMemory: Sendable {
    /// How a client that comes back is served.
    package enum ResumePlan: Hashable, Sendable {
        /// From memory.
        case memory
        /// From memory, once the client's place has come by here: another gateway was quicker.
        case later
        /// By a reader of the past, and from memory afterwards.
        case reader(ReplayRequest)
        /// Not at all: it takes the snapshot.
        case refused(ReplayRefusal)
    }

    /// The items of the last minute.
    package private(set) var shelf: FeedShelf
    /// The offset up to which the partition was read; nil before its end was reached for the first time.
    package private(set) var end: Int64?
    private var messages = FeedShelf(messages: Limits.history)
    /// Lives whose past was searched for messages already, with their epochs.
    private var searched: [LiveKey: Int64] = [:]

    /// Nothing yet.
    package init(span: Milliseconds = FeedShelf.span) { self.shelf = FeedShelf(span: span) }

    /// Bytes of the messages kept for newcomers; those that are recent items too count there and here.
    package var messageBytes: Int { self.messages.byteCount }

    /// Takes an item.
    ///
    /// - Parameters:
    ///   - record: the item.
    ///   - keepsMessages: whether newcomers of its app get messages of before.
    /// - Returns: whether it is new.
    package mutating func append(_ record: FeedRecord, keepsMessages: Bool) -> FeedRing.Verdict {
        let verdict = self.shelf.append(record.piece, of: record.key, epoch: record.epoch)
        if keepsMessages, verdict == .fresh, record.piece.feedClass == .barrage {
            _ = self.messages.append(record.piece, of: record.key, epoch: record.epoch)
        }
        return verdict
    }

    /// The partition has been read up to `offset`.
    package mutating func wasRead(to offset: Int64) { self.end = max(self.end ?? 0, offset) }

    /// Lets go of what is too old.
    package mutating func prune(at now: Timestamp) { self.shelf.prune(at: now) }

    /// Forgets a live.
    package mutating func forget(_ key: LiveKey) {
        self.shelf.forget(key)
        self.messages.forget(key)
        self.searched[key] = nil
    }

    /// How to serve a client that has all up to `token`, which is of the live's present epoch.
    package func resume(_ key: LiveKey, after token: FeedToken, at now: Timestamp) -> ResumePlan {
        let position = token.position
        guard let ring = self.shelf.ring(key), ring.epoch >= position.epoch else {
            guard position.number >= 0 else { return .refused(.unknown) }
            return self.question(key, token, before: nil, end: self.end)
        }
        guard ring.epoch == position.epoch else { return .refused(.otherLive) }
        guard position.number >= 0 else { return .refused(.unknown) }
        guard ring.last - position.number <= ReplayLimits.items else { return .refused(.tooMany) }
        if ring.canAnswer(after: position) {
            if position.number <= ring.last { return .memory }
            // What stands before the end has been read: the feed has no such place.
            if let offset = token.offset, let end = self.end, offset < end { return .refused(.gone) }
            return .later
        }
        // What is about to leave the memory is read again, or it would be gone when the reader is through.
        let span = self.shelf.span ?? FeedShelf.span
        let kept = ring.first(from: now - span + ReplayLimits.resumePatience)
        let end = kept?.offset ?? ring.lastOffset.map { $0 + 1 }
        return self.question(key, token, before: kept?.number ?? ring.last + 1, end: end)
    }

    private func question(_ key: LiveKey, _ token: FeedToken, before: Int64?, end: Int64?) -> ResumePlan {
        guard self.end != nil, let end, let start = token.offset, start < end else { return .refused(.unknown) }
        guard end - start <= ReplayLimits.span else { return .refused(.tooMany) }
        let want = ReplayRequest.Want.items(after: token.position.number, at: start)
        return .reader(ReplayRequest(key, epoch: token.position.epoch, want, before: before, end: end))
    }

    /// As many of a live's last `count` messages as are in memory; what came after number `last` does not count.
    package func history(_ key: LiveKey, epoch: Int64, count: Int, upTo last: Int64 = .max) -> [FeedPiece] {
        guard let ring = self.messages.ring(key), ring.epoch == epoch else { return [] }
        return ring.kept.prefix { $0.number <= last }.suffix(count)
    }

    /// What to ask a reader of the past for, so that a newcomer gets the last `count` messages.
    ///
    /// - Returns: nil when memory has all that there are, or all that could be found before.
    package func search(_ key: LiveKey, epoch: Int64, count: Int) -> ReplayRequest? {
        let ring = self.shelf.ring(key).flatMap { $0.epoch == epoch ? $0 : nil }
        let kept = self.history(key, epoch: epoch, count: count)
        if kept.count >= count || ring?.since == 1 || self.searched[key] == epoch { return nil }
        let end = kept.first?.offset ?? ring?.sinceOffset ?? self.end
        guard self.end != nil, let end, end > 0 else { return nil }
        let want = ReplayRequest.Want.messages(count: count - kept.count)
        return ReplayRequest(key, epoch: epoch, want, before: kept.first?.number ?? ring?.since, end: end)
    }

    /// Learns what a reader of the past found.
    package mutating func learn(_ outcome: ReplayOutcome) {
        let request = outcome.request
        if request.before == nil, let last = outcome.last { self.shelf.learn(request.key, standsAt: last) }
        guard case .messages = request.want, case .found(let pieces) = outcome.answer else { return }
        self.messages.prepend(Array(pieces), to: request.key, epoch: request.epoch)
        self.searched[request.key] = request.epoch
    }
}
