// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import GatewayCore
internal import MachineKit
internal import Observability
internal import PlazaModel
internal import WebSocket

/// A client that waits for the replay reader's outcome, or until this gateway has read the feed up to the client's
/// position.
private struct PendingReplay {
    var live: ShardLive
    var join: PendingJoin
    /// The time at which the client continues without a replay.
    var deadline: MonotonicTime
}

/// Sends clients the items that precede their first new item: earlier messages to new viewers, missed items to clients
/// that resume.
///
/// These items are read from the feed cache or by the replay reader. Meanwhile new items are held back, so that the
/// client gets every item once and in order (I7, docs/RULES.md).
final class ShardReplay {
    private unowned let shard: Shard
    private let gateway: Gateway
    /// The clients that wait for the replay reader, by the number of their request.
    private var awaitingReader: [UInt64: PendingReplay] = [:]
    /// The clients whose position is ahead of what this gateway has read of the feed.
    ///
    /// They are numbered in one sequence with the clients in `awaitingReader`, so no number is used twice.
    private var awaitingFeed: [UInt64: PendingReplay] = [:]
    /// The number of the client that began to wait last, for the reader or for the feed.
    private var lastWaitNumber: UInt64 = 0

    init(_ shard: Shard) {
        self.shard = shard
        self.gateway = shard.gateway
    }

    /// Replies to a new viewer's join, and sends its initial state.
    ///
    /// The reply contains the feed's position, so that the client can resume even if it has not received any item yet
    /// (R15.14). If the feed has an item, a frame with the position follows, with earlier messages if the app has
    /// configured them.
    func sendInitialState(_ join: PendingJoin, _ live: ShardLive) {
        let client = join.client
        let latest = self.latestToken(of: live, epoch: join.epoch)
        client.caughtUpTo = latest?.position.number ?? 0
        // While the live has no item, the token has number 0 and the offset up to which the partition was read.
        let token =
            latest
            ?? FeedToken(
                FeedPosition(epoch: join.epoch, number: 0), offset: self.gateway.feeds.readOffset(of: live.key))
        self.shard.send(.reply(id: join.call, join.outcome.adding(token)), to: client)
        let history = self.gateway.feeds.history(live.key, epoch: join.epoch, upTo: client.caughtUpTo)
        if let searchRequest = history?.search {
            // The cache lacks some of the earlier messages, so the replay reader searches for them.
            self.sendRequest(searchRequest, join, live, timeout: ReplayLimits.historyTimeout)
        } else {
            self.sendHistory(history?.messages ?? [], latest, to: client, in: live)
        }
    }

    /// Serves a client that resumes: sends exactly the items that the client missed, or replies that it must load a
    /// snapshot.
    func resume(_ point: ResumePoint, _ join: PendingJoin, _ live: ShardLive) {
        let client = join.client
        var (point, join) = (point, join)
        if point.position == FeedPosition(epoch: 0, number: 0) {
            // The client does not know its position: all items are replayed, or the reply says that the client must
            // load a snapshot.
            point.position.epoch = join.epoch
            point.token = nil
            join.resume = point
            // `join.outcome`, the reply if the items can be replayed, gets the new position. It is always `resumed`,
            // because presence, the machine that knows who is in a live, has granted the resume.
            if case .success(.resumed(ticket: let ticket, position: _, replayed: let replayed)) = join.outcome {
                join.outcome = .success(
                    result: .resumed(ticket: ticket, position: point.position, replayed: replayed))
            }
        }
        // This value counts if the replay is refused: delivery then continues after the last item that this gateway has
        // read, or after the client's position if the gateway has read no item of the live. The client detects the gap
        // by the numbers of the items. For a replay, `startReplay` sets `caughtUpTo` to the client's position.
        let clientNumber = point.position.epoch == join.epoch ? point.position.number : 0
        client.caughtUpTo = self.latestToken(of: live, epoch: join.epoch)?.position.number ?? clientNumber
        guard point.position.epoch == join.epoch else { return self.refuse(.otherLive, join, live) }
        // A token of another position is ignored; without a token, the offset of the position is unknown.
        var token = FeedToken(point.position)
        if let text = point.token, let sentToken = FeedToken(text: text), sentToken.position == point.position {
            token = sentToken
        }
        switch self.gateway.feeds.planResume(live.key, after: token) {
        case .cache: self.startReplay(join, live)
        // The client has joined the live, but received no item. The cache has the items that the client lacks: those
        // after this number.
        case .cacheAfter(let number): self.startReplay(join.resuming(after: number), live)
        case .waitForFeed: self.waitForFeed(join, live)
        case .reader(let request): self.sendRequest(request, join, live, timeout: ReplayLimits.resumeTimeout)
        case .refused(let reason): self.refuse(reason, join, live)
        }
    }

    /// Continues with the client that waits for this outcome of the replay reader.
    func replayReceived(_ outcome: ReplayOutcome, reservation: ReplayReservation?) {
        // Nobody waits any more if the request has timed out here, or if the client has left the live.
        guard let pending = self.awaitingReader.removeValue(forKey: outcome.id.number) else { return }
        self.complete(pending, outcome.answer, reservation)
    }

    /// Ends the waits of the clients whose position the feed has reached, and of the clients whose deadline has passed.
    ///
    /// After its deadline a client gets no replay.
    func sweep(at now: MonotonicTime) {
        for (number, pending) in self.awaitingFeed {
            let latestNumber = self.latestToken(of: pending.live, epoch: pending.join.epoch)?.position.number ?? 0
            // Only resumes wait for the feed, so `resume` is not nil.
            let isPositionReached = pending.join.resume.map { $0.position.number <= latestNumber } ?? true
            guard isPositionReached || pending.deadline <= now else { continue }
            self.awaitingFeed[number] = nil
            // A reached position needs no reader: the cache has the items after it. A position that is not reached in
            // time probably does not exist, so the reason is `gone` and not `late`.
            self.complete(pending, isPositionReached ? .found([]) : .refused(.gone), nil)
        }
        if self.awaitingReader.isEmpty { return }
        // `late` means that the reader has not answered in time.
        for (number, pending) in self.awaitingReader where pending.deadline <= now {
            self.awaitingReader[number] = nil
            self.complete(pending, .refused(.late), nil)
        }
    }

    /// Cancels the wait with this number, because its client has left the live.
    ///
    /// A resume gets an error as its reply; a join was answered before the wait began.
    func cancel(_ number: UInt64) {
        let removed = self.awaitingReader.removeValue(forKey: number) ?? self.awaitingFeed.removeValue(forKey: number)
        guard let pending = removed, pending.join.resume != nil, !pending.join.client.isDetached else { return }
        let error = ReplyError(.staleTicket, "you are out of the live; join it again")
        self.shard.send(.reply(id: pending.join.call, .failure(error: error)), to: pending.join.client)
    }

    /// Sends a request to the replay reader; the client waits for its outcome.
    ///
    /// If the client's user has made too many requests, the client continues without a replay at once (R12.22).
    private func sendRequest(_ request: ReplayRequest, _ join: PendingJoin, _ live: ShardLive, timeout: Milliseconds) {
        self.lastWaitNumber += 1
        let id = ReplayID(shard: self.shard.number, number: self.lastWaitNumber)
        let pending = PendingReplay(live: live, join: join, deadline: self.shard.now + timeout)
        join.client.backlog = Client.Backlog(
            lastProgressAt: self.shard.now, deferredCount: 0, replay: .reading(id.number))
        do throws(ReplyError) {
            try self.gateway.admission.admit(.replay, of: join.client.userKey, counting: request.costForUser)
        } catch {
            return self.complete(pending, .refused(.tooFrequent), nil)
        }
        // The reader's thread compares the deadline with the clock. `shard.now` is the time at which this turn of the
        // loop began, so the reader gets a deadline from the clock's time now.
        if self.gateway.requestReplay(id, request, deadline: MonotonicClock.now + timeout) {
            self.awaitingReader[id.number] = pending
        } else {
            self.complete(pending, .refused(.full), nil)
        }
    }

    /// Defers the resume until the feed reaches the client's position.
    ///
    /// Either another gateway has sent the client items that this gateway has not read yet, or the position does not
    /// exist.
    private func waitForFeed(_ join: PendingJoin, _ live: ShardLive) {
        guard self.awaitingFeed.count < ReplayLimits.maxQueuedRequests else { return self.refuse(.full, join, live) }
        self.lastWaitNumber += 1
        join.client.backlog = Client.Backlog(
            lastProgressAt: self.shard.now, deferredCount: 0, replay: .reading(self.lastWaitNumber))
        self.awaitingFeed[self.lastWaitNumber] = PendingReplay(
            live: live, join: join, deadline: self.shard.now + ReplayLimits.resumeTimeout)
    }

    /// Ends a client's wait: a new viewer gets its initial state; a resuming client gets its replay or a refusal.
    private func complete(_ pending: PendingReplay, _ answer: ReplayAnswer, _ reservation: ReplayReservation?) {
        let (live, join) = (pending.live, pending.join)
        let client = join.client
        // A client that has disconnected or left the live gets nothing.
        guard !client.isDetached, client.live === live else { return }
        client.backlog?.replay = .finished
        // A new viewer has waited for earlier messages, not for a replay. The messages that the reader has found are in
        // the cache now.
        if join.resume == nil { return self.sendLateInitialState(join, live) }
        switch answer {
        // Number 0 with a token: the client has joined the live, but has received no item.
        case .found(let items) where join.resume?.position.number == 0 && join.resume?.token != nil:
            self.replayFromStart(items, reservation, join, live)
        case .found(let items): self.startReplay(join, live, readItems: items, reservation)
        case .refused(let reason): self.refuse(reason, join, live)
        }
    }

    /// Sends a new viewer the earlier messages that are cached now, and then the items since its join.
    private func sendLateInitialState(_ join: PendingJoin, _ live: ShardLive) {
        let client = join.client
        self.skipUncachedItems(client, live, epoch: join.epoch)
        var token = self.latestToken(of: live, epoch: join.epoch)
        // The token's offset is that of the last item that was read. If the client's position is an earlier one, its
        // offset is not known, and its token has none.
        if let latest = token, latest.position.number != client.caughtUpTo {
            token = FeedToken(FeedPosition(epoch: join.epoch, number: client.caughtUpTo))
        }
        // The reader has searched already, so a further search request in the result is ignored.
        let history = self.gateway.feeds.history(live.key, epoch: join.epoch, upTo: client.caughtUpTo)
        self.sendHistory(history?.messages ?? [], token, to: client, in: live)
        self.shard.delivery.resumeDelivery(client)
    }

    /// Sends the feed's position, together with the newest of `messages` that fit half of the client's budget of
    /// pending bytes.
    private func sendHistory(
        _ messages: [EncodedFeedItem], _ token: FeedToken?, to client: Client, in live: ShardLive
    ) {
        // Without a token the feed has no item yet.
        guard let token else { return }
        let limit = self.gateway.settings.budget.bytes / 2
        var bytes = 0
        let newestFirst = messages.reversed().prefix { item in
            bytes += item.bytes.count
            return bytes <= limit
        }
        if newestFirst.isEmpty {
            client.socket.send(live.frameEncoder.positionFrame(token))
        } else {
            self.gateway.metrics.historyItems.add(newestFirst.count)
            client.socket.send(live.frameEncoder.historyFrames(newestFirst.reversed()[...], at: token))
        }
    }

    /// Replies to a client that resumes, and then sends `items`, which the replay reader has read, and the items in the
    /// cache.
    private func startReplay(
        _ join: PendingJoin, _ live: ShardLive, readItems items: ArraySlice<EncodedFeedItem> = [],
        _ reservation: ReplayReservation? = nil
    ) {
        // Only resumes are replayed, so `resume` is not nil.
        guard let point = join.resume else { return }
        let client = join.client
        let lastReplayed = FeedPosition(epoch: join.epoch, number: items.last?.number ?? point.position.number)
        // The cache must have all items after `lastReplayed`. If this gateway has read no item of the live, there are
        // none.
        let isFeedKnown = self.latestToken(of: live, epoch: join.epoch) != nil
        guard !isFeedKnown || self.gateway.feeds.hasAllItems(of: live.key, after: lastReplayed) else {
            return self.refuse(.gone, join, live)
        }
        self.gateway.metrics.replays.add()
        self.shard.send(.reply(id: join.call, join.outcome), to: client)
        client.caughtUpTo = point.position.number
        client.backlog = Client.Backlog(
            lastProgressAt: self.shard.now, deferredCount: client.backlog?.deferredCount ?? 0,
            replay: items.isEmpty ? .finished : .items(items, reservation))
        self.shard.delivery.resumeDelivery(client)
    }

    /// Replays to a client that has not received any item.
    ///
    /// Its position is just before the first item that the reader found. If the reader found no item, the position is
    /// just before the first cached item.
    private func replayFromStart(
        _ items: ArraySlice<EncodedFeedItem>, _ reservation: ReplayReservation?, _ join: PendingJoin, _ live: ShardLive
    ) {
        if let first = items.first {
            return self.startReplay(join.resuming(after: first.number - 1), live, readItems: items, reservation)
        }
        guard let text = join.resume?.token, let token = FeedToken(text: text),
            case .cacheAfter(let number) = self.gateway.feeds.planResume(live.key, after: token)
        else { return self.refuse(.gone, join, live) }
        self.startReplay(join.resuming(after: number), live, readItems: [], reservation)
    }

    /// Replies to a resume that the missed items cannot be replayed: the client must load a snapshot, and its feed
    /// continues after the position in the reply.
    private func refuse(_ reason: ReplayRefusal, _ join: PendingJoin, _ live: ShardLive) {
        let client = join.client
        self.gateway.metrics.replayRefused(reason)
        self.skipUncachedItems(client, live, epoch: join.epoch)
        let position = FeedPosition(epoch: join.epoch, number: client.caughtUpTo)
        // The outcome of a granted resume is always `resumed`.
        if case .success(.resumed(ticket: let ticket, position: _, replayed: _)) = join.outcome {
            let result = CallResult.resumed(ticket: ticket, position: position, replayed: false)
            self.shard.send(.reply(id: join.call, .success(result: result)), to: client)
        }
        // While the client waited, new items were held back.
        if client.backlog != nil { self.shard.delivery.resumeDelivery(client) }
    }

    /// Makes a client continue with the first cached item, if the client lacks items that are not cached any more.
    private func skipUncachedItems(_ client: Client, _ live: ShardLive, epoch: Int64) {
        guard let oldest = self.gateway.feeds.oldestPosition(live.key), oldest.epoch == epoch else { return }
        client.caughtUpTo = max(client.caughtUpTo, oldest.number - 1)
    }

    /// Returns the token of the live's last item that was read; nil if that item is not of `epoch`.
    private func latestToken(of live: ShardLive, epoch: Int64) -> FeedToken? {
        self.gateway.feeds.latestToken(live.key).flatMap { $0.position.epoch == epoch ? $0 : nil }
    }
}
