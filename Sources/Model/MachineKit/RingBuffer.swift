// SPDX-License-Identifier: Apache-2.0

/// A first-in, first-out queue with a fixed limit that reuses its memory.
package struct RingBuffer<Element> {
    /// The elements, in a circle that begins at `head`; nil for a free place.
    @usableFromInline var slots: [Element?]
    /// The index of the oldest element in `slots`.
    @usableFromInline var head = 0
    /// The number of elements.
    package private(set) var count = 0
    /// The maximum number of elements.
    package let limit: Int

    /// Makes an empty buffer whose memory grows as needed, up to `limit` elements.
    package init(limit: Int) {
        self.slots = []
        self.limit = max(1, limit)
    }

    /// The oldest element.
    package var first: Element? { self.count == 0 ? nil : self.slots[self.head] }

    /// The element at `index`, counted from the oldest; `index` must be below `count`.
    package subscript(index: Int) -> Element {
        guard index >= 0, index < self.count, let element = self.slots[(self.head + index) % self.slots.count] else {
            preconditionFailure("index \(index) in a ring of \(self.count)")
        }
        return element
    }

    /// Adds an element at the end; returns false and adds nothing when the buffer is full.
    package mutating func append(_ element: Element) -> Bool {
        guard self.count < self.limit else { return false }
        if self.count == self.slots.count { self.grow() }
        self.slots[(self.head + self.count) % self.slots.count] = element
        self.count += 1
        return true
    }

    /// Removes and returns the oldest element; nil when the buffer is empty.
    package mutating func popFirst() -> Element? {
        guard self.count > 0 else { return nil }
        let element = self.slots[self.head]
        self.slots[self.head] = nil
        self.head = (self.head + 1) % self.slots.count
        self.count -= 1
        return element
    }

    private mutating func grow() {
        var larger = [Element?](repeating: nil, count: min(self.limit, max(2, self.slots.count * 2)))
        for index in 0..<self.count { larger[index] = self.slots[(self.head + index) % self.slots.count] }
        self.slots = larger
        self.head = 0
    }
}

extension RingBuffer: Sendable where Element: Sendable {}
