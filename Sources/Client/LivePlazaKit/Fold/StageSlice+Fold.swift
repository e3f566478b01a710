// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel

extension StageSlice {
    /// Applies an input to the stage: the seats, connection, battle and layout of a live, which are one record.
    mutating func reduce(_ input: FoldInput) {
        self.events = []
        switch input {
        case .item(let entry):
            guard case .stage(let record, let events) = entry.content else { return }
            self.show(record)
            self.events = events
        case .snapshot(.details(let details)):
            if let record = details.stage { self.show(record) }
        default: break
        }
    }
}
