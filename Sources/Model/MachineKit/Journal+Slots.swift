// SPDX-License-Identifier: Apache-2.0

/// The slots of the rows, and the queue of their due times.
extension Journal {
    // MARK: - Slots

    /// The index of the slot of `key`, even if the open batch removed the row; nil when there is no slot.
    @inlinable func findSlot(of key: Key, hash: Int) -> Int? {
        // A span reads the key in place; an array's subscript would copy it.
        self.slotIndex.slot(hash) { self.slots.span[$0].key == key }
    }

    /// Reserves a free or new slot for the key and returns its index; the slot has no row yet.
    @inlinable mutating func makeSlot(_ key: Key, _ hash: Int) -> Int {
        let index: Int
        if let freeIndex = self.freeSlots.popLast() {
            index = freeIndex
            self.slots[index].key = key
            self.slots[index].hash = hash
        } else {
            index = self.slots.count
            self.slots.append(Slot(key: key, hash: hash))
        }
        self.slotIndex.insert(index, hash: hash)
        return index
    }

    /// Frees the slot.
    ///
    /// Its key stays until another row uses the slot, but no look-up finds it.
    @inlinable mutating func freeSlot(_ index: Int) {
        self.slotIndex.remove(index, hash: self.slots[index].hash)
        self.freeSlots.append(index)
    }

    /// Marks the slot as changed and saves its row for undo; does nothing after the first change in a batch.
    @inlinable mutating func saveForUndo(_ index: Int) {
        guard case .none = self.slots[index].change else { return }
        self.changedSlots.append(index)
        self.slots[index].saveForUndo(in: &self.undoStore, under: &self.undoCount)
    }

    /// The row that a changed slot had before the open batch; nil when the slot was empty.
    @inlinable func previousRow(_ index: Int) -> Row? {
        guard case .replaced(let number) = self.slots[index].change else { return nil }
        return self.undoStore[number]
    }

    /// Forgets which slots the batch changed, and the rows that were saved for undo.
    @inlinable mutating func clearChanges() {
        self.changedSlots.removeAll(keepingCapacity: true)
        self.undoStore.removeAll()
        self.undoCount = 0
    }

    /// Puts `row` into the slot, or empties the slot when `row` is nil; saves nothing for undo.
    @inlinable mutating func replace(_ index: Int, by row: Row?) {
        let isTaken = row != nil
        self.count += (isTaken ? 1 : 0) - (self.slots[index].isTaken ? 1 : 0)
        self.slots[index].row = row
        self.slots[index].isTaken = isTaken
        self.setDue(index, row?.due)
    }

    // MARK: - Due times

    /// Whether an entry of the queue is the present due time of its row, not a former one.
    @inlinable func isCurrent(_ entry: DueQueue<Key>.Entry) -> Bool {
        guard let index = self.findSlot(of: entry.key, hash: entry.key.hashValue) else { return false }
        return self.slots[index].due == entry.time
    }

    /// Records when the row in a slot is due, and adds a changed due time to the queue.
    @inlinable mutating func setDue(_ index: Int, _ due: Timestamp?) {
        guard self.slots[index].due != due else { return }
        self.slots[index].due = due
        if let due { self.dueTimes.push(due, self.slots[index].key) }
    }

    /// Rebuilds the queue without the former due times.
    @inlinable mutating func rebuildDueTimes() {
        self.dueTimes = DueQueue()
        for slot in self.slots {
            if let due = slot.due { self.dueTimes.push(due, slot.key) }
        }
    }
}
