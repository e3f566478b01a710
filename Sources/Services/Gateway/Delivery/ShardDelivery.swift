// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import EventLoop
internal import GatewayCore
internal import MachineKit
internal import Observability
internal import PlazaModel
internal import PlazaWire
internal import WebSocket

/// Delivers feed items to the viewers of a shard: buffers the items of a live until the live's next flush, and then
/// sends them as one frame that all viewers share.
final class ShardDelivery {
    private unowned let shard: Shard
    private let gateway: Gateway
    private var ledger = DeliveryLedger()
    /// The ledger as it was last added to the metrics.
    private var publishedLedger = DeliveryLedger()
    /// The lives to flush at the end of this loop turn.
    private var dueLives: [ShardLive] = []
    /// The lives to flush when the flush timer fires.
    private var waitingLives: [ShardLive] = []
    /// The clients whose backlog is being sent: slow readers, and clients with a replay.
    private var clientsCatchingUp: [Client] = []
    /// Calls `flushDueLives` at the end of a loop turn.
    private var dueLivesHook: TurnEndHook?
    /// Calls `flushWaitingLives`.
    private var flushTimer: LoopTimer?

    /// The number of buffered items of one live at which they are flushed immediately.
    private static let maxBufferedItems = 512
    /// The minimum time between two frames with a live's viewer count.
    private static let countInterval = Milliseconds.seconds(1)

    init(_ shard: Shard) {
        self.shard = shard
        self.gateway = shard.gateway
    }

    /// Creates the turn-end hook and the timer that flush lives.
    ///
    /// - Throws: `LoopError` when the timer cannot be created.
    func start() throws(LoopError) {
        self.dueLivesHook = TurnEndHook(loop: self.shard.loop) { [unowned self] in self.flushDueLives() }
        self.flushTimer = try LoopTimer(loop: self.shard.loop) { [unowned self] _ in self.flushWaitingLives() }
    }

    /// Buffers new items of a live, in the order of their numbers, and schedules the flush.
    func feedItemsReceived(_ key: LiveKey, epoch: Int64, _ items: [EncodedFeedItem]) {
        guard let live = self.shard.lives[key], !live.viewers.isEmpty, epoch >= live.epoch else { return }
        if epoch > live.epoch {
            if !live.bufferedItems.isEmpty { self.flush(live) }
            live.epoch = epoch
            live.lastItemNumber = 0
        }
        var newItems = items[...]
        // `lastItemNumber` is 0 until the shard receives an item of this epoch. Until then a gap cannot be detected.
        if live.lastItemNumber > 0 {
            newItems = newItems.drop { $0.number <= live.lastItemNumber }
            guard let first = newItems.first else { return }
            if first.number > live.lastItemNumber + 1 {
                // The shard's mailbox was full and dropped items; they are read from the feed cache. If they are not
                // cached any more, the clients detect the gap by the numbers.
                let position = FeedPosition(epoch: epoch, number: live.lastItemNumber)
                if case .complete(let missed) = self.gateway.feeds.items(of: key, after: position) {
                    newItems = missed[...]
                }
            }
        }
        guard let last = newItems.last else { return }
        live.lastItemNumber = last.number
        live.bufferedItems.append(contentsOf: newItems)
        let now = self.shard.now
        var flushAt = live.flushAt ?? .distantFuture
        for item in newItems { flushAt = min(flushAt, live.flushPlan.flushTime(for: item.feedClass, at: now)) }
        if live.bufferedItems.count >= Self.maxBufferedItems { flushAt = now }
        self.scheduleFlush(of: live, at: flushAt, now: now)
    }

    /// Schedules the flush of a live: at the end of this loop turn, or when the flush timer fires.
    private func scheduleFlush(of live: ShardLive, at flushAt: MonotonicTime, now: MonotonicTime) {
        if flushAt <= now {
            live.flushAt = now
            if live.isInDueLives { return }
            live.isInDueLives = true
            self.dueLives.append(live)
            self.dueLivesHook?.schedule()
        } else if live.flushAt == nil {
            // A live that waits already keeps its flush time, because the flush will include the new items.
            live.flushAt = flushAt
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
            // Nil if the live was flushed at the end of a loop turn since it began to wait.
            guard let flushAt = live.flushAt else { continue }
            if flushAt <= now { self.flush(live) } else { waiting.append(live) }
        }
        self.waitingLives = waiting
        self.startFlushTimer(now: now)
    }

    /// Starts the timer for the waiting live that must be flushed first.
    private func startFlushTimer(now: MonotonicTime) {
        guard let earliestFlushAt = self.waitingLives.lazy.compactMap(\.flushAt).min() else { return }
        self.flushTimer?.start(after: .milliseconds(max(1, (earliestFlushAt - now).count)))
    }

    /// Sends a live's buffered items to all its viewers in one shared frame; slow readers get only the classes that
    /// their `DeliveryLevel` admits.
    private func flush(_ live: ShardLive) {
        live.flushAt = nil
        let items = live.bufferedItems
        live.bufferedItems = []
        guard let first = items.first, let last = items.last, !live.viewers.isEmpty else { return }
        let startCPUMicroseconds = MonotonicClock.threadCPUMicroseconds
        let sharedFrame = live.frameEncoder.frame(items[...], epoch: live.epoch, isShared: true)
        // The frames for slow readers by level. `deliverReduced` encodes them once for all readers of a level.
        var reducedFrames: [DeliveryLevel: [SharedBytes]] = [:]
        var itemCountsByClass = [Int](repeating: 0, count: FeedClass.allCases.count)
        for item in items { itemCountsByClass[item.feedClass.rawValue] += 1 }
        var deliveredViewers = 0
        for client in live.viewers {
            // The viewer already has some of these items: they were cached when the viewer joined or caught up.
            if client.caughtUpTo >= first.number {
                if client.caughtUpTo < last.number { self.deliverMissing(items, live, client) }
                continue
            }
            let pendingBytes = client.socket.pendingBytes
            if pendingBytes == 0, client.backlog == nil {
                switch client.socket.send(sharedFrame) {
                case .sent, .queued: deliveredViewers += 1
                case .overflow, .notOpen: self.countUndelivered(items: items.count)
                }
            } else {
                self.deliverReduced(items, itemCountsByClass, live, client, pendingBytes: pendingBytes, &reducedFrames)
            }
        }
        self.ledger.countDelivered(items: items.count, viewers: deliveredViewers)
        if last.isEnd {
            // A viewer with a backlog leaves later, when it has received the end. The removal of the last viewer in the
            // array moves no other viewer, so the array is traversed from its end.
            for client in live.viewers.reversed() where client.backlog == nil {
                self.shard.lives.removeAfterEnd(client, from: live)
            }
        }
        let usedCPUMicroseconds = MonotonicClock.threadCPUMicroseconds - startCPUMicroseconds
        live.flushPlan.flushed(at: self.shard.now, tookMicroseconds: usedCPUMicroseconds)
        self.gateway.metrics.flushTime.record(microseconds: Int(usedCPUMicroseconds))
        self.gateway.metrics.flushes.add()
    }

    /// Counts items that a viewer did not get because its connection has just ended.
    private func countUndelivered(items: Int) {
        // `countDisconnected` subtracts the items from the deferred ones, so they are counted as deferred first.
        self.ledger.countDeferred(items: items)
        self.ledger.countDisconnected(deferred: items)
    }

    /// Sends a viewer those of the buffered items that it does not have yet; defers them if the viewer is catching up.
    ///
    /// The viewer has some of the items already, because it joined or caught up while they were buffered.
    private func deliverMissing(_ items: [EncodedFeedItem], _ live: ShardLive, _ client: Client) {
        let missing = items.drop { $0.number <= client.caughtUpTo }
        if let backlog = client.backlog {
            client.backlog?.deferredCount = backlog.deferredCount + missing.count
            return self.ledger.countDeferred(items: missing.count)
        }
        let missingBytes = missing.reduce(0) { $0 + $1.bytes.count }
        if missingBytes <= self.stepBytes {
            switch client.socket.offer(live.frameEncoder.frames(missing, epoch: live.epoch, level: .everything)) {
            case .sent?, .queued?: return self.ledger.countDelivered(items: missing.count, viewers: 1)
            case .overflow?, .notOpen?: return self.countUndelivered(items: missing.count)
            case nil: break
            }
        }
        // The items exceed one step, or the shard's memory for output has no room for them (`offer` returned nil). So
        // the viewer gets them from the feed cache, in steps.
        self.deferDelivery(to: client, items: missing.count)
    }

    /// Defers items of a viewer without a backlog until it catches up from the feed cache.
    private func deferDelivery(to client: Client, items: Int) {
        client.backlog = Client.Backlog(lastProgressAt: self.shard.now, deferredCount: items)
        self.clientsCatchingUp.append(client)
        self.ledger.countDeferred(items: items)
    }

    /// The size of the items that a viewer gets in one step while it catches up; a single item may exceed it.
    private var stepBytes: Int {
        min(self.gateway.settings.budget.bytes, self.shard.loop.outputBudget.stepBytes)
    }

    /// Sends a slow reader the items whose class its level admits, and sheds the other items: they are never sent.
    ///
    /// All items are deferred if the reader has a backlog already, or has so many pending bytes that it gets one.
    private func deliverReduced(
        _ items: [EncodedFeedItem], _ itemCountsByClass: [Int], _ live: ShardLive, _ client: Client, pendingBytes: Int,
        _ reducedFrames: inout [DeliveryLevel: [SharedBytes]]
    ) {
        if let backlog = client.backlog {
            client.backlog?.deferredCount = backlog.deferredCount + items.count
            return self.ledger.countDeferred(items: items.count)
        }
        let level = self.gateway.settings.budget.level(pendingBytes: pendingBytes)
        if level == .deferred {
            // All items before `items` were sent or shed, so the reader later continues with the first of `items`.
            client.caughtUpTo = (items.first?.number ?? 1) - 1
            return self.deferDelivery(to: client, items: items.count)
        }
        let frames: [SharedBytes]
        if let encoded = reducedFrames[level] {
            frames = encoded
        } else {
            frames = live.frameEncoder.frames(items[...], epoch: live.epoch, level: level, isShared: true)
            reducedFrames[level] = frames
        }
        let isDelivered: Bool
        // If there are no frames, the level admits none of the items, and all are shed below.
        switch frames.isEmpty ? .sent : client.socket.send(frames) {
        case .sent, .queued: isDelivered = true
        case .overflow, .notOpen: isDelivered = false
        }
        for feedClass in FeedClass.allCases where itemCountsByClass[feedClass.rawValue] > 0 {
            let count = itemCountsByClass[feedClass.rawValue]
            if !level.admits(feedClass) {
                self.ledger.countShed(feedClass, items: count)
            } else if isDelivered {
                self.ledger.countDelivered(items: count, viewers: 1)
            } else {
                self.countUndelivered(items: count)
            }
        }
    }
}

/// Clients that catch up: they get the items of their backlog before new items.
extension ShardDelivery {
    /// Starts or continues delivery to a client whose replay or initial state is ready.
    ///
    /// New items are held back until all earlier items were sent.
    func resumeDelivery(_ client: Client) {
        if client.backlog == nil { client.backlog = Client.Backlog(lastProgressAt: self.shard.now, deferredCount: 0) }
        client.backlog?.lastProgressAt = self.shard.now
        self.clientsCatchingUp.append(client)
        self.catchUp(client)
    }

    /// Sends a client the items that it lacks, until the system accepts no more bytes or the client has all items.
    func catchUp(_ client: Client) {
        // While the system has not accepted all bytes, a writable event will continue the delivery. If the system has
        // accepted all bytes, no such event comes, so the next items are sent here.
        while self.sendNextItems(client) {}
    }

    /// Sends a client the next items that it lacks, as many as its budget and the shard's memory allow: first from the
    /// replay, then from the feed cache.
    ///
    /// The client is disconnected if the cache no longer has the items that it lacks. If the shard's memory for output
    /// does not suffice, or the connection is ending, nothing is sent; the next sweep tries again.
    ///
    /// - Returns: Whether the system has accepted all bytes and the client lacks further items.
    private func sendNextItems(_ client: Client) -> Bool {
        guard var backlog = client.backlog, let live = client.live else { return false }
        let missed: ArraySlice<EncodedFeedItem>
        switch backlog.replay {
        // The replay is still being read from Kafka; `resumeDelivery` is called when it is ready.
        case .reading: return false
        case .items(let items, _): missed = items
        case .finished:
            let position = FeedPosition(epoch: live.epoch, number: client.caughtUpTo)
            if case .complete(let items) = self.gateway.feeds.items(of: live.key, after: position) {
                missed = items[...]
            } else if (self.gateway.feeds.latestToken(live.key)?.position.epoch ?? 0) < live.epoch {
                // This gateway has not read any item of this live yet.
                missed = []
            } else {
                self.shard.disconnect(client, .slowReader)
                return false
            }
        }
        var bytes = 0
        let stepBytes = self.stepBytes
        let itemsToSend = missed.prefix { item in
            bytes += item.bytes.count
            // The first item is sent, however large it is.
            return bytes <= stepBytes || bytes == item.bytes.count
        }
        if !itemsToSend.isEmpty {
            switch client.socket.offer(live.frameEncoder.frames(itemsToSend, epoch: live.epoch, level: .everything)) {
            case .sent?, .queued?: break
            case .overflow?, .notOpen?, nil: return false
            }
        }
        client.caughtUpTo = max(client.caughtUpTo, itemsToSend.last?.number ?? 0)
        backlog.lastProgressAt = self.shard.now
        let isCaughtUp: Bool
        if case .items(_, let reservation) = backlog.replay {
            isCaughtUp = false
            let remaining = missed.dropFirst(itemsToSend.count)
            backlog.replay = remaining.isEmpty ? .finished : .items(remaining, reservation)
            // Some of these items may have been counted as deferred. The `else` branch corrects the count when the
            // client has caught up.
            self.ledger.countDeliveredLate(items: itemsToSend.count, ofDeferred: 0)
        } else {
            isCaughtUp = itemsToSend.count == missed.count
            // A replay may have sent some of the items that are counted as deferred. So when the client has caught up,
            // none of its items remains counted as deferred.
            let deferred = isCaughtUp ? backlog.deferredCount : min(backlog.deferredCount, itemsToSend.count)
            backlog.deferredCount -= deferred
            self.ledger.countDeliveredLate(items: itemsToSend.count, ofDeferred: deferred)
        }
        client.backlog = isCaughtUp ? nil : backlog
        if itemsToSend.last?.isEnd == true {
            self.shard.lives.removeAfterEnd(client, from: live)
            return false
        }
        return !isCaughtUp && client.socket.pendingBytes == 0
    }

    /// Continues delivery to the clients that catch up and have no pending bytes; disconnects each client to which no
    /// items could be sent within the timeout.
    func sweepClientsCatchingUp(at now: MonotonicTime) {
        if self.clientsCatchingUp.isEmpty { return }
        let timeout = self.gateway.settings.budget.timeout
        // The closure returns true for clients that have caught up or are gone.
        self.clientsCatchingUp.removeAll { client in
            if client.socket.pendingBytes == 0, !client.isDetached { self.catchUp(client) }
            guard let backlog = client.backlog, !client.isDetached else { return true }
            // While a client's replay is being read, there is nothing to send, so the client is not a slow reader.
            if client.socket.pendingBytes == 0, case .reading = backlog.replay { return false }
            guard now - backlog.lastProgressAt >= timeout else { return false }
            self.shard.disconnect(client, .slowReader)
            return true
        }
    }

    /// Counts the items that were deferred for a viewer who has left and does not get them.
    func viewerLeft(deferredItems: Int) { self.ledger.countDisconnected(deferred: deferredItems) }

    /// Adds to the metrics what the ledger has counted since the last call.
    func publishLedger() {
        self.gateway.metrics.add(self.ledger, since: self.publishedLedger)
        self.publishedLedger = self.ledger
    }
}

/// Viewer counts, which are sent separately from the feed.
extension ShardDelivery {
    /// Stores a live's new viewer count, and sends it to the viewers: at most one count per second.
    func countReceived(_ key: LiveKey, _ count: LiveCount) {
        guard let live = self.shard.lives[key], !live.viewers.isEmpty else { return }
        live.unsentCount = count
        self.sendDueCount(live, at: self.shard.now)
    }

    /// Sends the current count to a joining client.
    ///
    /// The count that includes this join may have been sent to the viewers before the client became one.
    func sendCurrentCount(to client: Client, _ live: ShardLive) {
        guard let count = self.gateway.tables.read({ $0.reportedCount(live.key) }) else { return }
        client.socket.send(FrameEncoder.text(Wire.encode(ServerFrame.counts(count)).span))
    }

    /// Sends the stored counts of all lives whose last count was sent at least one second ago.
    func sendDueCounts(at now: MonotonicTime) {
        for live in self.shard.lives.all where live.unsentCount != nil { self.sendDueCount(live, at: now) }
    }

    /// Sends a live's stored count if the last one was sent at least one second ago; slow readers get none.
    private func sendDueCount(_ live: ShardLive, at now: MonotonicTime) {
        guard let count = live.unsentCount, now - live.countSentAt >= Self.countInterval else { return }
        live.unsentCount = nil
        live.countSentAt = now
        let frame = FrameEncoder.text(Wire.encode(ServerFrame.counts(count)).span, isShared: true)
        for client in live.viewers where client.backlog == nil {
            if self.gateway.settings.budget.level(pendingBytes: client.socket.pendingBytes) == .everything {
                client.socket.send(frame)
            }
        }
    }
}
