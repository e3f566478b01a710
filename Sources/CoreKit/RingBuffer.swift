// SPDX-License-Identifier: Apache-2.0

/// A first-in, first-out queue that reuses its space and never holds more than its limit.
package struct RingBuffer<Element> {
    @usableFromInline var slots: [Element?]
    @usableFromInline var head = 0
    /// How many elements it holds.
    package private(set) var count = 0
    /// The most it may hold.
    package let limit: Int

    /// An empty buffer that grows up to `limit` elements.
    package init(limit: Int) {
        self.slots = []
        self.limit = max(1, limit)
    }

    /// Whether it holds nothing.
    package var isEmpty: Bool { self.count == 0 }
    /// The element that has been in it the longest.
    package var first: Element? { self.count == 0 ? nil : self.slots[self.head] }
    /// The element that came last.
    package var last: Element? { self.count == 0 ? nil : self[self.count - 1] }

    /// The element at `index`, counted from the oldest; `index` must be below `count`.
    package subscript(index: Int) -> Element {
        guard index >= 0, index < self.count, let element = self.slots[(self.head + index) % self.slots.count] else {
            preconditionFailure("index \(index) in a ring of \(self.count)")
        }
        return element
    }

    /// Adds at the end; returns false, and adds nothing, when it is full.
    package mutating func append(_ element: Element) -> Bool {
        guard self.count < self.limit else { return false }
        if self.count == self.slots.count { self.grow() }
        self.slots[(self.head + self.count) % self.slots.count] = element
        self.count += 1
        return true
    }

    /// Takes the oldest element out.
    package mutating func popFirst() -> Element? {
        guard self.count > 0 else { return nil }
        let element = self.slots[self.head]
        self.slots[self.head] = nil
        self.head = (self.head + 1) % self.slots.count
        self.count -= 1
        return element
    }

    private mutating func grow() {
        var wider = [Element?](repeating: nil, count: min(self.limit, max(8, self.slots.count * 2)))
        for index in 0..<self.count { wider[index] = self.slots[(self.head + index) % self.slots.count] }
        self.slots = wider
        self.head = 0
    }
}

extension RingBuffer: Sendable where Element: Sendable {}
