// SPDX-License-Identifier: Apache-2.0
internal import GatewayCore
internal import MachineKit
internal import PlazaModel
internal import PlazaWire

/// The items of one live's feed that can be replayed.
struct FeedLog: Sendable {
    /// The largest number of items; the oldest are removed first.
    static let limit = 2000

    private(set) var epoch: Int64 = 0
    private var items: [FeedItem] = []

    /// The number of the last item; 0 before the first.
    var last: Int64 { self.items.last?.position.number ?? 0 }

    /// Adds an item; false if it is not newer than the last one.
    mutating func append(_ item: FeedItem) -> Bool {
        if item.position.epoch > self.epoch {
            self.epoch = item.position.epoch
            self.items = []
        }
        guard item.position.epoch == self.epoch, item.position.number > self.last else { return false }
        self.items.append(item)
        if self.items.count > Self.limit + Self.limit / 4 { self.items.removeFirst(Self.limit / 4) }
        return true
    }

    /// The items after a number; nil if some of them were removed.
    func items(after number: Int64) -> ArraySlice<FeedItem>? {
        let first = self.items.first?.position.number ?? 1
        guard number >= first - 1 else { return nil }
        return self.items.drop { $0.position.number <= number }
    }

    /// The last messages of users, for a new viewer.
    func messages(_ count: Int) -> [FeedItem] {
        Array(self.items.reversed().lazy.filter { $0.content.feedClass == .barrage }.prefix(count).reversed())
    }

    /// The live's last item, if the live has ended.
    var end: FeedItem? { self.items.last.flatMap { $0.content.isEnd ? $0 : nil } }
}

/// Feeds: new items are sent to all viewers at once, missed items to those that resume.
extension SimulatedGateway {
    /// The connections that get a live's feed, in a fixed order.
    func viewers(of key: LiveKey) -> [Int] {
        self.connections.values.filter { $0.live == key }.map(\.number).sorted()
    }

    mutating func received(_ item: FeedItem) {
        guard self.feeds[item.key, default: FeedLog()].append(item) else { return }
        let text = Self.frame([item], in: item.key)
        for number in self.viewers(of: item.key) {
            guard let connection = self.connections[number], connection.caughtUpTo < item.position.number else {
                continue
            }
            self.send(text, to: number)
            self.sent(upTo: item.position.number, isEnd: item.content.isEnd, in: item.key, number)
        }
    }

    /// The frame of some items, which may be sent to any number of viewers.
    private static func frame(_ items: some Collection<FeedItem>, in key: LiveKey) -> [UInt8] {
        let last = items.map(\.position.number).max() ?? 0
        let epoch = items.first?.position.epoch ?? 0
        let entries = items.map { FeedEntry(n: $0.position.number, at: $0.at, content: $0.content) }
        let token = FeedToken(FeedPosition(epoch: epoch, number: last), offset: last)
        return Wire.encode(ServerFrame.feed(live: key.live, epoch: epoch, items: entries, token: token.text))
    }

    private mutating func sent(upTo last: Int64, isEnd: Bool, in key: LiveKey, _ number: Int) {
        self.connections[number]?.caughtUpTo = last
        if isEnd { self.liveEnded(number, key) }
    }

    private mutating func send(_ items: some Collection<FeedItem>, in key: LiveKey, to number: Int) {
        guard let last = items.map(\.position.number).max() else { return }
        self.send(Self.frame(items, in: key), to: number)
        self.sent(upTo: last, isEnd: items.contains { $0.content.isEnd }, in: key, number)
    }

    mutating func liveEnded(_ number: Int, _ key: LiveKey) {
        if self.connections[number]?.core.liveEnded(key.live) == true { self.connections[number]?.live = nil }
    }

    /// Makes a client a viewer, and sends it the state that precedes its first item.
    mutating func joined(_ key: LiveKey, epoch: Int64, _ outcome: Outcome, call: Int64, _ number: Int) {
        if self.connections[number]?.live == key { return self.reply(call, outcome, to: number) }
        let last = self.last(of: key, epoch: epoch)
        let token = FeedToken(FeedPosition(epoch: epoch, number: last), offset: last)
        self.connections[number]?.live = key
        self.connections[number]?.caughtUpTo = last
        self.reply(call, outcome.adding(token), to: number)
        let history = self.feeds[key]?.messages(self.policies[key.app].historyCount) ?? []
        let entries = history.map { FeedEntry(n: $0.position.number, at: $0.at, content: $0.content) }
        let live = key.live
        if !entries.isEmpty {
            self.send(.history(live: live, epoch: epoch, items: entries, token: token.text), to: number)
        } else if last > 0 {
            self.send(.feed(live: live, epoch: epoch, items: [], token: token.text), to: number)
        }
        self.sendCurrentCount(of: key, to: number)
    }

    /// Makes a client a viewer again, and sends it exactly the items that it missed.
    ///
    /// If they cannot be replayed, the reply says so, and the client loads a snapshot (I7).
    mutating func resumed(_ point: ResumePoint, ticket: Ticket, epoch: Int64, call: Int64, _ number: Int) {
        guard let key = self.connections[number]?.key(point.live) else { return }
        self.connections[number]?.live = key
        let last = self.last(of: key, epoch: epoch)
        let isUnknown = point.position == FeedPosition(epoch: 0, number: 0)
        let after = isUnknown ? 0 : point.position.number
        let missed: ArraySlice<FeedItem>?
        if last == 0 {
            missed = after == 0 ? [] : nil
        } else {
            missed = self.feeds[key]?.items(after: after)
        }
        guard isUnknown || point.position.epoch == epoch, after <= last, let missed else {
            self.connections[number]?.caughtUpTo = last
            let position = FeedPosition(epoch: epoch, number: last)
            self.reply(
                call, .success(result: .resumed(ticket: ticket, position: position, replayed: false)), to: number)
            return self.sendCurrentCount(of: key, to: number)
        }
        self.connections[number]?.caughtUpTo = after
        let position = FeedPosition(epoch: epoch, number: after)
        self.reply(call, .success(result: .resumed(ticket: ticket, position: position, replayed: true)), to: number)
        if !missed.isEmpty { self.send(missed, in: key, to: number) }
        self.sendCurrentCount(of: key, to: number)
    }

    /// Replies to a resume into a live that presence does not know: with the live's end, if the client missed it.
    mutating func missedEnd(_ point: ResumePoint, _ outcome: Outcome, call: Int64, _ number: Int) {
        guard let key = self.connections[number]?.key(point.live) else { return }
        let known = point.position
        guard let log = self.feeds[key], let end = log.end, known.epoch == 0 || known.epoch == log.epoch,
            known.epoch == 0 || known.number < end.position.number
        else {
            var outcome = outcome
            if let reason = self.model.live(key)?.ended {
                let message = "the live has ended: \(reason.rawValue)"
                outcome = .failure(error: ReplyError(.noSuchRoomOnEntry, message, reason: reason.rawValue))
            }
            return self.reply(call, outcome, to: number)
        }
        let position = FeedPosition(epoch: log.epoch, number: end.position.number - 1)
        let result = CallResult.resumed(ticket: point.ticket, position: position, replayed: known == position)
        self.reply(call, .success(result: result), to: number)
        self.send([end], in: key, to: number)
    }

    private mutating func sendCurrentCount(of key: LiveKey, to number: Int) {
        if let count = self.model.reportedCount(key) { self.send(.counts(count), to: number) }
    }

    /// The number of the last item of a live; 0 if the log is of another epoch.
    private func last(of key: LiveKey, epoch: Int64) -> Int64 {
        self.feeds[key].flatMap { $0.epoch == epoch ? $0.last : nil } ?? 0
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
