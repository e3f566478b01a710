// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import CoreKit
internal import GatewayCore
internal import PlazaModel

/// What all threads of a gateway read: lives, rankings and notices, filled by the thread that reads the public topics.
final class Tables: Sendable {
    private struct State {
        var model = ReadModel()
        var awaited = AwaitedReplies()
        var notices = NoticeRing()
        var ranking: Ranking
        /// The words of apps whose backends are asked about messages, made ready once for a revision.
        var filters: [AppID: (revision: Int64, words: WordFilter)] = [:]
    }

    private let state: Locked<State>

    init(gateway: GatewayID) { self.state = Locked(State(ranking: Ranking(gateway: gateway))) }

    /// Reads the model; keep it short.
    func read<R: Sendable>(_ body: (borrowing ReadModel) -> R) -> R {
        self.state.withLock { state in
            let result = body(state.model)
            return result
        }
    }

    /// The words that `app` refuses.
    func filter(of app: AppID) -> WordFilter {
        let (known, revision, words) = self.state.withLock { state in
            (state.filters[app], state.model.apps.revision(of: app), state.model.apps[app].words)
        }
        if let known, known.revision == revision { return known.words }
        // Outside the lock that everybody reads under, for it takes a while.
        let filter = WordFilter(words)
        self.state.withLock { $0.filters[app] = (revision, filter) }
        return filter
    }

    /// Changes the model, then gives out the replies that waited for it.
    func change(at now: Timestamp, _ body: (inout ReadModel) -> Bool) -> (isNew: Bool, released: [Reply]) {
        self.state.withLock { state in
            guard body(&state.model) else { return (false, []) }
            return (true, state.awaited.release(in: state.model, at: now))
        }
    }

    /// Whether a reply can be shown now; else it is given out later.
    func shows(_ reply: Reply, at now: Timestamp) -> Bool {
        self.state.withLock { $0.awaited.shows(reply, in: $0.model, at: now) }
    }

    /// The replies whose patience is over.
    func overdue(at now: Timestamp) -> [Reply] {
        self.state.withLock { $0.awaited.release(in: $0.model, at: now) }
    }

    /// When the next waiting reply must be given out.
    var nextDeadline: Timestamp? { self.state.withLock { $0.awaited.nextDeadline } }

    /// Makes a new snapshot for lists; the sorting is done outside the lock that everybody reads under.
    func refreshRanking(at now: Timestamp) {
        let entries = self.state.withLock { $0.model.rankingEntries() }
        var ranking = self.state.withLock { $0.ranking }
        ranking.refresh(entries, at: now)
        let refreshed = ranking
        self.state.withLock { $0.ranking = refreshed }
    }

    /// One page of an app's list.
    func page(
        app: AppID, cursor: String, count: Int, category: Int?, isAscending: Bool, at now: Timestamp
    ) throws(ReplyError) -> CallResult {
        let (items, next) = try self.state.withLock {
            (state) throws(ReplyError) -> (items: [LiveListEntry], cursor: String) in
            let model = state.model
            return try state.ranking.page(
                app: app, cursor: cursor, count: count, isAscending: isAscending, at: now
            ) {
                model.listEntry($0, category: category)
            }
        }
        return .lives(items: items, cursor: next)
    }

    /// One page of the lives that a live could be connected with, out of the app's list.
    ///
    /// - Throws: `noSuchRoom`, `needsOwner`, `cursorExpired`.
    func candidates(_ key: LiveKey, cursor: String, for caller: Caller, at now: Timestamp) throws(ReplyError)
        -> CallResult
    {
        let (items, next) = try self.state.withLock {
            (state) throws(ReplyError) -> (items: [LiveListEntry], cursor: String) in
            let model = state.model
            guard let host = model.running(key) else {
                throw ReplyError(.noSuchRoom, "there is no such live")
            }
            guard caller.role == .server || caller.userID == host.info.liveOwner.userID else {
                throw ReplyError(.needsOwner, "only the owner of the live may do this")
            }
            return try state.ranking.page(app: key.app, cursor: cursor, count: Limits.candidatesPage, at: now) {
                model.candidate($0, for: host)
            }
        }
        return .lives(items: items, cursor: next)
    }

    /// Adds a notice; false for one that came before.
    func add(_ notice: NoticeRing.Entry, at now: Timestamp) -> Bool {
        self.state.withLock { $0.notices.append(notice, at: now) }
    }

    /// What a client that logs in missed, and the id from which it goes on.
    func notices(of user: UserKey, after id: NoticeID?, partition: Int) -> (missed: [NoticeRing.Entry], end: NoticeID) {
        self.state.withLock { state in
            (id.map { state.notices.entries(of: user, after: $0) } ?? [], state.notices.end(ofPartition: partition))
        }
    }

    /// The last offset of notices that was read in a partition; -1: none.
    func notices(endOf partition: Int) -> Int64 {
        self.state.withLock { $0.notices.end(ofPartition: partition).offset }
    }

    /// Lets go of old notices.
    func prune(at now: Timestamp) { self.state.withLock { $0.notices.prune(at: now) } }

    /// How many lives and notices there are.
    var sizes: (rooms: Int, notices: Int, awaited: Int) {
        self.state.withLock { ($0.model.roomCount, $0.notices.count, $0.awaited.count) }
    }
}
