// SPDX-License-Identifier: Apache-2.0
import PlazaModel
import Presence
import TestSupport
import Testing

/// Whom the leases know, and how (reference 6: 100005).
@Suite(.timeLimit(.minutes(1))) struct VouchTests {
    let redis: LiveRedis
    let partition: Partition

    init() throws {
        self.redis = try LiveRedis()
        self.partition = try Partition(redis: self.redis.port)
        try self.partition.run()
    }

    @Test func `a guest is vouched for with its name and avatar while it is in the live, and no longer`() throws {
        var alice = Partition.user("alice")
        alice.avatarURL = "https://example.org/a b"
        let joining = Caller(
            user: alice, role: .user, request: RequestID(session: "s1", counter: 1), replyTo: "gateway-1")
        let ticket = Int64(self.partition.inbox.count)
        try self.partition.send(.join(caller: joining))
        let host = Partition.caller("host", 1, ticket: ticket)
        let offer = SeatOffer.placement(seatIndex: 4)
        let command = AudienceCommand.vouchGuest(user: "alice", offer: offer, caller: host)
        #expect(
            try self.partition.send(command).contains(
                .seat(SeatInput(Partition.key, .vouched(user: alice, offer: offer, caller: host)))))
        try self.partition.send(.leave(caller: Partition.caller("alice", 2, ticket: ticket)))
        guard case .failure(let error)? = Partition.results(try self.partition.send(command)).first else {
            Issue.record("vouched for someone who has left")
            return
        }
        #expect(error.code == .notMember)
    }
}
