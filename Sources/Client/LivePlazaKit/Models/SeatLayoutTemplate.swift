// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel

/// How the users on seats are arranged.
public enum SeatLayoutTemplate: Sendable, Hashable {
    /// Up to nine pictures in a grid; the fewer users sit, the larger the cells.
    case videoDynamicGrid9Seats
    /// One picture that fills the stage, and up to six small ones at its edge.
    case videoDynamicFloat7Seats
    /// Nine pictures in a grid.
    case videoFixedGrid9Seats
    /// A large picture, and six small ones beside it.
    case videoFixedFloat7Seats
    /// One picture, and users who are only heard; for landscape screens.
    case videoLandscape4Seats
    /// Voices in rows of four.
    case karaoke(seatCount: Int)
    /// Voices in rows of five.
    case audioSalon(seatCount: Int)

    /// The number by which the protocol names the template.
    public var templateID: Int {
        switch self {
        case .karaoke: 50
        case .audioSalon: 70
        case .videoLandscape4Seats: 200
        case .videoDynamicGrid9Seats: 600
        case .videoDynamicFloat7Seats: 601
        case .videoFixedGrid9Seats: 800
        case .videoFixedFloat7Seats: 801
        }
    }

    /// The number of seats that the app has chosen; nil for templates with a fixed number.
    var seatCount: Int? {
        switch self {
        case .karaoke(let count), .audioSalon(let count): count
        default: nil
        }
    }

    /// Makes the template with this number; an unknown number gives the default, `videoDynamicGrid9Seats`.
    init(templateID: Int, seatCount: Int) {
        switch templateID {
        case 50: self = .karaoke(seatCount: seatCount)
        case 70: self = .audioSalon(seatCount: seatCount)
        case 200: self = .videoLandscape4Seats
        case 601: self = .videoDynamicFloat7Seats
        case 800: self = .videoFixedGrid9Seats
        case 801: self = .videoFixedFloat7Seats
        default: self = .videoDynamicGrid9Seats
        }
    }
}
