// SPDX-License-Identifier: Apache-2.0
package import MachineKit

/// The calls of one client that wait for a decision of the app's backend, or for an earlier call that waits for one.
///
/// The calls proceed in the order in which they were added. A decision may get lost within the gateway, which drops
/// messages to a shard whose mailbox is full. So each call that waits for a decision has a deadline; otherwise it could
/// block the later calls forever. After the deadline the call's fallback decides: the decision that applies when the
/// backend does not answer (R14.9).
package struct PendingCalls<Call, Decision> {
    private struct Entry {
        let id: Int64
        let call: Call
        /// The decision; nil while it is pending.
        var decision: Decision?
        /// The decision that applies if there is no other at the deadline; nil if the call was added with its decision.
        let fallback: (decision: Decision, deadline: MonotonicTime)?
    }

    /// The pending calls in the order in which they were added.
    ///
    /// Most clients seldom have pending calls. So when the array becomes empty, it is replaced by `[]`, which has no
    /// storage.
    private var entries: [Entry] = []

    /// Creates an empty queue.
    package init() {}

    /// Whether no call is pending.
    package var isEmpty: Bool { self.entries.isEmpty }
    /// The number of pending calls; the caller limits it.
    package var count: Int { self.entries.count }

    /// Returns whether a call with this id is pending.
    package func contains(_ id: Int64) -> Bool { self.entries.contains { $0.id == id } }

    /// Adds a call that waits for its decision.
    ///
    /// - Parameters:
    ///   - id: The call's number in its session.
    ///   - call: The call.
    ///   - fallback: The decision if none is received before the deadline.
    ///   - deadline: When the fallback decides.
    package mutating func append(_ id: Int64, _ call: Call, fallback: Decision, deadline: MonotonicTime) {
        self.entries.append(Entry(id: id, call: call, decision: nil, fallback: (fallback, deadline)))
    }

    /// Adds a call that only waits for the calls before it.
    package mutating func append(_ id: Int64, _ call: Call, decision: Decision) {
        self.entries.append(Entry(id: id, call: call, decision: decision, fallback: nil))
    }

    /// Stores the decision about a call.
    ///
    /// - Returns: False if no call with this id waits for a decision.
    package mutating func decide(_ id: Int64, _ decision: Decision) -> Bool {
        guard let index = self.entries.firstIndex(where: { $0.id == id && $0.decision == nil }) else { return false }
        self.entries[index].decision = decision
        return true
    }

    /// Lets the fallback decide about each call whose deadline has passed.
    ///
    /// - Returns: The number of these calls.
    package mutating func decideOverdue(at now: MonotonicTime) -> Int {
        var count = 0
        for index in self.entries.indices where self.entries[index].decision == nil {
            guard let fallback = self.entries[index].fallback, now >= fallback.deadline else { continue }
            self.entries[index].decision = fallback.decision
            count += 1
        }
        return count
    }

    /// Removes and returns the first call if there is a decision about it; nil otherwise.
    package mutating func takeFirstDecided() -> (call: Call, decision: Decision)? {
        guard let first = self.entries.first, let decision = first.decision else { return nil }
        self.entries.removeFirst()
        if self.entries.isEmpty { self.entries = [] }
        return (first.call, decision)
    }
}
