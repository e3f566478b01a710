// SPDX-License-Identifier: Apache-2.0

/// The last samples, oldest first, each with a number; older ones are dropped.
package struct SampleRing<Sample: Sendable>: Sendable {
    /// How many samples are kept.
    package let capacity: Int
    /// How many samples were ever added, which is also the number of the next one.
    package private(set) var count = 0
    private var samples: [Sample] = []

    /// - Parameter capacity: how many samples are kept, at least 1.
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

    /// The kept samples from a number on, oldest first.
    ///
    /// - Parameter number: 0 gives all; a number of an earlier dashboard, which is too large here, gives all as well.
    /// - Returns: at most `capacity` samples.
    package func from(_ number: Int) -> [Sample] {
        let oldest = max(0, self.count - self.capacity)
        let start = number > self.count ? oldest : max(oldest, number)
        return (start..<self.count).map { self.samples[$0 % self.capacity] }
    }
}
