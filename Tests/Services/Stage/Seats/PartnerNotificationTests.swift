// SPDX-License-Identifier: Apache-2.0
import MachineKit
import MachineTestSupport
import PlazaModel
import StageCore
import Testing

/// To whom a change of the seats is reported, and which layout a connected live has.
///
/// Changed seats are reported to the connection machine, which informs the connected lives, and to the app's backend.
///
/// A live and a connection may both have the template 600 or 601. Only a live may have the template 800 or 801.
struct PartnerNotificationTests {
    /// The connection of `room` with `duet`, which has reported one occupied seat: that of its owner, dora.
    private static let viewWithDuet = ConnectionView(
        id: "c-1",
        members: [
            ConnectionMember(live: "room", host: userInfo("olga"), joinedAt: Timestamp(milliseconds: 0)),
            ConnectionMember(
                live: "duet", host: userInfo("dora"), joinedAt: Timestamp(milliseconds: 0),
                seats: [Seat(index: 0, occupant: SeatUser(user: userInfo("dora"), role: .owner, live: "duet"))]),
        ], templateID: 601)

    /// Reports the connection of the live to the seat machine; with nil, the live is not in a connection.
    private func reportConnection(
        _ view: ConnectionView?, revision: Int64, to harness: inout SeatHarness
    ) -> [Effect] {
        harness.handle(.connection(view: view, battle: nil, revision: revision, events: []))
    }

    /// Rules: R7.12.
    @Test func `while connected, each change of the seats is reported to the connection machine`() {
        var harness = SeatHarness(SeatHarness.live(mode: .free, template: 600))
        #expect(self.reportConnection(Self.viewWithDuet, revision: 1, to: &harness).last == harness.seatsReport)
        let taken = harness.call("gina") { .take(seatIndex: 3, caller: $0) }
        #expect(taken.contains(harness.seatsReport))
        let microphoneOn = harness.call("gina") { .device(microphone: true, camera: nil, suspend: nil, caller: $0) }
        #expect(microphoneOn.contains(harness.seatsReport))
        #expect(
            !self.reportConnection(Self.viewWithDuet, revision: 2, to: &harness).contains(harness.seatsReport),
            "the live's own seats have not changed")
        var otherView = Self.viewWithDuet
        otherView.id = "c-2"
        #expect(
            self.reportConnection(otherView, revision: 3, to: &harness).contains(harness.seatsReport),
            "the live has joined another connection, whose lives do not know its seats")
        _ = self.reportConnection(nil, revision: 4, to: &harness)
        let leave = harness.call("gina") { .leave(caller: $0) }
        #expect(!leave.contains { if case .connection = $0 { true } else { false } }, "no connected live is left")
    }

    /// The live is a voice live, because its template is 70, the default of `SeatHarness`.
    ///
    /// Rules: R7.14.
    @Test func `a voice live reports when it gets too many occupied seats to connect, and when it has few enough`() {
        var harness = SeatHarness(SeatHarness.live(seats: 8, mode: .free))
        /// Lets a guest take any free seat, which the index -1 means.
        func takeSeat(guest number: Int) -> [Effect] {
            harness.call(UserID("g\(number)")) { .take(seatIndex: -1, caller: $0) }
        }
        // A voice live with more than six occupied seats cannot connect, so it reports the seventh guest, g6.
        for number in 0..<6 { #expect(!takeSeat(guest: number).contains(harness.seatsReport)) }
        #expect(takeSeat(guest: 6).contains(harness.seatsReport))
        #expect(!takeSeat(guest: 7).contains(harness.seatsReport))
        // One of eight guests leaves, so seven are left, which are still too many. When another one leaves, six are
        // left.
        #expect(!harness.handle(.userGone(user: "g1")).contains(harness.seatsReport))
        #expect(harness.handle(.userGone(user: "g2")).contains(harness.seatsReport))
    }

    /// Rules: R9.11, R18.7, R18.8.
    @Test func `a connected live has the layout of the connection until the connection ends, then its own`() {
        var harness = SeatHarness(SeatHarness.live(mode: .free, keepsOwner: true, template: 800))
        #expect(harness.stage?.record.layout.canvas.templateID == 800)
        let joined = self.reportConnection(Self.viewWithDuet, revision: 1, to: &harness)
        #expect(joined.stages.first?.layout.canvas.templateID == 601)
        #expect(joined.stages.first?.layout.regions.map(\.userID.text) == ["olga", "dora"])
        _ = harness.handle(.infoChanged(info: SeatHarness.live(mode: .free, keepsOwner: true, template: 601)))
        #expect(harness.stage?.record.layout.canvas.templateID == 601)
        _ = harness.handle(.infoChanged(info: SeatHarness.live(mode: .free, keepsOwner: true, template: 801)))
        #expect(harness.stage?.record.layout.canvas.templateID == 601, "the connection's template still applies")
        let alone = self.reportConnection(nil, revision: 2, to: &harness)
        #expect(alone.stages.first?.layout.canvas.templateID == 801)
        #expect(alone.stages.first?.layout.regions.contains { $0.live == "duet" } == false)
    }

    /// Rules: R14.20.
    @Test func `a backend with webhooks is notified of occupants and locks, but not of microphones`() {
        var harness = SeatHarness.unopened
        var policy = AppPolicy()
        policy.hasWebhooks = true
        harness.machine = MachineHarness(
            SeatMachine(policies: Policies(["demo": policy]), itemInterval: Milliseconds(0)))
        /// The occupants of all seats in each webhook event among the effects.
        func reportedUsers(_ effects: [Effect]) -> [[UserID?]] {
            effects.compactMap {
                guard case .webhook(let event) = $0, case .seatsChanged(let seats) = event.content else { return nil }
                return seats.map { $0.occupant?.user.userID }
            }
        }
        #expect(
            reportedUsers(harness.handle(.opened(epoch: 7, info: SeatHarness.live(mode: .free)))) == [
                [nil, nil, nil, nil]
            ])
        #expect(reportedUsers(harness.call("gina") { .take(seatIndex: 1, caller: $0) }) == [[nil, "gina", nil, nil]])
        let microphoneOn = harness.call("gina") { .device(microphone: true, camera: nil, suspend: nil, caller: $0) }
        #expect(reportedUsers(microphoneOn) == [])
        let microphoneLocked = harness.call("olga") {
            .lockDevice(user: "gina", device: .microphone, isLocked: true, caller: $0)
        }
        #expect(reportedUsers(microphoneLocked).count == 1, "a lock is an event, a switched microphone is none")
        #expect(reportedUsers(harness.call("olga") { .lock(seatIndex: 3, isLocked: true, caller: $0) }).count == 1)
        #expect(reportedUsers(harness.call("gina") { .leave(caller: $0) }) == [[nil, nil, nil, nil]])
        #expect(
            reportedUsers(harness.handle(.ended(ending: ending()))) == [],
            "the end of the live is another event, which the seat machine does not send")
        var withoutWebhooks = SeatHarness(SeatHarness.live(mode: .free))
        #expect(reportedUsers(withoutWebhooks.call("gina") { .take(seatIndex: 1, caller: $0) }) == [])
    }
}
