// SPDX-License-Identifier: Apache-2.0
package import PlazaModel

/// A seat of the layout, with the number of its frame.
private struct PlacedSeat {
    /// The index of the seat's frame in `TemplateFrames.frames`.
    var frameIndex: Int
    var live: LiveID
    var seatIndex: Int
    /// The occupant; empty when the seat is empty.
    var userID: UserID
}

extension StageLayout {
    /// The layout of a stage.
    ///
    /// Without a connection, the layout shows the live's seats in the live's template. In a connection, the layout
    /// shows the seats of all connected lives in the connection's template.
    package static func computed(
        live: LiveID, seats: [Seat], template: SeatTemplate, connection: ConnectionView?
    ) -> StageLayout {
        guard let connection, connection.members.count > 1,
            let connectionTemplate = SeatTemplate.forConnection(connection.templateID, of: template.kind)
        else { return StageLayout(live, seats, template) }
        let lives = Self.connectedLives(live, seats, connection)
        let placedSeats = connectionTemplate.shape == .voiceGroups ? Self.groups(lives) : Self.hostsFirst(lives)
        return StageLayout(connectionTemplate, placedSeats)
    }

    /// The layout of a connection; the last placed seat must have the highest frame index.
    private init(_ template: SeatTemplate, _ placedSeats: [PlacedSeat]) {
        let templateFrames = TemplateFrames(template, count: (placedSeats.last?.frameIndex ?? -1) + 1)
        self.init(
            canvas: Canvas(width: templateFrames.width, height: templateFrames.height, templateID: template.id),
            regions: placedSeats.map { placedSeat in
                var region = Region(live: placedSeat.live, userID: placedSeat.userID, seatIndex: placedSeat.seatIndex)
                region.setFrame(templateFrames.frames[placedSeat.frameIndex])
                return region
            })
    }

    /// The layout of one live's seats.
    ///
    /// Templates whose frames depend on the number of users show only occupied seats. Other templates show all seats.
    private init(_ live: LiveID, _ seats: [Seat], _ template: SeatTemplate) {
        let showsOccupiedSeatsOnly =
            switch template.shape {
            case .dynamicGrid, .floats, .leftFocus, .uniformGrid: true
            case .fixedGrid, .fixedColumn, .oneVideo, .twoHosts, .twoGroups, .rows, .voiceGroups: false
            }
        var regions: [Region] = []
        // Usually no more than four seats are occupied.
        regions.reserveCapacity(showsOccupiedSeatsOnly ? min(4, seats.count) : seats.count)
        for index in seats.indices {
            let user = seats[index].occupant?.user.userID
            if user != nil || !showsOccupiedSeatsOnly {
                regions.append(Region(live: live, userID: user ?? "", seatIndex: index))
            }
        }
        let templateFrames = TemplateFrames(template, count: regions.count)
        for index in regions.indices { regions[index].setFrame(templateFrames.frames[index]) }
        self.init(
            canvas: Canvas(width: templateFrames.width, height: templateFrames.height, templateID: template.id),
            regions: regions)
    }

    /// The connected lives with their seats: `live` first, then the others in the order in which they joined.
    private static func connectedLives(
        _ live: LiveID, _ seats: [Seat], _ connection: ConnectionView
    ) -> [(live: LiveID, seats: [Seat])] {
        [(live, seats)]
            + connection.members.filter { $0.live != live }.map { member in
                // A live that has not reported its seats yet is shown with its host.
                let host = SeatUser(user: member.host, role: .owner, live: member.live)
                return (member.live, member.seats ?? [Seat(index: 0, occupant: host)])
            }
    }

    /// The placed seats of all occupants: first the occupant of the lowest occupied seat of each live, which is usually
    /// its host, then all others.
    private static func hostsFirst(_ lives: [(live: LiveID, seats: [Seat])]) -> [PlacedSeat] {
        var firstSeats: [PlacedSeat] = []
        var otherSeats: [PlacedSeat] = []
        for (live, seats) in lives {
            let occupiedSeats = seats.compactMap { seat in
                seat.occupant.map {
                    // The frame index is set below, when the order is known.
                    PlacedSeat(frameIndex: 0, live: live, seatIndex: seat.index, userID: $0.user.userID)
                }
            }
            firstSeats += occupiedSeats.prefix(1)
            otherSeats += occupiedSeats.dropFirst()
        }
        var placedSeats = firstSeats + otherSeats
        for index in placedSeats.indices { placedSeats[index].frameIndex = index }
        return placedSeats
    }

    /// The first seats of each live, placed as one group for each live.
    ///
    /// The frame index is computed from the seat's position in the list, because the seat index that another live
    /// reports may be any number.
    private static func groups(_ lives: [(live: LiveID, seats: [Seat])]) -> [PlacedSeat] {
        lives.enumerated().flatMap { groupIndex, member in
            member.seats.prefix(TemplateFrames.framesPerGroup).enumerated().map { position, seat in
                PlacedSeat(
                    frameIndex: groupIndex * TemplateFrames.framesPerGroup + position, live: member.live,
                    seatIndex: seat.index, userID: seat.occupant?.user.userID ?? "")
            }
        }
    }
}

extension StageLayout.Region {
    fileprivate mutating func setFrame(_ frame: LayoutFrame) {
        self.x = frame.x
        self.y = frame.y
        self.width = frame.width
        self.height = frame.height
        self.zorder = frame.zorder
    }
}
