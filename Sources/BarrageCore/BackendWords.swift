// SPDX-License-Identifier: Apache-2.0
import CoreKit
import PlazaModel

/// What an app's backend said of those of a session's calls that it refused: its code and its words, for when such a call
/// is sent again (I15).
///
/// A row of its own beside the session's window, which holds numbers alone: most sessions never need it.
package struct BackendWords: Hashable, Sendable, Codable {
    struct Kept: Hashable, Sendable, Codable {
        var counter: Int64
        var error: ReplyError
    }

    /// In the order in which the calls were refused.
    private(set) var kept: [Kept] = []

    /// How many calls it holds words of.
    var count: Int { self.kept.count }

    /// What was said of the call `counter`.
    subscript(counter: Int64) -> ReplyError? { self.kept.last { $0.counter == counter }?.error }

    /// Keeps what was said, as long as the window can still tell of the call: no more words than it has fates.
    mutating func record(_ counter: Int64, _ error: ReplyError, beside window: FateWindow) {
        let known = Set(window.fates.map(\.counter))
        self.kept.removeAll { !known.contains($0.counter) }
        self.kept.append(Kept(counter: counter, error: error))
    }
}

extension BarrageMachine {
    /// A message or gift that the app's backend refused: the refusal is what becomes of the call, unless it was decided
    /// before; then it keeps the answer that it had, whatever the backend says the second time.
    func forbid(
        _ error: ReplyError, isGift: Bool, _ key: LiveKey, to caller: Caller, in rows: inout BarrageRows,
        at moment: Moment, into effects: inout [Effect]
    ) {
        let rules = self.book[key.app]
        let counter = caller.request.counter
        let why = isGift ? Refusal.giftForbidden : .messageForbidden
        var isForbidden = false
        self.answer(caller, about: key, under: rules, in: &rows, at: moment, into: &effects) { feed, _ in
            let refusal = feed.refusal(of: caller)
            isForbidden = refusal == nil
            return feed.refuse(counter, refusal ?? why)
        }
        // What goes beyond the refusal's own words: the backend's, kept and told in their place.
        guard isForbidden, error != why.error(retryAfter: 0, under: rules),
            case .calls(let window)? = rows[.calls(key, caller.request.session)]
        else { return }
        var words = BackendWords()
        if case .backend(let known)? = rows[.backend(key, caller.request.session)] { words = known }
        words.record(counter, error, beside: window)
        rows[.backend(key, caller.request.session)] = .backend(words: words)
        effects.removeLast()
        effects.append(.reply(Reply(to: caller, app: key.app, .failure(error: error))))
    }

    /// What the sender of a call that is repeated hears: of one that the backend refused the backend's own words.
    func outcome(of fate: Fate, to caller: Caller, about key: LiveKey, under rules: AppRules, in rows: BarrageRows)
        -> Outcome
    {
        if fate.refusal == .messageForbidden || fate.refusal == .giftForbidden,
            case .backend(let words)? = rows[.backend(key, caller.request.session)], let error = words[fate.counter]
        {
            return .failure(error: error)
        }
        return fate.outcome(under: rules)
    }
}
