// SPDX-License-Identifier: Apache-2.0
internal import Synchronization

/// Accounts for the bytes of items that the replay reader has read and that are not sent yet.
///
/// The bytes are counted as long as the reservation exists; whoever still has to send the items holds it. While the sum
/// exceeds `ReplayLimits.maxUnsentBytes`, no further scan begins (I16, bounded memory).
package final class ReplayReservation: Sendable {
    /// The sum of all reservations.
    package final class Sum: Sendable {
        private let bytes = Atomic<Int>(0)

        /// Creates a sum of zero.
        package init() {}

        /// The number of reserved bytes.
        package var byteCount: Int { self.bytes.load(ordering: .relaxed) }

        fileprivate func add(_ count: Int) { self.bytes.add(count, ordering: .relaxed) }
    }

    private let bytes: Int
    private let sum: Sum

    /// Adds `bytes` to the sum until the reservation is deallocated.
    package init(bytes: Int, of sum: Sum) {
        self.bytes = bytes
        self.sum = sum
        sum.add(bytes)
    }

    deinit { self.sum.add(-self.bytes) }
}
