// SPDX-License-Identifier: Apache-2.0
import CoreKit

/// The fan-out's rows as they were before the open batch: what changes with each message stands in arrays that all
/// batches use, so that keeping a row takes no memory of its own and its changes happen in place.
package struct KeptBarrageRows: KeptRows {
    private enum Entry: Sendable {
        case feed(numbers: Int, window: KeptWindow, details: Boxed<FeedDetails>)
        case calls(words: Range<Int>)
        case givers(UniqueCount)
        case backend(BackendWords)
    }

    private var entries: ContiguousArray<Entry> = []
    private var numbers: ContiguousArray<FeedNumbers> = []
    private var windows = KeptWindows()
    private var words: ContiguousArray<Int64> = []

    package init() {}

    package mutating func keep(_ row: BarrageRow) {
        switch row {
        case .feed(let feed):
            let window = self.windows.keep(feed.value.admissions)
            self.entries.append(.feed(numbers: self.numbers.count, window: window, details: feed.value.details))
            self.numbers.append(feed.value.numbers)
        case .calls(let window):
            let start = self.words.count
            self.words.append(contentsOf: window.words)
            self.entries.append(.calls(words: start..<self.words.count))
        case .givers(let count): self.entries.append(.givers(count))
        case .backend(let words): self.entries.append(.backend(words))
        }
    }

    package subscript(number: Int) -> BarrageRow {
        switch self.entries[number] {
        case .feed(let numbers, let window, let details):
            .feed(
                row: Boxed(
                    FeedRow(numbers: self.numbers[numbers], admissions: self.windows[window], details: details)))
        case .calls(let words): .calls(window: FateWindow(words: ContiguousArray(self.words[words])))
        case .givers(let count): .givers(count: count)
        case .backend(let words): .backend(words: words)
        }
    }

    package mutating func removeAll() {
        self.entries.removeAll(keepingCapacity: true)
        self.numbers.removeAll(keepingCapacity: true)
        self.windows.removeAll()
        self.words.removeAll(keepingCapacity: true)
    }
}

/// Where a window was kept.
struct KeptWindow: Sendable {
    fileprivate var admissions: Range<Int>
    fileprivate var tallies: Range<Int>
    fileprivate var head: Int
    fileprivate var count: Int
    fileprivate var sweepAt: Int64
}

/// Admission windows, one behind the other.
struct KeptWindows: Sendable {
    private var admissions: ContiguousArray<AdmissionWindow.Admission> = []
    private var tallies: ContiguousArray<AdmissionWindow.Tally> = []

    mutating func keep(_ window: AdmissionWindow) -> KeptWindow {
        let firstAdmission = self.admissions.count
        let firstTally = self.tallies.count
        self.admissions.append(contentsOf: window.ring)
        self.tallies.append(contentsOf: window.tallies)
        return KeptWindow(
            admissions: firstAdmission..<self.admissions.count, tallies: firstTally..<self.tallies.count,
            head: window.head, count: window.count, sweepAt: window.sweepAt)
    }

    subscript(kept: KeptWindow) -> AdmissionWindow {
        AdmissionWindow(
            ring: ContiguousArray(self.admissions[kept.admissions]), head: kept.head, count: kept.count,
            tallies: ContiguousArray(self.tallies[kept.tallies]), sweepAt: kept.sweepAt)
    }

    mutating func removeAll() {
        self.admissions.removeAll(keepingCapacity: true)
        self.tallies.removeAll(keepingCapacity: true)
    }
}
