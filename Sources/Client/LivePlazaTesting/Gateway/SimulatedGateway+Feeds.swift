// SPDX-License-Identifier: Apache-2.0
internal import GatewayCore
internal import MachineKit
internal import PlazaModel
internal import PlazaWire

/// Feeds: the gateway sends new items to all viewers, and missed items to clients that resume.
extension SimulatedGateway {
    /// The connections that get a live's feed, in a fixed order.
    func viewers(of key: LiveKey) -> [Int] {
        self.connections.values.filter { $0.live == key }.map(\.number).sorted()
    }

    /// Sends a new item to the viewers of its live.
    mutating func feedItemReceived(_ item: FeedItem) {
        guard self.feeds[item.key, default: FeedLog()].append(item) else { return }
        let text = Self.frame([item], in: item.key)
        for number in self.viewers(of: item.key) {
            guard let connection = self.connections[number], connection.caughtUpTo < item.position.number else {
                continue
            }
            self.send(text, to: number)
            self.itemsSent(upTo: item.position.number, isEnd: item.content.isEnd, in: item.key, number)
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

    /// Records that a client has the items up to `lastNumber`; after the live's end, the client is no viewer any more.
    private mutating func itemsSent(upTo lastNumber: Int64, isEnd: Bool, in key: LiveKey, _ number: Int) {
        self.connections[number]?.caughtUpTo = lastNumber
        if isEnd { self.liveEnded(number, key) }
    }

    private mutating func send(_ items: some Collection<FeedItem>, in key: LiveKey, to number: Int) {
        guard let lastNumber = items.map(\.position.number).max() else { return }
        self.send(Self.frame(items, in: key), to: number)
        self.itemsSent(upTo: lastNumber, isEnd: items.contains { $0.content.isEnd }, in: key, number)
    }

    /// Removes a client from the viewers of a live that has ended.
    mutating func liveEnded(_ number: Int, _ key: LiveKey) {
        if self.connections[number]?.core.liveEnded(key.live) == true { self.connections[number]?.live = nil }
    }

    /// Replies to a successful join: makes the client a viewer, and sends it the history and the count of the live.
    mutating func completeJoin(_ key: LiveKey, epoch: Int64, _ outcome: Outcome, call: Int64, _ number: Int) {
        if self.connections[number]?.live == key { return self.reply(call, outcome, to: number) }
        let lastNumber = self.feeds[key]?.lastNumber(inEpoch: epoch) ?? 0
        let token = FeedToken(FeedPosition(epoch: epoch, number: lastNumber), offset: lastNumber)
        self.connections[number]?.live = key
        self.connections[number]?.caughtUpTo = lastNumber
        self.reply(call, outcome.adding(token), to: number)
        let history = self.feeds[key]?.lastMessages(self.policies[key.app].historyCount) ?? []
        let entries = history.map { FeedEntry(n: $0.position.number, at: $0.at, content: $0.content) }
        let live = key.live
        if !entries.isEmpty {
            self.send(.history(live: live, epoch: epoch, items: entries, token: token.text), to: number)
        } else if lastNumber > 0 {
            self.send(.feed(live: live, epoch: epoch, items: [], token: token.text), to: number)
        }
        self.sendCurrentCount(of: key, to: number)
    }

    /// Replies to a successful resume: makes the client a viewer again, and sends it exactly the items that it missed.
    ///
    /// If the items cannot be replayed, the reply says so, and the client loads a snapshot (I7).
    mutating func completeResume(_ point: ResumePoint, ticket: Ticket, epoch: Int64, call: Int64, _ number: Int) {
        guard let key = self.connections[number]?.key(point.live) else { return }
        let log = self.feeds[key] ?? FeedLog()
        let missed = log.missedItems(after: point.position, epoch: epoch)
        let caughtUpTo = missed == nil ? log.lastNumber(inEpoch: epoch) : point.position.number
        self.connections[number]?.live = key
        self.connections[number]?.caughtUpTo = caughtUpTo
        let position = FeedPosition(epoch: epoch, number: caughtUpTo)
        let result = CallResult.resumed(ticket: ticket, position: position, replayed: missed != nil)
        self.reply(call, .success(result: result), to: number)
        if let missed, !missed.isEmpty { self.send(missed, in: key, to: number) }
        self.sendCurrentCount(of: key, to: number)
    }

    /// Replies to a resume of a live that presence does not know: sends the item `liveEnded` if the client missed it,
    /// otherwise an error.
    mutating func sendMissedEnd(_ point: ResumePoint, _ outcome: Outcome, call: Int64, _ number: Int) {
        guard let key = self.connections[number]?.key(point.live) else { return }
        guard let log = self.feeds[key], let endItem = log.endItem(missedAt: point.position) else {
            return self.reply(call, self.model.live(key)?.ended.map(Outcome.liveEnded) ?? outcome, to: number)
        }
        let position = FeedPosition(epoch: log.epoch, number: endItem.position.number - 1)
        let result = CallResult.resumed(
            ticket: point.ticket, position: position, replayed: point.position == position)
        self.reply(call, .success(result: result), to: number)
        self.send([endItem], in: key, to: number)
    }

    private mutating func sendCurrentCount(of key: LiveKey, to number: Int) {
        if let count = self.model.reportedCount(key) { self.send(.counts(count), to: number) }
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
