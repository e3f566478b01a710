// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import EventLoop
internal import GatewayCore
internal import MachineKit
internal import Observability
internal import PlazaModel
internal import PlazaWire
internal import WebSocket

/// The hot path of feed delivery: buffers received items until the live's next flush, and sends them as one frame that
/// all viewers share.
final class ShardDelivery {
    private unowned let shard: Shard
    private let gateway: Gateway
    private var ledger = DeliveryLedger()
    private var publishedLedger = DeliveryLedger()
    /// The lives to flush at the end of this loop turn.
    private var dueLives: [ShardLive] = []
    /// The lives to flush when the flush timer fires.
    private var waitingLives: [ShardLive] = []
    /// The clients with a backlog: slow readers, and clients that get a replay.
    private var clientsCatchingUp: [Client] = []
    private var flushHook: TurnEndHook?
    private var flushTimer: LoopTimer?

    /// The number of buffered items of one live at which they are flushed immediately.
    private static let bufferLimit = 512

    init(_ shard: Shard) {
        self.shard = shard
        self.gateway = shard.gateway
    }

    /// Creates the hook and the timer that flush lives.
    func start() throws(LoopError) {
        self.flushHook = TurnEndHook(loop: self.shard.loop) { [unowned self] in self.flushDueLives() }
        self.flushTimer = try LoopTimer(loop: self.shard.loop) { [unowned self] _ in self.flushWaitingLives() }
    }

    /// Buffers new items of a live, which must be in order, and schedules the flush.
    func feedItemsReceived(_ key: LiveKey, epoch: Int64, _ items: [EncodedFeedItem]) {
        guard let live = self.shard.lives[key], !live.viewers.isEmpty, epoch >= live.epoch else { return }
        if epoch > live.epoch {
            if !live.bufferedItems.isEmpty { self.flush(live) }
            live.epoch = epoch
            live.lastItem = 0
        }
        var fresh = items[...]
        if live.lastItem > 0 {
            fresh = fresh.drop { $0.number <= live.lastItem }
            guard let first = fresh.first else { return }
            if first.number > live.lastItem + 1 {
                // The shard's mailbox was full and dropped items; they are read from the feed cache.
                let position = FeedPosition(epoch: epoch, number: live.lastItem)
                if case .complete(let missed) = self.gateway.feeds.items(of: key, after: position) {
                    fresh = missed[...]
                }
            }
        }
        guard let last = fresh.last else { return }
        live.lastItem = last.number
        live.bufferedItems.append(contentsOf: fresh)
        let now = self.shard.now
        var due = live.dueAt ?? .distantFuture
        for item in fresh { due = min(due, live.plan.due(item.feedClass, at: now)) }
        if live.bufferedItems.count >= Self.bufferLimit { due = now }
        self.schedule(live, at: due, now: now)
    }

    private func schedule(_ live: ShardLive, at due: MonotonicTime, now: MonotonicTime) {
        if due <= now {
            live.dueAt = now
            if live.isInDueLives { return }
            live.isInDueLives = true
            self.dueLives.append(live)
            self.flushHook?.schedule()
        } else if live.dueAt == nil {
            live.dueAt = due
            self.waitingLives.append(live)
            self.startFlushTimer(now: now)
        }
    }

    /// Flushes all lives that are due, at the end of a loop turn.
    private func flushDueLives() {
        let lives = self.dueLives
        self.dueLives.removeAll(keepingCapacity: true)
        for live in lives {
            live.isInDueLives = false
            self.flush(live)
        }
    }

    /// Flushes the lives whose time has come, when the flush timer fires.
    private func flushWaitingLives() {
        self.shard.loop.updateNow()
        let now = self.shard.now
        var waiting: [ShardLive] = []
        for live in self.waitingLives {
            guard let due = live.dueAt else { continue }
            if due <= now { self.flush(live) } else { waiting.append(live) }
        }
        self.waitingLives = waiting
        self.startFlushTimer(now: now)
    }

    private func startFlushTimer(now: MonotonicTime) {
        guard let first = self.waitingLives.lazy.compactMap(\.dueAt).min() else { return }
        self.flushTimer?.start(after: .milliseconds(max(1, (first - now).count)))
    }

    /// Sends a live's buffered items to all its viewers in one shared frame; slow readers get only the classes that
    /// their level admits.
    private func flush(_ live: ShardLive) {
        live.dueAt = nil
        let items = live.bufferedItems
        live.bufferedItems = []
        guard let first = items.first, let last = items.last, !live.viewers.isEmpty else { return }
        let began = MonotonicClock.threadCPUMicroseconds
        let sharedFrame = live.frames.frame(items[...], epoch: live.epoch)
        var reduced: [DeliveryLevel: [SharedBytes]] = [:]
        var counts = [Int](repeating: 0, count: FeedClass.allCases.count)
        for item in items { counts[item.feedClass.rawValue] += 1 }
        var delivered = 0
        for client in live.viewers {
            if client.caughtUpTo >= first.number {
                if client.caughtUpTo < last.number { self.deliverRest(items, live, client) }
                continue
            }
            let pendingBytes = client.socket.pendingBytes
            if pendingBytes == 0, client.backlog == nil {
                switch client.socket.send(sharedFrame) {
                case .sent, .queued: delivered += 1
                case .overflow, .notOpen: self.recordUndelivered(items: items.count)
                }
            } else {
                self.deliverReduced(items, counts, live, client, pendingBytes: pendingBytes, &reduced)
            }
        }
        self.ledger.delivered(items: items.count, viewers: delivered)
        if last.isEnd {
            for client in live.viewers.reversed() where client.backlog == nil {
                self.shard.lives.liveEnded(client, live)
            }
        }
        let took = MonotonicClock.threadCPUMicroseconds - began
        live.plan.flushed(at: self.shard.now, tookMicroseconds: took)
        self.gateway.metrics.flush.record(microseconds: Int(took))
        self.gateway.metrics.flushedFrames.add()
    }

    /// Records items that a viewer did not get because its connection has just ended.
    private func recordUndelivered(items: Int) {
        self.ledger.deferred(items: items)
        self.ledger.disconnected(deferred: items)
    }

    /// For a viewer that joined while items were buffered: sends only those that it does not have yet, or defers them if
    /// it is catching up.
    private func deliverRest(_ items: [EncodedFeedItem], _ live: ShardLive, _ client: Client) {
        let rest = items.drop { $0.number <= client.caughtUpTo }
        if let backlog = client.backlog {
            client.backlog?.deferred = backlog.deferred + rest.count
            return self.ledger.deferred(items: rest.count)
        }
        client.socket.send(live.frames.frames(rest, epoch: live.epoch, level: .everything))
        self.ledger.delivered(items: rest.count, viewers: 1)
    }

    /// Sends a viewer with pending bytes the classes of items that its budget admits, and sheds the others.
    ///
    /// If the viewer is too far behind, all items are deferred.
    private func deliverReduced(
        _ items: [EncodedFeedItem], _ counts: [Int], _ live: ShardLive, _ client: Client, pendingBytes: Int,
        _ reduced: inout [DeliveryLevel: [SharedBytes]]
    ) {
        if let backlog = client.backlog {
            client.backlog?.deferred = backlog.deferred + items.count
            return self.ledger.deferred(items: items.count)
        }
        let level = self.gateway.settings.budget.level(pendingBytes: pendingBytes)
        if level == .deferred {
            client.caughtUpTo = (items.first?.number ?? 1) - 1
            client.backlog = Client.Backlog(since: self.shard.now, deferred: items.count)
            self.clientsCatchingUp.append(client)
            return self.ledger.deferred(items: items.count)
        }
        let frames: [SharedBytes]
        if let encoded = reduced[level] {
            frames = encoded
        } else {
            frames = live.frames.frames(items[...], epoch: live.epoch, level: level)
            reduced[level] = frames
        }
        if !frames.isEmpty { client.socket.send(frames) }
        for feedClass in FeedClass.allCases where counts[feedClass.rawValue] > 0 {
            if level.admits(feedClass) {
                self.ledger.delivered(items: counts[feedClass.rawValue], viewers: 1)
            } else {
                self.ledger.shed(feedClass, items: counts[feedClass.rawValue])
            }
        }
    }
}

/// Clients that catch up: slow readers until their pending bytes were sent, and resumed clients during their replay.
extension ShardDelivery {
    /// Starts delivery to a resumed client: new items are held back until all earlier ones were sent.
    func resumeDelivery(_ client: Client) {
        if client.backlog == nil { client.backlog = Client.Backlog(since: self.shard.now, deferred: 0) }
        client.backlog?.since = self.shard.now
        self.clientsCatchingUp.append(client)
        self.catchUp(client)
    }

    /// Sends the next missing items to a reader without pending bytes, as many as its budget allows: first from the
    /// replay, then from the feed cache.
    ///
    /// The reader is disconnected if the cache no longer has the missing items.
    func catchUp(_ client: Client) {
        guard var backlog = client.backlog, let live = client.live else { return }
        let missed: ArraySlice<EncodedFeedItem>
        switch backlog.replay {
        case .reading: return
        case .items(let items, _): missed = items
        case .finished:
            let position = FeedPosition(epoch: live.epoch, number: client.caughtUpTo)
            if case .complete(let items) = self.gateway.feeds.items(of: live.key, after: position) {
                missed = items[...]
            } else if self.gateway.feeds.latestToken(live.key)?.position.epoch ?? 0 < live.epoch {
                // This gateway has not read any item of this live yet.
                missed = []
            } else {
                return self.shard.disconnect(client, .slowReader)
            }
        }
        var bytes = 0
        let part = missed.prefix { item in
            bytes += item.bytes.count
            return bytes <= self.gateway.settings.budget.bytes || bytes == item.bytes.count
        }
        client.caughtUpTo = max(client.caughtUpTo, part.last?.number ?? 0)
        backlog.since = self.shard.now
        let isCaughtUp: Bool
        if case .items(_, let reservation) = backlog.replay {
            isCaughtUp = false
            let rest = missed.dropFirst(part.count)
            backlog.replay = rest.isEmpty ? .finished : .items(rest, reservation)
            self.ledger.deliveredLate(items: part.count, ofDeferred: 0)
        } else {
            isCaughtUp = part.count == missed.count
            // A replay may have sent some of the deferred items already. A reader that has caught up lacks nothing, so
            // none stays counted as deferred.
            let deferred = isCaughtUp ? backlog.deferred : min(backlog.deferred, part.count)
            backlog.deferred -= deferred
            self.ledger.deliveredLate(items: part.count, ofDeferred: deferred)
        }
        client.backlog = isCaughtUp ? nil : backlog
        if !part.isEmpty {
            client.socket.send(live.frames.frames(part, epoch: live.epoch, level: .everything))
            if part.last?.isEnd == true { return self.shard.lives.liveEnded(client, live) }
        }
        // If the kernel accepted everything immediately, there will be no writable event.
        if !isCaughtUp, client.socket.pendingBytes == 0 { self.catchUp(client) }
    }

    /// Continues delivery to readers without pending bytes, and disconnects those that made no progress within the
    /// timeout.
    func sweepClientsCatchingUp(at now: MonotonicTime) {
        if self.clientsCatchingUp.isEmpty { return }
        let timeout = self.gateway.settings.budget.timeout
        self.clientsCatchingUp.removeAll { client in
            guard let backlog = client.backlog, !client.isDetached else { return true }
            if client.socket.pendingBytes == 0 {
                self.catchUp(client)
                return client.backlog == nil
            }
            guard now - backlog.since >= timeout else { return false }
            self.shard.disconnect(client, .slowReader)
            return true
        }
    }

    /// Records that a viewer left for whom `deferred` items were deferred.
    func disconnected(deferred: Int) { self.ledger.disconnected(deferred: deferred) }

    /// Adds the growth of the ledger since the last call to the metrics.
    func publishLedger() {
        self.gateway.metrics.add(self.ledger, since: self.publishedLedger)
        self.publishedLedger = self.ledger
    }
}

/// Viewer counts, which are sent separately from the feed.
extension ShardDelivery {
    /// Stores a live's new count, which is sent to its viewers at most once a second.
    func countReceived(_ key: LiveKey, _ count: LiveCount) {
        guard let live = self.shard.lives[key], !live.viewers.isEmpty else { return }
        live.unsentCount = count
        self.sendDueCount(live, at: self.shard.now)
    }

    /// Sends the current count to a joining client.
    ///
    /// The count that includes its own join may have been sent before the client was subscribed.
    func sendCurrentCount(to client: Client, _ live: ShardLive) {
        guard let count = self.gateway.tables.read({ $0.reportedCount(live.key) }) else { return }
        client.socket.send(FrameEncoder.text(Wire.encode(ServerFrame.counts(count)).span))
    }

    /// Sends the stored counts of all lives whose last sent count is at least one second old.
    func sendDueCounts(at now: MonotonicTime) {
        for live in self.shard.lives.all where live.unsentCount != nil { self.sendDueCount(live, at: now) }
    }

    /// Sends a live's stored count if it is due; slow readers get none.
    private func sendDueCount(_ live: ShardLive, at now: MonotonicTime) {
        guard let count = live.unsentCount, now - live.countSentAt >= .seconds(1) else { return }
        live.unsentCount = nil
        live.countSentAt = now
        let frame = FrameEncoder.text(Wire.encode(ServerFrame.counts(count)).span)
        for client in live.viewers where client.backlog == nil {
            if self.gateway.settings.budget.level(pendingBytes: client.socket.pendingBytes) == .everything {
                client.socket.send(frame)
            }
        }
    }
}
