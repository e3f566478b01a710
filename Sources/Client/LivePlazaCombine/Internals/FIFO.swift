// SPDX-License-Identifier: Apache-2.0
#if !canImport(Combine)

/// A first-in, first-out queue.
struct FIFO<Element> {
    /// The queue's elements, from the index `head` on; the places before `head` are nil, because their elements were
    /// removed.
    private var elements: [Element?] = []
    private var head = 0

    /// An empty queue keeps its memory only if it had at most this many elements.
    private static var maxKeptCapacity: Int { 64 }
    /// The places of removed elements are freed when there are at least this many, and at least half of all places.
    private static var minFreedPlaces: Int { 1024 }

    var isEmpty: Bool { self.head == self.elements.count }

    mutating func append(_ element: Element) { self.elements.append(element) }

    mutating func popFirst() -> Element? {
        if self.isEmpty { return nil }
        let element = self.elements[self.head]
        self.elements[self.head] = nil
        self.head += 1
        if self.isEmpty {
            self.elements.removeAll(keepingCapacity: self.head <= Self.maxKeptCapacity)
            self.head = 0
        } else if self.head >= Self.minFreedPlaces, self.head * 2 >= self.elements.count {
            self.elements.removeFirst(self.head)
            self.head = 0
        }
        return element
    }
}
#endif
