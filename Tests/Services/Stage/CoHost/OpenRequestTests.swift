// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel
import StageCore
import Testing

struct OpenRequestTests {
    /// Rules: R8.25.
    @Test func `both owners read an open co-host request, until it ends`() throws {
        var harness = ConnectionHarness(["a", "b", "c"])
        _ = harness.request("a", "b", "c")
        let end = harness.machine.moment.now + .seconds(10)
        let toB = harness.coHostRequest("a", "b", end)
        let toC = harness.coHostRequest("a", "c", end)
        #expect(harness.openRequests("a").sent == [toB, toC])
        #expect(harness.openRequests("a").received == [])
        #expect(harness.openRequests("b").received == [toB])
        _ = harness.accept("b", "a")
        #expect(harness.openRequests("a").sent == [toC])
        #expect(harness.openRequests("b").received == [])
        _ = harness.advance(milliseconds: 10_000)
        #expect(harness.openRequests("a").sent == [])
    }

    /// Rules: R8.22, R8.25, R10.21.
    @Test func `another than the owner reads no requests`() {
        var harness = ConnectionHarness(["a", "b"])
        let stranger = harness.callers.user("stranger")
        let coHost = harness.handle(.openRequests(live: "a", caller: stranger))
        #expect(coHost.code == ReplyCode.needsOwner.code)
        let battle = harness.handle(.openBattleRequests(live: "a", caller: harness.callers.user("stranger")))
        #expect(battle.code == ReplyCode.needsOwner.code)
    }

    /// Rules: R10.21.
    @Test func `the inviter reads all requests of its battle, an invitee its own, until the battle starts`() {
        var harness = ConnectionHarness(["a", "b", "c"])
        harness.connect("a", "b", "c")
        let id = harness.requestBattle("a", "b", "c", timeout: 20)
        #expect(harness.openBattleRequests("a").sent.map(\.invitee.live) == ["b", "c"])
        #expect(harness.openBattleRequests("b").received.map(\.inviter.live) == ["a"])
        _ = harness.call("b") { .acceptBattle(battle: id, live: "b", caller: $0) }
        #expect(harness.openBattleRequests("a").sent.map(\.hasAccepted) == [true, false])
        _ = harness.call("c") { .rejectBattle(battle: id, live: "c", caller: $0) }
        #expect(harness.openBattleRequests("a").sent == [])
        #expect(harness.openBattleRequests("b").received == [])
    }
}

extension ConnectionHarness {
    fileprivate func coHostRequest(_ inviter: LiveID, _ invitee: LiveID, _ end: Timestamp) -> OpenCoHostRequest {
        OpenCoHostRequest(
            inviter: self.member(inviter), invitee: self.member(invitee), expiresAt: end, extensionInfo: "")
    }

    fileprivate mutating func openRequests(
        _ live: LiveID
    ) -> (sent: [OpenCoHostRequest], received: [OpenCoHostRequest]) {
        let effects = self.call(live) { .openRequests(live: live, caller: $0) }
        guard case .coHostRequests(let sent, let received, _)? = effects.result else { return ([], []) }
        return (sent, received)
    }

    fileprivate mutating func openBattleRequests(
        _ live: LiveID
    ) -> (sent: [OpenBattleRequest], received: [OpenBattleRequest]) {
        let effects = self.call(live) { .openBattleRequests(live: live, caller: $0) }
        guard case .battleRequests(let sent, let received, _)? = effects.result else { return ([], []) }
        return (sent, received)
    }
}
