// SPDX-License-Identifier: Apache-2.0
import AudienceCore
import MachineKit
import PlazaModel
import Testing

/// Presence verifies for the seat machine that a user who is offered a seat is in the live.
///
/// The rules are R6.14 and R6.15 in docs/RULES.md.
struct GuestMembershipTests {
    /// An offer of seat 2 by the live's owner.
    private let offer = SeatOffer.invitation(seatIndex: 2, timeoutSeconds: 30, extraInfo: "x")

    @Test func `an offer to a guest who is in the live is returned to the seat machine with the guest's profile`() {
        var harness = AudienceHarness()
        let caller = AudienceHarness.caller(AudienceHarness.owner, counter: 1, ticket: AudienceHarness.unusedTicket)
        let command = AudienceCommand.verifyGuestMembership(user: "alice", offer: self.offer, caller: caller)
        #expect(harness.plan(command).request == .profile(live: AudienceHarness.key, user: "alice"))
        #expect(
            harness.send(command, redisResult: .profile(AudienceHarness.alice)) == [
                .seat(
                    SeatInput(
                        AudienceHarness.key,
                        .guestMembershipVerified(user: AudienceHarness.alice, offer: self.offer, caller: caller)))
            ])
    }

    @Test
    func `an offer is rejected when the guest is absent, when Redis cannot be reached, and when the live has ended`() {
        var harness = AudienceHarness()
        let caller = AudienceHarness.caller(AudienceHarness.owner, counter: 1, ticket: AudienceHarness.unusedTicket)
        let command = AudienceCommand.verifyGuestMembership(user: "alice", offer: self.offer, caller: caller)
        #expect(AudienceHarness.rejectionCode(caller, harness.send(command, redisResult: .profile(nil))) == .notMember)
        #expect(AudienceHarness.rejectionCode(caller, harness.sendWithoutRedis(command)) == .unavailable)
        _ = harness.send(AudienceHarness.endOfLive)
        #expect(AudienceHarness.rejectionCode(caller, harness.send(command)) == .noSuchRoom)
    }
}
