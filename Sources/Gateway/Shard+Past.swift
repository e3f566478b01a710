// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import CoreKit
internal import GatewayCore
internal import Observability
internal import PlazaModel
internal import WebSocket

/// What came before: messages for newcomers, and what those who come back have missed, from memory or from the reader of
/// the past. What comes meanwhile waits, so that everything comes once and in order (I7).
extension Shard {
    /// A client that waits for the reader of the past, or for its own place in the feed.
    struct Asking {
        var room: Room
        var entering: Entering
        /// When it goes on without.
        var until: Timestamp
    }

    /// A newcomer: messages of before if its app wants that, and where the feed stands, so that it can resume before
    /// anything has come.
    func welcome(_ entering: Entering, _ room: Room) {
        let client = entering.client
        let place = self.place(of: room, epoch: entering.epoch)
        client.from = place?.position.number ?? 0
        self.send(.reply(id: entering.call, entering.outcome), to: client)
        let history = self.gateway.feeds.history(room.key, epoch: entering.epoch, upTo: client.from)
        if let search = history?.search {
            self.ask(search, entering, room, patience: ReplayLimits.historyPatience)
        } else {
            self.show(history?.messages ?? [], place, to: client, in: room)
        }
    }

    /// A client that comes back: exactly what it missed, or the word that it must take the snapshot (I7).
    func comeBack(_ resume: ResumePoint, _ entering: Entering, _ room: Room) {
        let client = entering.client
        // Without knowledge of the feed's place, the client's own is where a gap will show.
        let own = resume.position.epoch == entering.epoch ? resume.position.number : 0
        client.from = self.place(of: room, epoch: entering.epoch)?.position.number ?? own
        guard resume.position.epoch == entering.epoch else { return self.refuse(.otherLive, entering, room) }
        var token = FeedToken(resume.position)
        if let text = resume.token, let named = FeedToken(text: text), named.position == resume.position {
            token = named
        }
        switch self.gateway.feeds.resume(room.key, after: token) {
        case .memory: self.replay([], nil, entering, room)
        case .later: self.waitForPlace(entering, room)
        case .reader(let request): self.ask(request, entering, room, patience: ReplayLimits.resumePatience)
        case .refused(let why): self.refuse(why, entering, room)
        }
    }

    /// The reader of the past has an answer.
    func pastCame(_ outcome: ReplayOutcome, _ stock: ReplayStock?) {
        // It may be too late, or its client gone.
        guard let asking = self.asking.removeValue(forKey: outcome.id.number) else { return }
        self.goOn(asking, outcome.answer, stock)
    }

    /// Those whom the reader of the past lets wait too long go on without; those whose place has come by go on from it.
    func sweepAsking(at now: Timestamp) {
        for (number, waiting) in self.ahead {
            let last = self.place(of: waiting.room, epoch: waiting.entering.epoch)?.position.number ?? 0
            let hasCome = waiting.entering.resume.map { $0.position.number <= last } ?? true
            guard hasCome || waiting.until <= now else { continue }
            self.ahead[number] = nil
            self.goOn(waiting, hasCome ? .found([]) : .refused(.gone), nil)
        }
        if self.asking.isEmpty { return }
        for (question, asking) in self.asking where asking.until <= now {
            self.asking[question] = nil
            self.goOn(asking, .refused(.late), nil)
        }
    }

    /// A client is out of its room while it waits for the reader of the past.
    func giveUp(_ question: UInt64) {
        let known = self.asking.removeValue(forKey: question) ?? self.ahead.removeValue(forKey: question)
        guard let asking = known, asking.entering.resume != nil, !asking.entering.client.isDetached else { return }
        let error = ReplyError(.staleTicket, "you are out of the live; join it again")
        self.send(.reply(id: asking.entering.call, .failure(error: error)), to: asking.entering.client)
    }

    private func ask(_ request: ReplayRequest, _ entering: Entering, _ room: Room, patience: Milliseconds) {
        self.lastQuestion += 1
        let id = ReplayID(shard: self.number, number: self.lastQuestion)
        let asking = Asking(room: room, entering: entering, until: self.now + patience)
        entering.client.backlog = Client.Backlog(since: self.now, owed: 0, past: .asked(id.number))
        if self.gateway.ask(id, request, until: MonotonicClock.now + patience) {
            self.asking[id.number] = asking
        } else {
            self.goOn(asking, .refused(.full), nil)
        }
    }

    /// Waits for the client's place: another gateway gave it what has not come by here, or it has no such place.
    private func waitForPlace(_ entering: Entering, _ room: Room) {
        guard self.ahead.count < ReplayLimits.waiting else { return self.refuse(.full, entering, room) }
        self.lastQuestion += 1
        entering.client.backlog = Client.Backlog(since: self.now, owed: 0, past: .asked(self.lastQuestion))
        self.ahead[self.lastQuestion] = Asking(
            room: room, entering: entering, until: self.now + ReplayLimits.resumePatience)
    }

    private func goOn(_ asking: Asking, _ answer: ReplayAnswer, _ stock: ReplayStock?) {
        let (room, entering) = (asking.room, asking.entering)
        let client = entering.client
        guard !client.isDetached, client.room === room else { return }
        client.backlog?.past = .through
        if entering.resume == nil { return self.welcomeLate(entering, room) }
        switch answer {
        case .found(let items): self.replay(items, stock, entering, room)
        case .refused(let why): self.refuse(why, entering, room)
        }
    }

    /// A newcomer gets what memory has now, and then what has come since it entered.
    private func welcomeLate(_ entering: Entering, _ room: Room) {
        let client = entering.client
        self.skipUnknown(client, room, epoch: entering.epoch)
        var place = self.place(of: room, epoch: entering.epoch)
        if let known = place, known.position.number != client.from {
            place = FeedToken(FeedPosition(epoch: entering.epoch, number: client.from))
        }
        // What more there may be has been looked for.
        let history = self.gateway.feeds.history(room.key, epoch: entering.epoch, upTo: client.from)
        self.show(history?.messages ?? [], place, to: client, in: room)
        self.takeUp(client, room)
    }

    /// Shows messages of before, as many of the last ones as fit, and where the feed stands.
    private func show(_ messages: [FeedPiece], _ place: FeedToken?, to client: Client, in room: Room) {
        guard let place else { return }
        let limit = self.gateway.settings.budget.bytes / 2
        var bytes = 0
        let shown = messages.reversed().prefix { piece in
            bytes += piece.bytes.count
            return bytes <= limit
        }
        if shown.isEmpty {
            client.socket.send(room.frames.standing(at: place))
        } else {
            self.gateway.metrics.historyItems.add(shown.count)
            client.socket.send(room.frames.history(shown.reversed()[...], at: place))
        }
    }

    /// Answers a client that comes back; first it gets `items`, then what is in memory.
    private func replay(_ items: ArraySlice<FeedPiece>, _ stock: ReplayStock?, _ entering: Entering, _ room: Room) {
        guard let resume = entering.resume else { return }
        let client = entering.client
        let last = FeedPosition(epoch: entering.epoch, number: items.last?.number ?? resume.position.number)
        let isKnown = self.place(of: room, epoch: entering.epoch) != nil
        guard !isKnown || self.gateway.feeds.canAnswer(room.key, after: last) else {
            return self.refuse(.gone, entering, room)
        }
        self.gateway.metrics.replays.add()
        self.send(.reply(id: entering.call, entering.outcome), to: client)
        client.from = resume.position.number
        let past: Client.Past = items.isEmpty ? .through : .items(items, stock)
        client.backlog = Client.Backlog(since: self.now, owed: client.backlog?.owed ?? 0, past: past)
        self.takeUp(client, room)
    }

    /// A client cannot be told what it missed: it takes the snapshot, and the feed goes on from here.
    private func refuse(_ why: ReplayRefusal, _ entering: Entering, _ room: Room) {
        let client = entering.client
        self.gateway.metrics.refusedReplay(why)
        self.skipUnknown(client, room, epoch: entering.epoch)
        let position = FeedPosition(epoch: entering.epoch, number: client.from)
        if case .success(.resumed(let ticket, _, _)) = entering.outcome {
            let result = CallResult.resumed(ticket: ticket, position: position, replayed: false)
            self.send(.reply(id: entering.call, .success(result: result)), to: client)
        }
        if client.backlog != nil { self.takeUp(client, room) }
    }

    /// As a slow reader that catches up: what comes meanwhile waits until all before it is through.
    private func takeUp(_ client: Client, _ room: Room) {
        if client.backlog == nil { client.backlog = Client.Backlog(since: self.now, owed: 0) }
        client.backlog?.since = self.now
        self.behind.append(client)
        self.catchUp(client)
    }

    /// A client goes on with the first item that is in memory, if it knows nothing of before.
    private func skipUnknown(_ client: Client, _ room: Room, epoch: Int64) {
        guard let oldest = self.gateway.feeds.oldest(room.key), oldest.epoch == epoch else { return }
        client.from = max(client.from, oldest.number - 1)
    }

    private func place(of room: Room, epoch: Int64) -> FeedToken? {
        self.gateway.feeds.place(room.key).flatMap { $0.position.epoch == epoch ? $0 : nil }
    }
}
