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
        let counter = caller.request.counter
        switch rows.verdict(callsKey, on: counter) {
        case .repeated(let fate):
            effects.append(.reply(Reply(to: caller, app: key.app, fate.outcome)))
            return
        case .forgotten:
            let message = "the request is too old; it was not applied now"
            effects.append(.failure(.requestForgotten, message, to: caller, app: key.app))
            return
        case .fresh:
            break
        }
        let budget = FeedBudget(total: self.policies[key.app].feedBudget)
        var fate: Fate?
        rows.updateFeed(key) { feed in
            switch feed.publish(content, to: key, from: caller, under: budget, at: moment.now) {
            case .admitted(let item):
                effects.append(.feed(item))
                fate = Fate(counter, at: item.position)
            case .refused(let refusal):
                fate = Fate(counter, refused: refusal)
            case .dropped(let reason, let retryAfter):
                fate = Fate(counter, refused: reason == .budget ? .budget : .share, retryAfter: retryAfter)
            }
        }
        guard let fate else {
            // Nothing is kept about names that are no live.
            effects.append(.failure(.noSuchRoom, "there is no such live", to: caller, app: key.app))
            return
        }
        rows.record(callsKey, fate, at: moment.now)
        effects.append(.reply(Reply(to: caller, app: key.app, fate.outcome)))
    }
}

extension BarrageRows {
    /// Tells whether the message `counter` is new to the window `key`.
    fileprivate func verdict(_ key: BarrageKey, on counter: Int64) -> FateWindow.Verdict {
        guard case .calls(let window)? = self[key] else { return .fresh }
        return window.verdict(on: counter)
    }

    /// Keeps in the window `key` what became of a message.
    fileprivate mutating func record(_ key: BarrageKey, _ fate: Fate, at now: Timestamp) {
        let known: Void? = self.update(key) { row in
            guard case .calls(var window) = row else { return }
            // As with feeds: held by nobody else while it changes.
            row = .calls(window: FateWindow(at: .distantPast))
            window.record(fate, at: now)
            row = .calls(window: window)
        }
        if known == nil {
            var window = FateWindow(at: now)
            window.record(fate, at: now)
            self[key] = .calls(window: window)
        }
    }
}
