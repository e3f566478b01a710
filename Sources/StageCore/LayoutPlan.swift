// SPDX-License-Identifier: Apache-2.0
import PlazaModel

/// A rectangle of whole pixels with its height above the others.
struct LayoutFrame: Equatable {
    var x = 0
    var y = 0
    var width = 0
    var height = 0
    var zorder = 0

    /// Of those who are heard and not shown.
    static let none = LayoutFrame()
}

/// A part of a canvas that is cut into cells.
struct LayoutArea {
    var x = 0
    var y = 0
    var width: Int
    var height: Int

    /// Cell `index` of a grid that covers the area: its edges are rounded alike on both sides, so nothing is left over.
    func cell(_ index: Int, columns: Int, rows: Int) -> LayoutFrame {
        let (row, column) = (index / columns, index % columns)
        let (left, right) = (self.width * column / columns, self.width * (column + 1) / columns)
        let (top, bottom) = (self.height * row / rows, self.height * (row + 1) / rows)
        return LayoutFrame(x: self.x + left, y: self.y + top, width: right - left, height: bottom - top)
    }

    /// The grid's cells for `count` people; a last row that is not full stands in the middle.
    func cells(_ count: Int, columns: Int, rows: Int) -> [LayoutFrame] {
        let inLastRow = count % columns
        let cellWidth = self.width / columns
        return (0..<count).map { index in
            var frame = self.cell(index, columns: columns, rows: rows)
            if inLastRow > 0, index >= count - inLastRow {
                let position = index - (count - inLastRow)
                frame.x = self.x + (self.width - inLastRow * cellWidth) / 2 + position * cellWidth
                frame.width = cellWidth
            }
            return frame
        }
    }
}

/// The canvas of a shape and the frames on it, for a number of places: a matter of whole numbers alone.
struct LayoutPlan {
    /// The short and the long side of a video canvas: both can be halved, and cut into three, four and six.
    static let shortSide = 1080
    static let longSide = 1920
    /// What the tall window of a fixed column takes of the width, in hundredths (reference 9: about 77 %).
    static let columnShare = 77
    /// Squares beside or over the big picture.
    static let sidePlaces = 6
    /// Places of one group: of a half of twelve seats, or of one live in a voice connection.
    static let groupPlaces = Limits.voiceCoHostSeats

    var width: Int
    var height: Int
    var frames: [LayoutFrame]

    /// The plan of `template` for `count` places.
    init(_ template: SeatTemplate, count: Int) {
        let isWide = template.isLandscape
        self.width = isWide ? Self.longSide : Self.shortSide
        self.height = isWide ? Self.shortSide : Self.longSide
        let area = LayoutArea(width: self.width, height: self.height)
        switch template.shape {
        case .dynamicGrid: self.frames = Self.dynamicGrid(count, area)
        case .floats: self.frames = Self.floats(count, area)
        case .fixedGrid: self.frames = (0..<count).map { $0 < 9 ? area.cell($0, columns: 3, rows: 3) : .none }
        case .fixedColumn: self.frames = Self.fixedColumn(count, area)
        case .oneVideo: self.frames = (0..<count).map { $0 == 0 ? area.cell(0, columns: 1, rows: 1) : .none }
        case .twoHosts: self.frames = (0..<count).map { $0 < 2 ? area.cell($0, columns: 2, rows: 1) : .none }
        case .leftFocus: self.frames = Self.leftFocus(count, area)
        case .uniformGrid:
            let side = Self.root(count)
            self.frames = (0..<count).map { area.cell($0, columns: side, rows: side) }
        case .twoGroups: self.frames = (0..<count).map { Self.twoGroups($0, area) }
        case .rows(let columns):
            let rows = max(1, (count + columns - 1) / columns)
            self.height = rows * (self.width / columns)
            self.frames = LayoutArea(width: self.width, height: self.height).cells(count, columns: columns, rows: rows)
        case .voiceGroups:
            let square = self.width / Self.groupPlaces
            let groups = (count + Self.groupPlaces - 1) / Self.groupPlaces
            self.height = max(1, (groups + 1) / 2) * 2 * square
            self.frames = (0..<count).map { Self.voiceGroup($0, square: square) }
        }
    }

    private static func dynamicGrid(_ count: Int, _ area: LayoutArea) -> [LayoutFrame] {
        if count == 3 {
            let right = LayoutArea(x: area.width / 2, width: area.width - area.width / 2, height: area.height)
            return [area.cell(0, columns: 2, rows: 1)] + right.cells(2, columns: 1, rows: 2)
        }
        let columns = Self.root(count)
        return area.cells(count, columns: columns, rows: (count + columns - 1) / columns)
    }

    private static func floats(_ count: Int, _ area: LayoutArea) -> [LayoutFrame] {
        let side = area.width / 4
        return (0..<count).map { index in
            if index == 0 { return area.cell(0, columns: 1, rows: 1) }
            if index > Self.sidePlaces { return .none }
            return LayoutFrame(
                x: area.width - side, y: area.height - index * side, width: side, height: side, zorder: 1)
        }
    }

    private static func fixedColumn(_ count: Int, _ area: LayoutArea) -> [LayoutFrame] {
        let big = (area.width * Self.columnShare + 50) / 100
        let column = LayoutArea(x: big, width: area.width - big, height: area.height)
        return (0..<count).map { index in
            if index == 0 { return LayoutFrame(width: big, height: area.height) }
            return index > Self.sidePlaces ? .none : column.cell(index - 1, columns: 1, rows: Self.sidePlaces)
        }
    }

    private static func leftFocus(_ count: Int, _ area: LayoutArea) -> [LayoutFrame] {
        if count < 2 { return (0..<count).map { area.cell($0, columns: 1, rows: 1) } }
        let big = area.width * 2 / 3
        let column = LayoutArea(x: big, width: area.width - big, height: area.height)
        return [LayoutFrame(width: big, height: area.height)] + column.cells(count - 1, columns: 1, rows: count - 1)
    }

    /// Seats 0 to 5 on the left half, 6 to 11 on the right.
    private static func twoGroups(_ index: Int, _ area: LayoutArea) -> LayoutFrame {
        guard index < 2 * Self.groupPlaces else { return .none }
        let half = LayoutArea(
            x: index / Self.groupPlaces * (area.width / 2), width: area.width / 2, height: area.height)
        return half.cell(index % Self.groupPlaces, columns: 2, rows: 3)
    }

    /// Two groups side by side, three squares in a row.
    private static func voiceGroup(_ index: Int, square: Int) -> LayoutFrame {
        let (group, place) = (index / Self.groupPlaces, index % Self.groupPlaces)
        return LayoutFrame(
            x: (group % 2 * 3 + place % 3) * square, y: (group / 2 * 2 + place / 3) * square, width: square,
            height: square)
    }

    /// The smallest number whose square is at least `count`; 1 for nobody.
    private static func root(_ count: Int) -> Int {
        var root = 1
        while root * root < count { root += 1 }
        return root
    }
}
