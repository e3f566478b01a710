// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import GatewayCore
internal import MachineKit
internal import Observability
internal import PlazaModel
internal import PlazaWire

/// Answers reads from the tables, the read model in memory.
extension Gateway {
    /// Answers a call that reads.
    ///
    /// May be called from any thread.
    ///
    /// - Throws: `noSuchRoom`, `cursorExpired`, `needsOwner` for the co-host candidates of another user's live, or
    ///   `internalError` for a call that is not a read.
    func answer(_ call: ParsedCall, app: AppID) throws(ReplyError) -> CallResult {
        switch call {
        case .ping: return .pong(at: Self.clientTime)
        case .list(let cursor, let count, let category, let isAscending):
            let now = MonotonicClock.now
            return try self.tables.page(
                app: app, cursor: cursor, count: count, category: category, isAscending: isAscending, at: now)
        case .get(let live):
            return .room(details: try self.requireLive(self.tables.read { $0.details(LiveKey(app, live)) }))
        case .count(let live):
            return .count(count: try self.requireLive(self.tables.read { $0.count(LiveKey(app, live)) }))
        case .stage(let live):
            // `requireLive` unwraps the outer optional only: a live without a stage record has the record nil.
            return .stage(record: try self.requireLive(self.tables.read { $0.stage(LiveKey(app, live)) }))
        case .metadata(let live, let keys):
            return .metadata(
                values: try self.requireLive(self.tables.read { $0.metadata(LiveKey(app, live), keys: keys) }))
        case .candidates(let live, let cursor, let caller):
            let now = MonotonicClock.now
            return try self.tables.candidates(LiveKey(app, live), cursor: cursor, for: caller, at: now)
        case .gifts(let language):
            let gifts = self.tables.read { $0.apps[app].gifts }
            return .gifts(categories: gifts.map { $0.localized(to: language) })
        case .app:
            let (settings, revision) = self.tables.read { ($0.apps[app], $0.apps.revision(of: app)) }
            return .app(settings: settings, revision: revision)
        case .login, .updateProfile, .join, .leave, .createAndJoin, .forward:
            throw ReplyError(.internalError, "this call is not answered from memory")
        }
    }

    /// The current time, as it is sent to clients; they set their clocks by it (R2.27).
    ///
    /// It is this host's time: a gateway learns the broker's time only from records, and a quiet cluster has no new
    /// records.
    static var clientTime: Timestamp { Timestamp(milliseconds: WallClock.now.milliseconds) }

    /// Checks that a live exists, that is, runs, according to this gateway's tables.
    ///
    /// - Throws: `noSuchRoom`.
    func checkExists(_ key: LiveKey) throws(ReplyError) {
        _ = try self.requireLive(self.tables.read { $0.running(key) })
    }

    /// Returns what the tables have about a live; throws `noSuchRoom` if `value` is nil, which means that they do not
    /// know the live.
    private func requireLive<Value>(_ value: Value?) throws(ReplyError) -> Value {
        guard let value else { throw ReplyError(.noSuchRoom, "there is no such live") }
        return value
    }
}
