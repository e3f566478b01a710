// SPDX-License-Identifier: Apache-2.0

/// Rows that one step looks at: each is read once, changed here, and written once.
///
/// A step looks at few, so they are found by walking; by index, for an iterator would copy each row.
struct Shelf<ID: Equatable, Row> {
    private struct Place {
        let id: ID
        var row: Row?
        var isChanged: Bool
    }

    private var places: [Place] = []

    /// Where the row stands, if it was fetched before.
    func place(of id: ID) -> Int? {
        for place in self.places.indices where self.places[place].id == id { return place }
        return nil
    }

    /// Puts down a row that was fetched; nil: there is none.
    mutating func add(_ id: ID, _ row: Row?) -> Int {
        self.places.append(Place(id: id, row: row, isChanged: false))
        return self.places.count - 1
    }

    /// The row at a place, to be read where it stands or replaced; nil: there is none.
    subscript(place: Int) -> Row? {
        get { self.places[place].row }
        set {
            self.places[place].row = newValue
            self.places[place].isChanged = true
        }
    }

    /// Reads a row where it stands.
    func read<Result>(_ place: Int, _ body: (borrowing Row) -> Result) -> Result? {
        switch self.places[place].row {
        case .some(let row): body(row)
        case nil: nil
        }
    }

    /// Changes the row at a place, if there is one.
    mutating func update(_ place: Int, _ change: (inout Row) -> Void) {
        // Taken out for the time, so that nobody shares what it holds.
        guard var row = self.places[place].row.take() else { return }
        change(&row)
        self.places[place].row = row
        self.places[place].isChanged = true
    }

    /// Gives out what has changed, in the order in which it was fetched, and is empty then.
    mutating func empty(_ body: (ID, consuming Row?) -> Void) {
        for place in self.places.indices where self.places[place].isChanged {
            body(self.places[place].id, self.places[place].row.take())
        }
        self.places = []
    }
}
