// SPDX-License-Identifier: Apache-2.0
import LivePlazaKit
import LivePlazaTesting
import Synchronization
import Testing

/// What apps do with each other on a cluster in memory.
struct SimulatedClusterTests {
    @Test func `messages, likes, a guest on a seat, a mute, a kick and the end reach host and guest`() async throws {
        let cluster = SimulatedCluster()
        let (host, guest) = (
            AppUser("host", on: cluster, live: "eve"), AppUser("guest", on: cluster, live: "eve")
        )
        try await host.login()
        try await guest.login()
        try await host.createLive("eve")
        try await guest.joinLive("eve")
        try await host.plaza.barrageStore(liveID: "eve").sendTextMessage(text: "welcome")
        try await guest.plaza.barrageStore(liveID: "eve").sendTextMessage(text: "hello")
        try await guest.plaza.likeStore(liveID: "eve").sendLike(count: 3)
        cluster.advance(by: .seconds(3))
        #expect(host.messageTexts(in: "eve") == ["welcome", "hello"])
        #expect(guest.messageTexts(in: "eve") == ["welcome", "hello"])
        #expect(host.plaza.likeStore(liveID: "eve").state.value.totalLikeCount == 3)
        #expect(host.hasReceived("onAudienceJoined"))

        try await guest.plaza.coGuestStore(liveID: "eve").applyForSeat(timeout: 30)
        cluster.settle()
        #expect(host.hasReceived("onGuestApplicationReceived"))
        try await host.plaza.coGuestStore(liveID: "eve").acceptApplication(userID: "guest")
        cluster.settle()
        #expect(guest.plaza.coGuestStore(liveID: "eve").state.value.connected.map(\.userID).contains("guest"))

        try await host.plaza.audienceStore(liveID: "eve").disableSendMessage(userID: "guest", isDisable: true)
        let refusal = await #expect(throws: ErrorInfo.self) {
            try await guest.plaza.barrageStore(liveID: "eve").sendTextMessage(text: "no")
        }
        #expect(refusal?.name == .userMuted)
        try await host.plaza.audienceStore(liveID: "eve").kickUserOutOfRoom(userID: "guest")
        cluster.settle()
        #expect(guest.hasReceived("onKickedOutOfLive"))
        #expect(guest.plaza.liveListStore.state.value.currentLive.isEmpty)
        // The refused message is not counted.
        #expect(try await host.plaza.liveListStore.endLive().totalMessageCount == 2)
    }

    @Test func `an application that nobody answers ends after its timeout, and not before`() async throws {
        let cluster = SimulatedCluster()
        let guest = AppUser("guest", on: cluster, live: "eve")
        try cluster.user("host").createLive("eve")
        try await guest.login()
        try await guest.joinLive("eve")
        try await guest.plaza.coGuestStore(liveID: "eve").applyForSeat(timeout: 30)
        cluster.advance(by: .seconds(29))
        #expect(!guest.hasReceived("onGuestApplicationNoResponse"))
        cluster.advance(by: .seconds(2))
        #expect(guest.hasReceived("onGuestApplicationNoResponse"))
    }

    @Test func `two hosts connect, and their battle ends when its time is over`() async throws {
        let cluster = SimulatedCluster()
        let host = AppUser("host", on: cluster, live: "one")
        let rival = try cluster.user("rival", userName: "R")
        try await host.login()
        try await host.createLive("one")
        try rival.createLive("two")
        // Lists contain a new live after at most 5 s.
        cluster.advance(by: .seconds(5))
        let coHosts = host.plaza.coHostStore(liveID: "one")
        try await coHosts.getCoHostCandidates(cursor: "")
        #expect(coHosts.state.value.candidates.map(\.liveID) == ["two"])
        try await coHosts.requestHostConnection(targetHost: "two", layoutTemplate: .hostDynamicGrid, timeout: 30)
        try rival.answerCoHost(of: "one", accept: true, in: "two")
        cluster.settle()
        #expect(coHosts.state.value.connected.count == 2)
        let battles = host.plaza.battleStore(liveID: "one")
        let (battle, codes) = try await battles.requestBattle(
            config: BattleConfig(duration: 30), userIDList: ["rival"], timeout: 10)
        // By user id; 0 means that the battle includes this user.
        #expect(codes == ["rival": 0])
        try cluster.backend().call(
            "battle.score", json: #"{"battle":"\#(battle.battleID)","scores":[{"live":"one","score":7}]}"#)
        cluster.advance(by: .seconds(2))
        #expect(battles.state.value.battleScore["host"] == 7)
        cluster.advance(by: .seconds(26))
        // With the 2 s from above, 28 of the battle's 30 s have passed.
        #expect(battles.state.value.currentBattleInfo != nil)
        cluster.advance(by: .seconds(4))
        #expect(host.hasReceived("onBattleEnded"))
        #expect(battles.state.value.currentBattleInfo == nil)
    }

    @Test func `the same seed and the same calls lead to the same replies and totals`() async throws {
        func repliesAndTotals(seed: UInt64) async throws -> [String] {
            let cluster = SimulatedCluster(seed: seed)
            let viewer = try cluster.user("viewer")
            let crowd = try cluster.addCrowd(Crowd(viewers: 10, hasBattle: true), to: "eve")
            try viewer.joinLive("eve")
            cluster.advance(by: .seconds(10))
            crowd.stop()
            let audiencePage = try viewer.call("audience.list", json: #"{"live":"eve"}"#)
            return ["\(crowd.totals)", audiencePage, try viewer.call("live.summary", json: #"{"live":"eve"}"#)]
        }
        let withSeed3 = try await repliesAndTotals(seed: 3)
        #expect(try await repliesAndTotals(seed: 3) == withSeed3)
        #expect(try await repliesAndTotals(seed: 4) != withSeed3)
    }
}

/// Faults of the simulated cluster, and how clients recover from them.
struct SimulatedFaultTests {
    /// A cluster with a live `eve`, its host and a viewer.
    private static func makeLive() async throws -> (cluster: SimulatedCluster, host: ScriptedUser, viewer: AppUser) {
        let cluster = SimulatedCluster(seed: 5)
        let host = try cluster.user("host")
        try host.createLive("eve")
        let viewer = AppUser("viewer", on: cluster, live: "eve")
        try await viewer.login()
        try await viewer.joinLive("eve")
        return (cluster, host, viewer)
    }

    @Test func `I7 a client that was away for 70 s has every message once and in order`() async throws {
        let (cluster, host, viewer) = try await Self.makeLive()
        try host.say("before", in: "eve")
        cluster.setReachable(false, "viewer")
        // 70 s is less than the lease of 90 s, so the client stays in the live.
        for second in 0..<70 {
            try host.say("away \(second)", in: "eve")
            cluster.advance(by: .seconds(1))
        }
        cluster.setReachable(true, "viewer")
        // `probe` makes the client connect at once, without the pause between its attempts.
        viewer.plaza.probe()
        cluster.advance(by: .seconds(30))
        try host.say("after", in: "eve")
        cluster.settle()
        #expect(viewer.messageTexts(in: "eve") == ["before"] + (0..<70).map { "away \($0)" } + ["after"])
        #expect(try host.call("audience.list", json: #"{"live":"eve"}"#).contains("viewer"))
    }

    @Test func `a client that stays away longer than its lease leaves the live`() async throws {
        let (cluster, host, viewer) = try await Self.makeLive()
        cluster.setReachable(false, "viewer")
        // The lease ends after 90 s.
        cluster.advance(by: .seconds(85))
        #expect(try host.call("audience.list", json: #"{"live":"eve"}"#).contains("viewer"))
        cluster.advance(by: .seconds(10))
        #expect(try !host.call("audience.list", json: #"{"live":"eve"}"#).contains("viewer"))
        // The client exists until here, so only its silence can end its membership.
        _ = viewer
    }

    @Test func `I5 nobody leaves when all leases are lost`() async throws {
        let (cluster, host, viewer) = try await Self.makeLive()
        cluster.loseLeases()
        // The gateway has 12 s to assert its members; no lease ends before.
        cluster.advance(by: .seconds(20))
        #expect(try host.call("audience.list", json: #"{"live":"eve"}"#).contains("viewer"))
        #expect(!viewer.plaza.liveListStore.state.value.currentLive.isEmpty)
    }

    @Test func `a half-open connection, which delivers nothing, is detected and replaced`() async throws {
        let (cluster, host, viewer) = try await Self.makeLive()
        cluster.setStalled(true, "viewer")
        try host.say("unheard", in: "eve")
        // The client pings after 20 s of silence, and gives the connection up after 10 s without an answer.
        cluster.advance(by: .seconds(60))
        cluster.setStalled(false, "viewer")
        cluster.advance(by: .seconds(60))
        #expect(viewer.messageTexts(in: "eve") == ["unheard"])
        #expect(viewer.plaza.loginStore.state.value.connectionStatus == .connected)
    }

    @Test func `a store's call waits for a stopped service, and a scripted call fails`() async throws {
        let (cluster, host, viewer) = try await Self.makeLive()
        cluster.stop(.barrage)
        let outcome = Mutex<Result<Void, ErrorInfo>?>(nil)
        viewer.plaza.barrageStore(liveID: "eve").sendTextMessage(text: "late", extensionInfo: nil) { result in
            outcome.withLock { $0 = result }
        }
        cluster.advance(by: .seconds(5))
        #expect(viewer.messageTexts(in: "eve").isEmpty)
        #expect(outcome.withLock { $0 } == nil)
        cluster.start(.barrage)
        cluster.advance(by: .seconds(1))
        try #require(outcome.withLock { $0 }).get()
        #expect(viewer.messageTexts(in: "eve") == ["late"])
        #expect(throws: ErrorInfo.self) {
            cluster.stop(.presence)
            try host.leaveLive("eve")
        }
    }

    @Test func `a token is renewed before it expires, and no message is missed`() async throws {
        let cluster = SimulatedCluster()
        let host = try cluster.user("host")
        try host.createLive("eve")
        let plaza = cluster.client("viewer") { [weak cluster] in
            cluster?.token("viewer", validFor: .seconds(600)) ?? ""
        }
        let viewer = AppUser("viewer", on: cluster, live: "eve", plaza: plaza)
        try await viewer.login(validFor: .seconds(600))
        try await viewer.joinLive("eve")
        // Thirty minutes need at least three tokens of ten minutes.
        for minute in 0..<30 {
            // The provider runs on the cluster's queue, so its token has arrived when `advance` returns.
            cluster.advance(by: .seconds(60))
            try host.say("\(minute)", in: "eve")
        }
        cluster.settle()
        #expect(viewer.messageTexts(in: "eve") == (0..<30).map(String.init))
        #expect(!viewer.hasReceived("loginExpired"))
        #expect(viewer.plaza.loginStore.state.value.connectionStatus == .connected)
    }
}
