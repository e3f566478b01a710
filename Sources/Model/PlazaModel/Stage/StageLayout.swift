// SPDX-License-Identifier: Apache-2.0

/// The positions at which clients draw the users on stage, recomputed at each change of the seats (R9.9).
///
/// Positions and sizes are pixels of the canvas, which clients scale to fit. Regions lie inside the canvas and overlap
/// only if they have different `zorder`. A user who is heard but not shown has a region of size zero.
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

    /// The area in which one seat of one live is drawn.
    package struct Region: Hashable, Sendable, Codable {
        package var live: LiveID
        /// The occupant; empty for an empty seat.
        package var userID: UserID
        package var seatIndex: Int
        package var x: Int
        package var y: Int
        package var width: Int
        package var height: Int
        /// Regions with a higher value are drawn above regions with a lower one.
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

    /// An empty layout, for records without the field.
    package static let none = StageLayout(
        canvas: Canvas(width: 0, height: 0, templateID: SeatTemplate.dynamicGrid.id), regions: [])
}
