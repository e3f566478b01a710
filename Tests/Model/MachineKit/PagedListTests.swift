// SPDX-License-Identifier: Apache-2.0
import MachineKit
import Testing

/// A long list is split into pages, each of which is stored as a row.
@Suite struct PagedListTests {
    /// The pages of the changed list `elements`, at most two elements each; `before` are its pages before the change.
    private func pages(_ elements: [Int], before: [[Int]]) -> [[Int]] {
        PagedList.pages(of: elements, replacing: before, capacity: 2) { $0 }
    }

    @Test func `old elements stay on their page, and new ones go to the last page in use or the page after it`() {
        #expect(self.pages([], before: [[], [], []]) == [[], [], []])
        #expect(self.pages([1], before: [[], [], []]) == [[1], [], []])
        #expect(self.pages([1, 2, 3], before: [[1, 2], [], []]) == [[1, 2], [3], []])
        #expect(self.pages([2, 3, 4], before: [[1, 2], [3], []]) == [[2], [3, 4], []])
        #expect(self.pages([3, 4], before: [[1, 2], [3], []]) == [[], [3, 4], []])
    }

    @Test func `all pages are refilled when the last page is full, or when a page is too long`() {
        // 7 is new, and the last page is full.
        #expect(self.pages([2, 3, 5, 6, 7], before: [[1, 2], [3, 4], [5, 6]]) == [[2, 3], [5, 6], [7]])
        #expect(self.pages([1, 2, 3, 4, 5], before: [[1, 2, 3, 4, 5], [], []]) == [[1, 2], [3, 4], [5]])
        // A list that is too long for all pages together makes the last page longer.
        #expect(self.pages([1, 2, 3, 4, 5, 6, 7], before: [[], [], []]) == [[1, 2], [3, 4], [5, 6, 7]])
    }

    @Test func `I16 a random list keeps its order, and no page is longer than its capacity`() {
        var random = SeededRandom(seed: 11)
        var list: [Int] = []
        var pages = [[Int]](repeating: [], count: 5)
        // Five pages have two elements each.
        let maxCount = 10
        for number in 0..<2000 {
            if list.count < maxCount, random.next() % 2 == 0 { list.append(number) }
            if random.next() % 3 == 0, !list.isEmpty { list.remove(at: Int(random.next() % UInt64(list.count))) }
            pages = self.pages(list, before: pages)
            #expect(pages.count == 5 && pages.allSatisfy { $0.count <= 2 } && pages.flatMap { $0 } == list)
        }
    }
}
