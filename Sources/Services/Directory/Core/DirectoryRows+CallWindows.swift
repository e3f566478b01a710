// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel

/// The idempotency windows of the directory: the outcomes of each session's last calls.
extension Journal<DirectoryKey, DirectoryRow> {
    /// Looks up the caller's request in the idempotency window at `key` (I15, docs/RULES.md).
    ///
    /// A late retry (a copy that is sent more than 60 s after the call's first copy) never counts as new: if the window
    /// does not know the call, the call counts as forgotten.
    func lookup(_ key: DirectoryKey, _ caller: Caller) -> IdempotencyLookup<CallOutcome> {
        guard case .calls(let window)? = self[key] else {
            return IdempotencyLookup.fresh.treatingFresh(asForgottenIf: caller.isLateRetry)
        }
        return window.lookup(caller.counter).treatingFresh(asForgottenIf: caller.isLateRetry)
    }

    /// Records the outcome of the caller's request in the window at `key`; creates the window if there is none.
    mutating func record(_ key: DirectoryKey, _ caller: Caller, _ outcome: CallOutcome, at moment: Moment) {
        let counter = caller.counter
        let outcome = outcome.withoutMetadata
        // `update` returns nil when there is no window yet.
        if self.update(key, { $0.record(outcome, of: counter, at: moment) }) != nil { return }
        var window = CallWindow(at: moment)
        window.record(outcome, of: counter, at: moment)
        self[key] = .calls(window: window)
    }

    /// The outcome with which a repeated call is answered: the recorded `outcome`, with the live's current metadata.
    ///
    /// Windows store no metadata, so a repeated reply about a live that no longer exists has none.
    func outcomeWithMetadata(_ outcome: Outcome, of key: LiveKey) -> Outcome {
        guard case .success(.live(var info, let epoch, let revision, _)) = outcome,
            case .live(let row)? = self[.live(key)], row.epoch == epoch
        else { return outcome }
        info.metaData = row.info.metaData
        return .success(result: .live(info: info, epoch: epoch, revision: revision))
    }
}

extension CallOutcome {
    /// The outcome in the form in which a window stores it (R17.8): without the live's metadata.
    ///
    /// Metadata may be large, and a window has up to 16 outcomes.
    fileprivate var withoutMetadata: CallOutcome {
        guard case .answered(.success(.live(var info, let epoch, let revision, _)), let required) = self,
            !info.metaData.isEmpty
        else { return self }
        info.metaData = [:]
        let result = CallResult.live(info: info, epoch: epoch, revision: revision)
        return .answered(outcome: .success(result: result), required: required)
    }
}
