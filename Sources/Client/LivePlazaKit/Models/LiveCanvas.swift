// SPDX-License-Identifier: Apache-2.0
public import Foundation
internal import PlazaModel

/// Where a seat is on the canvas, in the canvas' pixels.
public struct RegionInfo: Sendable, Hashable {
    /// The distance from the left edge.
    public var x: CGFloat
    /// The distance from the top edge.
    public var y: CGFloat
    /// The width; 0 if the user is heard but not seen.
    public var w: CGFloat
    /// The height.
    public var h: CGFloat
    /// Regions with a higher value are drawn above those with a lower one.
    public var zorder: Int

    /// Makes a region.
    public init(x: CGFloat = 0, y: CGFloat = 0, w: CGFloat = 0, h: CGFloat = 0, zorder: Int = 0) {
        self.x = x
        self.y = y
        self.w = w
        self.h = h
        self.zorder = zorder
    }

    init(_ region: StageLayout.Region) {
        self.init(
            x: CGFloat(region.x), y: CGFloat(region.y), w: CGFloat(region.width), h: CGFloat(region.height),
            zorder: region.zorder)
    }
}

/// The surface on which seats lie; an app scales it to its view.
public struct LiveCanvas: Sendable, Hashable {
    /// The template that arranges the seats.
    public var templateID: UInt
    /// The width in pixels.
    public var w: CGFloat
    /// The height in pixels.
    public var h: CGFloat

    /// Makes a canvas; the template 600 is the grid for up to nine pictures.
    public init(templateID: UInt = 600, w: CGFloat = 0, h: CGFloat = 0) {
        self.templateID = templateID
        self.w = w
        self.h = h
    }
}
