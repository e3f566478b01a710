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

    @usableFromInline var heap: [Entry] = []

    @inlinable init() {}

    @inlinable var count: Int { self.heap.count }
    @inlinable var first: Entry? { self.heap.first }

    @inlinable mutating func push(_ time: Timestamp, _ key: Key) {
        self.heap.append(Entry(time: time, key: key))
        var child = self.heap.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard self.heap[child] < self.heap[parent] else { break }
            self.heap.swapAt(child, parent)
            child = parent
        }
    }

    @inlinable mutating func removeFirst() {
        let last = self.heap.removeLast()
        guard !self.heap.isEmpty else { return }
        self.heap[0] = last
        var parent = 0
        while true {
            var smallest = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < self.heap.count {
                if self.heap[child] < self.heap[smallest] { smallest = child }
            }
            guard smallest != parent else { break }
            self.heap.swapAt(parent, smallest)
            parent = smallest
        }
    }
}
