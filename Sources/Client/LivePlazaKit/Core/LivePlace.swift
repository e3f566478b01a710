// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel
internal import PlazaWire

/// Which live a client is in, with all that a resume needs: the ticket, the position in the feed, and the last notice.
struct LivePlace: Sendable {
    /// The live that the client is in.
    private(set) var live: LiveID?
    private(set) var tracker = FeedTracker()
    private var ticket: Ticket?
    /// The token at which the feed begins, from the reply to the join.
    private var startToken: String?
    /// The id of the last notice.
    private(set) var lastNotice: String?
    /// The live of a join that has no reply yet.
    private var joining: LiveID?
    /// Frames of that live that were received before the reply.
    private var early: [IncomingFrame] = []

    /// The maximum number of frames of a live that are kept until its join is answered.
    private static let maxEarlyFrames = 1000

    /// The parameters with which a login resumes the live; nil if there is none.
    var resumePoint: ResumePoint? {
        guard let live = self.live, let ticket = self.ticket else { return nil }
        let token = self.tracker.token ?? self.startToken
        let position = token.flatMap { FeedToken(text: $0)?.position } ?? FeedPosition(epoch: 0, number: 0)
        return ResumePoint(live: live, ticket: ticket, position: position, token: token)
    }

    /// Begins a join: frames of the live are kept until the reply to the join.
    mutating func joining(_ live: LiveID) {
        self.joining = live
        self.early = []
    }

    /// Sets the id after which this user's notices continue, unless one is known.
    mutating func noticesFrom(_ id: String) {
        if self.lastNotice == nil, !id.isEmpty { self.lastNotice = id }
    }

    /// A frame of a live, or a notice, was received.
    mutating func received(_ frame: IncomingFrame) -> [ClientEvent] {
        let live: LiveID
        switch frame {
        case .notice(let notice):
            guard Self.isLater(notice.id, than: self.lastNotice) else { return [] }
            self.lastNotice = notice.id
            live = notice.live
        case .feed(let feed): live = feed.live
        case .counts(let counts): live = counts.live
        case .reply, .drain, .unknown: return []
        }
        if live == self.joining, live != self.live {
            if self.early.count < Self.maxEarlyFrames { self.early.append(frame) }
            return []
        }
        return self.apply(frame)
    }

    /// A resume has succeeded.
    mutating func resumed(ticket: Ticket, position: FeedPosition, replayed: Bool) -> [ClientEvent] {
        self.ticket = ticket
        if !replayed { self.tracker.resume(at: position) }
        return self.live.map { [.resumed($0, replayed: replayed)] } ?? []
    }

    /// The client could not resume its live.
    ///
    /// `isLeaving`: whether the app has already asked to leave it.
    mutating func lost(_ error: ErrorInfo, isLeaving: Bool) -> [ClientEvent] {
        guard let live = self.live else { return [] }
        self.forget()
        return [isLeaving ? .left(live) : .lost(live, error)]
    }

    /// Updates the place if the call that has ended was a join, a leave or an end of a live.
    mutating func callEnded(_ call: UnfinishedCall, _ result: Result<CallResult, ErrorInfo>) -> [ClientEvent] {
        guard let live = call.live else { return [] }
        if call.isJoining, live == self.joining { return self.joinEnded(live, result) }
        guard live == self.live else { return [] }
        switch (call.method, result) {
        case ("live.leave", .success):
            self.forget()
            return [.left(live)]
        case ("live.leave", .failure(let error)) where error.has(.notInRoom):
            self.forget()
            return [.left(live)]
        case ("live.end", .success(let result)):
            self.forget()
            guard case .statistics(let statistics, _) = result else { return [.liveEnded(live, statistics: nil)] }
            return [.liveEnded(live, statistics: statistics)]
        default: return []
        }
    }

    /// Forgets the live, so that a reconnect resumes none.
    mutating func forget() {
        self.live = nil
        self.ticket = nil
        self.startToken = nil
        self.tracker = FeedTracker()
    }

    private mutating func joinEnded(_ live: LiveID, _ result: Result<CallResult, ErrorInfo>) -> [ClientEvent] {
        let early = self.early
        self.joining = nil
        self.early = []
        guard case .success(let result) = result, let join = result.join else { return [] }
        let isAgain = self.live == live && self.tracker.position?.epoch == join.epoch
        if !isAgain { self.tracker = FeedTracker() }
        self.startToken = join.token ?? (isAgain ? self.startToken : nil)
        self.live = live
        self.ticket = join.ticket
        var events: [ClientEvent] = [.joined(live, isAgain: isAgain, isConfirmed: join.confirmed)]
        for frame in early { events += self.apply(frame) }
        return events
    }

    private mutating func apply(_ frame: IncomingFrame) -> [ClientEvent] {
        switch frame {
        case .notice(let notice): return self.apply(notice)
        case .counts(let counts): return counts.live == self.live ? [.counts(counts)] : []
        case .feed(let feed):
            guard feed.live == self.live else { return [] }
            let (items, hasGap) = self.tracker.record(feed)
            // `liveEnded` is a live's last item. Then the client is out of the live.
            if items.contains(where: \.isEnd) { self.forget() }
            let entries = items.compactMap { item in
                item.content.map { FeedEntry(n: item.n, at: item.at, content: $0) }
            }
            let faults = items.compactMap { item in item.fault.map { ClientEvent.badFrame($0) } }
            return faults + [.feed(feed.live, items: entries, isHistory: feed.isHistory, hasGap: hasGap)]
        case .reply, .drain, .unknown: return []
        }
    }

    private mutating func apply(_ notice: NoticeFrame) -> [ClientEvent] {
        if let fault = notice.fault { return [.badFrame(fault)] }
        guard let content = notice.content else { return [] }
        if case .kickedOut(let reason, let by) = content {
            // Tickets below `floor` are void. If this client's ticket stays valid, it joined after the kick, or the
            // kick removed another device of the user in favour of this one.
            let isVoid = notice.floor.map { floor in self.ticket.map { $0 < floor } ?? true } ?? true
            guard notice.live == self.live, isVoid else { return [] }
            self.forget()
            return [.kickedOut(notice.live, reason: reason, by: by)]
        }
        let to = UserKey(AppID(""), UserID(""))
        return [.notice(Notice(to: to, live: notice.live, at: notice.at, floor: notice.floor, content: content))]
    }

    /// Whether a notice comes after the last known one.
    ///
    /// Ids are `partition-offset`; a user's notices share a partition.
    private static func isLater(_ id: String, than last: String?) -> Bool {
        guard let last, let new = Self.noticePosition(id), let known = Self.noticePosition(last),
            new.partition == known.partition
        else { return true }
        return new.offset > known.offset
    }

    /// The partition and the offset of an id.
    ///
    /// The offset before a partition's first notice is -1, so `3--1` is an id too.
    private static func noticePosition(_ id: String) -> (partition: Int64, offset: Int64)? {
        let parts = id.split(separator: "-", maxSplits: 1)
        guard parts.count == 2, let partition = Int64(parts[0]), let offset = Int64(parts[1]) else { return nil }
        return (partition, offset)
    }
}

extension CallResult {
    /// The result of a join, alone or in the result of a `live.create` that joined.
    fileprivate var join: JoinedLive? {
        switch self {
        case .joined(let ticket, let epoch, let confirmed, let token):
            JoinedLive(ticket: ticket, epoch: epoch, confirmed: confirmed, token: token)
        case .live(_, _, _, let joined): joined
        default: nil
        }
    }
}
