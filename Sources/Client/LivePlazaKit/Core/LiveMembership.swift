// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel
internal import PlazaWire

/// Which live a client is in, with all that a resume needs: the ticket, the position in the feed, and the last notice.
struct LiveMembership: Sendable {
    /// The live that the client is in.
    private(set) var live: LiveID?
    /// The client's position in the live's feed; it also finds repeated items and gaps.
    private(set) var tracker = FeedTracker()
    /// The proof of the join, which the server asks for when the client resumes the live.
    private var ticket: Ticket?
    /// The token after which the client's feed begins, from the reply to the join.
    private var startToken: String?
    /// What has become of the first frame after the join, with which the history comes.
    private(set) var firstFrame = FirstFrame.expected
    /// The id of the last notice that was received.
    private(set) var lastNotice: String?
    private var pendingJoin: PendingJoin?

    /// What has become of the first frame of the feed after a join.
    ///
    /// The frame tells the feed's position, and has messages from before the join if the app shows such (R5.15).
    enum FirstFrame {
        /// The frame comes with the join, or with the next repeat of the join.
        case expected
        /// The join was repeated, and the feed has more items than at the first join.
        ///
        /// The client takes from the frame only the history up to the first join. The later items come when the client
        /// resumes at the first join.
        case expectedAgain
        /// The frame has come after a repeated join.
        case received
        /// The frame does not come any more, because the join could not be repeated or the client has resumed the live.
        case skipped
    }

    /// A join that was sent and has no reply yet.
    private struct PendingJoin {
        /// The handle of the call.
        let handle: Int
        let live: LiveID
        /// The frames of the live that were received before the reply to the join.
        var earlyFrames: [IncomingFrame] = []
    }

    /// The maximum number of frames that are kept until the reply to a join; notices, which are few, are always kept.
    private static let maxEarlyFrames = 1000

    /// The parameters with which a login resumes the live; nil if the client is in no live.
    ///
    /// The position 0 of epoch 0 tells the server that the client does not know its position.
    var resumePoint: ResumePoint? {
        guard let live = self.live, let ticket = self.ticket else { return nil }
        let token = self.tracker.token ?? self.startToken
        let position = token.flatMap { FeedToken(text: $0)?.position } ?? FeedPosition(epoch: 0, number: 0)
        return ResumePoint(live: live, ticket: ticket, position: position, token: token)
    }

    /// Whether the feed has items, but its first frame has not arrived yet.
    ///
    /// The server sends the first frame with the reply to the join, or after its search for earlier messages.
    var awaitsFirstFrame: Bool {
        guard self.live != nil, self.tracker.position == nil, let start = self.startPosition else { return false }
        return start.number > 0 && (self.firstFrame == .expected || self.firstFrame == .expectedAgain)
    }

    /// The position after which the client's feed begins, from the reply to the join.
    private var startPosition: FeedPosition? { self.startToken.flatMap { FeedToken(text: $0)?.position } }

    /// A join was sent: frames of its live are kept until the reply to the join.
    ///
    /// When the join is sent again after a reconnect, it has the same handle, and the frames that were kept stay.
    mutating func joinSent(handle: Int, live: LiveID) {
        if self.pendingJoin?.handle != handle { self.pendingJoin = PendingJoin(handle: handle, live: live) }
    }

    /// Sets the id after which this user's notices continue, unless a notice was received before.
    mutating func startNotices(after id: String) {
        if self.lastNotice == nil, !id.isEmpty { self.lastNotice = id }
    }

    /// A frame of a live, or a notice, was received.
    ///
    /// - Returns: The events for the app; none while the frame waits for the reply to a join.
    mutating func frameReceived(_ frame: IncomingFrame) -> [ClientEvent] {
        let live: LiveID
        var isNotice = false
        switch frame {
        case .notice(let notice):
            guard NoticePosition.isLater(notice.id, than: self.lastNotice) else { return [] }
            self.lastNotice = notice.id
            live = notice.live
            isNotice = true
        case .feed(let feed): live = feed.live
        case .counts(let counts): live = counts.live
        case .reply, .drain, .unknown: return []
        }
        // Frames of a live that the client is only joining wait for the reply to the join. If the client joins
        // its present live once more, they do not wait.
        guard let join = self.pendingJoin, live == join.live, live != self.live else { return self.apply(frame) }
        // A notice that was dropped here would be lost: after a reconnect, the server sends only later notices.
        if isNotice || join.earlyFrames.count < Self.maxEarlyFrames { self.pendingJoin?.earlyFrames.append(frame) }
        return []
    }

    /// The server has accepted a resume.
    ///
    /// If `replayed` is false, the server does not send the missed items, and the feed continues after `position`.
    mutating func resumed(ticket: Ticket, position: FeedPosition, replayed: Bool) -> [ClientEvent] {
        self.ticket = ticket
        self.firstFrame = .skipped
        if !replayed { self.tracker.resume(at: position) }
        guard let live = self.live else { return [] }
        return [.resumed(live, replayed: replayed)]
    }

    /// The client could not resume its live.
    ///
    /// `isLeaving`: whether the app has already asked to leave the live; then the event is `left`, not `resumeFailed`.
    mutating func resumeFailed(_ error: ErrorInfo, isLeaving: Bool) -> [ClientEvent] {
        guard let live = self.live else { return [] }
        self.forgetLive()
        return [isLeaving ? .left(live) : .resumeFailed(live, error)]
    }

    /// Updates the membership if the call that has ended was a join, a leave or an end of a live.
    mutating func callEnded(_ call: UnfinishedCall, _ result: Result<CallResult, ErrorInfo>) -> [ClientEvent] {
        guard let live = call.live else { return [] }
        if let join = self.pendingJoin, join.handle == call.handle { return self.joinEnded(join, result) }
        guard live == self.live else { return [] }
        switch (call.method, result) {
        case ("live.leave", .success):
            self.forgetLive()
            return [.left(live)]
        // The user was out of the live already.
        case ("live.leave", .failure(let error)) where error.has(.notInRoom):
            self.forgetLive()
            return [.left(live)]
        case ("live.end", .success(let result)):
            self.forgetLive()
            guard case .statistics(let statistics, _) = result else { return [.liveEnded(live, statistics: nil)] }
            return [.liveEnded(live, statistics: statistics)]
        default: return []
        }
    }

    /// Forgets the live, so that a reconnect resumes none.
    mutating func forgetLive() {
        self.live = nil
        self.ticket = nil
        self.startToken = nil
        self.tracker = FeedTracker()
        self.firstFrame = .expected
    }

    /// Stays in the live of a join that was repeated on a new connection.
    ///
    /// If the feed has more items than at the first join, the client takes only the history, and resumes later. If the
    /// join has failed, `firstFrame` is `skipped`.
    ///
    /// - Returns: The events for the app.
    mutating func rejoined(_ result: Result<CallResult, ErrorInfo>) -> [ClientEvent] {
        let earlyFrames = self.pendingJoin?.earlyFrames ?? []
        self.pendingJoin = nil
        // The user was kicked out meanwhile.
        guard let live = self.live else { return earlyFrames.flatMap { self.apply($0) } }
        guard let start = self.startPosition, case .success(let result) = result, let joined = result.joinedLive,
            joined.epoch == start.epoch,
            let position = joined.token.flatMap({ FeedToken(text: $0)?.position })
        else {
            self.firstFrame = .skipped
            return []
        }
        self.ticket = joined.ticket
        if position.number > start.number {
            self.firstFrame = .expectedAgain
            return []
        }
        self.firstFrame = .expected
        return [.resumed(live, replayed: true)]
    }

    /// Enters the live of a join that has succeeded, and applies the frames that waited for the reply.
    private mutating func joinEnded(_ join: PendingJoin, _ result: Result<CallResult, ErrorInfo>) -> [ClientEvent] {
        self.pendingJoin = nil
        // After a failed join, the client stays in the live that it was in, if any. `apply` drops the waiting frames of
        // the other live, but not the notices, which the server does not send again.
        guard case .success(let result) = result, let joined = result.joinedLive else {
            return join.earlyFrames.flatMap { self.apply($0) }
        }
        // Whether the client was in this live already. A new epoch is a new feed, whose numbers begin at 1 again.
        let isAgain = self.live == join.live && self.tracker.position?.epoch == joined.epoch
        if !isAgain { (self.tracker, self.firstFrame) = (FeedTracker(), .expected) }
        // A reply without a token leaves the token of an earlier join, if that join was for the same feed.
        self.startToken = joined.token ?? (isAgain ? self.startToken : nil)
        self.live = join.live
        self.ticket = joined.ticket
        var events: [ClientEvent] = [.joined(join.live, isAgain: isAgain, isConfirmed: joined.confirmed)]
        for frame in join.earlyFrames { events += self.apply(frame) }
        return events
    }

    /// Applies a frame to the membership, and returns the events for the app.
    private mutating func apply(_ frame: IncomingFrame) -> [ClientEvent] {
        switch frame {
        case .notice(let notice): return self.apply(notice)
        case .counts(let counts): return counts.live == self.live ? [.counts(counts)] : []
        case .feed(let feed):
            guard feed.live == self.live else { return [] }
            if self.firstFrame == .expectedAgain || self.firstFrame == .received { return self.applyHistory(feed) }
            let newItems = self.tracker.record(feed)
            // `liveEnded` is the last item of a live; after it the client is in no live.
            if newItems.items.contains(where: \.isEnd) { self.forgetLive() }
            return Self.events(of: feed, newItems)
        case .reply, .drain, .unknown: return []
        }
    }

    /// Takes the history up to the first join from a frame after a repeated join; the later items come with the resume.
    private mutating func applyHistory(_ feed: FeedFrame) -> [ClientEvent] {
        self.firstFrame = .received
        guard feed.isHistory, let start = self.startPosition else { return [] }
        return Self.events(of: feed, FeedTracker.NewItems(items: feed.items.filter { $0.n <= start.number }))
    }

    /// The events of new items in a frame.
    private static func events(of feed: FeedFrame, _ newItems: FeedTracker.NewItems) -> [ClientEvent] {
        let entries = newItems.items.compactMap { item in
            item.content.map { FeedEntry(n: item.n, at: item.at, content: $0) }
        }
        // A fault says why the content of an item could not be decoded.
        let faults = newItems.items.compactMap { item in item.fault.map { ClientEvent.badFrame($0) } }
        return faults + [.feed(feed.live, items: entries, isHistory: feed.isHistory, hasGap: newItems.hasGap)]
    }

    private mutating func apply(_ notice: NoticeFrame) -> [ClientEvent] {
        if let fault = notice.fault { return [.badFrame(fault)] }
        guard let content = notice.content else { return [] }
        if case .kickedOut(let reason, let by) = content {
            guard notice.live == self.live, self.isTicketVoid(lowestValid: notice.floor) else { return [] }
            self.forgetLive()
            return [.kickedOut(notice.live, reason: reason, by: by)]
        }
        // A client receives only notices to its own user, so a frame does not name the receiver.
        let receiver = UserKey(AppID(""), UserID(""))
        return [.notice(Notice(to: receiver, live: notice.live, at: notice.at, floor: notice.floor, content: content))]
    }

    /// Whether a kick has voided the client's ticket.
    ///
    /// A client whose ticket is still valid ignores the kick: it has joined after the kick, or its join led to the kick
    /// of the user's other device.
    ///
    /// `lowestValid`: the kick voids all tickets below this one; nil if it voids every ticket.
    private func isTicketVoid(lowestValid: Ticket?) -> Bool {
        guard let lowestValid, let ticket = self.ticket else { return true }
        return ticket < lowestValid
    }
}

extension CallResult {
    /// The result of a join, alone or in the result of a `live.create` that joined.
    fileprivate var joinedLive: JoinedLive? {
        switch self {
        case .joined(let ticket, let epoch, let confirmed, let token):
            JoinedLive(ticket: ticket, epoch: epoch, confirmed: confirmed, token: token)
        case .live(_, _, _, let joined): joined
        default: nil
        }
    }
}
