// SPDX-License-Identifier: Apache-2.0
import CoreKit
import PlazaModel

extension Journal<DirectoryKey, DirectoryRow> {
    /// Tells whether the caller's request is new to the window `key` (I15).
    func verdict(_ key: DirectoryKey, _ caller: Caller) -> OutcomeWindow.Verdict {
        guard case .calls(let window)? = self[key] else { return .fresh }
        return window.verdict(on: caller.counter)
    }

    /// Keeps in the window `key` what became of the caller's request.
    mutating func record(_ key: DirectoryKey, _ caller: Caller, _ entry: OutcomeWindow.Entry, at now: Timestamp) {
        let counter = caller.counter
        let known: Void? = self.update(key) { $0.record(counter, entry, at: now) }
        if known != nil { return }
        var window = OutcomeWindow(at: now)
        window.record(counter, entry, at: now)
        self[key] = .calls(window: window)
    }
}

extension ReplyError {
    /// The request is older than the outcomes that are kept.
    static let forgotten = ReplyError(.requestForgotten, "the request is too old; it was not applied now")
}

extension Effect {
    /// Refuses a request that is older than the outcomes that are kept.
    static func forgotten(_ caller: Caller, _ app: AppID) -> Effect {
        .reply(Reply(to: caller, app: app, .failure(error: .forgotten)))
    }
}
