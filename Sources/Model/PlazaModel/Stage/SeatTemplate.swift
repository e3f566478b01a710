// SPDX-License-Identifier: Apache-2.0

/// A template of a live's stage (R3.16, R3.18): the number of seats, and the layout of the users on them.
///
/// Voice templates have the numbers 1 to 199, video templates 200 to 999. A template is for single lives, for co-host
/// connections, or for both.
package struct SeatTemplate: Hashable, Sendable {
    /// The kind of live; a voice live cannot be connected with a video live.
    package enum Kind: Hashable, Sendable {
        case voice
        case video
    }

    /// The arrangement of the users on stage; a fixed one also shows empty seats.
    package enum Shape: Hashable, Sendable {
        /// Equal cells, whose size depends on the number of users; the last row is centred.
        case dynamicGrid
        /// The first user full screen; the other users in small squares at the right edge, from the bottom up.
        case floats
        /// Fixed: three rows of three cells.
        case fixedGrid
        /// Fixed: one tall window on the left, a column of six on the right.
        case fixedColumn
        /// Seat 0 has video; all other seats are audio only.
        case oneVideo
        /// Fixed: two windows side by side.
        case twoHosts
        /// The first user on the left, the other users in a column on the right.
        case leftFocus
        /// As many columns as rows of equal cells, filled row by row.
        case uniformGrid
        /// Fixed: two halves of six cells each.
        case twoGroups
        /// Fixed: rows of `columns` squares, one square per seat.
        case rows(columns: Int)
        /// Six squares for each of two lives side by side.
        case voiceGroups
    }

    /// The template's number in calls and records.
    package let id: Int
    package let name: String
    package let kind: Kind
    package let isLandscape: Bool
    /// The valid numbers of seats; a single value when the template fixes the number.
    package let seats: ClosedRange<Int>
    package let shape: Shape

    private init(
        _ id: Int, _ name: String, _ kind: Kind, seats: ClosedRange<Int>, _ shape: Shape, isLandscape: Bool = false
    ) {
        self.id = id
        self.name = name
        self.kind = kind
        self.isLandscape = isLandscape
        self.seats = seats
        self.shape = shape
    }

    /// The numbers of voice templates.
    package static var voiceIDs: ClosedRange<Int> { 1...199 }
    /// The numbers of video templates.
    package static var videoIDs: ClosedRange<Int> { 200...999 }

    /// Every template, by number.
    package static let all: [SeatTemplate] = [
        SeatTemplate(2, "hostVoiceConnection", .voice, seats: 12...12, .voiceGroups),
        SeatTemplate(50, "karaoke", .voice, seats: 0...Limits.seatCount, .rows(columns: 4)),
        SeatTemplate(70, "audioSalon", .voice, seats: 0...Limits.seatCount, .rows(columns: 5)),
        SeatTemplate(200, "videoLandscape4Seats", .video, seats: 4...4, .oneVideo, isLandscape: true),
        SeatTemplate(201, "videoLandscape10Seats", .video, seats: 10...10, .oneVideo, isLandscape: true),
        SeatTemplate(400, "hostVideoLandscapeFixed2Seats", .video, seats: 2...2, .twoHosts, isLandscape: true),
        SeatTemplate.dynamicGrid,
        SeatTemplate(601, "videoDynamicFloat7Seats", .video, seats: 7...7, .floats),
        SeatTemplate(602, "videoLeftFocus9Seats", .video, seats: 9...9, .leftFocus),
        SeatTemplate(603, "videoUniformGrid9Seats", .video, seats: 9...9, .uniformGrid),
        SeatTemplate(604, "videoPortrait10Seats", .video, seats: 10...10, .oneVideo),
        SeatTemplate(800, "videoFixedGrid9Seats", .video, seats: 9...9, .fixedGrid),
        SeatTemplate(801, "videoFixedFloat7Seats", .video, seats: 7...7, .fixedColumn),
        SeatTemplate(802, "portraitFixed6v6", .video, seats: 12...12, .twoGroups),
    ]

    /// The default template, also used instead of an unknown number.
    package static let dynamicGrid = SeatTemplate(600, "videoDynamicGrid9Seats", .video, seats: 9...9, .dynamicGrid)

    private static let byID = Dictionary(uniqueKeysWithValues: SeatTemplate.all.map { ($0.id, $0) })

    /// The template with this number; nil if there is none.
    package init?(_ id: Int) {
        guard let template = Self.byID[id] else { return nil }
        self = template
    }

    /// The template with this number, or the default template.
    package static func resolved(_ id: Int) -> SeatTemplate { SeatTemplate(id) ?? .dynamicGrid }

    /// The template for a connection of lives of `kind`; the number 0 means the default template of that kind.
    ///
    /// - Returns: the template; nil if it is not for co-host connections of that kind.
    package static func forConnection(_ id: Int, of kind: Kind) -> SeatTemplate? {
        switch kind {
        case .voice: id == 0 || id == 2 ? SeatTemplate(2) : nil
        // Two hosts, the dynamic grid (also for 0), and the floats.
        case .video: [0, 400, 600, 601].contains(id) ? SeatTemplate.resolved(id) : nil
        }
    }

    /// Whether the template fixes the number of seats.
    package var fixesSeatCount: Bool { self.seats.lowerBound == self.seats.upperBound }

    /// The number of seats nearest to `count` that the template allows.
    package func seatCount(requested count: Int) -> Int {
        min(max(count, self.seats.lowerBound), self.seats.upperBound)
    }
}
