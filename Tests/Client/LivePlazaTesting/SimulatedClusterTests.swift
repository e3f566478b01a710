// SPDX-License-Identifier: Apache-2.0
import LivePlazaKit
import LivePlazaTesting
import Synchronization
import Testing

/// How the apps of several users act together on a simulated cluster.
struct SimulatedClusterTests {
    @Test func `host and guest see each other's messages, likes, seat requests, mutes and kicks`() async throws {
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
        let rejection = await #expect(throws: ErrorInfo.self) {
            try await guest.plaza.barrageStore(liveID: "eve").sendTextMessage(text: "no")
        }
        #expect(rejection?.name == .userMuted)
        try await host.plaza.audienceStore(liveID: "eve").kickUserOutOfRoom(userID: "guest")
        cluster.settle()
        #expect(guest.hasReceived("onKickedOutOfLive"))
        #expect(guest.plaza.liveListStore.state.value.currentLive.isEmpty)
        // The two messages of the beginning; the rejected message is not counted.
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

    @Test func `a cluster that is advanced by parts of a millisecond advances by their sum`() {
        let cluster = SimulatedCluster()
        for _ in 0..<10 { cluster.advance(by: .microseconds(250)) }
        #expect(cluster.elapsed == .milliseconds(2))
        cluster.advance(by: .microseconds(500))
        #expect(cluster.elapsed == .milliseconds(3))
        cluster.advance(by: .seconds(-1))
        #expect(cluster.elapsed == .milliseconds(3))
    }

    @Test func `two hosts connect, and their battle ends when its time is over`() async throws {
        let cluster = SimulatedCluster()
        let host = AppUser("host", on: cluster, live: "one")
        let rival = try cluster.user("rival", userName: "R")
        try await host.login()
        try await host.createLive("one")
        try rival.createLive("two")
        // A new live appears in lists after at most 5 s.
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
        // The code of each requested user, by user id; 0 means that the user takes part.
        #expect(codes == ["rival": 0])
        try cluster.backend().call(
            "battle.score", json: #"{"battle":"\#(battle.battleID)","scores":[{"live":"one","score":7}]}"#)
        cluster.advance(by: .seconds(2))
        #expect(battles.state.value.battleScore["host"] == 7)
        cluster.advance(by: .seconds(26))
        // Together with the 2 s before, 28 of the battle's 30 s have passed.
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
        let resultOfSeed3 = try await repliesAndTotals(seed: 3)
        #expect(try await repliesAndTotals(seed: 3) == resultOfSeed3)
        #expect(try await repliesAndTotals(seed: 4) != resultOfSeed3)
    }
}

/// Faults of the simulated cluster, and how clients recover from them.
struct SimulatedFaultTests {
    /// Makes a cluster with a live `eve`, its host (a user without stores), and a viewer whose client has stores.
    private static func makeLive() async throws -> (cluster: SimulatedCluster, host: ScriptedUser, viewer: AppUser) {
        let cluster = SimulatedCluster(seed: 5)
        let host = try cluster.user("host")
        try host.createLive("eve")
        let viewer = AppUser("viewer", on: cluster, live: "eve")
        try await viewer.login()
        try await viewer.joinLive("eve")
        return (cluster, host, viewer)
    }

    @Test func `I7 a client that was unreachable for 70 s gets every message once and in order`() async throws {
        let (cluster, host, viewer) = try await Self.makeLive()
        try host.say("before", in: "eve")
        cluster.setReachable(false, "viewer")
        // 70 s is less than the lease of 90 s, so the viewer stays in the live.
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

    @Test func `a viewer who is unreachable for longer than the lease is no longer in the live`() async throws {
        let (cluster, host, viewer) = try await Self.makeLive()
        cluster.setReachable(false, "viewer")
        // The lease ends after 90 s: not yet after 85 s, but after 85 + 10 s.
        cluster.advance(by: .seconds(85))
        #expect(try host.call("audience.list", json: #"{"live":"eve"}"#).contains("viewer"))
        cluster.advance(by: .seconds(10))
        #expect(try !host.call("audience.list", json: #"{"live":"eve"}"#).contains("viewer"))
        // This use keeps the viewer's client until here: it was silent, but has not left.
        _ = viewer
    }

    @Test func `I5 the viewers of a live stay in it when Redis loses all leases`() async throws {
        let (cluster, host, viewer) = try await Self.makeLive()
        cluster.loseLeases()
        // Gateways have 12 s to assert their sessions, and no lease ends meanwhile. The test waits longer.
        cluster.advance(by: .seconds(20))
        #expect(try host.call("audience.list", json: #"{"live":"eve"}"#).contains("viewer"))
        #expect(!viewer.plaza.liveListStore.state.value.currentLive.isEmpty)
    }

    @Test func `a client replaces a half-open connection, and gets the messages sent meanwhile`() async throws {
        let (cluster, host, viewer) = try await Self.makeLive()
        // The connection stays open, but delivers nothing.
        cluster.setStalled(true, "viewer")
        try host.say("sent during the stall", in: "eve")
        // After 20 s of silence the client pings, and after 10 s without an answer it gives the connection up.
        cluster.advance(by: .seconds(60))
        cluster.setStalled(false, "viewer")
        // Longer than the longest pause between two attempts to connect.
        cluster.advance(by: .seconds(60))
        #expect(viewer.messageTexts(in: "eve") == ["sent during the stall"])
        #expect(viewer.plaza.loginStore.state.value.connectionStatus == .connected)
    }

    @Test func `while a service is stopped, a store's call waits, and a scripted user's call fails`() async throws {
        let (cluster, host, viewer) = try await Self.makeLive()
        // The service `barrage` handles messages.
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
        // The service `presence` handles leaves. The host is a scripted user, without stores.
        cluster.stop(.presence)
        #expect(throws: ErrorInfo.self) { try host.leaveLive("eve") }
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
        // A token is valid for 10 minutes, so 30 minutes need at least three tokens.
        for minute in 0..<30 {
            // The token provider runs on the cluster's queue, so a new token has arrived when `advance` returns.
            cluster.advance(by: .seconds(60))
            try host.say("\(minute)", in: "eve")
        }
        cluster.settle()
        #expect(viewer.messageTexts(in: "eve") == (0..<30).map(String.init))
        #expect(!viewer.hasReceived("loginExpired"))
        #expect(viewer.plaza.loginStore.state.value.connectionStatus == .connected)
    }
}
