// SPDX-License-Identifier: Apache-2.0
internal import MachineKit

extension StrictJSON {
    /// Whether a name or a string in the value at `index` has more than `String.maxMarks` combining marks in a row.
    ///
    /// Such a text is rejected before anything compares or hashes it, which would take long.
    func hasLongMarkRun(at index: Int) -> Bool {
        (index..<self.index(after: index)).contains { entryIndex in
            self.entries[entryIndex].kind == .text && self.text(at: entryIndex).hasLongMarkRun
        }
    }
}
