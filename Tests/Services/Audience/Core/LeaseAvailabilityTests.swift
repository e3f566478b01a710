// SPDX-License-Identifier: Apache-2.0
import AudienceCore
import MachineKit
import PlazaModel
import Testing

/// Decisions while Redis cannot be reached, and presence epochs.
///
/// Redis holds the leases, the entries of the users' sessions. An epoch is one life of the leases: when Redis has lost
/// them, a new epoch begins without leases. It settles after 12 s, in which gateways assert (list) their sessions.
/// Until then, counts are published as stale.
@Suite struct LeaseAvailabilityTests {
    @Test
    func `I5 without Redis joins succeed unconfirmed, counts are published as stale once, and queries are rejected`() {
        var harness = AudienceHarness()
        let caller = AudienceHarness.caller(AudienceHarness.alice, counter: 1)
        let effects = harness.sendWithoutRedis(.join(caller: caller))
        // The loss of Redis is handled before the join, so the stale count does not include alice.
        #expect(
            effects == [
                harness.countEffect(0, totalViewers: 0, stale: true),
                AudienceHarness.publish(.audienceJoined(user: AudienceHarness.alice)),
                AudienceHarness.userPresent(AudienceHarness.alice),
                AudienceHarness.occupancyReport(.left, isEmpty: false),
                harness.joinReply(to: caller, confirmed: false),
            ])
        let listCaller = AudienceHarness.caller(AudienceHarness.alice, counter: 2, ticket: harness.offset)
        let rejected = harness.sendWithoutRedis(.list(cursor: "", count: 10, caller: listCaller))
        guard case .reply(let reply)? = rejected.first, case .failure(let error) = reply.outcome else {
            Issue.record("the first effect is no rejection: \(rejected)")
            return
        }
        #expect(error.code == .unavailable)
        #expect(error.retryAfter != nil)
        #expect(rejected.count == 1, "expected the rejection alone")
    }

    @Test func `I5 a leave while Redis cannot be reached is not published`() {
        var harness = AudienceHarness()
        _ = harness.tickWithoutRedis()
        let caller = AudienceHarness.caller(AudienceHarness.alice, counter: 1, ticket: AudienceHarness.unusedTicket)
        #expect(harness.sendWithoutRedis(.leave(caller: caller)) == [AudienceHarness.reply(caller, .done)])
    }

    @Test func `I4 no lease expires while Redis cannot be reached or an epoch settles`() {
        var harness = AudienceHarness()
        // The limit is how many leases may expire at the tick: 5000, or none.
        #expect(harness.planTick().request == .tick(limit: 5000))
        _ = harness.tickWithoutRedis()
        #expect(harness.planTick().request == .tick(limit: 0))
        _ = harness.beginEpoch("e2")
        #expect(harness.planTick().request == .tick(limit: 0))
        _ = harness.tick(after: .seconds(12))
        #expect(harness.planTick().request == .tick(limit: 5000))
    }

    @Test func `I5 a new epoch is needed after a decision without Redis, but not after heartbeats alone`() {
        var harness = AudienceHarness()
        // The next input has a higher offset than the ticket, as a heartbeat requires.
        harness.offset = AudienceHarness.unusedTicket
        _ = harness.tickWithoutRedis()
        let heartbeat = AudienceHarness.heartbeat(of: "alice", ticket: Ticket(AudienceHarness.unusedTicket))
        _ = harness.sendWithoutRedis(.heartbeats(beats: [heartbeat]))
        #expect(harness.rows.partition.isUnavailable)
        #expect(!harness.rows.partition.needsEpoch)
        _ = harness.sendWithoutRedis(
            .leave(
                caller: AudienceHarness.caller(AudienceHarness.alice, counter: 1, ticket: AudienceHarness.unusedTicket))
        )
        #expect(harness.rows.partition.needsEpoch)

        // The machine does not know whether Redis has executed a tick that got no answer. If so, leases may have
        // expired without the machine's knowledge, so a new epoch is needed.
        var harnessAfterUncertainTick = AudienceHarness()
        _ = harnessAfterUncertainTick.tickWithoutRedis(mayHaveRun: true)
        #expect(harnessAfterUncertainTick.rows.partition.needsEpoch)
    }

    @Test func `counts are fresh again when Redis returns with the same leases`() {
        var harness = AudienceHarness()
        _ = harness.tickWithoutRedis()
        var effects: [Effect] = []
        harness.handle(.leasesRecovered, into: &effects)
        #expect(effects == [harness.countEffect(0, totalViewers: 0)])
        #expect(!harness.rows.partition.isUnavailable)
    }

    @Test
    func `I5 a new epoch asks gateways for their sessions, reports no leaves, and has correct counts within 15 s`() {
        var harness = AudienceHarness()
        _ = harness.send(
            .join(caller: AudienceHarness.caller(AudienceHarness.alice, counter: 1)),
            redisResult: .changed([.joined(isFirst: true, count: 1)]))
        let ticket = Ticket(harness.offset)
        harness.now = harness.now + .seconds(5)
        let epochStart = harness.now
        #expect(
            harness.beginEpoch("e2") == [
                .presenceEpoch(PresenceEpochRecord(partition: 3, epoch: "e2")),
                harness.countEffect(1, totalViewers: 1, stale: true),
            ])
        // While the epoch settles, none of these three inputs publishes anything: alice's heartbeat, an assertion of
        // bob's session (this test leaves out his join), and alice's leave.
        let heartbeat = AudienceHarness.heartbeat(of: "alice", ticket: ticket)
        #expect(
            harness.send(
                .heartbeats(beats: [heartbeat]),
                redisResult: .changed([.returned(user: AudienceHarness.alice, count: 1)])
            )
            .isEmpty)
        let bobsSession = AudienceHarness.session(of: AudienceHarness.bob, ticket: ticket)
        #expect(harness.send(.assert(members: [bobsSession]), redisResult: .changed([.asserted(count: 2)])).isEmpty)
        let leaving = AudienceHarness.caller(AudienceHarness.alice, counter: 2, ticket: ticket.offset)
        #expect(
            harness.send(
                .leave(caller: leaving),
                redisResult: .changed([.left(user: AudienceHarness.alice, isLast: true, count: 1)]))
                == [AudienceHarness.reply(leaving, .done)])
        #expect(
            harness.send(.confirm(user: "alice"), redisResult: .membership(isMember: false)).isEmpty,
            "expected no report that a user has left while the epoch settles")
        let settled = harness.tick(after: .seconds(12))
        #expect((harness.now - epochStart).count <= 15_000)
        #expect(
            settled == [
                harness.countEffect(1, totalViewers: 1), .seat(SeatInput(AudienceHarness.key, .confirmOccupants)),
                .connection(ConnectionInput(app: "demo", .confirmOwner(live: "stage-1"))),
                .audience(AudienceInput(AudienceHarness.key, .confirm(user: "host"))),
            ])
        #expect(harness.rows.nextDue != nil, "expected that the recorded outcomes expire later")
        #expect(
            harness.rows.partition == PartitionRow(), "expected that no epoch settles any more, and that none is needed"
        )
    }

    @Test func `I5 another epoch is needed when Redis is lost while an epoch settles`() {
        var harness = AudienceHarness()
        _ = harness.beginEpoch("e2")
        _ = harness.tickWithoutRedis()
        #expect(harness.rows.partition.needsEpoch)
        #expect(harness.rows.partition.settlesAt == nil)
        #expect(harness.tick(after: .seconds(20)).isEmpty, "expected that the lost epoch does not settle")
    }

    @Test
    func `the count of a new live is fresh while an epoch settles, and stale while Redis cannot be reached`() {
        var harness = AudienceHarness()
        _ = harness.beginEpoch("e2")
        let newLive = LiveKey("demo", "other")
        /// Opens the new live by an input at `offset`; returns whether each published count is stale.
        func staleFlagsAfterOpening(at offset: Int64) -> [Bool] {
            let input = AudienceInput(newLive, .opened(epoch: offset, owner: AudienceHarness.bob))
            let plannedInputs = harness.machine.plan(
                [(Moment(now: harness.now, offset: offset), input)], in: &harness.rows)
            var effects: [Effect] = []
            harness.handle(.leasesAnswered(plannedInputs[0], .nothing), into: &effects)
            return effects.compactMap { if case .count(let record) = $0 { record.stale } else { nil } }
        }
        #expect(staleFlagsAfterOpening(at: 400) == [false])
        _ = harness.tickWithoutRedis()
        #expect(staleFlagsAfterOpening(at: 500) == [true])
    }

    @Test func `the first epoch of a partition settles at once`() {
        var harness = AudienceHarness()
        var effects: [Effect] = []
        harness.handle(.leaseEpochBegan(name: "e1", wasEmpty: true), into: &effects)
        #expect(effects == [.presenceEpoch(PresenceEpochRecord(partition: 3, epoch: "e1"))])
        #expect(harness.rows.partition.settlesAt == nil)
    }
}
