// SPDX-License-Identifier: Apache-2.0

/// Limits the memory of everything that the streams of one loop have queued, and chooses who gives way.
///
/// It is a value without IO. Bytes that many streams queue, such as a frame for all viewers of a live, count once.
package struct OutputBudget: Sendable {
    /// The maximum memory of all queues, in bytes.
    package var limitBytes = Int.max
    /// The memory of all queues, in bytes.
    package private(set) var queuedBytes = 0
    /// The number of streams that have a queue.
    package private(set) var queueCount = 0

    /// Creates a budget without a limit.
    package init() {}

    /// Counts a stream that begins to queue.
    mutating func addQueue() { self.queueCount += 1 }

    /// Removes a stream whose queue is empty.
    mutating func removeQueue() { self.queueCount -= 1 }

    /// Counts memory that a queue begins to hold.
    mutating func add(_ bytes: Int) { self.queuedBytes += bytes }

    /// Removes memory that no queue holds any more.
    mutating func remove(_ bytes: Int) { self.queuedBytes -= bytes }

    /// Whether a stream may queue more bytes.
    ///
    /// Beyond the limit, only streams may that hold no more than their share: the limit divided by the number of queues.
    /// So a stream with little output is served however much the others leave unread.
    ///
    /// - Parameters:
    ///   - bytes: The bytes to queue.
    ///   - ownBytes: The bytes that the stream has queued and shares with no other.
    /// - Returns: Whether it may.
    func admits(_ bytes: Int, ofStreamWith ownBytes: Int) -> Bool {
        if self.queuedBytes <= self.limitBytes - bytes { return true }
        return ownBytes + bytes <= self.limitBytes / max(1, self.queueCount)
    }

    /// How many bytes must be freed: 0 within the limit; beyond it so many that an eighth of it is free again, because
    /// each choice of the largest queues looks at all of them.
    package var excessBytes: Int {
        self.queuedBytes <= self.limitBytes ? 0 : self.queuedBytes - (self.limitBytes - self.limitBytes / 8)
    }

    /// Chooses the largest queues, and no more of them than necessary.
    ///
    /// - Parameters:
    ///   - sizes: The size of each queue in bytes; empty queues are never chosen.
    ///   - bytes: The bytes to free.
    /// - Returns: The indexes of the chosen queues, the largest first.
    package static func largestQueues(_ sizes: [Int], freeing bytes: Int) -> [Int] {
        var freedBytes = 0
        return sizes.indices.sorted { sizes[$0] > sizes[$1] }.prefix { index in
            if freedBytes >= bytes || sizes[index] == 0 { return false }
            freedBytes += sizes[index]
            return true
        }
    }
}
