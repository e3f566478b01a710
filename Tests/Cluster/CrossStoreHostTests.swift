// SPDX-License-Identifier: Apache-2.0
import ClusterKit
import Foundation
import LoadKit
import PlazaModel
import ProtocolClient
import TestSupport
import Testing

/// Tests with real processes: a host's call to one service changes the state of another service.
///
/// Stage events are compared by their `shortText`, such as `disconnected <live>` for a live that left the connection.
@Suite(.serialized, .sharedCluster, .timeLimit(.minutes(3))) struct CrossStoreHostTests {
    /// The default template of a connection of video lives; the lives' own templates do not matter.
    private static let defaultCoHostTemplate = 600

    /// Rules: R8.7, R18.7.
    @Test func `I12 after two lives connect, viewers of each live see both hosts on stage, in the co-host template`()
        async throws
    {
        let hub = try ClientHub()
        defer { hub.stop() }
        let firstLive = try await LiveFixture(hub, seatTemplate: 800)
        let secondLive = try await LiveFixture(hub, seatTemplate: 601)
        try await firstLive.connect(secondLive)
        for (fixture, partner) in [(firstLive, secondLive), (secondLive, firstLive)] {
            // A member of a connection has its occupied `seats`; a host sits on seat 0.
            let stage = try await fixture.watcher.waitForStage("the partner's host on seat 0") { record, _ in
                record.connection?.members.first { $0.live == partner.live }?.seats?.map(\.index) == [0]
            }
            #expect(
                Set(stage.layout.regions.map(\.userID)) == [
                    firstLive.id(of: firstLive.host), secondLive.id(of: secondLive.host),
                ])
            #expect(stage.layout.canvas.templateID == Self.defaultCoHostTemplate)
            #expect(stage.connection?.members.map(\.live) == [firstLive.live, secondLive.live])
            #expect(fixture.watcher.events.map(\.shortText).contains("connected \(partner.live)"))
        }
        // Viewers of the first live also see a guest of the second live.
        let guest = try await secondLive.join("guest")
        try await secondLive.seat(guest, on: 2)
        let stageWithGuest = try await firstLive.watcher.waitForStage("the other live's guest") { record, _ in
            record.layout.regions.contains { $0.live == secondLive.live && $0.userID == secondLive.id(of: guest) }
        }
        #expect(stageWithGuest.connection?.members[1].seats?.map(\.index) == [0, 2])
    }

    /// Rules: R18.8.
    @Test
    func
        `I12 I14 a connection's end ends its battle, removes the partner from the stage and restores the template`()
        async throws
    {
        let hub = try ClientHub()
        defer { hub.stop() }
        let firstLive = try await LiveFixture(hub, seatTemplate: 800)
        let secondLive = try await LiveFixture(hub, seatTemplate: 601)
        try await firstLive.connect(secondLive)
        _ = try await firstLive.startBattle(secondLive, seconds: 120)
        try await firstLive.call(firstLive.host, "cohost.exit")
        for (fixture, template) in [(firstLive, 800), (secondLive, 601)] {
            let stage = try await fixture.watcher.waitForStage("the live alone on its stage again") { record, events in
                record.connection == nil && events.contains { if case .coHostLeft = $0 { true } else { false } }
            }
            #expect(Set(stage.layout.regions.map(\.live)) == [fixture.live])
            #expect(stage.layout.canvas.templateID == template)
            #expect(stage.battle?.ended == .allMemberExit)
            // Leaves out the events before the battle: hosts take their seats, and the lives are connected.
            let events = fixture.watcher.events.map(\.shortText).filter {
                !$0.hasPrefix("connected") && !$0.hasPrefix("seat taken")
            }
            let expected = [
                "battle started", "battle joined \(firstLive.live)", "battle joined \(secondLive.live)",
                "battle left \(firstLive.live)", "battle left \(secondLive.live)", "battle ended allMemberExit",
                "disconnected \(firstLive.live)",
            ]
            #expect(events == expected)
        }
    }

    /// Rules: R18.9.
    @Test func `I14 a battle ends when its time is over, and its lives stay connected`() async throws {
        let hub = try ClientHub()
        defer { hub.stop() }
        let firstLive = try await LiveFixture(hub)
        let secondLive = try await LiveFixture(hub)
        try await firstLive.connect(secondLive)
        let battle = try await firstLive.startBattle(secondLive, seconds: 1)
        for fixture in [firstLive, secondLive] {
            let stage = try await fixture.watcher.waitForStage("the battle's end") { _, events in
                events.contains(.battleEnded(battle: battle, reason: .timeOver))
            }
            #expect(stage.battle?.ended == .timeOver)
            #expect(stage.connection?.members.map(\.live) == [firstLive.live, secondLive.live])
        }
        // No battle is in progress now, so another may begin.
        let nextBattle = try await firstLive.startBattle(secondLive, seconds: 60)
        #expect(nextBattle != battle)
    }

    /// Rules: R18.4.
    @Test
    func
        `I4 I12 I14 a live whose owner falls silent is suspended and leaves battle and connection; its partners go on`()
        async throws
    {
        let hub = try ClientHub()
        defer { hub.stop() }
        let firstLive = try await LiveFixture(hub)
        let secondLive = try await LiveFixture(hub)
        let thirdLive = try await LiveFixture(hub)
        try await firstLive.connect(secondLive, thirdLive)
        let battle = try await firstLive.startBattle(secondLive, thirdLive, seconds: 120)
        // The owner of the first live sends nothing from now on, so its lease of 6 s expires.
        firstLive.host.client.stop()
        for fixture in [secondLive, thirdLive] {
            let stage = try await fixture.watcher.waitForStage(
                "that the first live has left the connection", within: 20
            ) { record, _ in
                record.connection?.members.map(\.live) == [secondLive.live, thirdLive.live]
            }
            #expect(stage.battle?.id == battle)
            #expect(stage.battle?.ended == nil)
            #expect(stage.battle?.sides.map(\.hasLeft) == [true, false, false])
            #expect(
                Array(fixture.watcher.events.map(\.shortText).suffix(2)) == [
                    "battle left \(firstLive.live)", "disconnected \(firstLive.live)",
                ])
            #expect(Set(stage.layout.regions.map(\.live)) == [secondLive.live, thirdLive.live])
        }
        try await firstLive.watcher.waitForStage("the live alone, its owner's seat empty", within: 20) { record, _ in
            record.connection == nil && record.seats[0].occupant == nil
        }
        _ = try await firstLive.watcher.wait("that the live is suspended") {
            $0.trueIfReceived { if case .infoChanged(let info, _) = $0 { info.status == .suspended } else { false } }
        }
        try await firstLive.call(firstLive.watcher, "barrage.sendText", CallParams(text: "still here"))
        #expect(try await firstLive.readInfo { $0.status == .suspended }.status == .suspended)
    }

    /// Rules: R18.5.
    @Test
    func
        `I1 I12 I14 a live that ends leaves battle and connection, then ends once for each viewer, with statistics`()
        async throws
    {
        let hub = try ClientHub()
        defer { hub.stop() }
        let firstLive = try await LiveFixture(hub)
        let secondLive = try await LiveFixture(hub)
        try await firstLive.connect(secondLive)
        _ = try await firstLive.startBattle(secondLive, seconds: 120)
        try await firstLive.call(firstLive.watcher, "barrage.sendText", CallParams(text: "good night"))
        guard case .statistics(let statistics, _) = try await firstLive.call(firstLive.host, "live.end") else {
            throw ScenarioFailure("no statistics")
        }
        #expect(statistics.totalMessageCount == 1)
        #expect(statistics.totalViewers == 1, "the watcher is the only viewer, because an owner is not counted")
        for participant in [firstLive.host, firstLive.watcher] {
            _ = try await participant.wait("the end of the live") { $0.items.last?.isEnd == true ? true : nil }
            #expect(participant.items.last == .liveEnded(reason: .endedByHost, statistics: statistics))
            #expect(participant.items.count { $0.isEnd } == 1)
            #expect(
                participant.events.map(\.shortText).suffix(4) == [
                    "battle left \(firstLive.live)", "battle left \(secondLive.live)", "battle ended allMemberExit",
                    "disconnected \(firstLive.live)",
                ])
            #expect(participant.leftUsers == [], "no leave may be reported, because the live's end implies the leaves")
        }
        let stage = try await secondLive.watcher.waitForStage("the second live without a connection") {
            record, events in
            record.connection == nil && events.contains { if case .coHostLeft = $0 { true } else { false } }
        }
        #expect(stage.battle?.ended == .allMemberExit)
        #expect(secondLive.watcher.items.contains { $0.isEnd } == false, "the second live must go on")
        // The backend of the shared cluster receives only `roomEnded` events.
        let received = try SharedCluster.backend.wait { requests in
            requests.contains { $0.text.contains("\(firstLive.live)") }
        }
        let event = try #require(received?.first { $0.text.contains("\(firstLive.live)") }).text
        #expect(event.contains(#""totalMessageCount":1"#), "\(event)")
        #expect(try await firstLive.rejectionCode(firstLive.watcher, "live.join") == .noSuchRoomOnEntry)
    }

    /// Rules: R3.39, R18.11.
    @Test func `an owner's new name appears in its live, the list of lives, the partner's stage and the battle`()
        async throws
    {
        let hub = try ClientHub()
        defer { hub.stop() }
        let firstLive = try await LiveFixture(hub)
        let secondLive = try await LiveFixture(hub)
        try await firstLive.connect(secondLive)
        _ = try await firstLive.startBattle(secondLive, seconds: 120)
        try await firstLive.call(firstLive.host, "self.update", CallParams(name: "Anna the Great"))
        _ = try await firstLive.watcher.wait("the live's new info") {
            $0.trueIfReceived {
                if case .infoChanged(let info, _) = $0 { info.liveOwner.userName == "Anna the Great" } else { false }
            }
        }
        let info = try await firstLive.readInfo { $0.liveOwner.userName == "Anna the Great" }
        #expect(info.liveOwner.userName == "Anna the Great")
        #expect(try await firstLive.readInfoInList().liveOwner.userName == "Anna the Great")
        for fixture in [firstLive, secondLive] {
            let stage = try await fixture.watcher.waitForStage("the new name on stage") { record, _ in
                record.connection?.members[0].host.userName == "Anna the Great"
                    && record.battle?.sides[0].host.userName == "Anna the Great"
            }
            #expect(stage.battle?.sides[1].host.userName == "", "the second owner has set no name")
        }
        try await secondLive.watcher.waitForStage("the new name on seat 0 of the first live") { record, _ in
            record.connection?.members[0].seats?.first?.occupant?.user.userName == "Anna the Great"
        }
    }
}
