// SPDX-License-Identifier: Apache-2.0
internal import Synchronization

/// A number that only grows; one atomic addition from any thread.
package final class Counter: Sendable {
    private let storage = Atomic<Int>(0)

    /// Starts at 0; the registry makes those that are exported.
    package init() {}

    /// Adds `amount`, which must not be negative.
    package func add(_ amount: Int = 1) {
        self.storage.wrappingAdd(max(0, amount), ordering: .relaxed)
    }

    /// The number now.
    package var value: Int { self.storage.load(ordering: .relaxed) }
}

/// A number that goes up and down; one atomic store from any thread.
package final class Gauge: Sendable {
    private let storage = Atomic<Int>(0)

    /// Starts at 0; the registry makes those that are exported.
    package init() {}

    /// Replaces the number.
    package func set(_ value: Int) { self.storage.store(value, ordering: .relaxed) }

    /// Adds `amount`, which may be negative.
    package func add(_ amount: Int) { self.storage.wrappingAdd(amount, ordering: .relaxed) }

    /// The number now.
    package var value: Int { self.storage.load(ordering: .relaxed) }
}

/// A distribution of times, exported in seconds; two atomic additions from any thread, no lock.
package final class Timing: Sendable {
    private let buckets = InlineArray<3_456, Atomic<Int>> { _ in Atomic(0) }
    private let sum = Atomic<Int>(0)

    /// Starts empty; the registry makes those that are exported.
    package init() {}

    /// Records a time; a negative one counts as 0.
    package func record(microseconds: Int) {
        let value = max(0, microseconds)
        self.buckets[Histogram.bucket(of: value)].wrappingAdd(1, ordering: .relaxed)
        self.sum.wrappingAdd(value, ordering: .relaxed)
    }

    /// Records a time in milliseconds.
    package func record(milliseconds: Int) {
        self.record(microseconds: milliseconds.multipliedReportingOverflow(by: 1_000).partialValue)
    }

    /// All that was recorded, in microseconds; additions under way may or may not be in it.
    package var histogram: Histogram {
        Histogram(
            buckets: self.buckets.indices.map { self.buckets[$0].load(ordering: .relaxed) },
            sum: self.sum.load(ordering: .relaxed))
    }
}
