// SPDX-License-Identifier: Apache-2.0
import LivePlazaKit
import LivePlazaTransport
import TestSupport
import Testing

/// Tests that the stores of users who were away show and publish the same as the stores of users who were not.
///
/// The users are without a network for 72 s: longer than the server keeps their notices (60 s), but shorter than the
/// lease after which they would leave their lives (90 s).
enum AwayCase {
    private static let timeAway = Duration.seconds(72)
    /// The timeout of requests in seconds: longer than the users are away.
    private static let requestTimeout = 150.0
    /// How long the battle lasts, in seconds: longer than the users are away.
    private static let battleDuration = 300.0

    static let all = [
        ConcurrentCase("users who were away for 72 s show and publish the same as users who were not") {
            try await Self.run()
        }
    ]

    /// The users of two lives, which connect while some of the users are away.
    private struct Users {
        let host: LiveMember
        let witness: LiveMember
        /// Applies for a seat, and is accepted while it is away.
        let accepted: LiveMember
        /// Applies for a seat, and is rejected while it is away.
        let rejected: LiveMember
        /// Is invited; the host withdraws the invitation while it is away.
        let invited: LiveMember
        /// The host of the other live: its request to connect, and its invitation, are accepted while it is away.
        let otherHost: LiveMember
        let otherGuest: LiveMember

        var absentees: [LiveMember] { [self.accepted, self.rejected, self.invited, self.otherHost] }

        init(_ harness: ClusterHarness, _ transport: LoopTransport) async throws {
            self.host = try await LiveMember.makeHost("stay", harness, transport)
            self.witness = try await self.host.addViewer("witness", harness, transport)
            self.accepted = try await self.host.addViewer("accepted", harness, transport)
            self.rejected = try await self.host.addViewer("rejected", harness, transport)
            self.invited = try await self.host.addViewer("invited", harness, transport)
            self.otherHost = try await LiveMember.makeHost("away", harness, transport)
            self.otherGuest = try await self.otherHost.addViewer("guest", harness, transport)
        }
    }

    private static func run() async throws {
        try await TestCluster.with(TestCluster.options(kafkaBrokers: 1), readyWithin: .seconds(120)) { cluster in
            let harness = try ClusterHarness(cluster)
            let transport = try LoopTransport()
            let users = try await Users(harness, transport)
            try await Self.openRequests(users)
            for absentee in users.absentees { absentee.user.network.beginOutage() }
            let began = ContinuousClock.now
            try await Self.endRequests(users)
            try await Task.sleep(until: began + Self.timeAway)
            for absentee in users.absentees { absentee.user.network.endOutage() }
            try await Self.expectEvents(users)
            try await Self.expectSameStates(users, harness, transport)
            // `onAudienceLeft` would report that the server has taken a user out of the live.
            #expect(users.host.user.eventCount("onAudienceLeft") == 0)
        }
    }

    private static func openRequests(_ users: Users) async throws {
        for viewer in [users.accepted, users.rejected] {
            try await viewer.stores.coGuest.applyForSeat(timeout: Self.requestTimeout)
        }
        try await users.host.stores.coGuest.inviteToSeat(userID: users.invited.id, timeout: Self.requestTimeout)
        try await users.invited.waitForEvent("onHostInvitationReceived")
        try await users.otherHost.stores.coGuest.inviteToSeat(
            userID: users.otherGuest.id, timeout: Self.requestTimeout)
        try await users.otherGuest.waitForEvent("onHostInvitationReceived")
        try await users.otherHost.stores.coHost.requestHostConnection(
            targetHost: users.host.live, layoutTemplate: .hostDynamicGrid, timeout: Self.requestTimeout)
        try await users.host.waitForEvent("onCoHostRequestReceived")
        try await waitUntil("the host sees both applications") {
            users.host.stores.coGuest.state.value.applicants.count == 2
        }
    }

    /// Ends all requests, sends messages and likes, and starts a battle, while the absentees are away.
    private static func endRequests(_ users: Users) async throws {
        let hostStores = users.host.stores
        try await retryAtRateLimit { try await hostStores.coGuest.acceptApplication(userID: users.accepted.id) }
        try await retryAtRateLimit { try await hostStores.coGuest.rejectApplication(userID: users.rejected.id) }
        try await retryAtRateLimit { try await hostStores.coGuest.cancelInvitation(inviteeID: users.invited.id) }
        try await hostStores.coHost.acceptHostConnection(fromHostLiveID: users.otherHost.live)
        try await users.otherGuest.stores.coGuest.acceptInvitation(inviterID: users.otherHost.id)
        for text in ["one", "two"] { try await hostStores.barrage.sendTextMessage(text: text) }
        try await users.otherGuest.stores.barrage.sendTextMessage(text: "three")
        try await users.otherGuest.stores.like.sendLike(count: 5)
        try await users.witness.waitForEvent("onCoHostUserJoined")
        _ = try await hostStores.battle.requestBattle(
            config: BattleConfig(duration: Self.battleDuration, needResponse: false), userIDList: [users.otherHost.id],
            timeout: 10)
        try await users.witness.waitForEvent("onBattleStarted")
    }

    /// Waits for the events of the users who were away, and checks that each event is published once.
    private static func expectEvents(_ users: Users) async throws {
        let expected = [
            (users.accepted, "onGuestApplicationResponded(isAccept: true"),
            (users.rejected, "onGuestApplicationNoResponse(reason: "),
            (users.invited, "onHostInvitationCancelled("),
            (users.otherHost, "onHostInvitationResponded(isAccept: true"),
            (users.otherHost, "onCoHostRequestAccepted("),
            (users.otherHost, "onCoHostUserJoined("),
            (users.otherHost, "onBattleStarted("),
        ]
        for (member, event) in expected { try await member.waitForEvent(event) }
        // `onCoHostUserJoined` is published for each of the two hosts.
        for (member, event) in expected where !event.hasPrefix("onCoHostUserJoined") {
            #expect(member.user.eventCount(event) == 1, "\(member.id) has received \(event) more than once")
        }
        // Each of the two applicants gets one event about the application. The invited user gets two events about the
        // invitation: its receipt and its withdrawal.
        #expect(users.accepted.user.eventCount("onGuestApplication") == 1)
        #expect(users.rejected.user.eventCount("onGuestApplication") == 1)
        #expect(users.invited.user.eventCount("onHostInvitation") == 2)
    }

    /// Waits until the users who were away see the same as a user who was not, and as a newcomer, in both lives.
    private static func expectSameStates(
        _ users: Users, _ harness: ClusterHarness, _ transport: LoopTransport
    ) async throws {
        let newcomer = try await users.host.addViewer("newcomer", harness, transport)
        try await expectSameStores(
            of: [users.accepted, users.rejected, users.invited].map(\.user.plaza), in: users.host.live,
            as: users.witness.user.plaza, and: newcomer.user.plaza, messages: ["one", "two"])
        let otherNewcomer = try await users.otherHost.addViewer("newcomer", harness, transport)
        try await expectSameStores(
            of: [users.otherHost.user.plaza], in: users.otherHost.live, as: users.otherGuest.user.plaza,
            and: otherNewcomer.user.plaza, messages: ["three"])
        let (hostStores, otherHostStores) = (users.host.stores, users.otherHost.stores)
        #expect(otherHostStores.coHost.state.value.connected.count == 2)
        #expect(otherHostStores.battle.state.value.currentBattleInfo != nil)
        #expect(otherHostStores.coGuest.state.value.connected.contains { $0.userID == users.otherGuest.id })
        try await waitUntil("both hosts see the same connection and battle, and no open request") {
            hostStores.coHost.state.value.connected == otherHostStores.coHost.state.value.connected
                && hostStores.battle.state.value == otherHostStores.battle.state.value
                && [hostStores, otherHostStores].allSatisfy { stores in
                    stores.coHost.state.value.invitees.isEmpty && stores.coHost.state.value.applicant == nil
                        && stores.coGuest.state.value.invitees.isEmpty
                        && stores.coGuest.state.value.applicants.isEmpty
                }
        }
    }
}
