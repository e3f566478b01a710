// SPDX-License-Identifier: Apache-2.0
internal import GatewayCore
internal import MachineKit
internal import PlazaModel
internal import PlazaWire

/// The last items of one live's feed, from which the gateway replays.
struct FeedLog: Sendable {
    /// The minimum number of items that a long feed retains.
    ///
    /// When the log exceeds this number by a quarter, its oldest items are removed.
    static let retainedItems = 2000

    private(set) var epoch: Int64 = 0
    private var items: [FeedItem] = []

    /// The number of the last item; 0 before the first.
    var lastNumber: Int64 { self.items.last?.position.number ?? 0 }

    /// Adds an item.
    ///
    /// - Returns: False if the item is not newer than the last one.
    mutating func append(_ item: FeedItem) -> Bool {
        if item.position.epoch > self.epoch {
            self.epoch = item.position.epoch
            self.items = []
        }
        guard item.position.epoch == self.epoch, item.position.number > self.lastNumber else { return false }
        self.items.append(item)
        let excess = Self.retainedItems / 4
        if self.items.count > Self.retainedItems + excess { self.items.removeFirst(excess) }
        return true
    }

    /// The items after a number; nil if some of them were removed.
    func items(after number: Int64) -> ArraySlice<FeedItem>? {
        let firstNumber = self.items.first?.position.number ?? 1
        guard number >= firstNumber - 1 else { return nil }
        return self.items.drop { $0.position.number <= number }
    }

    /// The last messages of users, at most `count`, for a new viewer.
    func lastMessages(_ count: Int) -> [FeedItem] {
        Array(self.items.reversed().lazy.filter { $0.content.feedClass == .barrage }.prefix(count).reversed())
    }

    /// The item `liveEnded`; nil if the live has not ended.
    var endItem: FeedItem? { self.items.last.flatMap { $0.content.isEnd ? $0 : nil } }
}

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
        let lastNumber = self.lastNumber(of: key, epoch: epoch)
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
        self.connections[number]?.live = key
        let lastNumber = self.lastNumber(of: key, epoch: epoch)
        // A client that has received neither an item nor a token sends position 0.0.
        let hasNoPosition = point.position == FeedPosition(epoch: 0, number: 0)
        let clientNumber = hasNoPosition ? 0 : point.position.number
        let missed: ArraySlice<FeedItem>?
        if lastNumber == 0 {
            missed = clientNumber == 0 ? [] : nil
        } else {
            missed = self.feeds[key]?.items(after: clientNumber)
        }
        guard hasNoPosition || point.position.epoch == epoch, clientNumber <= lastNumber, let missed else {
            self.connections[number]?.caughtUpTo = lastNumber
            let position = FeedPosition(epoch: epoch, number: lastNumber)
            self.reply(
                call, .success(result: .resumed(ticket: ticket, position: position, replayed: false)), to: number)
            return self.sendCurrentCount(of: key, to: number)
        }
        self.connections[number]?.caughtUpTo = clientNumber
        let position = FeedPosition(epoch: epoch, number: clientNumber)
        self.reply(call, .success(result: .resumed(ticket: ticket, position: position, replayed: true)), to: number)
        if !missed.isEmpty { self.send(missed, in: key, to: number) }
        self.sendCurrentCount(of: key, to: number)
    }

    /// Replies to a resume of a live that presence does not know: sends the item `liveEnded` if the client missed it,
    /// otherwise an error.
    mutating func sendMissedEnd(_ point: ResumePoint, _ outcome: Outcome, call: Int64, _ number: Int) {
        guard let key = self.connections[number]?.key(point.live) else { return }
        let clientPosition = point.position
        guard let log = self.feeds[key], let endItem = log.endItem,
            clientPosition.epoch == 0 || clientPosition.epoch == log.epoch,
            clientPosition.epoch == 0 || clientPosition.number < endItem.position.number
        else {
            var outcome = outcome
            if let reason = self.model.live(key)?.ended {
                let message = "the live has ended: \(reason.rawValue)"
                outcome = .failure(error: ReplyError(.noSuchRoomOnEntry, message, reason: reason.rawValue))
            }
            return self.reply(call, outcome, to: number)
        }
        let position = FeedPosition(epoch: log.epoch, number: endItem.position.number - 1)
        let result = CallResult.resumed(
            ticket: point.ticket, position: position, replayed: clientPosition == position)
        self.reply(call, .success(result: result), to: number)
        self.send([endItem], in: key, to: number)
    }

    private mutating func sendCurrentCount(of key: LiveKey, to number: Int) {
        if let count = self.model.reportedCount(key) { self.send(.counts(count), to: number) }
    }

    /// The number of the last item of a live; 0 if the log is of another epoch.
    private func lastNumber(of key: LiveKey, epoch: Int64) -> Int64 {
        self.feeds[key].flatMap { $0.epoch == epoch ? $0.lastNumber : nil } ?? 0
    }
}

extension Outcome {
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
