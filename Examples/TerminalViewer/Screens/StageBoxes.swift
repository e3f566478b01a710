// SPDX-License-Identifier: Apache-2.0

/// Draws the seats, each at the position of its region on the stage.
enum StageBoxes {
    /// The smallest box that gets a frame.
    private static let minimumFramed = (columns: 10, rows: 3)

    static func draw(_ seats: [SeatBox], on canvas: inout Canvas, _ box: Box) {
        let boxes = Self.boxes(of: seats, in: box)
        for (seat, box) in zip(seats, boxes) where box.columns > 2 && box.rows > 0 {
            let style = seat.name.isEmpty ? Style.dim : Style(colour(of: seat.name), isBold: seat.isSpeaking)
            let hasFrame = box.columns >= Self.minimumFramed.columns && box.rows >= Self.minimumFramed.rows
            let innerColumns = box.columns - (hasFrame ? 2 : 1)
            let x = box.x + (hasFrame ? 1 : 0)
            if hasFrame { canvas.frame(box, style) }
            canvas.draw(DisplayText(Self.label(seat)).prefix(columns: innerColumns), x: x, y: box.y, style)
            guard hasFrame, !seat.name.isEmpty else { continue }
            let devices = DisplayText(Self.devices(seat)).prefix(columns: innerColumns)
            canvas.draw(devices, x: x + (innerColumns - devices.width) / 2, y: box.y + box.rows / 2, style)
        }
    }

    private static func label(_ seat: SeatBox) -> String {
        let number = seat.index + 1
        if !seat.name.isEmpty {
            return "\(number) \(seat.name)\(seat.isOwner ? " ★" : "")\(seat.isSpeaking ? " )))" : "")"
        }
        return seat.isLocked ? "\(number) locked" : "\(number) free"
    }

    private static func devices(_ seat: SeatBox) -> String {
        "mic \(seat.isMicrophoneOn ? "on" : "off") · cam \(seat.isCameraOn ? "on" : "off")"
    }

    /// The box of each seat: its region of the stage, or a cell of a grid if the seats have no regions.
    static func boxes(of seats: [SeatBox], in box: Box) -> [Box] {
        if seats.allSatisfy({ $0.region == nil }) { return Self.grid(seats.count, in: box) }
        return seats.map { seat in
            guard let region = seat.region else { return Box(x: 0, y: 0, columns: 0, rows: 0) }
            // Both edges are rounded to cells, not the sizes, so that neighbours neither overlap nor leave a gap.
            func edge(_ fraction: Double, _ length: Int) -> Int {
                Int((min(max(fraction, 0), 1) * Double(length)).rounded())
            }
            let (left, top) = (edge(region.x, box.columns), edge(region.y, box.rows))
            let (right, bottom) = (
                edge(region.x + region.width, box.columns), edge(region.y + region.height, box.rows)
            )
            return Box(x: box.x + left, y: box.y + top, columns: right - left, rows: bottom - top)
        }
    }

    private static func grid(_ count: Int, in box: Box) -> [Box] {
        guard count > 0, box.rows > 0 else { return [] }
        // As many rows as frames fit, but at most one row for each four seats, so that the boxes are wide.
        let rows = min(max(box.rows / Self.minimumFramed.rows, 1), (count + 3) / 4)
        let columns = (count + rows - 1) / rows
        return (0..<count).map { index in
            let (column, row) = (index % columns, index / columns)
            let (left, right) = (column * box.columns / columns, (column + 1) * box.columns / columns)
            let (top, bottom) = (row * box.rows / rows, (row + 1) * box.rows / rows)
            return Box(x: box.x + left, y: box.y + top, columns: right - left, rows: bottom - top)
        }
    }
}
