// SPDX-License-Identifier: Apache-2.0

/// Leads from the hashes of keys to the slots where their rows stand: an open table of plain numbers.
///
/// It knows no keys: whoever asks compares the key of a slot, which is asked for only when the hashes are the same. So
/// a look-up touches one key, where a dictionary would copy each key that it passes.
@usableFromInline struct SlotIndex: Sendable {
    @usableFromInline struct Cell: Sendable {
        @usableFromInline var hash: Int
        /// Below 0: the cell is free.
        @usableFromInline var slot: Int

        @inlinable init(hash: Int, slot: Int) {
            self.hash = hash
            self.slot = slot
        }

        @inlinable static var free: Cell { Cell(hash: 0, slot: -1) }
    }

    /// None, or a power of two of which at most half are taken; each slot's cell is the first free one from its hash on.
    @usableFromInline var cells: ContiguousArray<Cell> = []
    @usableFromInline var count = 0

    @inlinable init() {}

    @inlinable var mask: Int { self.cells.count - 1 }

    /// The slot with this hash whose key is the wanted one.
    @inlinable func slot(_ hash: Int, where isWanted: (Int) -> Bool) -> Int? {
        if self.cells.isEmpty { return nil }
        var place = hash & self.mask
        while self.cells[place].slot >= 0 {
            if self.cells[place].hash == hash, isWanted(self.cells[place].slot) { return self.cells[place].slot }
            place = (place + 1) & self.mask
        }
        return nil
    }

    /// Leads to a slot to which nothing led before.
    @usableFromInline mutating func insert(_ slot: Int, _ hash: Int) {
        self.count += 1
        if 2 * self.count > self.cells.count {
            let known = self.cells
            self.cells = ContiguousArray(repeating: .free, count: max(16, 2 * known.count))
            for cell in known where cell.slot >= 0 { self.put(cell) }
        }
        self.put(Cell(hash: hash, slot: slot))
    }

    /// Leads to a slot no more.
    @usableFromInline mutating func remove(_ slot: Int, _ hash: Int) {
        var hole = hash & self.mask
        while self.cells[hole].slot != slot { hole = (hole + 1) & self.mask }
        // A cell behind the hole moves into it, unless its own search begins behind the hole.
        var place = (hole + 1) & self.mask
        while self.cells[place].slot >= 0 {
            let home = self.cells[place].hash & self.mask
            if (place - home) & self.mask >= (place - hole) & self.mask {
                self.cells[hole] = self.cells[place]
                hole = place
            }
            place = (place + 1) & self.mask
        }
        self.cells[hole] = .free
        self.count -= 1
    }

    private mutating func put(_ cell: Cell) {
        var place = cell.hash & self.mask
        while self.cells[place].slot >= 0 { place = (place + 1) & self.mask }
        self.cells[place] = cell
    }
}
