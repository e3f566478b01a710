// SPDX-License-Identifier: Apache-2.0
import LoadKit
import PlazaModel
import ProtocolClient
import TestSupport
import Testing

/// A test of seats in real processes: a call to one service changes the state of another in the right order (R18.1,
/// R7.7).
///
/// Stage events are compared by their `shortText`, such as `seat left 3` for a user who left seat 3.
@Suite(.serialized, .enabled(if: TestCluster.kafkaHome != nil, "needs a real Kafka: set KAFKA_HOME"))
struct SeatClusterTests {
    /// A live with three real clients that have joined.
    ///
    /// The host owns the live, the guest gets a seat later, and the watcher is only a viewer.
    private struct SeatFixture {
        let live: LiveID
        let host: DemoUser
        let guest: DemoUser
        let watcher: DemoUser

        init(_ harness: ClusterHarness, on hub: ClientHub) async throws {
            self.live = LiveID(ClusterHarness.uniqueName("live"))
            self.host = DemoUser("host", harness.client("\(self.live)-host", on: hub))
            self.guest = DemoUser("guest", harness.client("\(self.live)-guest", on: hub))
            self.watcher = DemoUser("watcher", harness.client("\(self.live)-watcher", on: hub))
            try await self.host.call("live.create", CallParams(live: self.live), live: self.live)
            for user in [self.host, self.guest, self.watcher] { try await self.call(user, "live.join") }
        }

        func id(of user: DemoUser) -> UserID { UserID("\(self.live)-\(user.name)") }

        @discardableResult
        func call(_ user: DemoUser, _ method: String, _ params: CallParams = CallParams()) async throws -> CallResult {
            var params = params
            params.live = self.live
            return try await user.call(method, params, live: self.live)
        }

        func expectRejection(_ user: DemoUser, _ code: ReplyCode, _ method: String, _ params: CallParams) async throws {
            var params = params
            params.live = self.live
            try await user.expectRejection(code, method, params)
        }

        /// Waits until the watcher receives a stage that satisfies `match`.
        func waitForStage(
            _ expectation: String, _ match: (StageRecord, [StageEvent]) -> Bool
        ) async throws -> StageRecord {
            try await self.watcher.waitForFeedItem(expectation) { content in
                if case .stage(let record, let events) = content, match(record, events) { record } else { nil }
            }
        }
    }

    @Test(.timeLimit(.minutes(3)))
    func
        `invitation, device lock, seat lock, leave and kick change the stage in order; a returning owner is seated`()
        async throws
    {
        try await TestCluster.with(TestCluster.options(kafkaBrokers: 1)) { cluster in
            let hub = try ClientHub()
            defer { hub.stop() }
            let fixture = try await SeatFixture(try ClusterHarness(cluster), on: hub)
            try await Self.inviteGuest(fixture)
            try await Self.lockGuestMicrophone(fixture)
            try await Self.lockGuestSeat(fixture)
            try await Self.leaveReturnAndKickGuest(fixture)
            try await Self.leaveAndReturnAsOwner(fixture)
        }
    }

    /// The host invites the guest to seat 3, and the guest accepts.
    private static func inviteGuest(_ fixture: SeatFixture) async throws {
        try await fixture.expectRejection(fixture.host, .notMember, "seat.invite", CallParams(user: "nobody-here"))
        try await fixture.call(
            fixture.host, "seat.invite", CallParams(user: fixture.id(of: fixture.guest), seatIndex: 3, timeout: 60))
        _ = try await fixture.guest.waitForNotice("an invitation") { content in
            if case .invitationReceived(_, 3, _, _) = content { true } else { nil }
        }
        try await fixture.call(fixture.guest, "seat.acceptInvitation", CallParams(user: fixture.id(of: fixture.host)))
        _ = try await fixture.host.waitForNotice("the guest's acceptance") { content in
            if case .invitationAnswered(_, true) = content { true } else { nil }
        }
        let stage = try await fixture.waitForStage("the guest on its seat") { _, events in
            events.contains { if case .seatTaken(3, _) = $0 { true } else { false } }
        }
        // Template 600 shows two users side by side on a canvas that is 1080 wide.
        #expect(stage.layout.canvas.templateID == 600)
        #expect(stage.layout.regions.map(\.userID) == [fixture.id(of: fixture.host), fixture.id(of: fixture.guest)])
        #expect(stage.layout.regions.map(\.width) == [540, 540])
    }

    /// The guest opens its microphone, and the host locks it.
    private static func lockGuestMicrophone(_ fixture: SeatFixture) async throws {
        try await fixture.call(fixture.guest, "seat.device", CallParams(microphone: true))
        _ = try await fixture.waitForStage("an open microphone") { record, _ in
            record.seats[3].occupant?.isMicrophoneOn == true
        }
        try await fixture.call(
            fixture.host, "seat.lockDevice", CallParams(user: fixture.id(of: fixture.guest), device: "microphone"))
        _ = try await fixture.guest.waitForNotice("that its microphone was locked") { content in
            if case .deviceClosedByAdmin(.microphone, _) = content { true } else { nil }
        }
        _ = try await fixture.waitForStage("a locked microphone") { record, _ in
            record.seats[3].occupant?.allowOpenMicrophone == false
        }
        try await fixture.expectRejection(
            fixture.guest, .microphoneNeedsHost, "seat.device", CallParams(microphone: true))
    }

    /// The host locks the guest's seat, which removes the guest from the seat.
    private static func lockGuestSeat(_ fixture: SeatFixture) async throws {
        try await fixture.call(fixture.host, "seat.lock", CallParams(seatIndex: 3, locked: true))
        _ = try await fixture.guest.waitForNotice("that it was removed from its seat") { content in
            if case .kickedOffSeat(3, _) = content { true } else { nil }
        }
        _ = try await fixture.waitForStage("the seat left, then locked") { _, events in
            events.map(\.shortText) == ["seat left 3", "seat locked 3"]
        }
        try await fixture.expectRejection(fixture.guest, .seatLocked, "seat.apply", CallParams(seatIndex: 3))
    }

    /// The guest applies for a seat, leaves, returns, gets a seat, and is kicked out of the live.
    private static func leaveReturnAndKickGuest(_ fixture: SeatFixture) async throws {
        try await fixture.call(fixture.guest, "seat.apply", CallParams(seatIndex: 4, timeout: 60))
        _ = try await fixture.host.waitForNotice("an application") { content in
            if case .applicationReceived = content { true } else { nil }
        }
        try await fixture.call(fixture.guest, "live.leave")
        _ = try await fixture.host.waitForNotice("that the application is void") { content in
            if case .applicationCancelled = content { true } else { nil }
        }
        try await fixture.call(fixture.guest, "live.join")
        try await fixture.call(fixture.guest, "seat.apply", CallParams(seatIndex: 4, timeout: 60))
        try await fixture.call(fixture.host, "seat.acceptApplication", CallParams(user: fixture.id(of: fixture.guest)))
        _ = try await fixture.waitForStage("the guest on its seat again") { record, _ in
            record.seats[4].occupant != nil
        }
        try await fixture.call(fixture.host, "audience.kick", CallParams(user: fixture.id(of: fixture.guest)))
        _ = try await fixture.waitForStage("the seat of the kicked guest free") { _, events in
            events.contains { if case .seatLeft(4, _) = $0 { true } else { false } }
        }
    }

    /// The owner leaves, which frees its seat, and gets the seat again when it returns.
    private static func leaveAndReturnAsOwner(_ fixture: SeatFixture) async throws {
        try await fixture.call(fixture.host, "live.leave")
        _ = try await fixture.waitForStage("the owner's seat empty") { record, _ in record.seats[0].occupant == nil }
        try await fixture.call(fixture.host, "live.join")
        _ = try await fixture.waitForStage("the owner on its seat again") { record, _ in
            record.seats[0].occupant?.role == .owner
        }
    }
}
