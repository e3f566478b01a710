// SPDX-License-Identifier: Apache-2.0

/// Maps the hashes of keys to the slots of their rows: an open-addressing table of plain numbers.
///
/// The table holds no keys: the caller compares the key of a slot, and only when the hashes are equal. Therefore a
/// look-up reads one key, while a dictionary would copy each key that it probes.
@usableFromInline struct SlotIndex: Sendable {
    /// One place of the table: free, or the index of a slot with the hash of the slot's key.
    @usableFromInline struct Cell: Sendable {
        @usableFromInline var hash: Int
        /// The index of the slot; negative when the cell is free.
        @usableFromInline var slot: Int

        @inlinable init(hash: Int, slot: Int) {
            self.hash = hash
            self.slot = slot
        }

        @inlinable static var free: Cell { Cell(hash: 0, slot: -1) }
    }

    /// The table; its size is zero or a power of two, and at most half of the cells are taken.
    ///
    /// The search for a hash begins at the position `hash & mask`, the hash's home, and continues cell by cell. A slot
    /// is stored in the first free cell of this search.
    @usableFromInline var cells: ContiguousArray<Cell> = []
    /// The number of stored slots.
    @usableFromInline var count = 0

    @inlinable init() {}

    @inlinable var mask: Int { self.cells.count - 1 }

    /// The slot that was added under this hash and that `isMatch` accepts; nil when there is none.
    @inlinable func slot(_ hash: Int, where isMatch: (Int) -> Bool) -> Int? {
        if self.cells.isEmpty { return nil }
        var position = hash & self.mask
        while self.cells[position].slot >= 0 {
            if self.cells[position].hash == hash, isMatch(self.cells[position].slot) {
                return self.cells[position].slot
            }
            position = (position + 1) & self.mask
        }
        return nil
    }

    /// Adds a slot under a hash, and doubles the table when half of it is taken.
    @usableFromInline mutating func insert(_ slot: Int, hash: Int) {
        self.count += 1
        if 2 * self.count > self.cells.count {
            let oldCells = self.cells
            self.cells = ContiguousArray(repeating: .free, count: max(16, 2 * oldCells.count))
            for cell in oldCells where cell.slot >= 0 { self.store(cell) }
        }
        self.store(Cell(hash: hash, slot: slot))
    }

    /// Removes a slot, which must have been added under this hash.
    @usableFromInline mutating func remove(_ slot: Int, hash: Int) {
        var hole = hash & self.mask
        while self.cells[hole].slot != slot { hole = (hole + 1) & self.mask }
        // A search stops at a free cell, so a hole would hide the cells after it. Each later cell therefore moves into
        // the hole, unless the home of its hash is after the hole. Both distances are counted back from `position`,
        // around the beginning of the table.
        var position = (hole + 1) & self.mask
        while self.cells[position].slot >= 0 {
            let home = self.cells[position].hash & self.mask
            if (position - home) & self.mask >= (position - hole) & self.mask {
                self.cells[hole] = self.cells[position]
                hole = position
            }
            position = (position + 1) & self.mask
        }
        self.cells[hole] = .free
        self.count -= 1
    }

    /// Stores the cell in the first free cell of its search.
    private mutating func store(_ cell: Cell) {
        var position = cell.hash & self.mask
        while self.cells[position].slot >= 0 { position = (position + 1) & self.mask }
        self.cells[position] = cell
    }
}
