// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel

/// Calls of users and of the app's server. A repeated message, gift or like has no second effect (I15, idempotency).
extension BarrageMachine {
    /// Replies to a call, and records the outcome of a new call.
    ///
    /// A repeated call gets its recorded outcome. A new call gets the result of `decide`, which may also change the
    /// feed and write effects.
    func replyOnce(
        to caller: Caller, about key: LiveKey, under rules: AppRules, in rows: inout BarrageRows, at moment: Moment,
        into effects: inout [Effect], _ decide: (inout FeedRow, inout [Effect]) -> MessageOutcome
    ) {
        let callsKey = BarrageKey.calls(key, caller.request.session)
        // The index of the row with the session's idempotency window; nil if the session has none.
        let windowIndex = rows.index(of: callsKey)
        if let windowIndex, let lookup = rows.lookup(caller.counter, inWindowAt: windowIndex) {
            switch lookup {
            case .repeated(let recorded):
                let outcome = self.outcome(of: recorded, to: caller, about: key, under: rules, in: rows)
                effects.append(.reply(Reply(to: caller, app: key.app, outcome)))
                return
            case .forgotten:
                // The window has dropped the outcome, so nobody can tell whether the call was applied. It is rejected.
                effects.append(.requestForgotten(caller, key.app))
                return
            case .fresh:
                break
            }
        }
        // A late retry is a copy that is sent more than 60 s after the call's first copy. The window with the outcome
        // may already be removed, so a late retry is never decided again.
        if caller.isLateRetry { return effects.append(.requestForgotten(caller, key.app)) }
        guard let decided = rows.updateFeed(key, near: windowIndex, { feed in decide(&feed, &effects) }) else {
            // There is no feed. The outcome of a call about an unknown live is not recorded.
            effects.append(.failure(.noSuchRoom, "there is no such live", to: caller, app: key.app))
            return
        }
        if let windowIndex {
            rows.record(decided, of: caller.counter, inWindowAt: windowIndex, at: moment)
        } else {
            var window = MessageWindow(at: moment)
            window.record(decided, of: caller.counter, at: moment)
            rows[callsKey] = .calls(window: window)
        }
        effects.append(.reply(Reply(to: caller, app: key.app, decided.outcome(under: rules))))
    }

    /// Publishes a text or custom message, or rejects it.
    func sendMessage(
        _ message: FeedContent, to key: LiveKey, by caller: Caller, in rows: inout BarrageRows, at moment: Moment,
        into effects: inout [Effect]
    ) {
        let rules = self.rules[key.app]
        self.replyOnce(to: caller, about: key, under: rules, in: &rows, at: moment, into: &effects) { feed, effects in
            feed.publish(message, to: key, from: caller, under: rules, at: moment.now, into: &effects)
        }
    }

    /// Records and answers the rejection of a message or gift that the gateway rejected before it asked the app's
    /// backend.
    ///
    /// The call is rejected even if the rules now allow it, because the backend was not asked. But if an earlier copy
    /// of the call was published, this copy gets the reply of the earlier one.
    func rejectByGateway(
        _ gatewayRejection: Rejection, _ key: LiveKey, to caller: Caller, in rows: inout BarrageRows, at moment: Moment,
        into effects: inout [Effect]
    ) {
        self.replyOnce(to: caller, about: key, under: self.rules[key.app], in: &rows, at: moment, into: &effects) {
            feed, _ in
            // A reason that this machine finds is newer than the gateway's reason.
            feed.reject(feed.rejection(of: caller) ?? gatewayRejection)
        }
    }

    /// Adds likes to the total at once, and publishes them as soon as the feed's budget allows.
    func sendLikes(
        _ count: Int, _ key: LiveKey, by caller: Caller, in rows: inout BarrageRows, at moment: Moment,
        into effects: inout [Effect]
    ) {
        let rules = self.rules[key.app]
        self.replyOnce(to: caller, about: key, under: rules, in: &rows, at: moment, into: &effects) { feed, effects in
            let isValid = Limits.likesPerCall.contains(count)
            if let rejection = feed.rejection(of: caller) ?? (isValid ? nil : .likeCount) {
                return feed.reject(rejection)
            }
            feed.addLikes(Int64(count), by: caller.user, at: moment.now)
            feed.publishCounters(to: key, under: rules, at: moment.now, into: &effects)
            return .done
        }
    }

    /// Sets the speaking level of a user on a seat.
    ///
    /// No outcome is recorded, because a level that was lost or repeated is soon replaced by the next level.
    func setSpeakingLevel(
        _ level: Int, _ key: LiveKey, by caller: Caller, in rows: inout BarrageRows, at moment: Moment,
        into effects: inout [Effect]
    ) {
        let rules = self.rules[key.app]
        let rejection = rows.updateFeed(key) { feed -> Rejection in
            let isValid = Limits.speakingLevel.contains(level)
            let isSeated = feed.rights.seated.contains(caller.userID)
            let levelRejection: Rejection? =
                if !isValid { .speakingLevel } else if !isSeated { .notOnSeat } else { nil }
            if let rejection = feed.rejection(of: caller) ?? levelRejection {
                feed.ledger.countRefused(rejection)
                return rejection
            }
            feed.setSpeakingLevel(level, of: caller.userID, at: moment.now)
            feed.publishCounters(to: key, under: rules, at: moment.now, into: &effects)
            return .none
        }
        // Nil means that there is no feed; `Rejection.none` means that the level was set.
        guard let rejection else {
            effects.append(.failure(.noSuchRoom, "there is no such live", to: caller, app: key.app))
            return
        }
        // With 0, the error has no hint when to try again.
        let outcome =
            rejection.error(retryAfter: 0, under: rules).map { Outcome.failure(error: $0) } ?? .success(result: .done)
        effects.append(.reply(Reply(to: caller, app: key.app, outcome)))
    }

    /// Replies with the live's current or final statistics.
    func summarize(
        _ key: LiveKey, for caller: Caller, in rows: BarrageRows, at now: Timestamp, into effects: inout [Effect]
    ) {
        guard case .feed(let feed)? = rows[.feed(key)] else {
            effects.append(.failure(.noSuchRoom, "there is no such live", to: caller, app: key.app))
            return
        }
        let statistics = feed.value.statistics(at: now)
        effects.append(.success(.statistics(statistics: statistics, at: now), to: caller, app: key.app))
    }
}

extension BarrageRows {
    /// Changes the feed of `key` in place, if there is one.
    ///
    /// - Returns: the result of `body`; nil when there is no such feed.
    mutating func updateFeed<R>(_ key: LiveKey, _ body: (inout FeedRow) -> R) -> R? {
        // `?? nil` flattens the double Optional: there may be no row, or a row that is not a feed.
        self.update(.feed(key)) { row in row.changeFeed(body) } ?? nil
    }

    /// Changes the feed of `key` in place, if there is one.
    ///
    /// `windowIndex` is the index of the row with the idempotency window of the caller's session. The journal (the rows
    /// of the partition) remembers for this row where the feed's row is, so that the next call of the session finds the
    /// feed faster.
    fileprivate mutating func updateFeed<R>(
        _ key: LiveKey, near windowIndex: Int?, _ body: (inout FeedRow) -> R
    ) -> R? {
        guard let windowIndex else { return self.updateFeed(key, body) }
        guard let index = self.index(of: .feed(key), near: windowIndex) else { return nil }
        return self.update(at: index) { row in row.changeFeed(body) } ?? nil
    }

    /// Looks up the call with the request counter `counter` in the window at `index`; nil if that row is not a window.
    fileprivate mutating func lookup(
        _ counter: Int64, inWindowAt index: Int
    ) -> IdempotencyLookup<MessageOutcome>? {
        self.read(at: index) { row in
            if case .calls(let window) = row { window.lookup(counter) } else { nil }
        } ?? nil
    }

    /// Records the outcome of the call `counter` in the window at `index`.
    fileprivate mutating func record(
        _ outcome: MessageOutcome, of counter: Int64, inWindowAt index: Int, at moment: Moment
    ) {
        _ = self.update(at: index) { row in row.record(outcome, of: counter, at: moment) }
    }
}

// These methods move the content out of the row, change it, and move it back. If the row still referenced the content,
// the change would make a copy.
extension BarrageRow {
    /// Changes the feed in this row, if the row is a feed.
    fileprivate mutating func changeFeed<R>(_ body: (inout FeedRow) -> R) -> R? {
        guard case .feed = self else { return nil }
        guard case .feed(var feed) = consume self else { preconditionFailure("the row has changed its kind") }
        defer { self = .feed(row: feed) }
        return body(&feed.value)
    }

    /// Records the outcome of the call `counter`, if the row is a window.
    fileprivate mutating func record(_ outcome: MessageOutcome, of counter: Int64, at moment: Moment) {
        guard case .calls = self else { return }
        guard case .calls(var window) = consume self else { preconditionFailure("the row has changed its kind") }
        window.record(outcome, of: counter, at: moment)
        self = .calls(window: window)
    }

    /// Removes expired outcomes, if the row is a window.
    ///
    /// - Returns: whether the window has no outcomes any more, and whether the window itself is expired, so that its
    ///   row must be removed.
    mutating func expireWindow(at moment: Moment) -> (isEmpty: Bool, isExpired: Bool) {
        // A row that is not a window counts as expired.
        guard case .calls(var window) = self else { return (true, true) }
        let isExpired = window.expire(at: moment)
        self = .calls(window: window)
        return (window.storage.count == 0, isExpired)
    }
}
