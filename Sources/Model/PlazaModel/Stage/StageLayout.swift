// SPDX-License-Identifier: Apache-2.0

/// The canvas of a live and the regions of those on stage, computed with each revision of the seat list (R9.9).
///
/// In pixels of a canvas that clients scale to fit. Regions lie inside the canvas and overlap only with different
/// `zorder`. A region of size zero belongs to a user who is heard but not shown.
package struct StageLayout: Hashable, Sendable, Codable {
    /// The surface that the regions lie on.
    package struct Canvas: Hashable, Sendable, Codable {
        package var width: Int
        package var height: Int
        package var templateID: Int

        package init(width: Int, height: Int, templateID: Int) {
            self.width = width
            self.height = height
            self.templateID = templateID
        }
    }

    /// Where one seat of one live is shown.
    package struct Region: Hashable, Sendable, Codable {
        package var live: LiveID
        /// The occupant; empty for an empty seat.
        package var userID: UserID
        package var seatIndex: Int
        package var x: Int
        package var y: Int
        package var width: Int
        package var height: Int
        /// Regions with a higher value are drawn above others.
        package var zorder: Int

        package init(
            live: LiveID, userID: UserID, seatIndex: Int, x: Int = 0, y: Int = 0, width: Int = 0, height: Int = 0,
            zorder: Int = 0
        ) {
            self.live = live
            self.userID = userID
            self.seatIndex = seatIndex
            self.x = x
            self.y = y
            self.width = width
            self.height = height
            self.zorder = zorder
        }
    }

    package var canvas: Canvas
    package var regions: [Region]

    package init(canvas: Canvas, regions: [Region]) {
        self.canvas = canvas
        self.regions = regions
    }

    /// The layout of a record without one.
    package static let none = StageLayout(
        canvas: Canvas(width: 0, height: 0, templateID: SeatTemplate.dynamicGrid.id), regions: [])
}
