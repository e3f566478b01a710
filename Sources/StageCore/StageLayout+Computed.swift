// SPDX-License-Identifier: Apache-2.0
package import PlazaModel

/// A seat as the layout sees it: where it comes among all places, and who is there.
private struct Spot {
    var place: Int
    var live: LiveID
    var seatIndex: Int
    /// Empty when the seat is.
    var userID: UserID
}

extension StageLayout {
    /// The layout of a stage: of its own seats by its own template, or of all connected lives by the connection's.
    package static func computed(
        live: LiveID, seats: [Seat], template: SeatTemplate, connection: ConnectionView?
    ) -> StageLayout {
        guard let connection, connection.members.count > 1,
            let shared = SeatTemplate.forConnection(connection.templateID, of: template.kind)
        else { return StageLayout(live, seats, template) }
        let stages = Self.stages(live, seats, connection)
        let spots = shared.shape == .voiceGroups ? Self.groups(stages) : Self.hostsFirst(stages)
        return StageLayout(shared, spots)
    }

    private init(_ template: SeatTemplate, _ spots: [Spot]) {
        let plan = LayoutPlan(template, count: (spots.last?.place ?? -1) + 1)
        self.init(
            canvas: Canvas(width: plan.width, height: plan.height, templateID: template.id),
            regions: spots.map { spot in
                var region = Region(live: spot.live, userID: spot.userID, seatIndex: spot.seatIndex)
                region.show(in: plan.frames[spot.place])
                return region
            })
    }

    /// Of one live's seats; templates that re-flow know people alone, the others show empty seats too.
    private init(_ live: LiveID, _ seats: [Seat], _ template: SeatTemplate) {
        let isForPeople =
            switch template.shape {
            case .dynamicGrid, .floats, .leftFocus, .uniformGrid: true
            case .fixedGrid, .fixedColumn, .oneVideo, .twoHosts, .twoGroups, .rows, .voiceGroups: false
            }
        var regions: [Region] = []
        // Few people sit, as a rule.
        regions.reserveCapacity(isForPeople ? min(4, seats.count) : seats.count)
        for index in seats.indices {
            let user = seats[index].occupant?.user.userID
            if user != nil || !isForPeople {
                regions.append(Region(live: live, userID: user ?? "", seatIndex: index))
            }
        }
        let plan = LayoutPlan(template, count: regions.count)
        for place in regions.indices { regions[place].show(in: plan.frames[place]) }
        self.init(
            canvas: Canvas(width: plan.width, height: plan.height, templateID: template.id), regions: regions)
    }

    /// The connected lives with their seats, this one first, the others in the order of joining.
    private static func stages(
        _ live: LiveID, _ seats: [Seat], _ connection: ConnectionView
    ) -> [(live: LiveID, seats: [Seat])] {
        [(live, seats)]
            + connection.members.filter { $0.live != live }.map { member in
                // One that has told nothing of its seats yet is there with its host.
                let host = SeatUser(user: member.host, role: .owner, live: member.live)
                return (member.live, member.seats ?? [Seat(index: 0, occupant: host)])
            }
    }

    /// One person of each live, the lowest seat first, and then everybody else.
    private static func hostsFirst(_ stages: [(live: LiveID, seats: [Seat])]) -> [Spot] {
        var first: [Spot] = []
        var others: [Spot] = []
        for (live, seats) in stages {
            let people = seats.compactMap { seat in
                seat.occupant.map {
                    Spot(place: 0, live: live, seatIndex: seat.index, userID: $0.user.userID)
                }
            }
            first += people.prefix(1)
            others += people.dropFirst()
        }
        var spots = first + others
        for place in spots.indices { spots[place].place = place }
        return spots
    }

    /// The first seats of each live, each live in a group of its own.
    private static func groups(_ stages: [(live: LiveID, seats: [Seat])]) -> [Spot] {
        stages.enumerated().flatMap { group, stage in
            stage.seats.prefix(LayoutPlan.groupPlaces).map { seat in
                Spot(
                    place: group * LayoutPlan.groupPlaces + seat.index, live: stage.live, seatIndex: seat.index,
                    userID: seat.occupant?.user.userID ?? "")
            }
        }
    }
}

extension StageLayout.Region {
    fileprivate mutating func show(in frame: LayoutFrame) {
        self.x = frame.x
        self.y = frame.y
        self.width = frame.width
        self.height = frame.height
        self.zorder = frame.zorder
    }
}
