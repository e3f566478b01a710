// SPDX-License-Identifier: Apache-2.0
internal import Synchronization

/// A metric whose number only grows.
///
/// Any thread may add to the number, by one atomic operation.
package final class Counter: Sendable {
    private let storage = Atomic<Int>(0)

    /// Makes a counter at 0 that is not exported; `MetricsRegistry` makes exported counters.
    package init() {}

    /// Adds `amount`; a negative amount counts as 0.
    package func add(_ amount: Int = 1) {
        self.storage.wrappingAdd(max(0, amount), ordering: .relaxed)
    }

    /// The current number.
    package var value: Int { self.storage.load(ordering: .relaxed) }
}

/// A metric whose number goes up and down.
///
/// Any thread may set the number, by one atomic operation.
package final class Gauge: Sendable {
    private let storage = Atomic<Int>(0)

    /// Makes a gauge at 0 that is not exported; `MetricsRegistry` makes exported gauges.
    package init() {}

    /// Replaces the number.
    package func set(_ value: Int) { self.storage.store(value, ordering: .relaxed) }

    /// Adds `amount`, which may be negative.
    package func add(_ amount: Int) { self.storage.wrappingAdd(amount, ordering: .relaxed) }

    /// The current number.
    package var value: Int { self.storage.load(ordering: .relaxed) }
}

/// A metric for a distribution of times, which are recorded in microseconds and exported in seconds.
///
/// Any thread may record a time, by two atomic additions without a lock.
package final class Timing: Sendable {
    /// The counts by bucket.
    ///
    /// The size is `Histogram.bucketCount`, as a literal because the type requires one.
    private let buckets = InlineArray<3_456, Atomic<Int>> { _ in Atomic(0) }
    /// The sum of all times in microseconds.
    private let sum = Atomic<Int>(0)

    /// Makes an empty distribution that is not exported; `MetricsRegistry` makes exported ones.
    package init() {}

    /// Records a time in microseconds; a negative time counts as 0.
    package func record(microseconds: Int) {
        let value = max(0, microseconds)
        self.buckets[Histogram.bucket(of: value)].wrappingAdd(1, ordering: .relaxed)
        self.sum.wrappingAdd(value, ordering: .relaxed)
    }

    /// Records a time in milliseconds; a time that microseconds cannot express counts as the highest value.
    package func record(milliseconds: Int) {
        let (microseconds, overflow) = max(0, milliseconds).multipliedReportingOverflow(by: 1_000)
        self.record(microseconds: overflow ? Histogram.highestValue : microseconds)
    }

    /// The recorded times in microseconds; concurrent additions may or may not be included.
    package var histogram: Histogram {
        Histogram(
            buckets: self.buckets.indices.map { self.buckets[$0].load(ordering: .relaxed) },
            sum: self.sum.load(ordering: .relaxed))
    }
}
