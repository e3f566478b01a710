// SPDX-License-Identifier: Apache-2.0
import MachineKit
import MachineTestSupport
import PlazaModel
import StageCore
import Testing

/// Properties that the layouts of all templates have.
struct StageLayoutPropertyTests {
    /// Rules: R9.9.
    @Test(arguments: SeatTemplate.all)
    func `every template shows each occupant once, inside the canvas, and overlapping frames differ in z-order`(
        template: SeatTemplate
    ) {
        var random = SeededRandom(seed: UInt64(template.id))
        for seatCount in template.fixesSeatCount ? [template.seats.lowerBound] : [0, 1, 2, 5, 8, 13, 50] {
            for users in 0...seatCount {
                let occupied = Array((0..<seatCount).shuffled(using: &random).prefix(users))
                let layout = StageLayoutTests.layout(
                    template: template.id, occupied: occupied, requestedSeats: seatCount)
                #expect(Self.faults(of: layout) == [], "\(users) of \(seatCount)")
                let shown = layout.regions.filter { !$0.userID.text.isEmpty }
                #expect(Set(shown.map(\.seatIndex)) == Set(occupied), "expected every occupant")
                #expect(shown.count == users, "expected every occupant only once")
                let repeated = StageLayoutTests.layout(
                    template: template.id, occupied: occupied.reversed(), requestedSeats: seatCount)
                #expect(repeated == layout, "the same seats have the same layout")
            }
        }
    }

    @Test(arguments: [-1, 6, 99, Int.max])
    func `a seat of another live is placed by its position, whatever its index is`(index: Int) {
        var duet = StageLayoutTests.member("duet", occupied: [0, 1])
        duet.seats = duet.seats?.map { seat in
            var seat = seat
            seat.index = index
            return seat
        }
        let view = ConnectionView(
            id: "c-1", members: [StageLayoutTests.member("room", occupied: [0]), duet], templateID: 2)
        let layout = StageLayout.computed(
            live: "room", seats: [Seat(index: 0)], template: .resolved(50), connection: view)
        #expect(layout.regions.count == 1 + 2, "one seat of room, and two of duet")
        #expect(Self.faults(of: layout) == [])
    }

    @Test(arguments: [400, 600, 601], UInt64(1)...4)
    func `the layout of every connection of two to nine lives stays inside the canvas`(template: Int, seed: UInt64) {
        var random = SeededRandom(seed: seed)
        for liveCount in 2...Limits.coHostLives {
            let members = (0..<liveCount).map { number in
                let occupied = Array((0..<9).shuffled(using: &random).prefix(Int.random(in: 1...9, using: &random)))
                return StageLayoutTests.member(
                    number == 0 ? "room" : LiveID("live\(number)"), occupied: occupied.sorted())
            }
            let view = ConnectionView(id: "c-1", members: members.shuffled(using: &random), templateID: template)
            let layout = StageLayoutTests.layout(template: 600, occupied: [0, 3], connection: view)
            #expect(Self.faults(of: layout) == [], "\(liveCount) lives")
            // Two seats of `room` are taken. The other lives report only taken seats.
            let occupantCount = members.reduce(2) { $0 + ($1.seats ?? []).count }
            #expect(layout.regions.count == occupantCount)
            let shownUsers = Set(layout.regions.map { "\($0.live)/\($0.userID)" })
            #expect(shownUsers.count == occupantCount, "expected every occupant once")
        }
    }

    /// Rules: R9.10.
    @Test func `a grid with full rows covers its canvas without gaps`() {
        // The frames do not overlap, so they cover the canvas when they have its area.
        for users in [1, 2, 3, 4, 6, 9] {
            let layout = StageLayoutTests.layout(template: 600, occupied: Array(0..<users))
            let area = layout.regions.reduce(0) { $0 + $1.width * $1.height }
            #expect(area == layout.canvas.width * layout.canvas.height, "\(users) users")
        }
        for template in [800, 801, 802, 400] {
            let layout = StageLayoutTests.layout(template: template, occupied: [])
            let area = layout.regions.reduce(0) { $0 + $1.width * $1.height }
            #expect(area == layout.canvas.width * layout.canvas.height, "\(template)")
        }
    }

    /// Lists the faults of a layout; a correct layout has none.
    private static func faults(of layout: StageLayout) -> [String] {
        var faults: [String] = []
        let shown = layout.regions.filter { $0.width > 0 || $0.height > 0 }
        for region in layout.regions {
            if region.x < 0 || region.y < 0 || region.width < 0 || region.height < 0
                || region.x + region.width > layout.canvas.width || region.y + region.height > layout.canvas.height
            {
                faults.append("\(region) is outside")
            }
            if (region.width == 0) != (region.height == 0) { faults.append("\(region) has only one dimension") }
        }
        for (index, region) in shown.enumerated() {
            for other in shown.dropFirst(index + 1) where region.zorder == other.zorder {
                let isApart =
                    region.x + region.width <= other.x || other.x + other.width <= region.x
                    || region.y + region.height <= other.y
                    || other.y + other.height <= region.y
                if !isApart { faults.append("\(region) and \(other) overlap") }
            }
        }
        if layout.canvas.width <= 0 || layout.canvas.height <= 0 { faults.append("the canvas has no area") }
        return faults
    }
}
