// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import CoreKit
internal import EventLoop
internal import GatewayCore
internal import Observability
internal import PlazaModel
internal import PlazaWire
internal import WebSocket

/// The hot path: items come, wait for their flush, and go out as one frame that all viewers share.
extension Shard {
    /// Items of a live, in order.
    func feedCame(_ key: LiveKey, epoch: Int64, _ pieces: [FeedPiece]) {
        guard let room = self.rooms[key], !room.viewers.isEmpty, epoch >= room.epoch else { return }
        if epoch > room.epoch {
            if !room.pending.isEmpty { self.flush(room) }
            room.epoch = epoch
            room.last = 0
        }
        var fresh = pieces[...]
        if room.last > 0 {
            fresh = fresh.drop { $0.number <= room.last }
            guard let first = fresh.first else { return }
            if first.number > room.last + 1 {
                // This shard's mailbox was full for a while; the ring has what did not fit.
                let place = FeedPosition(epoch: epoch, number: room.last)
                if case .exactly(let missed) = self.gateway.feeds.answer(key, after: place) { fresh = missed[...] }
            }
        }
        guard let last = fresh.last else { return }
        room.last = last.number
        room.pending.append(contentsOf: fresh)
        let now = self.now
        var due = room.dueAt ?? .distantFuture
        for piece in fresh { due = min(due, room.plan.due(piece.feedClass, at: now)) }
        if room.pending.count >= Self.pendingLimit { due = now }
        self.schedule(room, at: due, now: now)
    }

    /// Items of one live that wait for a flush, at most; then they go out.
    private static let pendingLimit = 512

    private func schedule(_ room: Room, at due: Timestamp, now: Timestamp) {
        if due <= now {
            room.dueAt = now
            if room.isScheduled { return }
            room.isScheduled = true
            self.dueRooms.append(room)
            self.flushHook?.schedule()
        } else if room.dueAt == nil {
            room.dueAt = due
            self.waitingRooms.append(room)
            self.startFlushTimer(now: now)
        }
    }

    /// The end of a loop turn: all rooms that are due go out.
    func flushDueRooms() {
        let rooms = self.dueRooms
        self.dueRooms.removeAll(keepingCapacity: true)
        for room in rooms {
            room.isScheduled = false
            self.flush(room)
        }
    }

    /// The time of at least one waiting room has come.
    func flushWaitingRooms() {
        self.loop.updateNow()
        let now = self.now
        var waiting: [Room] = []
        for room in self.waitingRooms {
            guard let due = room.dueAt else { continue }
            if due <= now { self.flush(room) } else { waiting.append(room) }
        }
        self.waitingRooms = waiting
        self.startFlushTimer(now: now)
    }

    private func startFlushTimer(now: Timestamp) {
        guard let first = self.waitingRooms.lazy.compactMap(\.dueAt).min() else { return }
        self.flushTimer?.start(afterMilliseconds: UInt64(max(1, (first - now).count)))
    }

    /// Sends a room's waiting items to all its viewers: one frame, shared; less for slow readers.
    func flush(_ room: Room) {
        room.dueAt = nil
        let pieces = room.pending
        room.pending = []
        guard let first = pieces.first, let last = pieces.last, !room.viewers.isEmpty else { return }
        let began = MonotonicClock.threadMicroseconds
        let whole = room.frames.frame(pieces[...], epoch: room.epoch)
        var lesser: [DeliveryLevel: [SharedBytes]] = [:]
        var counts = [Int](repeating: 0, count: FeedClass.allCases.count)
        for piece in pieces { counts[piece.feedClass.rawValue] += 1 }
        var delivered = 0
        for client in room.viewers {
            if client.from >= first.number {
                if client.from < last.number { self.deliverPart(pieces, room, client) }
                continue
            }
            let pending = client.socket.pendingBytes
            if pending == 0, client.backlog == nil {
                switch client.socket.send(whole) {
                case .sent, .queued: delivered += 1
                case .overflow, .notOpen: self.lost(items: pieces.count)
                }
            } else {
                self.deliver(pieces, counts, room, client, pending: pending, &lesser)
            }
        }
        self.ledger.delivered(items: pieces.count, viewers: delivered)
        if last.isEnd {
            for client in room.viewers.reversed() where client.backlog == nil { self.over(client, room) }
        }
        let took = MonotonicClock.threadMicroseconds - began
        room.plan.flushed(at: self.now, tookMicroseconds: took)
        self.gateway.metrics.flush.record(microseconds: Int(took))
        self.gateway.metrics.flushedFrames.add()
    }

    /// Items were due to a viewer whose connection has just ended.
    private func lost(items: Int) {
        self.ledger.owe(items: items)
        self.ledger.disconnected(owed: items)
    }

    /// A viewer that has some of the items already: it entered while they were on their way.
    private func deliverPart(_ pieces: [FeedPiece], _ room: Room, _ client: Client) {
        let part = pieces.drop { $0.number <= client.from }
        if let backlog = client.backlog {
            client.backlog?.owed = backlog.owed + part.count
            return self.ledger.owe(items: part.count)
        }
        client.socket.send(room.frames.frames(part, epoch: room.epoch, level: .everything))
        self.ledger.delivered(items: part.count, viewers: 1)
    }

    /// A viewer for whom something waits already: what is of a low class gives way.
    private func deliver(
        _ pieces: [FeedPiece], _ counts: [Int], _ room: Room, _ client: Client, pending: Int,
        _ lesser: inout [DeliveryLevel: [SharedBytes]]
    ) {
        if let backlog = client.backlog {
            client.backlog?.owed = backlog.owed + pieces.count
            return self.ledger.owe(items: pieces.count)
        }
        let level = self.gateway.settings.budget.level(pending: pending)
        if level == .later {
            client.from = (pieces.first?.number ?? 1) - 1
            self.holdBack(client, owing: pieces.count)
            return self.ledger.owe(items: pieces.count)
        }
        let frames: [SharedBytes]
        if let made = lesser[level] {
            frames = made
        } else {
            frames = room.frames.frames(pieces[...], epoch: room.epoch, level: level)
            lesser[level] = frames
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

    /// From now on a client gets nothing of its feed but what comes after `client.from`, in its turn.
    func holdBack(_ client: Client, owing items: Int) {
        client.backlog = Client.Backlog(since: self.now, owed: items)
        self.behind.append(client)
    }

    /// A reader has read all that waited for it: what it missed comes, first of the past and then from memory, as much at
    /// a time as its budget allows; or it has to reconnect.
    func catchUp(_ client: Client) {
        guard var backlog = client.backlog, let room = client.room else { return }
        let missed: ArraySlice<FeedPiece>
        switch backlog.past {
        case .asked: return
        case .items(let items, _): missed = items
        case .through:
            let place = FeedPosition(epoch: room.epoch, number: client.from)
            if case .exactly(let pieces) = self.gateway.feeds.answer(room.key, after: place) {
                missed = pieces[...]
            } else if self.gateway.feeds.place(room.key)?.position.epoch ?? 0 < room.epoch {
                // Nothing of this live has come by here yet.
                missed = []
            } else {
                return self.disconnect(client, .slowReader)
            }
        }
        var bytes = 0
        let part = missed.prefix { piece in
            bytes += piece.bytes.count
            return bytes <= self.gateway.settings.budget.bytes || bytes == piece.bytes.count
        }
        client.from = max(client.from, part.last?.number ?? 0)
        backlog.since = self.now
        let isThrough: Bool
        if case .items(_, let stock) = backlog.past {
            isThrough = false
            let rest = missed.dropFirst(part.count)
            backlog.past = rest.isEmpty ? .through : .items(rest, stock)
            self.ledger.repaid(items: part.count, owed: 0)
        } else {
            isThrough = part.count == missed.count
            // What was of the past and of memory both was counted twice.
            let repaid = isThrough ? backlog.owed : min(backlog.owed, part.count)
            backlog.owed -= repaid
            self.ledger.repaid(items: part.count, owed: repaid)
        }
        client.backlog = isThrough ? nil : backlog
        if !part.isEmpty {
            client.socket.send(room.frames.frames(part, epoch: room.epoch, level: .everything))
            if part.last?.isEnd == true { return self.over(client, room) }
        }
        // If the system took all at once, nobody tells that there is room for more.
        if !isThrough, client.socket.pendingBytes == 0 { self.catchUp(client) }
    }

    /// A live's new count, at most one a second to each viewer, beside the feed.
    func countCame(_ key: LiveKey, _ count: LiveCount) {
        guard let room = self.rooms[key], !room.viewers.isEmpty else { return }
        room.count = count
        self.sendCount(room, at: self.now)
    }

    /// Tells who enters the count as it is: the one that its own join made may have come by before it was a viewer.
    func tellCount(_ client: Client, _ room: Room) {
        guard let count = self.gateway.tables.read({ $0.countTold(room.key) }) else { return }
        client.socket.send(FrameEncoder.text(Wire.encode(ServerFrame.counts(count)).span))
    }

    /// Sends a waiting count if its time has come; slow readers do without.
    func sendCount(_ room: Room, at now: Timestamp) {
        guard let count = room.count, now - room.countSentAt >= .seconds(1) else { return }
        room.count = nil
        room.countSentAt = now
        let frame = FrameEncoder.text(Wire.encode(ServerFrame.counts(count)).span)
        for client in room.viewers where client.backlog == nil {
            if self.gateway.settings.budget.level(pending: client.socket.pendingBytes) == .everything {
                client.socket.send(frame)
            }
        }
    }
}
