// SPDX-License-Identifier: Apache-2.0
internal import LivePlazaCombine

/// A change of a store's state, in three steps, so that the states of several stores can change together.
///
/// First all changes are announced, then all are shown, and then all are published. So a subscriber of one store finds
/// the new states in the other stores, too.
struct StateChange {
    /// Publishes that the state will change.
    let announce: () -> Void
    /// Sets the value that the store has; no subscriber receives it yet.
    let show: () -> Void
    /// Publishes the value that was shown.
    let publish: () -> Void
}

extension StatePublisher {
    /// A change to another state, whose steps the caller runs.
    func change(to state: State) -> StateChange {
        let storage = self.storage
        return StateChange(
            announce: { storage.objectWillChange.send() }, show: { storage.show(state) },
            publish: { storage.publishShown() })
    }
}
