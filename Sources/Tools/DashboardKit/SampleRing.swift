// SPDX-License-Identifier: Apache-2.0

/// A ring buffer of the last samples, which are numbered from 0.
package struct SampleRing<Sample: Sendable>: Sendable {
    /// The maximum number of stored samples.
    package let capacity: Int
    /// The number of samples added so far, including dropped ones; it is the number of the next sample.
    package private(set) var count = 0
    private var samples: [Sample] = []

    /// - Parameter capacity: the maximum number of stored samples, at least 1.
    package init(capacity: Int) {
        precondition(capacity > 0)
        self.capacity = capacity
    }

    /// Adds a sample, in place of the oldest one if the ring is full.
    package mutating func append(_ sample: Sample) {
        if self.samples.count < self.capacity {
            self.samples.append(sample)
        } else {
            self.samples[self.count % self.capacity] = sample
        }
        self.count += 1
    }

    /// The stored samples whose number is at least `number`, oldest first.
    ///
    /// - Parameter number: the first number to return. A number beyond the next sample's comes from an earlier run of
    ///   the dashboard; then all stored samples are returned.
    /// - Returns: at most `capacity` samples.
    package func samples(from number: Int) -> [Sample] {
        let oldest = max(0, self.count - self.capacity)
        let start = number > self.count ? oldest : max(oldest, number)
        return (start..<self.count).map { self.samples[$0 % self.capacity] }
    }
}
