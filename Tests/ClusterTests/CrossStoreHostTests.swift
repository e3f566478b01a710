// SPDX-License-Identifier: Apache-2.0
import ClusterKit
import Foundation
import LivePlazaKit
import LoadKit
import PlazaModel
import TestSupport
import Testing

/// What follows from one store's change in another's state (reference 19), over real processes: hosts.
@Suite(.serialized, .sharedCluster, .timeLimit(.minutes(3))) struct CrossStoreHostTests {
    @Test func `I12 a connection begun shows all lives on each stage, in the co-hosts' template, to all viewers`()
        async throws
    {
        let hub = try ClientHub()
        defer { hub.stop() }
        let (one, two) = (try await Scene(hub, seatTemplate: 800), try await Scene(hub, seatTemplate: 601))
        try await one.connect(two)
        for (scene, other) in [(one, two), (two, one)] {
            let stage = try await scene.watcher.stage("both hosts on their seats") { record, _ in
                record.connection?.members.first { $0.live == other.live }?.seats?.map(\.index) == [0]
            }
            #expect(Set(stage.layout.regions.map(\.userID)) == [one.user(one.host), two.user(two.host)])
            #expect(stage.layout.canvas.templateID == 600)
            #expect(stage.connection?.members.map(\.live) == [one.live, two.live])
            #expect(scene.watcher.events.map(\.short).contains("joined \(other.live)"))
        }
        // A guest in one live is seen in the other.
        let guest = try await two.enter("guest")
        try await two.seat(guest, on: 2)
        let seen = try await one.watcher.stage("the other live's guest") { record, _ in
            record.layout.regions.contains { $0.live == two.live && $0.userID == two.user(guest) }
        }
        #expect(seen.connection?.members[1].seats?.map(\.index) == [0, 2])
    }

    @Test
    func `I12 I14 a connection ended ends its battle, takes the other live off the stage, and gives the template back`()
        async throws
    {
        let hub = try ClientHub()
        defer { hub.stop() }
        let (one, two) = (try await Scene(hub, seatTemplate: 800), try await Scene(hub, seatTemplate: 601))
        try await one.connect(two)
        _ = try await one.fight(two, seconds: 120)
        try await one.call(one.host, "cohost.exit")
        for (scene, template) in [(one, 800), (two, 601)] {
            let stage = try await scene.watcher.stage("the stage alone again") { record, events in
                record.connection == nil && events.contains { if case .coHostLeft = $0 { true } else { false } }
            }
            #expect(Set(stage.layout.regions.map(\.live)) == [scene.live])
            #expect(stage.layout.canvas.templateID == template)
            #expect(stage.battle?.ended == .allMemberExit)
            let ends = scene.watcher.events.map(\.short).filter { !$0.hasPrefix("joined") && !$0.hasPrefix("taken") }
            let expected = [
                "battle", "fights \(one.live)", "fights \(two.live)", "exits \(one.live)", "exits \(two.live)",
                "over allMemberExit", "out \(one.live)",
            ]
            #expect(ends == expected)
        }
    }

    @Test func `I14 a battle ends by time and the connection stays`() async throws {
        let hub = try ClientHub()
        defer { hub.stop() }
        let (one, two) = (try await Scene(hub), try await Scene(hub))
        try await one.connect(two)
        let battle = try await one.fight(two, seconds: 1)
        for scene in [one, two] {
            let stage = try await scene.watcher.stage("the battle's end") { _, events in
                events.contains(.battleEnded(battle: battle, reason: .timeOver))
            }
            #expect(stage.battle?.ended == .timeOver)
            #expect(stage.connection?.members.map(\.live) == [one.live, two.live])
        }
        // Nobody fights any more, so the next battle may begin.
        let next = try await one.fight(two, seconds: 60)
        #expect(next != battle)
    }

    @Test
    func `I4 I12 I14 an owner lost by silence is out of battle and connection, the others go on, and so does its live`()
        async throws
    {
        let hub = try ClientHub()
        defer { hub.stop() }
        let (one, two, three) = (try await Scene(hub), try await Scene(hub), try await Scene(hub))
        try await one.connect(two, three)
        let battle = try await one.fight(two, three, seconds: 120)
        one.host.client.stop()
        for scene in [two, three] {
            let stage = try await scene.watcher.stage("that the lost host is out", within: 20) { record, _ in
                record.connection?.members.map(\.live) == [two.live, three.live]
            }
            #expect(stage.battle?.id == battle)
            #expect(stage.battle?.ended == nil)
            #expect(stage.battle?.sides.map(\.hasLeft) == [true, false, false])
            #expect(Array(scene.watcher.events.map(\.short).suffix(2)) == ["exits \(one.live)", "out \(one.live)"])
            #expect(Set(stage.layout.regions.map(\.live)) == [two.live, three.live])
        }
        try await one.watcher.stage("the live alone, its owner's seat empty", within: 20) { record, _ in
            record.connection == nil && record.seats[0].occupant == nil
        }
        _ = try await one.watcher.wait("that the live is suspended") { witness in
            witness.items.contains { if case .infoChanged(let info) = $0 { info.status == .suspended } else { false } }
                ? true : nil
        }
        try await one.call(one.watcher, "barrage.sendText", SceneParams(text: "still here"))
        #expect(try await one.details { $0.status == .suspended }.status == .suspended)
    }

    @Test func `I1 I12 I14 an ended live is out of battle and connection, then ended for all, with one set of figures`()
        async throws
    {
        let hub = try ClientHub()
        defer { hub.stop() }
        let (one, two) = (try await Scene(hub), try await Scene(hub))
        try await one.connect(two)
        _ = try await one.fight(two, seconds: 120)
        try await one.call(one.watcher, "barrage.sendText", SceneParams(text: "good night"))
        guard case .statistics(let figures) = try await one.call(one.host, "live.end") else {
            throw EveningFailure("no figures")
        }
        #expect(figures.totalMessageCount == 1)
        #expect(figures.totalViewers == 1)
        for person in [one.host, one.watcher] {
            _ = try await person.wait("the end") { $0.items.last?.isEnd == true ? true : nil }
            #expect(person.items.last == .liveEnded(reason: .endedByHost, statistics: figures))
            #expect(person.items.count { $0.isEnd } == 1)
            #expect(
                person.events.map(\.short).suffix(4) == [
                    "exits \(one.live)", "exits \(two.live)", "over allMemberExit", "out \(one.live)",
                ])
            #expect(person.left == [], "the end puts everybody out, and says so once")
        }
        let stage = try await two.watcher.stage("the other live alone") { record, events in
            record.connection == nil && events.contains { if case .coHostLeft = $0 { true } else { false } }
        }
        #expect(stage.battle?.ended == .allMemberExit)
        #expect(two.watcher.items.contains { $0.isEnd } == false)
        let told = try SharedCluster.backend.wait { received in received.contains { $0.text.contains("\(one.live)") } }
        let word = try #require(told?.first { $0.text.contains("\(one.live)") }).text
        #expect(word.contains(#""totalMessageCount":1"#), "\(word)")
        #expect(try await one.refusal(one.watcher, "live.join") == .noSuchRoomOnEntry)
    }

    @Test func `an owner's new name is in the live, in the list, on partners' stages and in the battle`() async throws {
        let hub = try ClientHub()
        defer { hub.stop() }
        let (one, two) = (try await Scene(hub), try await Scene(hub))
        try await one.connect(two)
        _ = try await one.fight(two, seconds: 120)
        try await one.call(one.host, "self.update", SceneParams(name: "Anna the Great"))
        _ = try await one.watcher.wait("the live's new info") { witness in
            witness.items.contains {
                if case .infoChanged(let info) = $0 { info.liveOwner.userName == "Anna the Great" } else { false }
            } ? true : nil
        }
        let info = try await one.details { $0.liveOwner.userName == "Anna the Great" }
        #expect(info.liveOwner.userName == "Anna the Great")
        #expect(try await one.listed().liveOwner.userName == "Anna the Great")
        for scene in [one, two] {
            let stage = try await scene.watcher.stage("the new name on stage") { record, _ in
                record.connection?.members[0].host.userName == "Anna the Great"
                    && record.battle?.sides[0].host.userName == "Anna the Great"
            }
            #expect(stage.battle?.sides[1].host.userName == "")
        }
        try await two.watcher.stage("the new name on the other live's seat") { record, _ in
            record.connection?.members[0].seats?.first?.occupant?.user.userName == "Anna the Great"
        }
    }
}
