// SPDX-License-Identifier: Apache-2.0
internal import GatewayCore
internal import Synchronization

/// Items of the past that were read and are still to be sent: as long as somebody holds them, their bytes count, and
/// beyond `ReplayLimits.bytes` nothing further is read (I16).
package final class ReplayStock: Sendable {
    /// The sum over all that is held.
    package final class Sum: Sendable {
        private let bytes = Atomic<Int>(0)

        /// Nothing is held.
        package init() {}

        /// Bytes that are held.
        package var count: Int { self.bytes.load(ordering: .relaxed) }

        fileprivate func add(_ count: Int) { self.bytes.add(count, ordering: .relaxed) }
    }

    private let bytes: Int
    private let sum: Sum

    /// Counts `bytes` until it is let go of.
    package init(bytes: Int, of sum: Sum) {
        self.bytes = bytes
        self.sum = sum
        sum.add(bytes)
    }

    deinit { self.sum.add(-self.bytes) }
}
