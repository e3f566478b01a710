// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import GatewayCore
internal import MachineKit
internal import Observability
internal import PlazaModel
internal import WebSocket

/// A client whose replay is pending, either in the replay reader or until the feed reaches the client's position.
private struct PendingReplay {
    var live: ShardLive
    var join: PendingJoin
    /// The time at which the client continues without a replay.
    var deadline: MonotonicTime
}

/// Sends clients the items that precede their first new item: earlier messages to new viewers, missed items to clients
/// that resume.
///
/// These items are read from the feed cache or by the replay reader. New items are held back meanwhile, so that the
/// client gets every item once and in order (I7, no lost or repeated item).
final class ShardReplay {
    private unowned let shard: Shard
    private let gateway: Gateway
    /// The clients with a request to the replay reader, by the request's number.
    private var awaitingReader: [UInt64: PendingReplay] = [:]
    /// The clients whose position is ahead of this gateway's feed, by a number from the same sequence.
    private var awaitingFeed: [UInt64: PendingReplay] = [:]
    private var lastNumber: UInt64 = 0

    init(_ shard: Shard) {
        self.shard = shard
        self.gateway = shard.gateway
    }

    /// Replies to a new viewer's join, and sends its initial state.
    ///
    /// The reply contains the feed's position, so that the client can resume before its first item (R15.14). A feed frame
    /// with the position follows, with earlier messages if the app has configured them.
    func sendInitialState(_ join: PendingJoin, _ live: ShardLive) {
        let client = join.client
        let latest = self.latestToken(of: live, epoch: join.epoch)
        client.caughtUpTo = latest?.position.number ?? 0
        let token =
            latest
            ?? FeedToken(
                FeedPosition(epoch: join.epoch, number: 0), offset: self.gateway.feeds.end(of: live.key))
        self.shard.send(.reply(id: join.call, join.outcome.adding(token)), to: client)
        let history = self.gateway.feeds.history(live.key, epoch: join.epoch, upTo: client.caughtUpTo)
        if let search = history?.search {
            self.request(search, join, live, timeout: ReplayLimits.historyTimeout)
        } else {
            self.sendHistory(history?.messages ?? [], latest, to: client, in: live)
        }
    }

    /// Serves a client that resumes: sends exactly the items that it missed, or replies that it must load a snapshot
    /// (I7).
    func resume(_ point: ResumePoint, _ join: PendingJoin, _ live: ShardLive) {
        let client = join.client
        var (point, join) = (point, join)
        if point.position == FeedPosition(epoch: 0, number: 0) {
            // The client does not know its position, so it gets all items, or a reply that it must load a snapshot.
            point.position.epoch = join.epoch
            point.token = nil
            join.resume = point
            if case .success(.resumed(let ticket, _, let replayed)) = join.outcome {
                join.outcome = .success(
                    result: .resumed(ticket: ticket, position: point.position, replayed: replayed))
            }
        }
        // If this gateway does not know the feed's position, delivery continues after the client's own position, and
        // the client detects any gap by the item numbers.
        let own = point.position.epoch == join.epoch ? point.position.number : 0
        client.caughtUpTo = self.latestToken(of: live, epoch: join.epoch)?.position.number ?? own
        guard point.position.epoch == join.epoch else { return self.refuse(.otherLive, join, live) }
        var token = FeedToken(point.position)
        if let text = point.token, let named = FeedToken(text: text), named.position == point.position {
            token = named
        }
        switch self.gateway.feeds.resume(live.key, after: token) {
        case .cache: self.replay([], nil, join, live)
        case .cacheAfter(let number): self.replay([], nil, join.resuming(after: number), live)
        case .later: self.waitForFeed(join, live)
        case .reader(let request): self.request(request, join, live, timeout: ReplayLimits.resumeTimeout)
        case .refused(let reason): self.refuse(reason, join, live)
        }
    }

    /// Continues the client whose outcome the replay reader has posted.
    func replayReceived(_ outcome: ReplayOutcome, _ reservation: ReplayReservation?) {
        // The request may have timed out, or the client may have left.
        guard let pending = self.awaitingReader.removeValue(forKey: outcome.id.number) else { return }
        self.proceed(pending, outcome.answer, reservation)
    }

    /// Continues the clients whose position the feed has reached, and those whose deadline has passed, which get no
    /// replay.
    func sweep(at now: MonotonicTime) {
        for (number, pending) in self.awaitingFeed {
            let last = self.latestToken(of: pending.live, epoch: pending.join.epoch)?.position.number ?? 0
            let isReached = pending.join.resume.map { $0.position.number <= last } ?? true
            guard isReached || pending.deadline <= now else { continue }
            self.awaitingFeed[number] = nil
            self.proceed(pending, isReached ? .found([]) : .refused(.gone), nil)
        }
        if self.awaitingReader.isEmpty { return }
        for (number, pending) in self.awaitingReader where pending.deadline <= now {
            self.awaitingReader[number] = nil
            self.proceed(pending, .refused(.late), nil)
        }
    }

    /// Cancels the pending replay of a client that left its live.
    func cancel(_ number: UInt64) {
        let known = self.awaitingReader.removeValue(forKey: number) ?? self.awaitingFeed.removeValue(forKey: number)
        guard let pending = known, pending.join.resume != nil, !pending.join.client.isDetached else { return }
        let error = ReplyError(.staleTicket, "you are out of the live; join it again")
        self.shard.send(.reply(id: pending.join.call, .failure(error: error)), to: pending.join.client)
    }

    private func request(_ request: ReplayRequest, _ join: PendingJoin, _ live: ShardLive, timeout: Milliseconds) {
        self.lastNumber += 1
        let id = ReplayID(shard: self.shard.number, number: self.lastNumber)
        let pending = PendingReplay(live: live, join: join, deadline: self.shard.now + timeout)
        join.client.backlog = Client.Backlog(since: self.shard.now, deferred: 0, replay: .reading(id.number))
        if self.gateway.requestReplay(id, request, until: MonotonicClock.now + timeout) {
            self.awaitingReader[id.number] = pending
        } else {
            self.proceed(pending, .refused(.full), nil)
        }
    }

    /// Defers the resume until the feed reaches the client's position: another gateway sent items that this one has not
    /// read yet, or the position does not exist.
    private func waitForFeed(_ join: PendingJoin, _ live: ShardLive) {
        guard self.awaitingFeed.count < ReplayLimits.waiting else { return self.refuse(.full, join, live) }
        self.lastNumber += 1
        join.client.backlog = Client.Backlog(since: self.shard.now, deferred: 0, replay: .reading(self.lastNumber))
        self.awaitingFeed[self.lastNumber] = PendingReplay(
            live: live, join: join, deadline: self.shard.now + ReplayLimits.resumeTimeout)
    }

    private func proceed(_ pending: PendingReplay, _ answer: ReplayAnswer, _ reservation: ReplayReservation?) {
        let (live, join) = (pending.live, pending.join)
        let client = join.client
        guard !client.isDetached, client.live === live else { return }
        client.backlog?.replay = .finished
        if join.resume == nil { return self.sendLateInitialState(join, live) }
        switch answer {
        case .found(let items) where join.resume?.position.number == 0 && join.resume?.token != nil:
            self.replayFromStart(items, reservation, join, live)
        case .found(let items): self.replay(items, reservation, join, live)
        case .refused(let reason): self.refuse(reason, join, live)
        }
    }

    /// Sends a new viewer the earlier messages that are cached now, and then the items since its join.
    private func sendLateInitialState(_ join: PendingJoin, _ live: ShardLive) {
        let client = join.client
        self.skipUncachedItems(client, live, epoch: join.epoch)
        var token = self.latestToken(of: live, epoch: join.epoch)
        if let known = token, known.position.number != client.caughtUpTo {
            token = FeedToken(FeedPosition(epoch: join.epoch, number: client.caughtUpTo))
        }
        // A search was made already, so the request for another one is ignored.
        let history = self.gateway.feeds.history(live.key, epoch: join.epoch, upTo: client.caughtUpTo)
        self.sendHistory(history?.messages ?? [], token, to: client, in: live)
        self.shard.delivery.resumeDelivery(client)
    }

    /// Sends the feed's position, with as many of the latest earlier messages as half of the budget allows.
    private func sendHistory(
        _ messages: [EncodedFeedItem], _ token: FeedToken?, to client: Client, in live: ShardLive
    ) {
        guard let token else { return }
        let limit = self.gateway.settings.budget.bytes / 2
        var bytes = 0
        let sent = messages.reversed().prefix { item in
            bytes += item.bytes.count
            return bytes <= limit
        }
        if sent.isEmpty {
            client.socket.send(live.frames.position(token))
        } else {
            self.gateway.metrics.historyItems.add(sent.count)
            client.socket.send(live.frames.history(sent.reversed()[...], at: token))
        }
    }

    /// Replies to a client that resumes, and sends it first `items`, then the items in the cache.
    private func replay(
        _ items: ArraySlice<EncodedFeedItem>, _ reservation: ReplayReservation?, _ join: PendingJoin, _ live: ShardLive
    ) {
        guard let point = join.resume else { return }
        let client = join.client
        let last = FeedPosition(epoch: join.epoch, number: items.last?.number ?? point.position.number)
        let isKnown = self.latestToken(of: live, epoch: join.epoch) != nil
        guard !isKnown || self.gateway.feeds.canAnswer(live.key, after: last) else {
            return self.refuse(.gone, join, live)
        }
        self.gateway.metrics.replays.add()
        self.shard.send(.reply(id: join.call, join.outcome), to: client)
        client.caughtUpTo = point.position.number
        client.backlog = Client.Backlog(
            since: self.shard.now, deferred: client.backlog?.deferred ?? 0,
            replay: items.isEmpty ? .finished : .items(items, reservation))
        self.shard.delivery.resumeDelivery(client)
    }

    /// Replays to a client that had no item before: only now is it known with which number its feed begins.
    private func replayFromStart(
        _ items: ArraySlice<EncodedFeedItem>, _ reservation: ReplayReservation?, _ join: PendingJoin, _ live: ShardLive
    ) {
        if let first = items.first {
            return self.replay(items, reservation, join.resuming(after: first.number - 1), live)
        }
        guard let text = join.resume?.token, let token = FeedToken(text: text),
            case .cacheAfter(let number) = self.gateway.feeds.resume(live.key, after: token)
        else { return self.refuse(.gone, join, live) }
        self.replay([], reservation, join.resuming(after: number), live)
    }

    /// Replies that the missed items cannot be replayed: the client must load a snapshot, and its feed continues with
    /// the next item.
    private func refuse(_ reason: ReplayRefusal, _ join: PendingJoin, _ live: ShardLive) {
        let client = join.client
        self.gateway.metrics.refusedReplay(reason)
        self.skipUncachedItems(client, live, epoch: join.epoch)
        let position = FeedPosition(epoch: join.epoch, number: client.caughtUpTo)
        if case .success(.resumed(let ticket, _, _)) = join.outcome {
            let result = CallResult.resumed(ticket: ticket, position: position, replayed: false)
            self.shard.send(.reply(id: join.call, .success(result: result)), to: client)
        }
        if client.backlog != nil { self.shard.delivery.resumeDelivery(client) }
    }

    /// Advances a client that lacks uncached items to the first cached item.
    private func skipUncachedItems(_ client: Client, _ live: ShardLive, epoch: Int64) {
        guard let oldest = self.gateway.feeds.oldest(live.key), oldest.epoch == epoch else { return }
        client.caughtUpTo = max(client.caughtUpTo, oldest.number - 1)
    }

    /// Returns the token of the live's last item that was read; nil if that item is not of `epoch`.
    private func latestToken(of live: ShardLive, epoch: Int64) -> FeedToken? {
        self.gateway.feeds.latestToken(live.key).flatMap { $0.position.epoch == epoch ? $0 : nil }
    }
}
