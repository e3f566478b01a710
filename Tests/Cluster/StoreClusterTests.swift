// SPDX-License-Identifier: Apache-2.0
import ClusterKit
import Foundation
import LivePlazaKit
import LivePlazaTransport
import TestSupport
import Testing

/// Tests of LivePlazaKit's stores (the Swift SDK's observable states) with real processes.
@Suite(.serialized, .enabled(if: TestCluster.kafkaHome != nil, "needs a real Kafka: set KAFKA_HOME"))
struct StoreClusterTests {
    /// A live with its host, and with a guest who has entered it and is not on a seat yet.
    private struct StoreFixture {
        let live = ClusterHarness.uniqueName("eve")
        let host: StoreUser
        let guest: StoreUser
        let hostStores: StoresOfLive
        let guestStores: StoresOfLive

        init(_ harness: ClusterHarness, over transport: LoopTransport) async throws {
            self.host = StoreUser("\(self.live)-host", harness, over: transport)
            self.guest = StoreUser("\(self.live)-guest", harness, over: transport)
            try await self.host.login(harness)
            try await self.guest.login(harness)
            self.hostStores = self.host.stores(of: self.live)
            self.guestStores = self.guest.stores(of: self.live)
            var info = LivePlazaKit.LiveInfo()
            info.liveID = self.live
            info.liveName = "An evening"
            info.categoryList = [3]
            #expect(try await self.host.plaza.liveListStore.createLive(info).liveOwner.userID == self.host.id)
            #expect(try await self.guest.plaza.liveListStore.joinLive(liveID: self.live).liveName == "An evening")
        }
    }

    @Test(.timeLimit(.minutes(3)))
    func `the stores of host and guest show messages, likes, gifts, a seat, a mute, a kick and the end of the live`()
        async throws
    {
        try await TestCluster.with(TestCluster.options(kafkaBrokers: 1)) { cluster in
            let harness = try ClusterHarness(cluster)
            let transport = try LoopTransport()
            let fixture = try await StoreFixture(harness, over: transport)
            try await Self.addGiftToApp(cluster, harness)
            try await Self.exchangeMessagesLikesAndGift(fixture)
            try await Self.seatGuest(fixture)
            try await Self.compareWithNewcomer(fixture, harness, transport)
            try await Self.muteAndKickGuest(fixture)
            let hostLiveList = fixture.host.plaza.liveListStore
            let statistics = try await hostLiveList.endLive()
            // Host and guest have sent one message each.
            #expect(statistics.totalMessageCount >= 2)
            #expect(hostLiveList.state.value.currentLive.isEmpty)
            try await fixture.host.plaza.loginStore.logout()
            try await fixture.guest.plaza.loginStore.logout()
        }
    }

    /// Adds a gift to the demo app over HTTP, with a token of the app's server.
    private static func addGiftToApp(_ cluster: LocalCluster, _ harness: ClusterHarness) async throws {
        let gateway = try #require(cluster.gateways.first)
        let token = harness.token("shop", isServer: true)
        for (path, body) in [
            ("/v1/app/gift-categories/new", #"{"name":"New"}"#),
            ("/v1/app/gifts/rose", #"{"name":"Rose","category":"new"}"#),
        ] {
            let answer = try await harness.sendRequest("PUT", path, body, of: gateway.http, token: token)
            #expect((200...201).contains(answer.status), "\(path): \(answer.text)")
        }
    }

    /// Host and guest send one message each; then the guest sends likes and a gift.
    private static func exchangeMessagesLikesAndGift(_ fixture: StoreFixture) async throws {
        let (hostStores, guestStores) = (fixture.hostStores, fixture.guestStores)
        try await fixture.host.waitForEvent("onAudienceJoined")
        try await hostStores.barrage.sendTextMessage(text: "welcome", extensionInfo: ["style": "bold"])
        try await guestStores.barrage.sendCustomMessage(businessID: "vote", data: "{}")
        try await waitUntil("host and guest have both messages") {
            hostStores.barrage.state.value.messageList.count == 2
                && guestStores.barrage.state.value.messageList.count == 2
        }
        #expect(hostStores.barrage.state.value == guestStores.barrage.state.value)
        #expect(guestStores.barrage.state.value.messageList.first?.extensionInfo == ["style": "bold"])
        try await guestStores.like.sendLike(count: 3)
        try await waitUntil("the host sees three likes") { hostStores.like.state.value.totalLikeCount == 3 }
        try await fixture.host.waitForEvent("onReceiveLikesMessage")
        try await fixture.host.plaza.liveListStore.updateLiveMetaData(["product": "tea"])
        try await waitUntil("the guest sees the product") {
            fixture.guest.plaza.liveListStore.state.value.currentLive.metaData == ["product": "tea"]
        }
        // A gateway knows a new gift only a moment after its creation, so the host reads the list for up to 20 s.
        let deadline = ContinuousClock.now + .seconds(20)
        while hostStores.gift.state.value.usableGifts.first?.giftList.first == nil, ContinuousClock.now < deadline {
            try await hostStores.gift.refreshUsableGifts()
            try await Task.sleep(for: .milliseconds(100))
        }
        let gift = try #require(hostStores.gift.state.value.usableGifts.first?.giftList.first)
        try await guestStores.gift.sendGift(giftID: gift.giftID, count: 1)
        try await fixture.host.waitForEvent("onReceiveGift")
    }

    /// The guest applies for a seat and is accepted; then the host locks the guest's microphone.
    private static func seatGuest(_ fixture: StoreFixture) async throws {
        let (hostStores, guestStores) = (fixture.hostStores, fixture.guestStores)
        try await guestStores.coGuest.applyForSeat(timeout: 30)
        try await fixture.host.waitForEvent("onGuestApplicationReceived")
        #expect(hostStores.coGuest.state.value.applicants.map(\.userID) == [fixture.guest.id])
        try await hostStores.coGuest.acceptApplication(userID: fixture.guest.id)
        #expect(hostStores.coGuest.state.value.applicants.isEmpty)
        try await fixture.guest.waitForEvent("onGuestApplicationResponded(isAccept: true")
        try await waitUntil("host and guest see the guest on a seat") {
            [hostStores, guestStores].allSatisfy { stores in
                stores.coGuest.state.value.connected.contains { $0.userID == fixture.guest.id }
            }
        }
        // Without a media engine, as here, the store takes the microphone as open at once, and the seat shows this.
        try await fixture.guest.plaza.deviceStore.openLocalMicrophone()
        try await waitUntil("the host sees the open microphone") {
            hostStores.seat.state.value.seatList.contains {
                $0.userInfo.userID == fixture.guest.id && $0.userInfo.microphoneStatus == .on
            }
        }
        try await hostStores.seat.closeRemoteMicrophone(userID: fixture.guest.id)
        try await fixture.guest.waitForEvent("onLocalMicrophoneClosedByAdmin")
        // A guest cannot unmute a microphone that the host has locked.
        let rejection = await #expect(throws: ErrorInfo.self) { try await guestStores.seat.unmuteMicrophone() }
        #expect(rejection?.name == .microphoneNeedsHost)
    }

    /// Checks that a user who enters now sees the same as the guest, who has been in the live since its beginning.
    private static func compareWithNewcomer(
        _ fixture: StoreFixture, _ harness: ClusterHarness, _ transport: LoopTransport
    ) async throws {
        let newcomer = StoreUser("\(fixture.live)-late", harness, over: transport)
        try await newcomer.login(harness)
        let info = try await newcomer.plaza.liveListStore.joinLive(liveID: fixture.live)
        let stores = newcomer.stores(of: fixture.live)
        #expect(info.metaData == ["product": "tea"])
        // The host is not in the audience list, because the owner of a live is not audience.
        try await waitUntil("the newcomer and the guest see the same audience, seats and likes") {
            stores.seat.state.value == fixture.guestStores.seat.state.value
                && stores.coGuest.state.value.connected == fixture.guestStores.coGuest.state.value.connected
                && stores.like.state.value == fixture.guestStores.like.state.value
                && Set(stores.audience.state.value.audienceList.map(\.userID)) == [newcomer.id, fixture.guest.id]
        }
        try await newcomer.plaza.loginStore.logout()
        try await fixture.guest.waitForEvent("onAudienceLeft")
    }

    /// The host mutes the guest, then kicks the guest out of the live.
    private static func muteAndKickGuest(_ fixture: StoreFixture) async throws {
        let (hostStores, guestStores) = (fixture.hostStores, fixture.guestStores)
        try await hostStores.audience.disableSendMessage(userID: fixture.guest.id, isDisable: true)
        try await fixture.guest.waitForEvent("onAudienceMessageDisabled")
        #expect(!guestStores.barrage.state.value.allowSendMessage)
        let rejection = await #expect(throws: ErrorInfo.self) {
            try await guestStores.barrage.sendTextMessage(text: "no")
        }
        #expect(rejection?.name == .userMuted)
        try await hostStores.audience.kickUserOutOfRoom(userID: fixture.guest.id)
        try await fixture.guest.waitForEvent("onKickedOutOfLive")
        #expect(fixture.guest.plaza.liveListStore.state.value.currentLive.isEmpty)
        #expect(guestStores.barrage.state.value.messageList.isEmpty)
    }

    @Test(.timeLimit(.minutes(3)))
    func `two hosts connect and battle, and the stores of both hosts show the same`() async throws {
        try await TestCluster.with(TestCluster.options(kafkaBrokers: 1)) { cluster in
            let harness = try ClusterHarness(cluster)
            let transport = try LoopTransport()
            // Each host owns a live. The lives are not connected yet.
            let firstHost = try await LiveMember.makeHost("one", harness, transport)
            let secondHost = try await LiveMember.makeHost("two", harness, transport)
            // A new live is in the list of candidates only after some seconds, so the host reads it for up to 20 s.
            let deadline = ContinuousClock.now + .seconds(20)
            while firstHost.stores.coHost.state.value.candidates.isEmpty, ContinuousClock.now < deadline {
                try await firstHost.stores.coHost.getCoHostCandidates(cursor: "")
                try await Task.sleep(for: .milliseconds(100))
            }
            #expect(firstHost.stores.coHost.state.value.candidates.map(\.liveID) == [secondHost.live])
            try await firstHost.stores.coHost.requestHostConnection(
                targetHost: secondHost.live, layoutTemplate: .hostDynamicGrid, timeout: 30)
            try await secondHost.waitForEvent("onCoHostRequestReceived")
            try await secondHost.stores.coHost.acceptHostConnection(fromHostLiveID: firstHost.live)
            try await firstHost.waitForEvent("onCoHostRequestAccepted")
            try await waitUntil("each host sees both hosts") {
                [firstHost, secondHost].allSatisfy { $0.stores.coHost.state.value.connected.count == 2 }
            }
            #expect(firstHost.stores.coHost.state.value.connected == secondHost.stores.coHost.state.value.connected)
            let (battle, codesByUser) = try await firstHost.stores.battle.requestBattle(
                config: BattleConfig(duration: 30), userIDList: [secondHost.id], timeout: 10)
            // The code 0 means success.
            #expect(codesByUser == [secondHost.id: 0])
            try await secondHost.waitForEvent("onBattleStarted")
            try await waitUntil("both hosts see the battle") {
                [firstHost, secondHost].allSatisfy {
                    $0.stores.battle.state.value.currentBattleInfo?.battleID == battle.battleID
                }
            }
            #expect(firstHost.stores.battle.state.value == secondHost.stores.battle.state.value)
            try await secondHost.stores.battle.exitBattle(battleID: battle.battleID)
            try await firstHost.waitForEvent("onUserExitBattle")
            try await firstHost.stores.battle.exitBattle(battleID: battle.battleID)
            for host in [firstHost, secondHost] { try await host.waitForEvent("onBattleEnded") }
            try await firstHost.stores.coHost.exitHostConnection()
            try await waitUntil("neither host is connected any more") {
                [firstHost, secondHost].allSatisfy { $0.stores.coHost.state.value.coHostStatus == .disconnected }
            }
        }
    }
}
