// SPDX-License-Identifier: Apache-2.0
import CoreKit
import PlazaModel

/// Calls of users and of the app's server: each is answered, and answered alike when it is sent again (I15).
extension BarrageMachine {
    /// Answers a call: with what became of it when it was sent before, else with what `decide` makes of it.
    func answer(
        _ caller: Caller, about key: LiveKey, under rules: AppRules, in rows: inout BarrageRows, at moment: Moment,
        into effects: inout [Effect], _ decide: (inout FeedRow, inout [Effect]) -> Fate
    ) {
        let callsKey = BarrageKey.calls(key, caller.request.session)
        let place = rows.place(of: callsKey)
        if let place, let verdict = rows.verdict(at: place, on: caller.counter) {
            switch verdict {
            case .repeated(let fate):
                let outcome = self.outcome(of: fate, to: caller, about: key, under: rules, in: rows)
                effects.append(.reply(Reply(to: caller, app: key.app, outcome)))
                return
            case .forgotten:
                let message = "the request is too old; it was not applied now"
                effects.append(.failure(.requestForgotten, message, to: caller, app: key.app))
                return
            case .fresh:
                break
            }
        }
        guard let fate = rows.updateFeed(key, beside: place, { feed in decide(&feed, &effects) }) else {
            // Nothing is kept about names that are no live.
            effects.append(.failure(.noSuchRoom, "there is no such live", to: caller, app: key.app))
            return
        }
        if let place {
            rows.record(fate, at: place, at: moment.now)
        } else {
            var window = FateWindow(at: moment.now)
            window.record(fate, at: moment.now)
            rows[callsKey] = .calls(window: window)
        }
        effects.append(.reply(Reply(to: caller, app: key.app, fate.outcome(under: rules))))
    }

    /// A text or custom message.
    func send(
        _ message: FeedContent, to key: LiveKey, by caller: Caller, in rows: inout BarrageRows, at moment: Moment,
        into effects: inout [Effect]
    ) {
        let rules = self.book[key.app]
        self.answer(caller, about: key, under: rules, in: &rows, at: moment, into: &effects) { feed, effects in
            feed.publish(message, to: key, from: caller, under: rules, at: moment.now, into: &effects)
        }
    }

    /// A message or gift that the gateway kept from the app's backend, for it would be refused: it never enters, even if it
    /// might now; sent again after it entered it is answered as before.
    func refuse(
        _ why: Refusal, _ key: LiveKey, to caller: Caller, in rows: inout BarrageRows, at moment: Moment,
        into effects: inout [Effect]
    ) {
        self.answer(caller, about: key, under: self.book[key.app], in: &rows, at: moment, into: &effects) { feed, _ in
            feed.refuse(caller.counter, feed.refusal(of: caller) ?? why)
        }
    }

    /// Likes: they go into the total at once, and into the feed when it has room.
    func like(
        _ count: Int, _ key: LiveKey, by caller: Caller, in rows: inout BarrageRows, at moment: Moment,
        into effects: inout [Effect]
    ) {
        let rules = self.book[key.app]
        let counter = caller.counter
        self.answer(caller, about: key, under: rules, in: &rows, at: moment, into: &effects) { feed, effects in
            let isPossible = Limits.likesPerCall.contains(count)
            if let refusal = feed.refusal(of: caller) ?? (isPossible ? nil : .likeCount) {
                return feed.refuse(counter, refusal)
            }
            feed.like(Int64(count), by: caller.user, at: moment.now)
            feed.tellCounters(to: key, under: rules, at: moment.now, into: &effects)
            return Fate(done: counter)
        }
    }

    /// How loud a user on a seat speaks; what is told later makes up for what is lost, so no outcome is kept.
    func speak(
        _ level: Int, _ key: LiveKey, by caller: Caller, in rows: inout BarrageRows, at moment: Moment,
        into effects: inout [Effect]
    ) {
        let rules = self.book[key.app]
        let refusal = rows.updateFeed(key) { feed -> Refusal in
            let isPossible = Limits.speakingLevel.contains(level)
            let isSeated = feed.rights.seated.contains(caller.userID)
            if let refusal = feed.refusal(of: caller) ?? (isPossible ? isSeated ? nil : .notOnSeat : .speakingLevel) {
                feed.ledger.countRefused(refusal)
                return refusal
            }
            feed.hear(level, of: caller.userID, at: moment.now)
            feed.tellCounters(to: key, under: rules, at: moment.now, into: &effects)
            return .none
        }
        guard let refusal else {
            effects.append(.failure(.noSuchRoom, "there is no such live", to: caller, app: key.app))
            return
        }
        let outcome =
            refusal.error(retryAfter: 0, under: rules).map { Outcome.failure(error: $0) } ?? .success(result: .done)
        effects.append(.reply(Reply(to: caller, app: key.app, outcome)))
    }

    /// The live's figures so far, or at its end.
    func summarize(
        _ key: LiveKey, for caller: Caller, in rows: BarrageRows, at now: Timestamp, into effects: inout [Effect]
    ) {
        guard case .feed(let feed)? = rows[.feed(key)] else {
            effects.append(.failure(.noSuchRoom, "there is no such live", to: caller, app: key.app))
            return
        }
        let statistics = feed.value.statistics(at: now)
        effects.append(.success(.statistics(statistics: statistics), to: caller, app: key.app))
    }
}

extension BarrageRows {
    /// Changes the feed of `key` in place, if there is one.
    ///
    /// - Returns: what `body` returns, or nil when there is no such feed.
    mutating func updateFeed<R>(_ key: LiveKey, _ body: (inout FeedRow) -> R) -> R? {
        self.update(.feed(key)) { row in row.changeFeed(body) } ?? nil
    }

    /// Changes the feed of `key`, to which the calls at `calls` were made, if there is one.
    fileprivate mutating func updateFeed<R>(
        _ key: LiveKey, beside calls: Int?, _ body: (inout FeedRow) -> R
    ) -> R? {
        guard let calls else { return self.updateFeed(key, body) }
        guard let place = self.place(of: .feed(key), beside: calls) else { return nil }
        return self.update(at: place) { row in row.changeFeed(body) } ?? nil
    }

    /// Tells whether the call `counter` is new to the window at `place`, if there is one.
    fileprivate mutating func verdict(at place: Int, on counter: Int64) -> FateWindow.Verdict? {
        self.look(at: place) { row in
            if case .calls(let window) = row { window.verdict(on: counter) } else { nil }
        } ?? nil
    }

    /// Keeps in the window at `place` what became of a call.
    fileprivate mutating func record(_ fate: Fate, at place: Int, at now: Timestamp) {
        _ = self.update(at: place) { row in row.record(fate, at: now) }
    }
}

// A row's content is taken out to be changed, and put back: beside the row it would be shared, and be copied.
extension BarrageRow {
    /// Changes the feed that the row is, if it is one.
    fileprivate mutating func changeFeed<R>(_ body: (inout FeedRow) -> R) -> R? {
        guard case .feed = self else { return nil }
        guard case .feed(var feed) = consume self else { preconditionFailure("a feed is one") }
        defer { self = .feed(row: feed) }
        return body(&feed.value)
    }

    /// Keeps what became of a call, if the row is a window.
    fileprivate mutating func record(_ fate: Fate, at now: Timestamp) {
        guard case .calls = self else { return }
        guard case .calls(var window) = consume self else { preconditionFailure("a window is one") }
        window.record(fate, at: now)
        self = .calls(window: window)
    }
}
