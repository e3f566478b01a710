// SPDX-License-Identifier: Apache-2.0
internal import GatewayCore
internal import MachineKit
internal import PlazaModel
internal import PlazaWire

/// Feeds: the gateway sends new items to all viewers, and missed items to clients that resume.
///
/// A parameter `connection` is the number of a connection; `lastNumber` is the number of a feed item.
extension SimulatedGateway {
    /// The numbers of the connections that get a live's feed, in ascending order.
    func viewers(of key: LiveKey) -> [Int] {
        self.connections.values.filter { $0.live == key }.map(\.number).sorted()
    }

    /// Sends a new item to the viewers of its live.
    mutating func feedItemReceived(_ item: FeedItem) {
        guard self.feeds[item.key, default: FeedLog()].append(item) else { return }
        let text = Self.frame([item], in: item.key)
        for connection in self.viewers(of: item.key) {
            guard let viewer = self.connections[connection], viewer.caughtUpTo < item.position.number else { continue }
            self.send(text, to: connection)
            self.recordSent(
                upTo: item.position.number, includesLiveEnd: item.content.isEnd, in: item.key, to: connection)
        }
    }

    /// The frame with these items; it can be sent to any number of viewers.
    private static func frame(_ items: some Collection<FeedItem>, in key: LiveKey) -> [UInt8] {
        let lastNumber = items.map(\.position.number).max() ?? 0
        let epoch = items.first?.position.epoch ?? 0
        let entries = items.map { FeedEntry(n: $0.position.number, at: $0.at, content: $0.content) }
        // A simulated feed has no records in Kafka, so the item's number stands for the offset of its record.
        let token = FeedToken(FeedPosition(epoch: epoch, number: lastNumber), offset: lastNumber)
        return Wire.encode(ServerFrame.feed(live: key.live, epoch: epoch, items: entries, token: token.text))
    }

    /// Records that a client has the items up to `lastNumber`.
    ///
    /// `includesLiveEnd`: whether `liveEnded` is among these items; then the client is no longer a viewer.
    private mutating func recordSent(
        upTo lastNumber: Int64, includesLiveEnd: Bool, in key: LiveKey, to connection: Int
    ) {
        self.connections[connection]?.caughtUpTo = lastNumber
        if includesLiveEnd { self.liveEnded(connection, key) }
    }

    /// Sends missed items to one client.
    private mutating func send(_ items: some Collection<FeedItem>, in key: LiveKey, to connection: Int) {
        guard let lastNumber = items.map(\.position.number).max() else { return }
        self.send(Self.frame(items, in: key), to: connection)
        self.recordSent(
            upTo: lastNumber, includesLiveEnd: items.contains { $0.content.isEnd }, in: key, to: connection)
    }

    /// Removes a client from the viewers of a live that has ended.
    mutating func liveEnded(_ connection: Int, _ key: LiveKey) {
        if self.connections[connection]?.core.liveEnded(key.live) == true { self.connections[connection]?.live = nil }
    }

    /// Replies to a successful join: makes the client a viewer, and sends it the history and the count of the live.
    mutating func completeJoin(_ key: LiveKey, epoch: Int64, _ outcome: Outcome, call: Int64, _ connection: Int) {
        // A client that is a viewer already gets the feed, so it needs only the reply.
        let isViewer = self.connections[connection]?.live == key
        if isViewer { return self.reply(call, outcome, to: connection) }
        let lastNumber = self.feeds[key]?.lastNumber(inEpoch: epoch) ?? 0
        let token = FeedToken(FeedPosition(epoch: epoch, number: lastNumber), offset: lastNumber)
        self.connections[connection]?.live = key
        self.connections[connection]?.caughtUpTo = lastNumber
        self.reply(call, outcome.adding(token), to: connection)
        let history = self.feeds[key]?.lastMessages(self.policies[key.app].historyCount) ?? []
        let entries = history.map { FeedEntry(n: $0.position.number, at: $0.at, content: $0.content) }
        let live = key.live
        if !entries.isEmpty {
            self.send(.history(live: live, epoch: epoch, items: entries, token: token.text), to: connection)
        } else if lastNumber > 0 {
            // There is no history, so a feed frame without items tells the client the position of the feed.
            self.send(.feed(live: live, epoch: epoch, items: [], token: token.text), to: connection)
        }
        self.sendCurrentCount(of: key, to: connection)
    }

    /// Replies to a successful resume: makes the client a viewer again, and sends it exactly the items that it missed.
    ///
    /// If the items cannot be replayed, the reply says so, and the client loads a snapshot (docs/RULES.md, I7).
    mutating func completeResume(_ point: ResumePoint, ticket: Ticket, epoch: Int64, call: Int64, _ connection: Int) {
        guard let key = self.connections[connection]?.key(point.live) else { return }
        let log = self.feeds[key] ?? FeedLog()
        let missed = log.missedItems(after: point.position, epoch: epoch)
        let caughtUpTo = missed == nil ? log.lastNumber(inEpoch: epoch) : point.position.number
        self.connections[connection]?.live = key
        self.connections[connection]?.caughtUpTo = caughtUpTo
        let position = FeedPosition(epoch: epoch, number: caughtUpTo)
        let result = CallResult.resumed(ticket: ticket, position: position, replayed: missed != nil)
        self.reply(call, .success(result: result), to: connection)
        if let missed, !missed.isEmpty { self.send(missed, in: key, to: connection) }
        self.sendCurrentCount(of: key, to: connection)
    }

    /// Replies to a resume of a live that presence does not know: sends the item `liveEnded` if the client missed it,
    /// otherwise an error.
    mutating func sendMissedEnd(_ point: ResumePoint, _ outcome: Outcome, call: Int64, _ connection: Int) {
        guard let key = self.connections[connection]?.key(point.live) else { return }
        guard let log = self.feeds[key], let endItem = log.endItem(missedAt: point.position) else {
            let error = self.model.live(key)?.ended.map(Outcome.liveEnded) ?? outcome
            return self.reply(call, error, to: connection)
        }
        let positionBeforeEnd = FeedPosition(epoch: log.epoch, number: endItem.position.number - 1)
        // If the client missed only `liveEnded`, the replay is complete. Otherwise it has a gap.
        let result = CallResult.resumed(
            ticket: point.ticket, position: positionBeforeEnd, replayed: point.position == positionBeforeEnd)
        self.reply(call, .success(result: result), to: connection)
        self.send([endItem], in: key, to: connection)
    }

    private mutating func sendCurrentCount(of key: LiveKey, to connection: Int) {
        if let count = self.model.reportedCount(key) { self.send(.counts(count), to: connection) }
    }
}

extension Outcome {
    /// The outcome of a resume of a live that has ended.
    fileprivate static func liveEnded(_ reason: LiveEndReason) -> Outcome {
        let message = "the live has ended: \(reason.rawValue)"
        return .failure(error: ReplyError(.noSuchRoomOnEntry, message, reason: reason.rawValue))
    }

    /// The outcome of a join, or of a create that joined, with the token at which the client's feed begins.
    fileprivate func adding(_ token: FeedToken) -> Outcome {
        switch self {
        case .success(.joined(let ticket, let epoch, let confirmed, _)):
            return .success(result: .joined(ticket: ticket, epoch: epoch, confirmed: confirmed, token: token.text))
        case .success(.live(let info, let epoch, let revision, var joined?)):
            joined.token = token.text
            return .success(result: .live(info: info, epoch: epoch, revision: revision, joined: joined))
        default: return self
        }
    }
}
