// SPDX-License-Identifier: Apache-2.0
import LivePlazaKit
import LivePlazaTransport
import TestSupport
import Testing

/// Tests with real processes: which requests the stores show, and which events they publish, after a lost connection.
///
/// `AwayCase` tests a connection that is lost for longer than the server keeps notices.
@Suite(.serialized, .enabled(if: TestCluster.kafkaHome != nil, "needs a real Kafka: set KAFKA_HOME"))
struct StoreOutageTests {
    /// The call timeout of the users whose calls get no reply in time.
    private static let shortTimeout = Duration.seconds(2)
    /// How long after a resume a host may still publish events.
    ///
    /// The host reads the open requests after up to 5 s, then waits 5 s for missed notices; one second is spare.
    private static let untilSettled = Duration.seconds(11)

    @Test(.timeLimit(.minutes(3)))
    func `each request and each end of one is published once, also by a host that was cut off meanwhile`() async throws
    {
        try await TestCluster.with(TestCluster.options(kafkaBrokers: 1)) { cluster in
            let harness = try ClusterHarness(cluster)
            let transport = try LoopTransport()
            let host = try await LiveMember.makeHost("once", harness, transport)
            let (first, second) = (
                try await host.addViewer("first", harness, transport),
                try await host.addViewer("second", harness, transport)
            )
            let invited = try await host.addViewer("invited", harness, transport)
            try await first.stores.coGuest.applyForSeat(timeout: 120)
            try await host.waitForEvent("onGuestApplicationReceived")
            try await host.stores.coGuest.inviteToSeat(userID: invited.id, timeout: 120)
            try await invited.waitForEvent("onHostInvitationReceived")
            host.user.network.beginOutage()
            // What happens now reaches the host twice: by the notices that it has missed, and by its read of the open
            // requests.
            try await second.stores.coGuest.applyForSeat(timeout: 120)
            try await first.stores.coGuest.cancelApplication()
            try await first.stores.coGuest.applyForSeat(timeout: 120)
            try await invited.stores.coGuest.rejectInvitation(inviterID: host.id)
            host.user.network.endOutage()
            try await waitUntil("the host sees both applications, and no invitation") {
                let state = host.stores.coGuest.state.value
                return Set(state.applicants.map(\.userID)) == [first.id, second.id] && state.invitees.isEmpty
            }
            try await Task.sleep(for: Self.untilSettled)
            #expect(host.user.eventCount("onGuestApplicationReceived") == 3)
            #expect(host.user.eventCount("onGuestApplicationCancelled") == 1)
            #expect(host.user.eventCount("onHostInvitationResponded(isAccept: false") == 1)
            #expect(host.user.eventCount("onHostInvitationNoResponse") == 0)
        }
    }

    @Test(.timeLimit(.minutes(3)))
    func `after a call of unknown outcome, the stores show and publish what became of the request`() async throws {
        try await TestCluster.with(TestCluster.options(kafkaBrokers: 1)) { cluster in
            let harness = try ClusterHarness(cluster)
            let transport = try LoopTransport()
            let host = try await LiveMember.makeHost("unknown", harness, transport, callTimeout: Self.shortTimeout)
            let invited = try await host.addViewer("invited", harness, transport)
            let (applied, unheard) = (
                try await host.addViewer("applied", harness, transport, callTimeout: Self.shortTimeout),
                try await host.addViewer("unheard", harness, transport, callTimeout: Self.shortTimeout)
            )
            // The server invites the viewer, but its reply is lost.
            host.user.network.loseReceivedFrames()
            await Self.expectTimeout { try await host.stores.coGuest.inviteToSeat(userID: invited.id, timeout: 120) }
            #expect(host.stores.coGuest.state.value.invitees.map(\.userID) == [invited.id])
            try await invited.waitForEvent("onHostInvitationReceived")
            // The server gets the application of one viewer, but not that of the other.
            applied.user.network.loseReceivedFrames()
            await Self.expectTimeout { try await applied.stores.coGuest.applyForSeat(timeout: 120) }
            unheard.user.network.loseSentFrames()
            await Self.expectTimeout { try await unheard.stores.coGuest.applyForSeat(timeout: 120) }
            for member in [host, applied, unheard] { member.user.network.cut() }

            try await host.waitForEvent("onGuestApplicationReceived")
            try await unheard.waitForEvent("onGuestApplicationNoResponse(reason: ")
            #expect(applied.user.eventCount("onGuestApplication") == 0)
            // By now the host has read that its invitation is open.
            try await Task.sleep(for: Self.untilSettled)
            #expect(host.stores.coGuest.state.value.invitees.map(\.userID) == [invited.id])
            #expect(host.stores.coGuest.state.value.applicants.map(\.userID) == [applied.id])
            try await host.stores.coGuest.rejectApplication(userID: applied.id)
            try await applied.waitForEvent("onGuestApplicationResponded(isAccept: false")
            try await invited.stores.coGuest.acceptInvitation(inviterID: host.id)
            try await host.waitForEvent("onHostInvitationResponded(isAccept: true")
            #expect(host.stores.coGuest.state.value.invitees.isEmpty)
            #expect(host.user.eventCount("onGuestApplicationReceived") == 1)
        }
    }

    /// Makes a call that must fail with `timedOut`.
    private static func expectTimeout(_ call: () async throws -> Void) async {
        let error = await #expect(throws: ErrorInfo.self) { try await call() }
        #expect(error?.name == .timedOut)
    }
}
