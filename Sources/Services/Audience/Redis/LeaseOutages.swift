// SPDX-License-Identifier: Apache-2.0
internal import Concurrency

/// The partitions of a process whose leases Redis does not serve at the moment.
///
/// The processors of the partitions change this list; the report of the service's state reads it.
package final class LeaseOutages: Sendable {
    private let partitions = Locked<Set<Int>>([])

    /// Creates a list without partitions: the leases of all partitions are served.
    package init() {}

    /// Whether at least one partition is without its leases.
    package var hasAny: Bool { self.partitions.withLock { !$0.isEmpty } }

    /// Records whether the leases of a partition are unavailable.
    func set(_ areUnavailable: Bool, partition: Int) {
        self.partitions.withLock { partitions in
            if areUnavailable { partitions.insert(partition) } else { partitions.remove(partition) }
        }
    }
}
