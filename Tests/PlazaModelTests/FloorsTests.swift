// SPDX-License-Identifier: Apache-2.0
import CoreKit
import PlazaModel
import Testing

@Suite struct FloorsTests {
    private func caller(_ id: UserID, _ ticket: Int64?, role: CallerRole = .user) -> Caller {
        Caller(
            user: UserInfo(userID: id), role: role, request: RequestID(session: "s", counter: 1), replyTo: "g",
            ticket: ticket.map { Ticket($0) })
    }

    @Test func `I6 only tickets from the floor on may act, and a floor never sinks`() {
        var floors = Floors()
        #expect(floors.refusal(of: self.caller("bob", nil))?.code == .notInRoom)
        #expect(floors.refusal(of: self.caller("bob", 1)) == nil)
        floors.raise("bob", to: Ticket(10))
        floors.raise("bob", to: Ticket(5))
        #expect(floors.refusal(of: self.caller("bob", 9))?.code == .staleTicket)
        #expect(floors.refusal(of: self.caller("bob", 10)) == nil)
        #expect(floors.refusal(of: self.caller("carl", 1)) == nil)
        #expect(floors.refusal(of: self.caller("bob", nil, role: .server)) == nil)
    }

    @Test func `I16 a live keeps a thousand floors, the oldest go first`() {
        var floors = Floors()
        for number in 0..<(Limits.floorsPerLive + 10) {
            floors.raise(UserID("u\(number * 7919 % 100_003)"), to: Ticket(Int64(number)))
        }
        #expect(floors.floors.count == Limits.floorsPerLive)
        #expect(floors.floors.map(\.ticket.offset).min() == 10)
    }

    @Test(arguments: 1...10) func `I6 floors agree with a dictionary`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var floors = Floors()
        var truth: [UserID: Int64] = [:]
        for _ in 0..<500 {
            let user = UserID("u\(Int.random(in: 0..<60, using: &random))")
            let ticket = Int64.random(in: 0..<100, using: &random)
            if Bool.random(using: &random) {
                floors.raise(user, to: Ticket(ticket))
                truth[user] = max(truth[user] ?? .min, ticket)
            }
            #expect(floors.admit(user, Ticket(ticket)) == (ticket >= truth[user] ?? .min))
        }
    }
}
