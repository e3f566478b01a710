// SPDX-License-Identifier: Apache-2.0

/// Limits the memory of everything that the streams of one event loop have queued.
///
/// It also chooses which queues to free when the limit is exceeded. It is a value without IO. Bytes that many streams
/// queue, such as a frame for all viewers of a live, count once.
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
    /// Beyond the limit, a stream may queue only up to its share: the limit divided by the number of queues. Therefore
    /// a stream with little output is served, however much the peers of the other streams leave unread.
    ///
    /// - Parameters:
    ///   - bytes: The memory of what will be queued.
    ///   - ownBytes: The memory of what the stream has queued and does not share with another stream.
    /// - Returns: Whether the bytes may be queued.
    func admits(_ bytes: Int, ofStreamWith ownBytes: Int) -> Bool {
        if self.queuedBytes <= self.limitBytes - bytes { return true }
        return ownBytes + bytes <= self.shareBytes
    }

    /// What a stream may hold beyond the limit, in bytes: the limit divided by the number of queues.
    private var shareBytes: Int { self.limitBytes / max(1, self.queueCount) }

    /// How many bytes one stream should queue at once of a long output that it can continue later.
    ///
    /// The number is called a step. A step is at most half a share, so that many streams that begin such an output at
    /// the same time stay within their shares. A step is also at most a 256th of the free memory, so that all streams
    /// together do not fill the memory. But this second bound is never below 2 KiB, because each step has a cost.
    package var stepBytes: Int {
        let freeBytes = max(0, self.limitBytes - max(0, self.queuedBytes))
        return max(1, min(self.shareBytes / 2, max(Self.leastMemoryBoundBytes, freeBytes / 256)))
    }

    /// The least value of the second bound of `stepBytes`, which applies while hardly any memory is free.
    private static let leastMemoryBoundBytes = 2_048

    /// How many bytes must be freed; 0 within the limit.
    ///
    /// Beyond the limit the number is so large that an eighth of the limit will be free again. If only the bytes over
    /// the limit were freed, queues would soon have to be chosen again, and each choice looks at all queues.
    package var excessBytes: Int {
        self.queuedBytes <= self.limitBytes ? 0 : self.queuedBytes - (self.limitBytes - self.limitBytes / 8)
    }

    /// A queue, and the party that owns it: for example all clients of one address.
    package struct Queue<Party: Hashable> {
        /// The size in bytes.
        var bytes: Int
        /// The party, for example an address; a queue without a party counts alone.
        var party: Party?

        /// Makes a queue.
        package init(bytes: Int, party: Party?) {
            self.bytes = bytes
            self.party = party
        }
    }

    /// Chooses queues one after another, until they have enough bytes together.
    ///
    /// Each time it chooses the largest queue of the party whose remaining queues have the most bytes together.
    /// Therefore many small queues of one party count as much as one large queue.
    ///
    /// - Parameters:
    ///   - queues: The queues; empty ones are never chosen.
    ///   - bytes: The bytes to free.
    /// - Returns: The indexes of the chosen queues, in the order of the choice.
    package static func largestQueues<Party: Hashable>(_ queues: [Queue<Party>], freeing bytes: Int) -> [Int] {
        var partyBytes: [Party: Int] = [:]
        // For each queue, its bytes plus the bytes of the smaller queues of its party. So much does the party have left
        // after all its larger queues were chosen.
        var remainingBytes = [Int](repeating: 0, count: queues.count)
        for index in queues.indices.sorted(by: { queues[$0].bytes < queues[$1].bytes }) {
            let queue = queues[index]
            remainingBytes[index] = queue.bytes + (queue.party.flatMap { partyBytes[$0] } ?? 0)
            if let party = queue.party { partyBytes[party] = remainingBytes[index] }
        }
        var freedBytes = 0
        return queues.indices.filter { queues[$0].bytes > 0 }
            .sorted { remainingBytes[$0] > remainingBytes[$1] }
            .prefix { index in
                if freedBytes >= bytes { return false }
                freedBytes += queues[index].bytes
                return true
            }
    }
}
