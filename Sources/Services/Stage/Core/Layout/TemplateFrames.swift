// SPDX-License-Identifier: Apache-2.0
import PlazaModel

/// A rectangle of whole pixels with its z-order.
struct LayoutFrame: Equatable {
    var x = 0
    var y = 0
    var width = 0
    var height = 0
    var zorder = 0

    /// The empty frame of a user who is heard but not shown.
    static let none = LayoutFrame()
}

/// A rectangle of the canvas that is divided into cells.
struct LayoutArea {
    var x = 0
    var y = 0
    var width: Int
    var height: Int

    /// The frame of cell `index` in a grid that covers the area.
    ///
    /// Neighbours share their rounded edges, so there are no gaps.
    func cell(_ index: Int, columns: Int, rows: Int) -> LayoutFrame {
        let (row, column) = (index / columns, index % columns)
        let (left, right) = (self.width * column / columns, self.width * (column + 1) / columns)
        let (top, bottom) = (self.height * row / rows, self.height * (row + 1) / rows)
        return LayoutFrame(x: self.x + left, y: self.y + top, width: right - left, height: bottom - top)
    }

    /// The frames of `count` cells of a grid that covers the area; an incomplete last row is centred.
    func cells(_ count: Int, columns: Int, rows: Int) -> [LayoutFrame] {
        // The number of cells in an incomplete last row; 0 if the last row is complete.
        let lastRowCount = count % columns
        let cellWidth = self.width / columns
        return (0..<count).map { index in
            var frame = self.cell(index, columns: columns, rows: rows)
            if lastRowCount > 0, index >= count - lastRowCount {
                let position = index - (count - lastRowCount)
                frame.x = self.x + (self.width - lastRowCount * cellWidth) / 2 + position * cellWidth
                frame.width = cellWidth
            }
            return frame
        }
    }
}

/// The canvas of a layout template and its frames, in whole pixels.
struct TemplateFrames {
    /// The sides of a video canvas; both are divisible by 2, 3, 4 and 6.
    static let shortSide = 1080
    static let longSide = 1920
    /// The width of the large frame of a fixed column, in percent of the canvas (R9.3: about 77 %).
    static let largeFramePercent = 77
    /// The maximum number of small frames beside or over the large frame.
    static let maxSmallFrames = 6
    /// The number of frames of one group, six: half of a layout of twelve seats, or one live of a voice connection.
    static let framesPerGroup = Limits.voiceCoHostSeats

    var width: Int
    var height: Int
    var frames: [LayoutFrame]

    /// The canvas of `template` with `count` frames, one for each seat or user in order.
    ///
    /// A frame for which the template has no place is `none`.
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
            let side = Self.squareRootRoundedUp(count)
            self.frames = (0..<count).map { area.cell($0, columns: side, rows: side) }
        case .twoGroups: self.frames = (0..<count).map { Self.twoGroups($0, area) }
        case .rows(let columns):
            // The cells are squares, so the height of the canvas follows from the number of rows.
            let rows = max(1, (count + columns - 1) / columns)
            self.height = rows * (self.width / columns)
            self.frames = LayoutArea(width: self.width, height: self.height).cells(count, columns: columns, rows: rows)
        case .voiceGroups:
            // Two groups, each three squares wide and two high, are side by side. So the canvas is six squares wide,
            // which is also the number of squares of a group.
            let squareSide = self.width / Self.framesPerGroup
            let groups = (count + Self.framesPerGroup - 1) / Self.framesPerGroup
            // Two groups per row, rounded up.
            let groupRows = max(1, (groups + 1) / 2)
            self.height = groupRows * 2 * squareSide
            self.frames = (0..<count).map { Self.voiceGroup($0, squareSide: squareSide) }
        }
    }

    /// Equal cells in a grid that is as square as possible; of three frames, the first one covers the left half.
    private static func dynamicGrid(_ count: Int, _ area: LayoutArea) -> [LayoutFrame] {
        if count == 3 {
            let right = LayoutArea(x: area.width / 2, width: area.width - area.width / 2, height: area.height)
            return [area.cell(0, columns: 2, rows: 1)] + right.cells(2, columns: 1, rows: 2)
        }
        let columns = Self.squareRootRoundedUp(count)
        return area.cells(count, columns: columns, rows: (count + columns - 1) / columns)
    }

    /// A full-screen frame, and small squares above each other at the right edge, from the bottom up.
    private static func floats(_ count: Int, _ area: LayoutArea) -> [LayoutFrame] {
        let side = area.width / 4
        return (0..<count).map { index in
            if index == 0 { return area.cell(0, columns: 1, rows: 1) }
            if index > Self.maxSmallFrames { return .none }
            return LayoutFrame(
                x: area.width - side, y: area.height - index * side, width: side, height: side, zorder: 1)
        }
    }

    /// A large frame on the left, and a column of six small frames on the right.
    private static func fixedColumn(_ count: Int, _ area: LayoutArea) -> [LayoutFrame] {
        // The division by 100 is for the percentage; 50 is added so that it rounds to the nearest pixel.
        let largeWidth = (area.width * Self.largeFramePercent + 50) / 100
        let column = LayoutArea(x: largeWidth, width: area.width - largeWidth, height: area.height)
        return (0..<count).map { index in
            if index == 0 { return LayoutFrame(width: largeWidth, height: area.height) }
            return index > Self.maxSmallFrames ? .none : column.cell(index - 1, columns: 1, rows: Self.maxSmallFrames)
        }
    }

    /// A frame with two thirds of the width, and the other frames in a column on the right.
    private static func leftFocus(_ count: Int, _ area: LayoutArea) -> [LayoutFrame] {
        if count < 2 { return (0..<count).map { area.cell($0, columns: 1, rows: 1) } }
        let largeWidth = area.width * 2 / 3
        let column = LayoutArea(x: largeWidth, width: area.width - largeWidth, height: area.height)
        return [LayoutFrame(width: largeWidth, height: area.height)]
            + column.cells(count - 1, columns: 1, rows: count - 1)
    }

    /// The frame of a seat: seats 0 to 5 are in the left half, seats 6 to 11 in the right half, in three rows of two.
    private static func twoGroups(_ index: Int, _ area: LayoutArea) -> LayoutFrame {
        guard index < 2 * Self.framesPerGroup else { return .none }
        let half = LayoutArea(
            x: index / Self.framesPerGroup * (area.width / 2), width: area.width / 2, height: area.height)
        return half.cell(index % Self.framesPerGroup, columns: 2, rows: 3)
    }

    /// A frame of a voice connection: each group has two rows of three squares, and two groups are side by side.
    private static func voiceGroup(_ index: Int, squareSide: Int) -> LayoutFrame {
        let (group, position) = (index / Self.framesPerGroup, index % Self.framesPerGroup)
        return LayoutFrame(
            x: (group % 2 * 3 + position % 3) * squareSide, y: (group / 2 * 2 + position / 3) * squareSide,
            width: squareSide, height: squareSide)
    }

    /// The smallest number whose square is at least `count`; at least 1.
    private static func squareRootRoundedUp(_ count: Int) -> Int {
        var root = 1
        while root * root < count { root += 1 }
        return root
    }
}
