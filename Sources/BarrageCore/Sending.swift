// SPDX-License-Identifier: Apache-2.0
import CoreKit
import PlazaModel

/// Messages of users and of the app's server: calls, so each is answered, and answered alike when sent again (I15).
extension BarrageMachine {
    func send(
        _ content: FeedContent, to key: LiveKey, by caller: Caller, in rows: inout BarrageRows, at moment: Moment,
        into effects: inout [Effect]
    ) {
        let callsKey = BarrageKey.calls(key, caller.request.session)
        switch rows.verdict(callsKey, caller) {
        case .repeated(.answered(let outcome, let seen)):
            effects.append(.reply(Reply(to: caller, app: key.app, outcome, seen: seen)))
            return
        case .repeated(.passedOn), .forgotten:
            let message = "the request is too old; it was not applied now"
            effects.append(.failure(.requestForgotten, message, to: caller, app: key.app))
            return
        case .fresh:
            break
        }
        let budget = FeedBudget(total: self.policies[key.app].feedBudget)
        var publication: Publication?
        rows.updateFeed(key) { feed in
            publication = feed.publish(content, to: key, from: caller, under: budget, at: moment.now)
        }
        guard let publication else {
            // Nothing is kept about names that are no live.
            effects.append(.failure(.noSuchRoom, "there is no such live", to: caller, app: key.app))
            return
        }
        let outcome: Outcome
        switch publication {
        case .admitted(let item):
            effects.append(.feed(item))
            outcome = .success(result: .sent(position: item.position))
        case .refused(let error):
            outcome = .failure(error: error)
        case .dropped(let reason, let retryAfter):
            outcome = .failure(error: .dropped(reason, retryAfter))
        }
        rows.record(callsKey, caller, .answered(outcome: outcome, seen: nil), at: moment.now)
        effects.append(.reply(Reply(to: caller, app: key.app, outcome)))
    }
}

extension ReplyError {
    /// The receipt of a drop.
    static func dropped(_ reason: DropReason, _ retryAfter: Milliseconds) -> ReplyError {
        let message =
            switch reason {
            case .budget: "the live's feed is full for now"
            case .share: "the feed is busy, and you have your share of it"
            }
        return ReplyError(.droppedByBudget, message, retryAfter: retryAfter.count)
    }
}

extension BarrageRows {
    /// Tells whether the caller's request is new to the window `key`.
    fileprivate func verdict(_ key: BarrageKey, _ caller: Caller) -> OutcomeWindow.Verdict {
        guard case .calls(let window)? = self[key] else { return .fresh }
        return window.verdict(on: caller.request.counter)
    }

    /// Keeps in the window `key` what became of the caller's request.
    fileprivate mutating func record(
        _ key: BarrageKey, _ caller: Caller, _ entry: OutcomeWindow.Entry, at now: Timestamp
    ) {
        let known: Void? = self.update(key) { row in
            guard case .calls(var window) = row else { return }
            // As with feeds: held by nobody else while it changes.
            row = .calls(window: OutcomeWindow(at: .distantPast))
            window.record(caller.request.counter, entry, at: now)
            row = .calls(window: window)
        }
        if known == nil {
            var window = OutcomeWindow(at: now)
            window.record(caller.request.counter, entry, at: now)
            self[key] = .calls(window: window)
        }
    }
}
