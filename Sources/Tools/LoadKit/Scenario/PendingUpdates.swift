// SPDX-License-Identifier: Apache-2.0
package import ProtocolClient

/// The updates of a scenario's client that no step has waited for yet, in the order of their arrival.
///
/// Each feed item is stored as an update of its own. If items that were received together were one update, a step that
/// takes one of them would remove the others too, and a later step could not find them.
package struct PendingUpdates {
    /// The maximum number of stored updates; beyond it the oldest ones are dropped.
    package static let maxCount = 5000

    private var updates: [ClientUpdate] = []

    package init() {}

    /// Appends an update.
    ///
    /// - Returns: how many of the oldest updates were dropped.
    package mutating func add(_ update: ClientUpdate) -> Int {
        if case .feed(let entries, let epoch) = update {
            self.updates += entries.map { .feed([$0], epoch: epoch) }
        } else {
            self.updates.append(update)
        }
        let excess = max(0, self.updates.count - Self.maxCount)
        self.updates.removeFirst(excess)
        return excess
    }

    /// Removes the first update for which `match` returns a value; all others stay.
    ///
    /// - Parameters:
    ///   - index: the index of the first update to look at; afterwards that of the first one not looked at yet.
    ///   - match: called once with each update from `index` on, until it returns a value.
    /// - Returns: the value; nil if no update matches.
    package mutating func take<Value>(from index: inout Int, _ match: (ClientUpdate) -> Value?) -> Value? {
        while index < self.updates.count {
            if let value = match(self.updates[index]) {
                self.updates.remove(at: index)
                return value
            }
            index += 1
        }
        return nil
    }
}
