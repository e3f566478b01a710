// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel
import Testing

/// The floors of a live: for each kicked user, the lowest ticket (the number of a join) that the user may still use.
@Suite struct RevocationFenceTests {
    private func caller(_ id: UserID, ticket: Int64?, role: CallerRole = .user) -> Caller {
        Caller(
            user: UserInfo(userID: id), role: role, request: RequestID(session: "s", counter: 1), replyTo: "g",
            ticket: ticket.map { Ticket($0) })
    }

    @Test func `I6 only tickets from the floor on are valid, and a floor never decreases`() {
        var fence = RevocationFence()
        #expect(fence.rejection(of: self.caller("bob", ticket: nil))?.code == .notInRoom)
        #expect(fence.rejection(of: self.caller("bob", ticket: 1)) == nil, "Bob has no floor yet")
        fence.raiseFloor(of: "bob", to: Ticket(10))
        fence.raiseFloor(of: "bob", to: Ticket(5))
        #expect(fence.rejection(of: self.caller("bob", ticket: 9))?.code == .staleTicket)
        #expect(fence.rejection(of: self.caller("bob", ticket: 10)) == nil)
        #expect(fence.rejection(of: self.caller("carl", ticket: 1)) == nil, "Carl has no floor")
        let serverCaller = self.caller("bob", ticket: nil, role: .server)
        #expect(fence.rejection(of: serverCaller) == nil, "an app's server needs no ticket")
    }

    /// Rules: R15.19.
    @Test func `a floor has the reason of the last kick that raised it`() {
        var fence = RevocationFence()
        fence.raiseFloor(of: "bob", to: Ticket(10), reason: .byAdmin)
        #expect(fence.kickReason(rejecting: Ticket(9), of: "bob") == .byAdmin)
        #expect(fence.kickReason(rejecting: Ticket(10), of: "bob") == nil, "the ticket is valid")
        #expect(fence.kickReason(rejecting: Ticket(9), of: "carl") == nil)
        fence.raiseFloor(of: "bob", to: Ticket(5), reason: .byServer)
        #expect(fence.kickReason(rejecting: Ticket(4), of: "bob") == .byAdmin, "the floor was not raised")
        fence.raiseFloor(of: "bob", to: Ticket(20), reason: .byServer)
        #expect(fence.kickReason(rejecting: Ticket(4), of: "bob") == .byServer)
        // The last raise states no reason.
        fence.raiseFloor(of: "bob", to: Ticket(30))
        #expect(fence.kickReason(rejecting: Ticket(4), of: "bob") == nil)
    }

    @Test func `I16 a live keeps at most a thousand floors, and drops the lowest floors first`() {
        var fence = RevocationFence()
        for number in 0..<(Limits.floorsPerLive + 10) {
            // The product with one prime modulo another gives ids that are all different and not in ascending order.
            fence.raiseFloor(of: UserID("u\(number * 7919 % 100_003)"), to: Ticket(Int64(number)))
        }
        #expect(fence.floors.count == Limits.floorsPerLive)
        // The ten floors with the tickets 0 to 9 were dropped.
        #expect(fence.floors.map(\.ticket.offset).min() == 10)
    }

    @Test(arguments: 1...10) func `I6 a revocation fence agrees with a dictionary of the highest floors`(
        seed: UInt64
    ) {
        var random = SeededRandom(seed: seed)
        var fence = RevocationFence()
        var expected: [UserID: Int64] = [:]
        for _ in 0..<500 {
            let user = UserID("u\(Int.random(in: 0..<60, using: &random))")
            let ticket = Int64.random(in: 0..<100, using: &random)
            if Bool.random(using: &random) {
                fence.raiseFloor(of: user, to: Ticket(ticket))
                expected[user] = max(expected[user] ?? .min, ticket)
            }
            #expect(fence.isValid(Ticket(ticket), of: user) == (ticket >= expected[user] ?? .min))
        }
    }
}
