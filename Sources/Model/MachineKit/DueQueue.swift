// SPDX-License-Identifier: Apache-2.0

/// A priority queue of keys by due time, earliest first.
///
/// Keys with equal times are ordered by key, so that a machine that handles the same inputs again
/// gets the same order.
@usableFromInline struct DueQueue<Key: Comparable & Sendable>: Sendable {
    /// A key with its due time.
    @usableFromInline struct Entry: Comparable, Sendable {
        @usableFromInline let time: Timestamp
        @usableFromInline let key: Key

        @inlinable init(time: Timestamp, key: Key) {
            self.time = time
            self.key = key
        }

        @inlinable static func < (a: Entry, b: Entry) -> Bool { a.time != b.time ? a.time < b.time : a.key < b.key }
        @inlinable static func == (a: Entry, b: Entry) -> Bool { a.time == b.time && a.key == b.key }
    }

    // A binary heap. Times are stored apart from keys, because most comparisons need only the times, and keys are long.
    @usableFromInline var times: ContiguousArray<Timestamp> = []
    @usableFromInline var keys: ContiguousArray<Key> = []

    @inlinable init() {}

    @inlinable var count: Int { self.times.count }
    /// The earliest due time.
    ///
    /// Every input reads this property, so it does not copy the key.
    @inlinable var firstTime: Timestamp? { self.times.first }
    @inlinable var first: Entry? { self.times.isEmpty ? nil : Entry(time: self.times[0], key: self.keys[0]) }

    /// Adds a key with its due time.
    @inlinable mutating func push(_ time: Timestamp, _ key: Key) {
        self.times.append(time)
        self.keys.append(key)
        var child = self.times.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard self.isEarlier(child, parent) else { break }
            self.swap(child, parent)
            child = parent
        }
    }

    /// Removes the entry with the earliest due time; the queue must not be empty.
    @inlinable mutating func removeFirst() {
        let last = self.times.count - 1
        self.swap(0, last)
        self.times.removeLast()
        self.keys.removeLast()
        var parent = 0
        while true {
            var earliest = parent
            let left = 2 * parent + 1
            if left < last, self.isEarlier(left, earliest) { earliest = left }
            if left + 1 < last, self.isEarlier(left + 1, earliest) { earliest = left + 1 }
            guard earliest != parent else { break }
            self.swap(parent, earliest)
            parent = earliest
        }
    }

    /// Whether the entry at index `a` belongs before the entry at index `b`.
    @inlinable func isEarlier(_ a: Int, _ b: Int) -> Bool {
        let (timeA, timeB) = (self.times[a], self.times[b])
        return timeA != timeB ? timeA < timeB : self.keys[a] < self.keys[b]
    }

    @inlinable mutating func swap(_ a: Int, _ b: Int) {
        self.times.swapAt(a, b)
        self.keys.swapAt(a, b)
    }
}
