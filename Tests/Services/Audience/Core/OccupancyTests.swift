// SPDX-License-Identifier: Apache-2.0
import AudienceCore
import MachineKit
import PlazaModel
import Testing

/// Reports to the directory: whether the owner is present, has left or is offline, and whether the live is empty.
///
/// Presence reports at most once a second. After a pause of five seconds, the next change is reported at once.
@Suite struct OccupancyTests {
    private let ownerCaller = AudienceHarness.caller(AudienceHarness.owner, counter: 1)

    /// A live whose owner joined five seconds ago; `ticket` is the offset of the join.
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
        #expect(AudienceHarness.occupancies(effects) == [AudienceHarness.occupancy(.left, isEmpty: true)])
        harness.now = harness.now + .seconds(5)
        let rejoining = AudienceHarness.caller(AudienceHarness.owner, counter: 3)
        effects = harness.send(.join(caller: rejoining), redisResult: .changed([.joined(isFirst: true, count: 0)]))
        #expect(AudienceHarness.occupancies(effects) == [AudienceHarness.occupancy(.present, isEmpty: false)])
        ticket = harness.offset
        effects = harness.tick(
            after: .seconds(91), changes: [.expired(live: AudienceHarness.key, user: AudienceHarness.owner, count: 0)])
        #expect(AudienceHarness.occupancies(effects) == [AudienceHarness.occupancy(.offline, isEmpty: true)])
        harness.now = harness.now + .seconds(5)
        let heartbeat = Heartbeat(session: "s1", user: "host", ticket: Ticket(ticket), silentFor: 0)
        effects = harness.send(
            .heartbeats(beats: [heartbeat]), redisResult: .changed([.returned(user: AudienceHarness.owner, count: 0)]))
        #expect(effects == AudienceHarness.ownerArrived)
    }

    @Test func `an owner that its gateway signs off is reported as having left`() {
        var (harness, ticket) = self.liveWithOwner()
        let command = AudienceCommand.signOff(session: "s1", user: "host", ticket: Ticket(ticket))
        let effects = harness.send(
            command, redisResult: .changed([.left(user: AudienceHarness.owner, isLast: true, count: 0)]))
        #expect(AudienceHarness.occupancies(effects) == [AudienceHarness.occupancy(.left, isEmpty: true)])
    }

    @Test func `the leave of one of several devices is not reported`() {
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
        // alice joins and leaves in turn, one call each 130 ms.
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
            for effect in AudienceHarness.occupancies(effects) { reports.append((harness.now, effect)) }
            harness.now = harness.now + Milliseconds(130)
        }
        _ = harness.send(
            .join(caller: AudienceHarness.caller(AudienceHarness.bob, counter: 1)),
            redisResult: .changed([.joined(isFirst: true, count: 1)]))
        #expect(harness.rows.nextDue != nil, "the last value is not reported yet")
        for _ in 0..<3 {
            for effect in AudienceHarness.occupancies(harness.tick(after: .seconds(1))) {
                reports.append((harness.now, effect))
            }
        }
        for (earlier, later) in zip(reports, reports.dropFirst()) { #expect((later.at - earlier.at).count >= 1000) }
        #expect(reports.count >= 2)
        #expect(reports.last?.effect == AudienceHarness.occupancy(.left, isEmpty: false))
    }

    @Test func `I5 the loss of the leases does not report a live as empty or its owner as gone`() {
        var (harness, _) = self.liveWithOwner()
        _ = harness.send(
            .join(caller: AudienceHarness.caller(AudienceHarness.alice, counter: 1)),
            redisResult: .changed([.joined(isFirst: true, count: 1)]))
        harness.now = harness.now + .seconds(5)
        var reports = AudienceHarness.occupancies(harness.tickWithoutRedis())
        reports += AudienceHarness.occupancies(harness.beginEpoch("e2"))
        let member = Presence(session: "s1", user: AudienceHarness.alice, ticket: Ticket(harness.offset), silentFor: 0)
        reports += AudienceHarness.occupancies(
            harness.send(.assert(members: [member]), redisResult: .changed([.asserted(count: 1)])))
        let settled = harness.tick(after: .seconds(12))
        reports += AudienceHarness.occupancies(settled)
        #expect(settled.contains(.audience(AudienceInput(AudienceHarness.key, .confirm(user: "host")))))
        let effects = harness.send(.confirm(user: "host"), redisResult: .membership(isMember: true))
        #expect(effects.isEmpty, "the owner is still in the live")
        #expect(reports.isEmpty)
    }

    @Test func `I5 an owner who left while leases were lost is reported as offline once its absence is confirmed`() {
        var (harness, _) = self.liveWithOwner()
        _ = harness.beginEpoch("e2")
        #expect(AudienceHarness.occupancies(harness.tick(after: .seconds(12))).isEmpty)
        let effects = harness.send(.confirm(user: "host"), redisResult: .membership(isMember: false))
        #expect(
            effects == [
                AudienceHarness.userGone("host"),
                .connection(ConnectionInput(app: "demo", .userGone(live: "stage-1", user: "host"))),
                AudienceHarness.occupancy(.offline, isEmpty: true),
            ])
        harness.now = harness.now + .seconds(5)
        // An owner that was reported as offline may be asserted later.
        #expect(
            harness.send(.confirm(user: "host"), redisResult: .membership(isMember: true))
                == [AudienceHarness.occupancy(.present, isEmpty: false)])
    }

    @Test func `I5 a live is reported as empty once it is confirmed that the owner is absent`() {
        var harness = AudienceHarness()
        _ = harness.send(
            .join(caller: AudienceHarness.caller(AudienceHarness.alice, counter: 1)),
            redisResult: .changed([.joined(isFirst: true, count: 1)]))
        harness.now = harness.now + .seconds(5)
        _ = harness.beginEpoch("e2")
        #expect(AudienceHarness.occupancies(harness.tick(after: .seconds(12))).isEmpty)
        let effects = harness.send(.confirm(user: "host"), redisResult: .membership(isMember: false))
        #expect(AudienceHarness.occupancies(effects) == [AudienceHarness.occupancy(.left, isEmpty: true)])
    }

    @Test func `I5 while Redis cannot be reached, joins are reported to the directory and leaves are not`() {
        var (harness, ticket) = self.liveWithOwner()
        _ = harness.tickWithoutRedis()
        #expect(
            AudienceHarness.occupancies(
                harness.sendWithoutRedis(
                    .leave(caller: AudienceHarness.caller(AudienceHarness.owner, counter: 2, ticket: ticket)))
            ).isEmpty)
        var harnessWithoutOwner = AudienceHarness()
        _ = harnessWithoutOwner.tickWithoutRedis()
        let joined = harnessWithoutOwner.sendWithoutRedis(.join(caller: self.ownerCaller))
        #expect(AudienceHarness.occupancies(joined) == [AudienceHarness.occupancy(.present, isEmpty: false)])
        harnessWithoutOwner.now = harnessWithoutOwner.now + .seconds(5)
        // alice's join cannot be stored in Redis. The live must not be reported as empty until it is certain that
        // nobody is in it.
        _ = harnessWithoutOwner.sendWithoutRedis(
            .join(caller: AudienceHarness.caller(AudienceHarness.alice, counter: 1)))
        _ = harnessWithoutOwner.beginEpoch("e2")
        #expect(AudienceHarness.occupancies(harnessWithoutOwner.tick(after: .seconds(11))).isEmpty)
        let settled = harnessWithoutOwner.tick(after: .seconds(1))
        #expect(AudienceHarness.occupancies(settled).isEmpty, "the owner's absence is not confirmed yet")
        #expect(
            AudienceHarness.occupancies(
                harnessWithoutOwner.send(.confirm(user: "host"), redisResult: .membership(isMember: false)))
                == [AudienceHarness.occupancy(.offline, isEmpty: true)])
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

    @Test func `an owner who returns while the leases are uncertain is reported to the seats`() {
        var (harness, _) = self.liveWithOwner()
        _ = harness.tick(
            after: .seconds(91), changes: [.expired(live: AudienceHarness.key, user: AudienceHarness.owner, count: 0)])
        harness.now = harness.now + .seconds(5)
        _ = harness.beginEpoch("e2")
        let resuming = AudienceHarness.caller(AudienceHarness.owner, counter: 5, ticket: AudienceHarness.firstOffset)
        let effects = harness.send(.join(caller: resuming), redisResult: .changed([.joined(isFirst: true, count: 0)]))
        #expect(effects.contains(AudienceHarness.userPresent(AudienceHarness.owner)))
        #expect(AudienceHarness.occupancies(effects) == [AudienceHarness.occupancy(.present, isEmpty: false)])
        // A further resume of the owner is not reported again.
        let rejoining = AudienceHarness.caller(AudienceHarness.owner, counter: 6, ticket: harness.offset)
        #expect(
            harness.send(.join(caller: rejoining), redisResult: .changed([.joined(isFirst: true, count: 0)]))
                == [
                    harness.joinReply(to: rejoining)
                ])
    }

    @Test func `I5 the resume of a viewer while the leases are uncertain is not published as a join`() {
        var harness = AudienceHarness()
        let ticket = harness.joinAlice()
        _ = harness.beginEpoch("e2")
        let resuming = AudienceHarness.caller(AudienceHarness.alice, counter: 2, ticket: ticket)
        #expect(
            harness.send(.join(caller: resuming), redisResult: .changed([.joined(isFirst: true, count: 1)]))
                == [harness.joinReply(to: resuming)]
        )
        #expect(harness.rows.live(AudienceHarness.key)?.totalViewers == 1)
    }
}
