// SPDX-License-Identifier: Apache-2.0
import PlazaModel
import Testing

/// The Redis script that reads the profile of a user if the user is in the live (R6.14 and R6.15 in docs/RULES.md).
@Suite(.timeLimit(.minutes(1))) struct GuestMembershipScriptTests {
    private let fixture: RedisFixture
    private var partition: PartitionHarness { self.fixture.partition }

    init() throws { self.fixture = try RedisFixture() }

    /// Rules: R6.15.
    @Test func `a guest's membership is verified, with its name and avatar, only while it is in the live`() throws {
        var alice = PartitionHarness.user("alice")
        alice.avatarURL = "https://example.org/a b"
        let joining = Caller(
            user: alice, role: .user, request: RequestID(session: "s1", counter: 1), replyTo: "gateway-1")
        // The ticket of a join is its offset.
        let ticket = Int64(self.partition.inbox.count)
        try self.partition.send(.join(caller: joining))
        // The host offers alice a seat. The host has not joined: its call needs any ticket above the offset of the
        // live's opening, so it uses alice's.
        let host = PartitionHarness.caller("host", counter: 1, ticket: ticket)
        let offer = SeatOffer.placement(seatIndex: 4)
        let command = AudienceCommand.verifyGuestMembership(user: "alice", offer: offer, caller: host)
        #expect(
            try self.partition.send(command).contains(
                .seat(
                    SeatInput(PartitionHarness.key, .guestMembershipVerified(user: alice, offer: offer, caller: host))))
        )
        try self.partition.send(.leave(caller: PartitionHarness.caller("alice", counter: 2, ticket: ticket)))
        guard case .failure(let error)? = PartitionHarness.outcomes(try self.partition.send(command)).first else {
            Issue.record("expected a rejection, because alice has left the live")
            return
        }
        #expect(error.code == .notMember)
    }
}
