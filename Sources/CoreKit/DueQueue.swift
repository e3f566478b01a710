// SPDX-License-Identifier: Apache-2.0

/// A binary heap of keys by time, earliest first; equal times in the order of the keys, so that every replay agrees.
@usableFromInline struct DueQueue<Key: Comparable & Sendable>: Sendable {
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

    // Times stand apart from keys: all but entries of equal times are told by them alone, and keys are long.
    @usableFromInline var times: ContiguousArray<Timestamp> = []
    @usableFromInline var keys: ContiguousArray<Key> = []

    @inlinable init() {}

    @inlinable var count: Int { self.times.count }
    /// The earliest time, asked for with every input.
    @inlinable var firstTime: Timestamp? { self.times.first }
    @inlinable var first: Entry? { self.times.isEmpty ? nil : Entry(time: self.times[0], key: self.keys[0]) }

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

    @inlinable mutating func removeFirst() {
        let last = self.times.count - 1
        self.swap(0, last)
        self.times.removeLast()
        self.keys.removeLast()
        var parent = 0
        while true {
            var smallest = parent
            let left = 2 * parent + 1
            if left < last, self.isEarlier(left, smallest) { smallest = left }
            if left + 1 < last, self.isEarlier(left + 1, smallest) { smallest = left + 1 }
            guard smallest != parent else { break }
            self.swap(parent, smallest)
            parent = smallest
        }
    }

    @inlinable func isEarlier(_ a: Int, _ b: Int) -> Bool {
        let (first, second) = (self.times[a], self.times[b])
        return first != second ? first < second : self.keys[a] < self.keys[b]
    }

    @inlinable mutating func swap(_ a: Int, _ b: Int) {
        self.times.swapAt(a, b)
        self.keys.swapAt(a, b)
    }
}
