// SPDX-License-Identifier: Apache-2.0
import Foundation
import LivePlazaKit
import LivePlazaTransport
import TestSupport
import Testing

/// The stores of LivePlazaKit against real processes.
@Suite(.serialized, .enabled(if: LiveCluster.kafkaHome != nil, "needs a real Kafka: set KAFKA_HOME"))
struct StoreClusterTests {
    /// A host and a guest in a live.
    private struct Evening {
        let live = ClusterHarness.name("eve")
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
    func `an evening with messages, likes, a guest on a seat, a mute, a kick and the end`() async throws {
        try await LiveCluster.with(LiveCluster.options(realKafka: 1)) { cluster in
            let harness = try ClusterHarness(cluster)
            let transport = try LoopTransport()
            let evening = try await Evening(harness, over: transport)
            try await Self.talk(evening)
            try await Self.sit(evening)
            try await Self.compareWithNewcomer(evening, harness, transport)
            try await Self.moderate(evening)
            let lists = evening.host.plaza.liveListStore
            let statistics = try await lists.endLive()
            #expect(statistics.totalMessageCount >= 2)
            #expect(lists.state.value.currentLive.isEmpty)
            try await evening.host.plaza.loginStore.logout()
            try await evening.guest.plaza.loginStore.logout()
        }
    }

    private static func talk(_ evening: Evening) async throws {
        let (host, guest) = (evening.hostStores, evening.guestStores)
        try await evening.host.waitForEvent("onAudienceJoined")
        try await host.barrage.sendTextMessage(text: "welcome", extensionInfo: ["style": "bold"])
        try await guest.barrage.sendCustomMessage(businessID: "vote", data: "{}")
        try await waitUntil("both have both messages") {
            host.barrage.state.value.messageList.count == 2 && guest.barrage.state.value.messageList.count == 2
        }
        #expect(host.barrage.state.value == guest.barrage.state.value)
        #expect(guest.barrage.state.value.messageList.first?.extensionInfo == ["style": "bold"])
        try await guest.like.sendLike(count: 3)
        try await waitUntil("the host sees three likes") { host.like.state.value.totalLikeCount == 3 }
        try await evening.host.waitForEvent("onReceiveLikesMessage")
        try await evening.host.plaza.liveListStore.updateLiveMetaData(["product": "tea"])
        try await waitUntil("the guest sees the product") {
            evening.guest.plaza.liveListStore.state.value.currentLive.metaData == ["product": "tea"]
        }
        try await host.gift.refreshUsableGifts()
        if let gift = host.gift.state.value.usableGifts.first?.giftList.first {
            try await guest.gift.sendGift(giftID: gift.giftID, count: 1)
            try await evening.host.waitForEvent("onReceiveGift")
        }
    }

    private static func sit(_ evening: Evening) async throws {
        let (host, guest) = (evening.hostStores, evening.guestStores)
        try await guest.coGuest.applyForSeat(timeout: 30)
        try await evening.host.waitForEvent("onGuestApplicationReceived")
        #expect(host.coGuest.state.value.applicants.map(\.userID) == [evening.guest.id])
        try await host.coGuest.acceptApplication(userID: evening.guest.id)
        #expect(host.coGuest.state.value.applicants.isEmpty)
        try await evening.guest.waitForEvent("onGuestApplicationResponded(isAccept: true")
        try await waitUntil("both see the guest on a seat") {
            [host, guest].allSatisfy { stores in
                stores.coGuest.state.value.connected.contains { $0.userID == evening.guest.id }
            }
        }
        // A media engine is missing, so the device counts as opened, and the seat is told.
        try await evening.guest.plaza.deviceStore.openLocalMicrophone()
        try await waitUntil("the host sees the open microphone") {
            host.seat.state.value.seatList.contains {
                $0.userInfo.userID == evening.guest.id && $0.userInfo.microphoneStatus == .on
            }
        }
        try await host.seat.closeRemoteMicrophone(userID: evening.guest.id)
        try await evening.guest.waitForEvent("onLocalMicrophoneClosedByAdmin")
        let refusal = await #expect(throws: ErrorInfo.self) { try await guest.seat.unmuteMicrophone() }
        #expect(refusal?.code == -2361)
    }

    /// Who enters now sees what those see who were never away.
    private static func compareWithNewcomer(
        _ evening: Evening, _ harness: ClusterHarness, _ transport: LoopTransport
    ) async throws {
        let newcomer = StoreUser("\(evening.live)-late", harness, over: transport)
        try await newcomer.login(harness)
        let info = try await newcomer.plaza.liveListStore.joinLive(liveID: evening.live)
        let stores = newcomer.stores(of: evening.live)
        #expect(info.metaData == ["product": "tea"])
        try await waitUntil("the newcomer and the guest see the same audience, seats and figures") {
            stores.seat.state.value == evening.guestStores.seat.state.value
                && stores.coGuest.state.value.connected == evening.guestStores.coGuest.state.value.connected
                && stores.like.state.value == evening.guestStores.like.state.value
                && Set(stores.audience.state.value.audienceList.map(\.userID)) == [newcomer.id, evening.guest.id]
        }
        try await newcomer.plaza.loginStore.logout()
        try await evening.guest.waitForEvent("onAudienceLeft")
    }

    private static func moderate(_ evening: Evening) async throws {
        let (host, guest) = (evening.hostStores, evening.guestStores)
        try await host.audience.disableSendMessage(userID: evening.guest.id, isDisable: true)
        try await evening.guest.waitForEvent("onAudienceMessageDisabled")
        #expect(!guest.barrage.state.value.allowSendMessage)
        let refusal = await #expect(throws: ErrorInfo.self) { try await guest.barrage.sendTextMessage(text: "no") }
        #expect(refusal?.code == -2381)
        try await host.audience.kickUserOutOfRoom(userID: evening.guest.id)
        try await evening.guest.waitForEvent("onKickedOutOfLive")
        #expect(evening.guest.plaza.liveListStore.state.value.currentLive.isEmpty)
        #expect(guest.barrage.state.value.messageList.isEmpty)
    }

    @Test(.timeLimit(.minutes(3)))
    func `two hosts connect and fight, and both see the same`() async throws {
        try await LiveCluster.with(LiveCluster.options(realKafka: 1)) { cluster in
            let harness = try ClusterHarness(cluster)
            let transport = try LoopTransport()
            let one = try await Self.host("one", harness, transport)
            let two = try await Self.host("two", harness, transport)
            // The list of lives is a little behind.
            for _ in 0..<50 where one.stores.coHost.state.value.candidates.isEmpty {
                try await one.stores.coHost.getCoHostCandidates(cursor: "")
                try await Task.sleep(for: .milliseconds(100))
            }
            #expect(one.stores.coHost.state.value.candidates.map(\.liveID) == [two.live])
            try await one.stores.coHost.requestHostConnection(
                targetHost: two.live, layoutTemplate: .hostDynamicGrid, timeout: 30)
            try await two.user.waitForEvent("onCoHostRequestReceived")
            try await two.stores.coHost.acceptHostConnection(fromHostLiveID: one.live)
            try await one.user.waitForEvent("onCoHostRequestAccepted")
            try await waitUntil("both see both hosts") {
                [one, two].allSatisfy { $0.stores.coHost.state.value.connected.count == 2 }
            }
            #expect(one.stores.coHost.state.value.connected == two.stores.coHost.state.value.connected)
            let (battle, codes) = try await one.stores.battle.requestBattle(
                config: BattleConfig(duration: 30), userIDList: [two.user.id], timeout: 10)
            #expect(codes == [two.user.id: 0])
            try await two.user.waitForEvent("onBattleStarted")
            try await waitUntil("both see the battle") {
                [one, two].allSatisfy { $0.stores.battle.state.value.currentBattleInfo?.battleID == battle.battleID }
            }
            #expect(one.stores.battle.state.value == two.stores.battle.state.value)
            try await two.stores.battle.exitBattle(battleID: battle.battleID)
            try await one.user.waitForEvent("onUserExitBattle")
            try await one.stores.battle.exitBattle(battleID: battle.battleID)
            for side in [one, two] { try await side.user.waitForEvent("onBattleEnded") }
            try await one.stores.coHost.exitHostConnection()
            try await waitUntil("both are alone again") {
                [one, two].allSatisfy { $0.stores.coHost.state.value.coHostStatus == .disconnected }
            }
        }
    }

    private static func host(
        _ name: String, _ harness: ClusterHarness, _ transport: LoopTransport
    ) async throws -> (live: String, user: StoreUser, stores: StoresOfLive) {
        let live = ClusterHarness.name(name)
        let user = StoreUser("\(live)-host", harness, over: transport)
        try await user.login(harness)
        let stores = user.stores(of: live)
        var info = LivePlazaKit.LiveInfo()
        info.liveID = live
        _ = try await user.plaza.liveListStore.createLive(info)
        return (live, user, stores)
    }
}
