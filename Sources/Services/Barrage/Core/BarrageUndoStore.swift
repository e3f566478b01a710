// SPDX-License-Identifier: Apache-2.0
import MachineKit

/// Saves the fan-out's rows, for the undo of a batch that aborts, in arrays that all batches reuse.
///
/// The arrays keep their capacity, so saving a row usually allocates no memory. The saved copy shares only the details
/// of a feed with the current row. All other content of the current row can therefore be changed in place. The details
/// seldom change, and are copied when they do.
package struct BarrageUndoStore: RowUndoStore {
    /// A saved row: its content, or its positions in the arrays below.
    private enum Entry: Sendable {
        case feed(numbersIndex: Int, admissionWindow: SavedAdmissionWindow, details: CopyOnWrite<FeedDetails>)
        case calls(wordsRange: Range<Int>)
        case givers(UniqueCount)
        case backend(BackendErrors)
    }

    private var entries: ContiguousArray<Entry> = []
    /// The saved parts of feeds that change with each message.
    private var numbers: ContiguousArray<FeedNumbers> = []
    private var admissionWindows = AdmissionWindowUndoStore()
    /// The words (numbers) of the saved idempotency windows, as `PackedOutcomes` lays them out.
    private var words: ContiguousArray<Int64> = []

    package init() {}

    package mutating func save(_ row: BarrageRow) {
        switch row {
        case .feed(let feed):
            let savedWindow = self.admissionWindows.save(feed.value.admissions)
            self.entries.append(
                .feed(numbersIndex: self.numbers.count, admissionWindow: savedWindow, details: feed.value.details))
            self.numbers.append(feed.value.numbers)
        case .calls(let window):
            let start = self.words.count
            self.words.append(contentsOf: window.storage.words)
            self.entries.append(.calls(wordsRange: start..<self.words.count))
        case .givers(let count): self.entries.append(.givers(count))
        case .backend(let errors): self.entries.append(.backend(errors))
        }
    }

    /// The row that was saved as number `number`; the first saved row has number 0.
    package subscript(number: Int) -> BarrageRow {
        switch self.entries[number] {
        case .feed(let numbersIndex, let savedWindow, let details):
            .feed(
                row: CopyOnWrite(
                    FeedRow(
                        numbers: self.numbers[numbersIndex], admissions: self.admissionWindows[savedWindow],
                        details: details)))
        case .calls(let wordsRange):
            .calls(window: MessageWindow(storage: PackedOutcomes(words: ContiguousArray(self.words[wordsRange]))))
        case .givers(let count): .givers(count: count)
        case .backend(let errors): .backend(words: errors)
        }
    }

    package mutating func removeAll() {
        self.entries.removeAll(keepingCapacity: true)
        self.numbers.removeAll(keepingCapacity: true)
        self.admissionWindows.removeAll()
        self.words.removeAll(keepingCapacity: true)
    }
}

/// The position of a saved window in an `AdmissionWindowUndoStore`, and the window's parts that are not arrays.
struct SavedAdmissionWindow: Sendable {
    fileprivate var admissions: Range<Int>
    fileprivate var tallies: Range<Int>
    fileprivate var head: Int
    fileprivate var count: Int
    fileprivate var nextTallyExpiry: Int64
}

/// Saved admission windows, in contiguous arrays.
struct AdmissionWindowUndoStore: Sendable {
    private var admissions: ContiguousArray<AdmissionWindow.Admission> = []
    private var tallies: ContiguousArray<AdmissionWindow.Tally> = []

    /// Saves a copy of the window, and returns its position.
    mutating func save(_ window: AdmissionWindow) -> SavedAdmissionWindow {
        let firstAdmission = self.admissions.count
        let firstTally = self.tallies.count
        self.admissions.append(contentsOf: window.ring)
        self.tallies.append(contentsOf: window.tallies)
        return SavedAdmissionWindow(
            admissions: firstAdmission..<self.admissions.count, tallies: firstTally..<self.tallies.count,
            head: window.head, count: window.count, nextTallyExpiry: window.nextTallyExpiry)
    }

    /// The window that was saved at this position.
    subscript(saved: SavedAdmissionWindow) -> AdmissionWindow {
        AdmissionWindow(
            ring: ContiguousArray(self.admissions[saved.admissions]), head: saved.head, count: saved.count,
            tallies: ContiguousArray(self.tallies[saved.tallies]), nextTallyExpiry: saved.nextTallyExpiry)
    }

    mutating func removeAll() {
        self.admissions.removeAll(keepingCapacity: true)
        self.tallies.removeAll(keepingCapacity: true)
    }
}
