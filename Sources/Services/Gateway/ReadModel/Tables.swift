// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import GatewayCore
internal import MachineKit
internal import PlazaModel

/// A gateway's read model, ranking (the order in which lives are listed), notices and buffered replies.
///
/// The thread of `TableReader` reads the public topics, and fills and changes these tables. All threads read them.
final class Tables: Sendable {
    private struct State {
        var model = ReadModel()
        var prematureReplies = PrematureReplies()
        var notices = NoticeRing()
        var ranking: Ranking
        /// The compiled word filters of apps whose backends decide about messages, each with the revision of the app's
        /// settings from which it was compiled.
        var wordFilters: [AppID: (revision: Int64, compiled: CompiledWordFilter)] = [:]
    }

    private let state: Locked<State>

    init(gateway: GatewayID) { self.state = Locked(State(ranking: Ranking(gateway: gateway))) }

    /// Runs `body` with the model under the lock; `body` must be short.
    func read<Value: Sendable>(_ body: (borrowing ReadModel) -> Value) -> Value {
        self.state.withLock { state in
            let result = body(state.model)
            return result
        }
    }

    /// Returns the app's word filter; compiles it if the app's settings have changed.
    func wordFilter(of app: AppID) -> WordFilter {
        let (cached, revision, words) = self.state.withLock { state in
            (state.wordFilters[app], state.model.apps.revision(of: app), state.model.apps[app].words)
        }
        if let cached, cached.revision == revision { return cached.compiled.filter }
        // The filter is compiled outside the lock, because that takes long and all threads use the lock.
        var compiled = cached?.compiled ?? CompiledWordFilter()
        compiled.update(words)
        self.state.withLock { [compiled] in $0.wordFilters[app] = (revision, compiled) }
        return compiled.filter
    }

    /// Changes the model with `body`, and removes the buffered replies that can then be sent.
    ///
    /// - Returns: Whether `body` has changed the model, and the removed replies, which the caller must send.
    func change(at now: MonotonicTime, _ body: (inout ReadModel) -> Bool) -> (hasChanged: Bool, replies: [Reply]) {
        self.state.withLock { state in
            guard body(&state.model) else { return (false, []) }
            return (true, state.prematureReplies.takeDue(in: state.model, at: now))
        }
    }

    /// Buffers a reply that cannot be sent now, until the model has the revision that the reply requires, or until the
    /// reply's deadline.
    ///
    /// - Returns: False if the caller must send the reply now.
    func bufferIfPremature(_ reply: Reply, at now: MonotonicTime) -> Bool {
        self.state.withLock { $0.prematureReplies.bufferIfPremature(reply, in: $0.model, at: now) }
    }

    /// Removes and returns the buffered replies whose deadline has passed.
    ///
    /// No other reply is due: `change` has already removed those whose revision the model has reached.
    func removeOverdueReplies(at now: MonotonicTime) -> [Reply] {
        self.state.withLock { $0.prematureReplies.takeDue(in: $0.model, at: now) }
    }

    /// The earliest deadline of a buffered reply.
    var nextReplyDeadline: MonotonicTime? { self.state.withLock { $0.prematureReplies.nextDeadline } }

    /// Adds a new snapshot of the order in which lives are listed.
    ///
    /// Sorting takes long, so it is done outside the lock. Only the thread of `TableReader` calls this, so no other
    /// refresh is overwritten.
    func refreshRanking(at now: MonotonicTime) {
        let entries = self.state.withLock { $0.model.rankingEntries() }
        var ranking = self.state.withLock { $0.ranking }
        ranking.refresh(entries, at: now)
        let refreshed = ranking
        self.state.withLock { $0.ranking = refreshed }
    }

    /// Returns one page of an app's list of lives.
    func page(
        app: AppID, cursor: String, count: Int, category: Int?, isAscending: Bool, at now: MonotonicTime
    ) throws(ReplyError) -> CallResult {
        let (items, nextCursor) = try self.state.withLock {
            (state) throws(ReplyError) -> (items: [LiveListEntry], cursor: String) in
            let model = state.model
            return try state.ranking.page(
                app: app, cursor: cursor, count: count, isAscending: isAscending, at: now
            ) {
                model.listEntry($0, category: category)
            }
        }
        return .lives(items: items, cursor: nextCursor)
    }

    /// Returns one page of a live's co-host candidates, in the order of the app's list of lives.
    ///
    /// - Throws: `noSuchRoom`, `needsOwner`, `cursorExpired`.
    func candidates(_ key: LiveKey, cursor: String, for caller: Caller, at now: MonotonicTime) throws(ReplyError)
        -> CallResult
    {
        let (items, nextCursor) = try self.state.withLock {
            (state) throws(ReplyError) -> (items: [LiveListEntry], cursor: String) in
            let model = state.model
            guard let ownLive = model.running(key) else {
                throw ReplyError(.noSuchRoom, "there is no such live")
            }
            guard caller.role == .server || caller.userID == ownLive.info.liveOwner.userID else {
                throw ReplyError(.needsOwner, "only the owner of the live may do this")
            }
            return try state.ranking.page(app: key.app, cursor: cursor, count: Limits.candidatesPage, at: now) {
                model.candidate($0, for: ownLive)
            }
        }
        return .lives(items: items, cursor: nextCursor)
    }

    /// Adds a notice; returns false if the notice was added before.
    func add(_ notice: NoticeRing.Entry, at now: MonotonicTime) -> Bool {
        self.state.withLock { $0.notices.append(notice, at: now) }
    }

    /// Returns the notices that a client missed before its login, and the id of the partition's last notice.
    ///
    /// `id` is the id of the last notice that the client received. If `id` is nil, the client is new and has missed no
    /// notice.
    func notices(of user: UserKey, after id: NoticeID?, partition: Int)
        -> (missed: [NoticeRing.Entry], lastID: NoticeID)
    {
        self.state.withLock { state in
            (id.map { state.notices.entries(of: user, after: $0) } ?? [], state.notices.lastID(ofPartition: partition))
        }
    }

    /// Returns the offset of the last notice that was read from a partition; -1 if there is none.
    func lastNoticeOffset(ofPartition partition: Int) -> Int64 {
        self.state.withLock { $0.notices.lastID(ofPartition: partition).offset }
    }

    /// Removes expired notices.
    func pruneNotices(at now: MonotonicTime) { self.state.withLock { $0.notices.prune(at: now) } }

    /// The numbers of lives' records (also of ended, not yet removed lives), of notices and of buffered replies.
    var sizes: (liveRecords: Int, notices: Int, prematureReplies: Int) {
        self.state.withLock { ($0.model.liveRecordCount, $0.notices.count, $0.prematureReplies.count) }
    }
}
