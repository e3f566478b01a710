// SPDX-License-Identifier: Apache-2.0
import AudienceCore
import MachineKit
import PlazaModel
import Testing

/// Reports to the directory: whether the owner is present, has left or is offline, and whether the live is empty.
///
/// Presence, the machine that knows who is in a live, reports at most once a second. So the tests pause for five
/// seconds where the next change must be reported at once.
@Suite struct OccupancyTests {
    private let ownerCaller = AudienceHarness.caller(AudienceHarness.owner, counter: 1)

    /// A live whose owner joined five seconds ago, and the ticket of the owner's join.
    private func liveWithOwner() -> (harness: AudienceHarness, ticket: Int64) {
        var harness = AudienceHarness()
        _ = harness.send(.join(caller: self.ownerCaller), redisResult: .changed([.joined(isFirst: true, count: 0)]))
        let ticket = harness.offset
        harness.now = harness.now + .seconds(5)
        return (harness, ticket)
    }

    /// Rules: R3.30.
    @Test func `the owner's join, leave, expiry and return are reported to the directory`() {
        var (harness, ticket) = self.liveWithOwner()
        let leaving = AudienceHarness.caller(AudienceHarness.owner, counter: 2, ticket: ticket)
        var effects = harness.send(
            .leave(caller: leaving), redisResult: .changed([.left(user: AudienceHarness.owner, isLast: true, count: 0)])
        )
        #expect(AudienceHarness.occupancyReports(effects) == [AudienceHarness.occupancyReport(.left, isEmpty: true)])
        harness.now = harness.now + .seconds(5)
        let rejoining = AudienceHarness.caller(AudienceHarness.owner, counter: 3)
        effects = harness.send(.join(caller: rejoining), redisResult: .changed([.joined(isFirst: true, count: 0)]))
        #expect(
            AudienceHarness.occupancyReports(effects) == [AudienceHarness.occupancyReport(.present, isEmpty: false)])
        ticket = harness.offset
        effects = harness.tick(
            after: .seconds(91), changes: [.expired(live: AudienceHarness.key, user: AudienceHarness.owner, count: 0)])
        #expect(AudienceHarness.occupancyReports(effects) == [AudienceHarness.occupancyReport(.offline, isEmpty: true)])
        harness.now = harness.now + .seconds(5)
        let heartbeat = AudienceHarness.heartbeat(of: "host", ticket: Ticket(ticket))
        effects = harness.send(
            .heartbeats(beats: [heartbeat]), redisResult: .changed([.returned(user: AudienceHarness.owner, count: 0)]))
        #expect(effects == AudienceHarness.effectsOfOwnerArrival)
    }

    @Test func `an owner that its gateway signs off is reported as having left`() {
        var (harness, ticket) = self.liveWithOwner()
        let command = AudienceCommand.signOff(session: "s1", user: "host", ticket: Ticket(ticket))
        let effects = harness.send(
            command, redisResult: .changed([.left(user: AudienceHarness.owner, isLast: true, count: 0)]))
        #expect(AudienceHarness.occupancyReports(effects) == [AudienceHarness.occupancyReport(.left, isEmpty: true)])
    }

    @Test func `the leave of one of the owner's two devices is not reported`() {
        var (harness, ticket) = self.liveWithOwner()
        let leaving = AudienceHarness.caller(AudienceHarness.owner, counter: 2, ticket: ticket)
        let effects = harness.send(
            .leave(caller: leaving),
            redisResult: .changed([.left(user: AudienceHarness.owner, isLast: false, count: 0)]))
        #expect(effects == [AudienceHarness.reply(leaving, .done)])
    }

    /// Rules: R3.62.
    @Test func `occupancy is reported at most once a second, and the last value always`() {
        var harness = AudienceHarness()
        var reports: [(at: Timestamp, effect: Effect)] = []
        // alice joins and leaves in turn, one call every 130 ms, for about three seconds. With her last call she
        // leaves.
        for counter in Int64(1)...24 {
            let effects: [Effect]
            if counter.isMultiple(of: 2) {
                let leaving = AudienceHarness.caller(AudienceHarness.alice, counter: counter, ticket: harness.offset)
                effects = harness.send(
                    .leave(caller: leaving),
                    redisResult: .changed([.left(user: AudienceHarness.alice, isLast: true, count: 0)]))
            } else {
                effects = harness.send(
                    .join(caller: AudienceHarness.caller(AudienceHarness.alice, counter: counter)),
                    redisResult: .changed([.joined(isFirst: true, count: 1)]))
            }
            for effect in AudienceHarness.occupancyReports(effects) { reports.append((harness.now, effect)) }
            harness.now = harness.now + Milliseconds(130)
        }
        _ = harness.send(
            .join(caller: AudienceHarness.caller(AudienceHarness.bob, counter: 1)),
            redisResult: .changed([.joined(isFirst: true, count: 1)]))
        #expect(harness.rows.nextDue != nil, "expected that the report of bob's join is still due")
        for _ in 0..<3 {
            for effect in AudienceHarness.occupancyReports(harness.tick(after: .seconds(1))) {
                reports.append((harness.now, effect))
            }
        }
        for (earlier, later) in zip(reports, reports.dropFirst()) {
            #expect((later.at - earlier.at).count >= 1000, "expected a second between two reports")
        }
        #expect(reports.count >= 2)
        // The live has a viewer, bob. Its owner has never joined, which is reported as `left`.
        #expect(reports.last?.effect == AudienceHarness.occupancyReport(.left, isEmpty: false))
    }

    @Test func `I5 after a loss of the leases, a live is not reported as empty, nor its owner as gone`() {
        var (harness, _) = self.liveWithOwner()
        _ = harness.send(
            .join(caller: AudienceHarness.caller(AudienceHarness.alice, counter: 1)),
            redisResult: .changed([.joined(isFirst: true, count: 1)]))
        harness.now = harness.now + .seconds(5)
        var reports = AudienceHarness.occupancyReports(harness.tickWithoutRedis())
        reports += AudienceHarness.occupancyReports(harness.beginEpoch("e2"))
        let member = AudienceHarness.session(of: AudienceHarness.alice, ticket: Ticket(harness.offset))
        reports += AudienceHarness.occupancyReports(
            harness.send(.assert(members: [member]), redisResult: .changed([.asserted(count: 1)])))
        // When the epoch has settled, presence asks whether the owner, whom no gateway has asserted, is still present.
        let settled = harness.tick(after: .seconds(12))
        reports += AudienceHarness.occupancyReports(settled)
        #expect(settled.contains(.audience(AudienceInput(AudienceHarness.key, .confirm(user: "host")))))
        let effects = harness.send(.confirm(user: "host"), redisResult: .membership(isMember: true))
        #expect(effects.isEmpty, "expected no effect, because the owner is still in the live")
        #expect(reports.isEmpty, "expected no report, because nobody has left")
    }

    @Test func `I5 an owner who left while leases were lost is reported as offline once its absence is confirmed`() {
        var (harness, _) = self.liveWithOwner()
        _ = harness.beginEpoch("e2")
        #expect(AudienceHarness.occupancyReports(harness.tick(after: .seconds(12))).isEmpty)
        let effects = harness.send(.confirm(user: "host"), redisResult: .membership(isMember: false))
        #expect(
            effects == [
                AudienceHarness.userGone("host"),
                .connection(ConnectionInput(app: "demo", .userGone(live: "stage-1", user: "host"))),
                AudienceHarness.occupancyReport(.offline, isEmpty: true),
            ])
        harness.now = harness.now + .seconds(5)
        // The owner's gateway asserts the session late. The next confirmation reports the owner as present again.
        #expect(
            harness.send(.confirm(user: "host"), redisResult: .membership(isMember: true))
                == [AudienceHarness.occupancyReport(.present, isEmpty: false)])
    }

    @Test func `I5 a live is reported as empty once it is confirmed that the owner is absent`() {
        // alice is the only viewer. In the new epoch no gateway asserts her session.
        var harness = AudienceHarness()
        _ = harness.joinAlice()
        _ = harness.beginEpoch("e2")
        #expect(AudienceHarness.occupancyReports(harness.tick(after: .seconds(12))).isEmpty)
        let effects = harness.send(.confirm(user: "host"), redisResult: .membership(isMember: false))
        #expect(AudienceHarness.occupancyReports(effects) == [AudienceHarness.occupancyReport(.left, isEmpty: true)])
    }

    @Test func `I5 while Redis cannot be reached, joins are reported to the directory and leaves are not`() {
        var (harness, ticket) = self.liveWithOwner()
        _ = harness.tickWithoutRedis()
        #expect(
            AudienceHarness.occupancyReports(
                harness.sendWithoutRedis(
                    .leave(caller: AudienceHarness.caller(AudienceHarness.owner, counter: 2, ticket: ticket)))
            ).isEmpty)
        // In this live the owner has not joined yet.
        var harnessWithoutOwner = AudienceHarness()
        _ = harnessWithoutOwner.tickWithoutRedis()
        let joined = harnessWithoutOwner.sendWithoutRedis(.join(caller: self.ownerCaller))
        #expect(AudienceHarness.occupancyReports(joined) == [AudienceHarness.occupancyReport(.present, isEmpty: false)])
        harnessWithoutOwner.now = harnessWithoutOwner.now + .seconds(5)
        // alice and the owner are in the live, but Redis has a lease of neither. Presence must not report the live as
        // empty before it is certain that both are gone.
        _ = harnessWithoutOwner.sendWithoutRedis(
            .join(caller: AudienceHarness.caller(AudienceHarness.alice, counter: 1)))
        _ = harnessWithoutOwner.beginEpoch("e2")
        // The epoch settles 11 + 1 = 12 s after it began.
        #expect(AudienceHarness.occupancyReports(harnessWithoutOwner.tick(after: .seconds(11))).isEmpty)
        let settled = harnessWithoutOwner.tick(after: .seconds(1))
        #expect(
            AudienceHarness.occupancyReports(settled).isEmpty,
            "expected no report yet, because the owner's absence is not confirmed")
        #expect(
            AudienceHarness.occupancyReports(
                harnessWithoutOwner.send(.confirm(user: "host"), redisResult: .membership(isMember: false)))
                == [AudienceHarness.occupancyReport(.offline, isEmpty: true)])
    }

    @Test func `I5 a confirmation that Redis could not answer causes a new epoch, and is requested again`() {
        var (harness, _) = self.liveWithOwner()
        _ = harness.sendWithoutRedis(.confirm(user: "host"))
        #expect(harness.rows.partition.needsEpoch)
        _ = harness.beginEpoch("e2")
        #expect(
            harness.tick(after: .seconds(12)).contains(
                .audience(AudienceInput(AudienceHarness.key, .confirm(user: "host")))))
    }

    @Test func `I5 a confirmation that was asked for while Redis was away is not forgotten`() {
        // Redis is away, so the counts are stale, and the live's seat machine asks whether a user is still there.
        var (harness, _) = self.liveWithOwner()
        _ = harness.tickWithoutRedis()
        #expect(!harness.rows.partition.needsEpoch)
        _ = harness.sendWithoutRedis(.confirm(user: "host"))
        #expect(harness.rows.partition.needsEpoch, "expected a new epoch, after which the seat machine asks again")

        // Redis returns with the batch that asks: the answer counts.
        (harness, _) = self.liveWithOwner()
        _ = harness.tickWithoutRedis()
        let planned = harness.plan(.confirm(user: "host"))
        var effects: [Effect] = []
        harness.handle(.leasesRecovered, into: &effects)
        harness.handle(.leasesAnswered(planned, .membership(isMember: false)), into: &effects)
        #expect(effects.contains(AudienceHarness.userGone("host")))
    }

    @Test func `an owner who returns while the leases are uncertain is reported to the seats`() {
        var (harness, _) = self.liveWithOwner()
        _ = harness.tick(
            after: .seconds(91), changes: [.expired(live: AudienceHarness.key, user: AudienceHarness.owner, count: 0)])
        harness.now = harness.now + .seconds(5)
        _ = harness.beginEpoch("e2")
        // The owner's first join was the test's first input.
        let resuming = AudienceHarness.caller(
            AudienceHarness.owner, counter: 5, ticket: AudienceHarness.firstInputOffset)
        let effects = harness.send(.join(caller: resuming), redisResult: .changed([.joined(isFirst: true, count: 0)]))
        #expect(effects.contains(AudienceHarness.userPresent(AudienceHarness.owner)))
        #expect(
            AudienceHarness.occupancyReports(effects) == [AudienceHarness.occupancyReport(.present, isEmpty: false)])
        // The owner resumes once more: the directory and the seats know already that the owner is present.
        let resumingAgain = AudienceHarness.caller(AudienceHarness.owner, counter: 6, ticket: harness.offset)
        #expect(
            harness.send(.join(caller: resumingAgain), redisResult: .changed([.joined(isFirst: true, count: 0)]))
                == [harness.joinReply(to: resumingAgain)])
    }

    @Test func `I5 the resume of a viewer while the leases are uncertain is not published as a join`() {
        var harness = AudienceHarness()
        let ticket = harness.joinAlice()
        _ = harness.beginEpoch("e2")
        // Redis has lost alice's lease, so it reports her resume as her first session.
        let resuming = AudienceHarness.caller(AudienceHarness.alice, counter: 2, ticket: ticket)
        #expect(
            harness.send(.join(caller: resuming), redisResult: .changed([.joined(isFirst: true, count: 1)]))
                == [harness.joinReply(to: resuming)]
        )
        #expect(harness.rows.live(AudienceHarness.key)?.totalViewers == 1, "expected that a resume is no new visit")
    }
}
