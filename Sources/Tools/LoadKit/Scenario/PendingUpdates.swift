// SPDX-License-Identifier: Apache-2.0
package import ProtocolClient

/// The updates that a client has received and no step of a scenario has waited for yet, in the order of their arrival.
///
/// Each feed item is an update of its own. If one update held all items that were received together, a step that waits
/// for one of them would remove the others too, and a repeated item among them would not be noticed.
package struct PendingUpdates {
    /// Beyond this number the oldest updates are dropped.
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
    ///   - index: where to begin; afterwards the index of the first update that was not looked at.
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
