// SPDX-License-Identifier: Apache-2.0
internal import Concurrency

/// The partitions of a process whose leases Redis does not serve at the moment; shared with the ops port.
package final class LeaseOutages: Sendable {
    private let partitions = Locked<Set<Int>>([])

    /// No partition is without its leases.
    package init() {}

    /// Whether a partition is without its leases.
    package var isAny: Bool { self.partitions.withLock { !$0.isEmpty } }

    /// Notes whether the leases of a partition are away.
    func set(_ isAway: Bool, partition: Int) {
        self.partitions.withLock { partitions in
            if isAway { partitions.insert(partition) } else { partitions.remove(partition) }
        }
    }
}
