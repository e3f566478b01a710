// SPDX-License-Identifier: Apache-2.0
import MachineKit
import MachineTestSupport
import PlazaModel
import StageCore
import Testing

/// The queries by which the owner of a live reads open co-host requests and open battle requests.
struct OpenRequestTests {
    /// Rules: R8.25.
    @Test func `inviter and invitee read an open co-host request, until the request ends`() throws {
        var harness = ConnectionHarness(["arena", "bistro", "cafe"])
        _ = harness.request("arena", to: "bistro", "cafe")
        // The default time-out is 10 s.
        let expiry = harness.machine.moment.now + .seconds(10)
        let requestToBistro = harness.coHostRequest("arena", "bistro", expiresAt: expiry)
        let requestToCafe = harness.coHostRequest("arena", "cafe", expiresAt: expiry)
        #expect(harness.openRequests(of: "arena").sent == [requestToBistro, requestToCafe])
        #expect(harness.openRequests(of: "arena").received == [])
        #expect(harness.openRequests(of: "bistro").received == [requestToBistro])
        _ = harness.accept("bistro", inviter: "arena")
        #expect(harness.openRequests(of: "arena").sent == [requestToCafe])
        #expect(harness.openRequests(of: "bistro").received == [])
        // The request to cafe times out.
        _ = harness.advance(milliseconds: 10_000)
        #expect(harness.openRequests(of: "arena").sent == [])
    }

    /// Rules: R8.22, R8.25, R10.21.
    @Test func `a user who is not the owner cannot read the open requests`() {
        var harness = ConnectionHarness(["arena", "bistro"])
        let coHostQuery = harness.handle(.openRequests(live: "arena", caller: harness.callers.user("gina")))
        #expect(coHostQuery.code == .needsOwner)
        let battleQuery = harness.handle(.openBattleRequests(live: "arena", caller: harness.callers.user("gina")))
        #expect(battleQuery.code == .needsOwner)
    }

    /// Rules: R10.21.
    @Test func `the inviter reads all requests of its battle, and an invitee its own, until the battle starts`() {
        var harness = ConnectionHarness(["arena", "bistro", "cafe"])
        harness.connect("arena", "bistro", "cafe")
        let id = harness.requestBattle("arena", against: "bistro", "cafe", timeoutSeconds: 20)
        #expect(harness.openBattleRequests(of: "arena").sent.map(\.invitee.live) == ["bistro", "cafe"])
        #expect(harness.openBattleRequests(of: "bistro").received.map(\.inviter.live) == ["arena"])
        _ = harness.call("bistro") { .acceptBattle(battle: id, live: "bistro", caller: $0) }
        #expect(harness.openBattleRequests(of: "arena").sent.map(\.hasAccepted) == [true, false])
        // The last answer starts the battle of arena and bistro.
        _ = harness.call("cafe") { .rejectBattle(battle: id, live: "cafe", caller: $0) }
        #expect(harness.openBattleRequests(of: "arena").sent == [])
        #expect(harness.openBattleRequests(of: "bistro").received == [])
    }
}

extension ConnectionHarness {
    /// The expected open request of `inviter` to `invitee`.
    fileprivate func coHostRequest(
        _ inviter: LiveID, _ invitee: LiveID, expiresAt: Timestamp
    ) -> OpenCoHostRequest {
        OpenCoHostRequest(
            inviter: self.member(inviter), invitee: self.member(invitee), expiresAt: expiresAt, extensionInfo: "")
    }

    /// The open co-host requests that the live has sent and received, as its owner reads them.
    fileprivate mutating func openRequests(
        of live: LiveID
    ) -> (sent: [OpenCoHostRequest], received: [OpenCoHostRequest]) {
        let effects = self.call(live) { .openRequests(live: live, caller: $0) }
        guard case .coHostRequests(let sent, let received, _)? = effects.result else {
            Issue.record("the query for co-host requests is rejected: \(String(describing: effects.code))")
            return ([], [])
        }
        return (sent, received)
    }

    /// The open battle requests that the live has sent and received, as its owner reads them.
    fileprivate mutating func openBattleRequests(
        of live: LiveID
    ) -> (sent: [OpenBattleRequest], received: [OpenBattleRequest]) {
        let effects = self.call(live) { .openBattleRequests(live: live, caller: $0) }
        guard case .battleRequests(let sent, let received, _)? = effects.result else {
            Issue.record("the query for battle requests is rejected: \(String(describing: effects.code))")
            return ([], [])
        }
        return (sent, received)
    }
}
