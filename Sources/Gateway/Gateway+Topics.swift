// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
package import CoreKit
internal import EventLoop
internal import GatewayCore
internal import Observability
package import PlazaModel
internal import PlazaWire
internal import WebSocket

/// What comes from the public topics, and what is answered from it. The `received…` belong to the thread that reads the
/// tables, replies and notices.
extension Gateway {
    /// A live's record.
    package func received(_ record: RoomRecord) { self.change { $0.apply(record) } }

    /// A live's stage.
    package func received(_ record: StageRecord) { self.change { $0.apply(record) } }

    /// An app's settings.
    package func received(_ record: AppRecord) { self.change { $0.apply(record) } }

    /// A live's count; its viewers here get it.
    package func received(_ record: CountRecord) {
        guard self.change({ $0.apply(record) }) else { return }
        var mask = self.feeds.interest(in: record.key)
        while mask != 0 {
            let shard = mask.trailingZeroBitCount
            mask &= mask - 1
            self.post(shard, [.count(record.key, LiveCount(record))])
        }
    }

    /// A live's record is gone; whoever is still in it is out.
    package func roomGone(_ key: LiveKey) {
        self.change { model in
            model.removeRoom(key)
            return true
        }
        self.feeds.forget(key)
        self.postToAll(.gone(key))
    }

    /// A stage's record is gone.
    package func stageGone(_ key: LiveKey) {
        self.change { model in
            model.removeStage(key)
            return true
        }
    }

    /// A count's record is gone.
    package func countGone(_ key: LiveKey) {
        self.change { model in
            model.removeCount(key)
            return true
        }
    }

    /// Presence began anew in a partition: it is told who is here (I5).
    package func received(_ record: PresenceEpochRecord) {
        if self.isNewEpoch(record) { self.postToAll(.assert(partition: record.partition)) }
    }

    /// An answer to a call of this gateway.
    package func received(_ reply: Reply) {
        if self.tables.shows(reply, at: MonotonicClock.now) { self.route(reply) }
    }

    /// A notice, and where its record is.
    package func received(_ notice: Notice, partition: Int, offset: Int64) {
        let id = NoticeID(partition: partition, offset: offset)
        let json = notice.content.isForClients ? Wire.encode(ServerFrame.notice(id: id.text, notice)) : []
        let entry = NoticeRing.Entry(id: id, notice: notice, json: json)
        // One that stops has clients for a while, who may go on elsewhere already.
        guard self.tables.add(entry, at: MonotonicClock.now), self.isFilled else { return }
        self.postToAll(.notice(entry, frame: FrameEncoder.text(json.span)))
    }

    /// Gives out the replies that have waited long enough.
    ///
    /// - Returns: when to call again, if any wait.
    @discardableResult package func releaseReplies() -> Timestamp? {
        for reply in self.tables.overdue(at: MonotonicClock.now) { self.route(reply) }
        return self.tables.nextDeadline
    }

    /// Makes a new snapshot for lists, and lets go of old notices; each five seconds.
    package func refresh() {
        self.tables.refreshRanking(at: Timestamp(milliseconds: WallClock.milliseconds()))
        self.tables.prune(at: MonotonicClock.now)
    }

    /// Answers a call from memory; any thread.
    ///
    /// - Throws: `noSuchRoom`, `cursorExpired`.
    func answer(_ call: ParsedCall, app: AppID) throws(ReplyError) -> CallResult {
        switch call {
        case .ping: return .done
        case .list(let cursor, let count, let category, let isAscending):
            let now = Timestamp(milliseconds: WallClock.milliseconds())
            return try self.tables.page(
                app: app, cursor: cursor, count: count, category: category, isAscending: isAscending, at: now)
        case .get(let live):
            return .room(details: try self.found(self.tables.read { $0.details(LiveKey(app, live)) }))
        case .count(let live):
            return .count(count: try self.found(self.tables.read { $0.count(LiveKey(app, live)) }))
        case .stage(let live):
            return .stage(record: try self.found(self.tables.read { $0.stage(LiveKey(app, live)) }))
        case .metadata(let live, let keys):
            return .metadata(
                values: try self.found(self.tables.read { $0.metadata(LiveKey(app, live), keys: keys) }))
        case .candidates(let live, let cursor, let caller):
            let now = Timestamp(milliseconds: WallClock.milliseconds())
            return try self.tables.candidates(LiveKey(app, live), cursor: cursor, for: caller, at: now)
        case .gifts(let language):
            let gifts = self.tables.read { $0.apps[app].gifts }
            return .gifts(categories: gifts.map { $0.localized(to: language) })
        case .app:
            let (settings, revision) = self.tables.read { ($0.apps[app], $0.apps.revision(of: app)) }
            return .app(settings: settings, revision: revision)
        case .login, .rename, .join, .leave, .forward:
            throw ReplyError(.internalError, "this call is not answered from memory")
        }
    }

    /// Refuses a live that does not run, as far as this gateway's memory knows.
    ///
    /// - Throws: `noSuchRoom`.
    func checkExists(_ key: LiveKey) throws(ReplyError) {
        _ = try self.found(self.tables.read { $0.running(key) })
    }

    private func found<Value>(_ value: Value?) throws(ReplyError) -> Value {
        guard let value else { throw ReplyError(.noSuchRoom, "there is no such live") }
        return value
    }

    @discardableResult private func change(_ body: (inout ReadModel) -> Bool) -> Bool {
        let (isNew, released) = self.tables.change(at: MonotonicClock.now, body)
        for reply in released { self.route(reply) }
        return isNew
    }
}
