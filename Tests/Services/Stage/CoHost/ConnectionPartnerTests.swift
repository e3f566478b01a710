// SPDX-License-Identifier: Apache-2.0
import MachineKit
import MachineTestSupport
import PlazaModel
import Testing

@testable import StageCore

/// What the members of a connection see of each other: seats and names.
struct ConnectionPartnerTests {
    /// Rules: R7.12.
    @Test func `members see each other's occupied seats, but a live gets no report of its own seats`() {
        var harness = ConnectionHarness(["arena", "bistro", "cafe"])
        harness.connect("arena", "bistro", "cafe")
        let seats = ConnectionHarness.seats("bistro", occupied: 3)
        let effects = harness.handle(.seatsChanged(live: "bistro", seats: seats))
        #expect(effects.notifiedLives == ["arena", "cafe"])
        // The report to arena has no seats of arena itself, and none of cafe, which has not reported any.
        #expect(effects.reportedConnection("arena")?.members.map(\.seats) == [nil, Array(seats.prefix(3)), nil])
        #expect(effects.reportedEvents("arena") == [])
        #expect(harness.handle(.seatsChanged(live: "bistro", seats: seats)) == [], "the seats have not changed")
        let guestSatDown = harness.handle(
            .seatsChanged(live: "cafe", seats: ConnectionHarness.seats("cafe", occupied: 1)))
        #expect(guestSatDown.reportedConnection("bistro")?.members.map(\.seats?.count) == [nil, nil, 1])
        let guestStoodUp = harness.handle(
            .seatsChanged(live: "cafe", seats: ConnectionHarness.seats("cafe", occupied: 0)))
        #expect(
            guestStoodUp.reportedConnection("arena")?.members.map(\.seats?.count) == [nil, 3, 0],
            "cafe has no occupied seat any more, bistro has three")
        _ = harness.exit("bistro")
        #expect(harness.live("bistro")?.seats == nil)
        #expect(
            harness.handle(.seatsChanged(live: "bistro", seats: seats)) == [],
            "bistro is in no connection any more, so no live sees its seats")
        #expect(harness.handle(.seatsChanged(live: "nobody", seats: seats)) == [], "the live does not exist")
    }

    /// Rules: R8.15.
    @Test func `I16 members see at most fifty seats of a video live, and six of a voice live`() {
        var harness = ConnectionHarness(["arena", "bistro"])
        harness.connect("arena", "bistro")
        let sixtySeats = ConnectionHarness.seats("arena", occupied: 60, of: 60)
        let shownVideoSeats = harness.handle(.seatsChanged(live: "arena", seats: sixtySeats))
        #expect(shownVideoSeats.reportedConnection("bistro")?.members[0].seats?.count == 50)
        var voice = ConnectionHarness([])
        for live: LiveID in ["radio", "talk"] {
            _ = voice.handle(.opened(live: live, owner: ConnectionHarness.host(live), isVoice: true))
        }
        voice.connect("radio", "talk")
        // A voice live shows its first six seats, of which two are occupied and four are empty.
        let tenSeats = ConnectionHarness.seats("radio", occupied: 2)
        let shownVoiceSeats = voice.handle(.seatsChanged(live: "radio", seats: tenSeats))
        #expect(shownVoiceSeats.reportedConnection("talk")?.members[0].seats == Array(tenSeats.prefix(6)))
    }

    @Test func `members see a host's new name`() {
        var harness = ConnectionHarness(["arena", "bistro"])
        harness.connect("arena", "bistro")
        let renamed = UserInfo(userID: "host-arena", userName: "Anna the Great")
        let effects = harness.handle(.userBack(live: "arena", user: renamed))
        #expect(effects.notifiedLives == ["arena", "bistro"])
        #expect(effects.reportedConnection("bistro")?.members[0].host == renamed)
        #expect(
            harness.handle(.userBack(live: "arena", user: userInfo("gina"))) == [], "a viewer's name changes nothing")
        let secondRenameEffects = harness.handle(
            .profile(live: "bistro", user: UserInfo(userID: "host-bistro", userName: "Bea")))
        #expect(
            secondRenameEffects.reportedConnection("arena")?.members.map(\.host.userName) == ["Anna the Great", "Bea"])
        #expect(
            harness.handle(.profile(live: "bistro", user: UserInfo(userID: "host-bistro", userName: "Bea"))) == [],
            "a repeated report changes nothing")
        #expect(
            harness.handle(.profile(live: "bistro", user: userInfo("gina"))) == [], "a viewer's name changes nothing")
        // A report of the seats arrives late, with the host's old name. That name is ignored, because only presence
        // reports names.
        let hostWithOldName = SeatUser(user: ConnectionHarness.host("bistro"), role: .owner, live: "bistro")
        let seatEffects = harness.handle(
            .seatsChanged(live: "bistro", seats: [Seat(index: 0, occupant: hostWithOldName)]))
        #expect(seatEffects.reportedConnection("arena")?.members[1].host.userName == "Bea")
    }

    /// Rules: R2.15.
    @Test func `a running battle and later battles show a host's new name`() {
        var harness = ConnectionHarness(["arena", "bistro", "cafe"])
        harness.connect("arena", "bistro", "cafe")
        let battle = harness.startBattle("arena", against: "bistro")
        let renamed = UserInfo(userID: "host-bistro", userName: "Bea")
        let effects = harness.handle(.profile(live: "bistro", user: renamed))
        #expect(effects.notifiedLives == ["arena", "bistro", "cafe"])
        for live: LiveID in ["arena", "bistro"] {
            let view = effects.reportedBattle(live)
            #expect(view?.id == battle)
            #expect(view?.sides.map(\.host) == [ConnectionHarness.host("arena"), renamed])
            #expect(effects.reportedEvents(live) == [])
        }
        // The first battle ends by time. The next one has the new name from its start.
        _ = harness.advance(milliseconds: 60_000)
        _ = harness.startBattle("bistro", against: "cafe")
        #expect(harness.live("bistro")?.owner == renamed)
        let renameEffects = harness.handle(
            .profile(live: "cafe", user: UserInfo(userID: "host-cafe", userName: "Cleo")))
        #expect(renameEffects.reportedBattle("bistro")?.sides.map(\.host.userName) == ["Bea", "Cleo"])
        #expect(
            renameEffects.reportedBattle("arena")?.sides.map(\.host.userName) == ["Bea", "Cleo"],
            "arena takes no part in the battle, but shows it, with the new names")
    }
}
