// SPDX-License-Identifier: Apache-2.0
import LivePlazaKit
import LivePlazaTransport
import TestSupport
import Testing

/// Tests with real processes of the events that the stores of LivePlazaKit (the Swift SDK) publish.
///
/// These tests wait for the events that `StoreClusterTests` does not wait for. `StoreCoverageTests` checks that no
/// event is left out.
@Suite(.serialized, .enabled(if: TestCluster.kafkaHome != nil, "needs a real Kafka: set KAFKA_HOME"))
struct StoreEventTests {
    @Test(.timeLimit(.minutes(3)))
    func `applications, invitations, locked devices and the end of a live reach the host, guest and admin`()
        async throws
    {
        try await TestCluster.with(TestCluster.options(kafkaBrokers: 1)) { cluster in
            let harness = try ClusterHarness(cluster)
            let transport = try LoopTransport()
            // The host owns the live. The guest and the admin have entered it, and no guest is on a seat.
            let host = try await LiveMember.makeHost("seats", harness, transport)
            let guest = try await host.addViewer("guest", harness, transport)
            let admin = try await host.addViewer("admin", harness, transport)
            try await host.stores.audience.setAdministrator(userID: admin.id)
            try await waitUntil("the admin knows its role") {
                admin.stores.audience.state.value.adminList.map(\.userID) == [admin.id]
            }
            try await Self.applyThreeTimes(host, guest, admin)
            try await Self.lockDevicesAndEndSeat(host, guest)
            try await Self.inviteThreeTimes(host, guest)
            _ = try await host.user.plaza.liveListStore.endLive()
            try await guest.waitForEvent("onLiveEnded")
            #expect(guest.user.plaza.liveListStore.state.value.currentLive.isEmpty)
        }
    }

    /// The guest applies for a seat three times: nobody answers, then the guest cancels, then the admin accepts.
    ///
    /// The timeouts of all requests are in seconds.
    private static func applyThreeTimes(_ host: LiveMember, _ guest: LiveMember, _ admin: LiveMember) async throws {
        try await guest.stores.coGuest.applyForSeat(timeout: 1)
        try await guest.waitForEvent("onGuestApplicationNoResponse(reason: ")
        try await guest.stores.coGuest.applyForSeat(timeout: 30)
        try await guest.stores.coGuest.cancelApplication()
        try await host.waitForEvent("onGuestApplicationCancelled")
        try await guest.stores.coGuest.applyForSeat(timeout: 30)
        try await waitUntil("host and admin see the application") {
            [host, admin].allSatisfy { $0.stores.coGuest.state.value.applicants.map(\.userID) == [guest.id] }
        }
        try await admin.stores.coGuest.acceptApplication(userID: guest.id)
        try await host.waitForEvent("onGuestApplicationProcessedByOtherHost")
        #expect(host.stores.coGuest.state.value.applicants.isEmpty)
        try await waitUntil("the host sees the guest on a seat") {
            host.stores.coGuest.state.value.connected.contains { $0.userID == guest.id }
        }
    }

    /// The host locks and unlocks the devices of the guest, who is on a seat, and then removes the guest from the seat.
    ///
    /// The SDK's names for locking and unlocking are `close` and `open`.
    private static func lockDevicesAndEndSeat(_ host: LiveMember, _ guest: LiveMember) async throws {
        let guestDevices = guest.user.plaza.deviceStore
        try await guestDevices.openLocalCamera(isFront: true)
        try await guestDevices.openLocalMicrophone()
        let seats = host.stores.seat
        try await retryAtRateLimit { try await seats.closeRemoteCamera(userID: guest.id) }
        try await guest.waitForEvent("onLocalCameraClosedByAdmin")
        #expect(guestDevices.state.value.cameraStatus == .off)
        #expect(guestDevices.state.value.microphoneStatus == .on)
        try await retryAtRateLimit {
            try await seats.openRemoteCamera(userID: guest.id, policy: .unlockOnly)
        }
        try await guest.waitForEvent("onLocalCameraOpenedByAdmin")
        try await retryAtRateLimit { try await seats.closeRemoteMicrophone(userID: guest.id) }
        try await guest.waitForEvent("onLocalMicrophoneClosedByAdmin")
        #expect(guestDevices.state.value.microphoneStatus == .off)
        try await retryAtRateLimit {
            try await seats.openRemoteMicrophone(userID: guest.id, policy: .unlockOnly)
        }
        try await guest.waitForEvent("onLocalMicrophoneOpenedByAdmin")
        try await retryAtRateLimit { try await seats.kickUserOutOfSeat(userID: guest.id) }
        try await guest.waitForEvent("onKickedOffSeat")
    }

    /// The host invites the guest three times: the guest rejects, then the host cancels, then nobody answers.
    private static func inviteThreeTimes(_ host: LiveMember, _ guest: LiveMember) async throws {
        let invitations = host.stores.coGuest
        try await retryAtRateLimit { try await invitations.inviteToSeat(userID: guest.id, timeout: 30) }
        try await guest.waitForEvent("onHostInvitationReceived")
        try await guest.stores.coGuest.rejectInvitation(inviterID: host.id)
        try await host.waitForEvent("onHostInvitationResponded(isAccept: false")
        try await retryAtRateLimit { try await invitations.inviteToSeat(userID: guest.id, timeout: 30) }
        try await retryAtRateLimit { try await invitations.cancelInvitation(inviteeID: guest.id) }
        try await guest.waitForEvent("onHostInvitationCancelled")
        // The server ends this invitation after its timeout of 5 s, and then notifies the host.
        try await retryAtRateLimit { try await invitations.inviteToSeat(userID: guest.id, timeout: 5) }
        try await host.waitForEvent("onHostInvitationNoResponse")
        #expect(invitations.state.value.invitees.isEmpty)
    }

    @Test(.timeLimit(.minutes(3)))
    func `a co-host or battle request reaches the other host, and the request's end reaches the hosts`() async throws {
        try await TestCluster.with(TestCluster.options(kafkaBrokers: 1)) { cluster in
            let harness = try ClusterHarness(cluster)
            let transport = try LoopTransport()
            // Each host owns a live. The lives are not connected yet.
            let firstHost = try await LiveMember.makeHost("one", harness, transport)
            let secondHost = try await LiveMember.makeHost("two", harness, transport)
            try await Self.requestConnections(firstHost, secondHost)
            try await Self.requestBattles(firstHost, secondHost)
            try await secondHost.stores.coHost.exitHostConnection()
            try await firstHost.waitForEvent("onCoHostUserLeft")
        }
    }

    /// The first host requests a connection four times: it cancels the request, then the second host rejects it, then
    /// nobody answers, then the second host accepts.
    private static func requestConnections(_ firstHost: LiveMember, _ secondHost: LiveMember) async throws {
        func request(timeout: Double = 30) async throws {
            try await firstHost.stores.coHost.requestHostConnection(
                targetHost: secondHost.live, layoutTemplate: .hostDynamicGrid, timeout: timeout)
        }
        try await request()
        try await firstHost.stores.coHost.cancelHostConnection(toHostLiveID: secondHost.live)
        try await secondHost.waitForEvent("onCoHostRequestCancelled")
        try await request()
        try await secondHost.stores.coHost.rejectHostConnection(fromHostLiveID: firstHost.live)
        try await firstHost.waitForEvent("onCoHostRequestRejected")
        try await request(timeout: 1)
        for host in [firstHost, secondHost] { try await host.waitForEvent("onCoHostRequestTimeout") }
        try await request()
        try await secondHost.stores.coHost.acceptHostConnection(fromHostLiveID: firstHost.live)
        for host in [firstHost, secondHost] { try await host.waitForEvent("onCoHostUserJoined") }
        try await waitUntil("each host sees both hosts") {
            [firstHost, secondHost].allSatisfy { $0.stores.coHost.state.value.connected.count == 2 }
        }
    }

    /// The first host requests a battle four times: it cancels the request, then the second host rejects it, then
    /// nobody answers, then the second host accepts.
    private static func requestBattles(_ firstHost: LiveMember, _ secondHost: LiveMember) async throws {
        // Requests a battle that begins only when the second host accepts; returns the id of the battle.
        func request(timeout: Double = 30) async throws -> String {
            let config = BattleConfig(duration: 30, needResponse: true)
            let (battle, _) = try await firstHost.stores.battle.requestBattle(
                config: config, userIDList: [secondHost.id], timeout: timeout)
            return battle.battleID
        }
        let cancelledBattle = try await request()
        try await secondHost.waitForEvent(#"onBattleRequestReceived(battleID: "\#(cancelledBattle)""#)
        try await firstHost.stores.battle.cancelBattleRequest(battleId: cancelledBattle, userIdList: [secondHost.id])
        try await secondHost.waitForEvent("onBattleRequestCancelled")
        try await secondHost.stores.battle.rejectBattle(battleID: try await request())
        try await firstHost.waitForEvent("onBattleRequestReject")
        _ = try await request(timeout: 1)
        for host in [firstHost, secondHost] { try await host.waitForEvent("onBattleRequestTimeout") }
        let battle = try await request()
        try await secondHost.stores.battle.acceptBattle(battleID: battle)
        try await firstHost.waitForEvent("onBattleRequestAccept")
        for host in [firstHost, secondHost] { try await host.waitForEvent("onUserJoinBattle") }
        try await firstHost.stores.battle.exitBattle(battleID: battle)
        try await secondHost.waitForEvent("onUserExitBattle")
    }

    @Test(.timeLimit(.minutes(3)))
    func `a login ends when the same session logs in again, and when its token expires`() async throws {
        try await TestCluster.with(TestCluster.options(kafkaBrokers: 1)) { cluster in
            let harness = try ClusterHarness(cluster)
            let transport = try LoopTransport()
            let name = ClusterHarness.uniqueName("user")
            // The demo app allows a user several devices, each with a session of its own. But a second login with the
            // same session ends the first.
            let olderLogin = StoreUser(name, harness, over: transport, session: name)
            try await olderLogin.login(harness)
            let newerLogin = StoreUser(name, harness, over: transport, session: name)
            try await newerLogin.login(harness)
            try await olderLogin.waitForEvent("kickedOffline")
            #expect(olderLogin.plaza.loginStore.state.value == LoginState())
            let userOfShortToken = StoreUser(ClusterHarness.uniqueName("short"), harness, over: transport)
            try await userOfShortToken.login(harness, validFor: .seconds(3))
            try await userOfShortToken.waitForEvent("loginExpired")
            #expect(userOfShortToken.plaza.loginStore.state.value == LoginState())
        }
    }
}
