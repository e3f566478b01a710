// SPDX-License-Identifier: Apache-2.0
import AudienceCore
import MachineKit
import PlazaModel
import Testing

/// Repeated calls, late retries, and resumes with tickets.
///
/// A late retry is a copy of a call that is sent more than 60 s after the first copy. A resume is a join with the
/// ticket of an earlier join.
@Suite struct RepeatTests {
    @Test func `I15 a repeated join gets the same reply with the same ticket, without a lease request`() {
        var harness = AudienceHarness()
        let caller = AudienceHarness.caller(AudienceHarness.alice, counter: 1)
        let first = harness.send(.join(caller: caller), redisResult: .changed([.joined(isFirst: true, count: 1)]))
        #expect(harness.plan(.join(caller: caller)).request == nil)
        // The call is sent once more; the reply has the ticket of the first join.
        #expect(harness.send(.join(caller: caller)) == AudienceHarness.replies(first))
    }

    @Test
    func `I6 I15 a repeated join is rejected after a kick, a leave, a sign-off, and in a newer live with the same id`()
    {
        let caller = AudienceHarness.caller(AudienceHarness.alice, counter: 1)
        /// A live that alice has just joined, and the ticket in the reply.
        func liveWithAlice() -> (harness: AudienceHarness, ticket: Int64) {
            var harness = AudienceHarness()
            for effect in harness.send(.join(caller: caller), redisResult: .changed([.joined(isFirst: true, count: 1)]))
            {
                if case .reply(let reply) = effect, case .success(.joined(let ticket, _, _, _)) = reply.outcome {
                    return (harness, ticket.offset)
                }
            }
            Issue.record("alice did not join")
            return (harness, 0)
        }
        var (harness, ticket) = liveWithAlice()
        _ = harness.send(
            .kick(user: "alice", reason: .byAdmin, caller: AudienceHarness.caller(AudienceHarness.owner, counter: 1)),
            redisResult: .changed([.kicked(user: AudienceHarness.alice, count: 0)]))
        #expect(AudienceHarness.rejectionCode(caller, harness.send(.join(caller: caller))) == .staleTicket)

        (harness, ticket) = liveWithAlice()
        _ = harness.send(
            .leave(caller: AudienceHarness.caller(AudienceHarness.alice, counter: 2, ticket: ticket)),
            redisResult: .changed([.left(user: AudienceHarness.alice, isLast: true, count: 0)]))
        #expect(AudienceHarness.rejectionCode(caller, harness.send(.join(caller: caller))) == .staleTicket)

        // A sign-off: the gateway reports that it has closed alice's session permanently.
        (harness, ticket) = liveWithAlice()
        _ = harness.send(.signOff(session: "s1", user: "alice", ticket: Ticket(ticket)))
        #expect(AudienceHarness.rejectionCode(caller, harness.send(.join(caller: caller))) == .staleTicket)

        // A newer live with the id of alice's live, and with a higher epoch.
        (harness, _) = liveWithAlice()
        _ = harness.send(.opened(epoch: AudienceHarness.epoch + 1, owner: AudienceHarness.bob))
        #expect(AudienceHarness.rejectionCode(caller, harness.send(.join(caller: caller))) == .noSuchRoomOnEntry)
    }

    /// Rules: R15.13.
    @Test
    func `I6 a resume is rejected with a ticket that no join of the live issued, and accepted with an issued one`() {
        var harness = AudienceHarness()
        let openingOffset = harness.offset
        _ = harness.send(
            .join(caller: AudienceHarness.caller(AudienceHarness.alice, counter: 1)),
            redisResult: .changed([.joined(isFirst: true, count: 1)]))
        let issuedTicket = harness.offset
        // The first resume in the loop has the offset `issuedTicket + 1`: it names its own offset as its ticket.
        let ticketsOfNoJoin = [issuedTicket + 1, -1, 0, openingOffset - 1, openingOffset, Int64.max]
        for (index, ticket) in ticketsOfNoJoin.enumerated() {
            let caller = AudienceHarness.caller(AudienceHarness.bob, counter: Int64(index + 1), ticket: ticket)
            let effects = harness.send(.join(caller: caller))
            #expect(
                AudienceHarness.rejectionCode(caller, effects) == .staleTicket, "ticket \(ticket) at \(harness.offset)")
            #expect(effects.count == 1, "expected the rejection alone")
        }
        // alice resumes with her issued ticket. Redis still has her lease, so this is not her first session.
        let resuming = AudienceHarness.caller(AudienceHarness.alice, counter: 2, ticket: issuedTicket)
        let effectsOfResume = harness.send(
            .join(caller: resuming), redisResult: .changed([.joined(isFirst: false, count: 1)]))
        #expect(effectsOfResume == [harness.joinReply(to: resuming)])
        let resumingLater = AudienceHarness.caller(AudienceHarness.alice, counter: 3, ticket: issuedTicket)
        let effectsOfLaterResume = harness.send(
            .join(caller: resumingLater), redisResult: .changed([.joined(isFirst: true, count: 1)]))
        #expect(
            effectsOfLaterResume.contains(AudienceHarness.publish(.audienceJoined(user: AudienceHarness.alice))),
            "expected that the resume is published as a join, because alice's lease has expired")
        // A ticket that no join issued is rejected also while Redis cannot be reached (I5 in docs/RULES.md). The ticket
        // of this resume is the offset of the resume itself.
        let ownOffset = harness.offset + 1
        let withOwnOffset = AudienceHarness.caller(AudienceHarness.bob, counter: 20, ticket: ownOffset)
        #expect(
            AudienceHarness.rejectionCode(withOwnOffset, harness.sendWithoutRedis(.join(caller: withOwnOffset)))
                == .staleTicket)
    }

    @Test func `a leave with the ticket of an earlier join does not change the recorded reply of a later join`() {
        var harness = AudienceHarness()
        _ = harness.send(
            .join(caller: AudienceHarness.caller(AudienceHarness.alice, counter: 1)),
            redisResult: .changed([.joined(isFirst: true, count: 1)]))
        let rejoining = AudienceHarness.caller(AudienceHarness.alice, counter: 2)
        let joined = harness.send(.join(caller: rejoining), redisResult: .changed([.joined(isFirst: false, count: 1)]))
        // The leave has the ticket of the first join, which is not the ticket of the lease: Redis removes nothing.
        _ = harness.send(
            .leave(
                caller: AudienceHarness.caller(
                    AudienceHarness.alice, counter: 3, ticket: AudienceHarness.firstInputOffset)),
            redisResult: .changed([]))
        // The later join is sent again, and gets its recorded reply.
        #expect(harness.send(.join(caller: rejoining)) == AudienceHarness.replies(joined))
    }

    @Test func `I15 a join that appears twice in one batch is executed once and answered twice`() {
        var harness = AudienceHarness()
        let caller = AudienceHarness.caller(AudienceHarness.alice, counter: 1)
        let input = AudienceInput(AudienceHarness.key, .join(caller: caller))
        let plannedInputs = harness.machine.plan(
            [(Moment(now: harness.now, offset: 200), input), (Moment(now: harness.now, offset: 201), input)],
            in: &harness.rows)
        #expect(plannedInputs[0].request != nil)
        #expect(plannedInputs[1].request == nil)
        var effects: [Effect] = []
        let change = LeaseChange.joined(isFirst: true, count: 1)
        harness.handle(.leasesAnswered(plannedInputs[0], .changed([change])), into: &effects)
        harness.handle(.leasesAnswered(plannedInputs[1], .nothing), into: &effects)
        let reply = AudienceHarness.reply(
            caller, .joined(ticket: Ticket(200), epoch: AudienceHarness.epoch, confirmed: true))
        #expect(effects.filter { $0 == reply }.count == 2)
        #expect(effects.count == 6, "expected the four effects of one join, and two replies")
    }

    /// Rules: R16.8.
    @Test func `I15 a request older than the recorded outcomes is rejected and not executed`() {
        var harness = AudienceHarness()
        // The session's idempotency window has the last 16 outcomes, here those of the calls 5 to 20.
        for counter in 1...20 {
            _ = harness.send(
                .join(caller: AudienceHarness.caller(AudienceHarness.alice, counter: Int64(counter))),
                redisResult: .changed([.joined(isFirst: false, count: 1)]))
        }
        let forgotten = AudienceHarness.caller(AudienceHarness.alice, counter: 1)
        #expect(AudienceHarness.rejectionCode(forgotten, harness.send(.join(caller: forgotten))) == .requestForgotten)
    }

    @Test func `the row of recorded outcomes is removed when it expires`() {
        var harness = AudienceHarness()
        _ = harness.send(
            .join(caller: AudienceHarness.caller(AudienceHarness.alice, counter: 1)),
            redisResult: .changed([.joined(isFirst: true, count: 1)]))
        #expect(harness.rows[.calls(AudienceHarness.key, "alice", "s1")] != nil)
        // An outcome expires after 60 s, which rounding extends to at most 70 s. Then the row has only the call's
        // counter, which expires `droppedCounterLifetime` later, and rounding adds at most 10 s.
        _ = harness.tick(after: .seconds(71))
        _ = harness.tick(after: IdempotencyLimits.droppedCounterLifetime + .seconds(10))
        #expect(harness.rows[.calls(AudienceHarness.key, "alice", "s1")] == nil)
    }

    @Test func `a rollback restores the rows from before the batch`() {
        var harness = AudienceHarness()
        let before = harness.rows.sortedKeys.map { harness.rows[$0] }
        var effects: [Effect] = []
        let planned = harness.plan(.join(caller: AudienceHarness.caller(AudienceHarness.alice, counter: 1)))
        harness.handle(.leasesAnswered(planned, .changed([])), into: &effects)
        harness.rows.rollback()
        #expect(harness.rows.sortedKeys.map { harness.rows[$0] } == before)
    }

    /// Rules: R16.11.
    @Test
    func `I15 a late retry of a join admits nobody, and gets the outcome of its first copy while that is recorded`() {
        var harness = AudienceHarness()
        // A late retry arrives before its first copy; then the first copy joins.
        var caller = AudienceHarness.caller(AudienceHarness.alice, counter: 1)
        caller.isLateRetry = true
        #expect(harness.plan(.join(caller: caller)).request == nil)
        #expect(AudienceHarness.rejectionCode(caller, harness.send(.join(caller: caller))) == .requestForgotten)
        caller.isLateRetry = false
        let first = harness.send(.join(caller: caller), redisResult: .changed([.joined(isFirst: true, count: 1)]))
        caller.isLateRetry = true
        #expect(harness.send(.join(caller: caller)) == AudienceHarness.replies(first))
        // The outcome is forgotten after 60 s, and the call's counter 300 s later; each time is rounded up by at most
        // 10 s. From then on only `isLateRetry` shows that the call is old.
        _ = harness.tick(after: .seconds(70))
        caller.isLateRetry = false
        #expect(AudienceHarness.rejectionCode(caller, harness.send(.join(caller: caller))) == .requestForgotten)
        _ = harness.tick(after: .seconds(310))
        caller.isLateRetry = true
        #expect(AudienceHarness.rejectionCode(caller, harness.send(.join(caller: caller))) == .requestForgotten)
    }

    /// Rules: R15.16.
    @Test func `I15 a leave without a ticket gets the outcome of its first copy, or changes nothing`() {
        var harness = AudienceHarness()
        _ = harness.send(
            .join(caller: AudienceHarness.caller(AudienceHarness.alice, counter: 1)),
            redisResult: .changed([.joined(isFirst: true, count: 1)]))
        let leave = AudienceHarness.caller(AudienceHarness.alice, counter: 2, ticket: harness.offset)
        let first = harness.send(
            .leave(caller: leave), redisResult: .changed([.left(user: AudienceHarness.alice, isLast: true, count: 0)]))
        // alice's call 2 is sent again, without the ticket.
        let leaveWithoutTicket = AudienceHarness.caller(AudienceHarness.alice, counter: 2)
        #expect(harness.send(.leave(caller: leaveWithoutTicket)) == AudienceHarness.replies(first))
        let rowCount = harness.rows.count
        // bob, who has not joined, leaves.
        let bobLeaving = AudienceHarness.caller(AudienceHarness.bob, counter: 1)
        #expect(AudienceHarness.rejectionCode(bobLeaving, harness.send(.leave(caller: bobLeaving))) == .notInRoom)
        #expect(harness.rows.count == rowCount, "expected that no outcome of bob's call is stored")
        _ = harness.send(AudienceHarness.endOfLive)
        // alice and bob get the same answers when the live has ended.
        #expect(harness.send(.leave(caller: leaveWithoutTicket)) == AudienceHarness.replies(first))
        #expect(AudienceHarness.rejectionCode(bobLeaving, harness.send(.leave(caller: bobLeaving))) == .notInRoom)
    }
}
