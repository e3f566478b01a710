// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel

/// The errors with which an app's backend refused calls of a session, stored to answer repeated calls.
///
/// A repeated call gets the same reply (I15 in docs/RULES.md).
///
/// The errors have a separate row, because the session's idempotency window contains only numbers and most sessions
/// have no such errors.
package struct BackendErrors: Hashable, Sendable, Codable {
    /// The error of one call.
    struct Entry: Hashable, Sendable, Codable {
        /// The call's counter: the number of the request in its session.
        var counter: Int64
        var error: ReplyError
    }

    /// The errors, in the order in which the calls were refused.
    private(set) var entries: [Entry] = []

    private enum CodingKeys: String, CodingKey {
        case entries = "kept"
    }

    /// The error of the call `counter`.
    subscript(counter: Int64) -> ReplyError? { self.entries.last { $0.counter == counter }?.error }

    /// Records the error of the call `counter`, and removes the errors of calls whose outcomes `window` has dropped.
    mutating func record(_ counter: Int64, _ error: ReplyError, keepingCallsIn window: MessageWindow) {
        let recordedCounters = Set(window.storage.entries.map(\.counter))
        self.entries.removeAll { !recordedCounters.contains($0.counter) }
        self.entries.append(Entry(counter: counter, error: error))
    }
}

extension BarrageMachine {
    /// Rejects a message or gift that the app's backend refused, or for which the backend gave no answer.
    ///
    /// A repeated call gets its first outcome, even if the backend decides differently the second time.
    func rejectByBackend(
        _ error: ReplyError, isGift: Bool, _ key: LiveKey, to caller: Caller, in rows: inout BarrageRows,
        at moment: Moment, into effects: inout [Effect]
    ) {
        let rules = self.rules[key.app]
        let backendRejection = isGift ? Rejection.giftForbidden : .messageForbidden
        // Stays false for a repeated call, and for a call that is rejected for another reason.
        var isRejectedByBackend = false
        self.replyOnce(to: caller, about: key, under: rules, in: &rows, at: moment, into: &effects) { feed, _ in
            let rejection = feed.rejection(of: caller)
            isRejectedByBackend = rejection == nil
            return feed.reject(rejection ?? backendRejection)
        }
        // If the backend's error is not the default error of the rejection, the reply gets the backend's error, which
        // is also stored for repeated calls.
        guard isRejectedByBackend, error != backendRejection.error(retryAfter: 0, under: rules),
            case .calls(let window)? = rows[.calls(key, caller.request.session)]
        else { return }
        var errors = BackendErrors()
        if case .backend(let stored)? = rows[.backend(key, caller.request.session)] { errors = stored }
        errors.record(caller.counter, error, keepingCallsIn: window)
        rows[.backend(key, caller.request.session)] = .backend(words: errors)
        // The last effect is the reply with the default error, which `replyOnce` has appended.
        effects.removeLast()
        effects.append(.reply(Reply(to: caller, app: key.app, .failure(error: error))))
    }

    /// The outcome in the reply to a repeated call, with the backend's own error if the backend refused the call.
    func outcome(
        of recorded: MessageOutcome, to caller: Caller, about key: LiveKey, under rules: AppRules, in rows: BarrageRows
    ) -> Outcome {
        if recorded.rejection == .messageForbidden || recorded.rejection == .giftForbidden,
            case .backend(let errors)? = rows[.backend(key, caller.request.session)],
            let error = errors[caller.counter]
        {
            return .failure(error: error)
        }
        return recorded.outcome(under: rules)
    }
}
