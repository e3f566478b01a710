// SPDX-License-Identifier: Apache-2.0
import AudienceCore
import FoundationEssentials
import MachineKit
import PlazaModel
import Testing

/// Joins, leaves and expiries of users, the viewer list, and the end of a live.
@Suite struct MembersTests {
    /// Rules: R3.21.
    @Test func `I4 a join is published at once, and its offset is the ticket`() {
        var harness = AudienceHarness()
        let caller = AudienceHarness.caller(AudienceHarness.alice, counter: 1)
        let effects = harness.send(.join(caller: caller), redisResult: .changed([.joined(isFirst: true, count: 1)]))
        #expect(
            effects == [
                AudienceHarness.publish(.audienceJoined(user: AudienceHarness.alice)),
                AudienceHarness.userPresent(AudienceHarness.alice), harness.countEffect(1, totalViewers: 1),
                // The owner has not joined, which is reported as `left`.
                AudienceHarness.occupancyReport(.left, isEmpty: false),
                harness.joinReply(to: caller),
            ])
    }

    @Test func `a join requests a lease for a session whose ticket is the offset of the join`() {
        var harness = AudienceHarness(policies: Policies(["demo": AppPolicy(maxAudience: 9)]))
        let planned = harness.plan(.join(caller: AudienceHarness.caller(AudienceHarness.alice, counter: 1)))
        let member = AudienceHarness.session(of: AudienceHarness.alice, ticket: Ticket(harness.offset))
        #expect(planned.request == .join(live: AudienceHarness.key, owner: "host", member: member, limit: 9))
    }

    @Test func `the join of a user's second device and the leave of one of two devices are not published`() {
        var harness = AudienceHarness()
        _ = harness.send(
            .join(caller: AudienceHarness.caller(AudienceHarness.alice, counter: 1)),
            redisResult: .changed([.joined(isFirst: true, count: 1)]))
        let secondDevice = AudienceHarness.caller(AudienceHarness.alice, counter: 1, session: "s2")
        var effects = harness.send(
            .join(caller: secondDevice), redisResult: .changed([.joined(isFirst: false, count: 1)]))
        #expect(effects == [harness.joinReply(to: secondDevice)])
        let leaving = AudienceHarness.caller(AudienceHarness.alice, counter: 2, ticket: harness.offset, session: "s2")
        effects = harness.send(
            .leave(caller: leaving),
            redisResult: .changed([.left(user: AudienceHarness.alice, isLast: false, count: 1)]))
        #expect(effects == [AudienceHarness.reply(leaving, .done)])
    }

    /// Rules: R3.28.
    @Test func `I4 the leave of the last device is published to viewers and seats at once`() {
        var harness = AudienceHarness()
        let ticket = harness.joinAlice()
        let leaving = AudienceHarness.caller(AudienceHarness.alice, counter: 2, ticket: ticket)
        let effects = harness.send(
            .leave(caller: leaving), redisResult: .changed([.left(user: AudienceHarness.alice, isLast: true, count: 0)])
        )
        #expect(
            effects == [
                AudienceHarness.publish(.audienceLeft(user: AudienceHarness.alice)), AudienceHarness.userGone("alice"),
                harness.countEffect(0, totalViewers: 1),
                AudienceHarness.occupancyReport(.left, isEmpty: true), AudienceHarness.reply(leaving, .done),
            ])
    }

    /// Rules: R3.22.
    @Test
    func `the owner is neither announced nor counted, and the expiry of its lease is reported to the connections`() {
        var harness = AudienceHarness()
        let caller = AudienceHarness.caller(AudienceHarness.owner, counter: 1)
        var effects = harness.send(.join(caller: caller), redisResult: .changed([.joined(isFirst: true, count: 0)]))
        #expect(effects == AudienceHarness.effectsOfOwnerArrival + [harness.joinReply(to: caller)])
        effects = harness.tick(
            after: .seconds(91), changes: [.expired(live: AudienceHarness.key, user: AudienceHarness.owner, count: 0)])
        #expect(
            effects == [
                AudienceHarness.userGone("host"),
                .connection(ConnectionInput(app: "demo", .userGone(live: "stage-1", user: "host"))),
                AudienceHarness.occupancyReport(.offline, isEmpty: true),
            ])
    }

    /// Rules: R18.2.
    @Test func `I4 an expired viewer is published as having left, and as joined again at its next heartbeat`() {
        var harness = AudienceHarness()
        _ = harness.send(
            .join(caller: AudienceHarness.caller(AudienceHarness.alice, counter: 1)),
            redisResult: .changed([.joined(isFirst: true, count: 1)]))
        let ticket = Ticket(harness.offset)
        var effects = harness.tick(
            after: .seconds(91), changes: [.expired(live: AudienceHarness.key, user: AudienceHarness.alice, count: 0)])
        #expect(
            effects == [
                AudienceHarness.publish(.audienceLeft(user: AudienceHarness.alice)), AudienceHarness.userGone("alice"),
                harness.countEffect(0, totalViewers: 1),
                AudienceHarness.occupancyReport(.left, isEmpty: true),
            ])
        // Within a minute, a user who comes back continues its visit.
        harness.now = harness.now + .seconds(3)
        let heartbeat = AudienceHarness.heartbeat(of: "alice", ticket: ticket)
        effects = harness.send(
            .heartbeats(beats: [heartbeat]), redisResult: .changed([.returned(user: AudienceHarness.alice, count: 1)]))
        #expect(
            effects == [
                AudienceHarness.publish(.audienceJoined(user: AudienceHarness.alice, continuesVisit: true)),
                AudienceHarness.userPresent(AudienceHarness.alice), harness.countEffect(1, totalViewers: 1),
                AudienceHarness.occupancyReport(.left, isEmpty: false),
            ])
    }

    /// Rules: R3.23.
    @Test
    func `a join of a full or ended live, and a call of a user who has not joined, are rejected with their codes`() {
        var harness = AudienceHarness()
        let caller = AudienceHarness.caller(AudienceHarness.alice, counter: 1)
        #expect(
            AudienceHarness.rejectionCode(caller, harness.send(.join(caller: caller), redisResult: .changed([.full])))
                == .roomFull)
        let outsider = AudienceHarness.caller(AudienceHarness.bob, counter: 1)
        #expect(AudienceHarness.rejectionCode(outsider, harness.send(.leave(caller: outsider))) == .notInRoom)
        #expect(
            AudienceHarness.rejectionCode(outsider, harness.send(.list(cursor: "", count: 10, caller: outsider)))
                == .notInRoom)
        _ = harness.send(AudienceHarness.endOfLive)
        // After the end of the live, a join is rejected with a code of its own, `noSuchRoomOnEntry`. All other calls
        // are rejected with `noSuchRoom`.
        let lateCaller = AudienceHarness.caller(AudienceHarness.bob, counter: 2, ticket: AudienceHarness.unusedTicket)
        #expect(
            AudienceHarness.rejectionCode(lateCaller, harness.send(.join(caller: lateCaller))) == .noSuchRoomOnEntry)
        #expect(AudienceHarness.rejectionCode(lateCaller, harness.send(.leave(caller: lateCaller))) == .noSuchRoom)
        #expect(
            AudienceHarness.rejectionCode(lateCaller, harness.send(.list(cursor: "", count: 10, caller: lateCaller)))
                == .noSuchRoom)
        #expect(
            AudienceHarness.rejectionCode(
                lateCaller, harness.send(.kick(user: "dora", reason: .byAdmin, caller: lateCaller)))
                == .noSuchRoom
        )
    }

    /// Rules: R18.6.
    @Test func `the end of a live clears its leases, removes its count and rejects the joins of the same batch`() {
        var harness = AudienceHarness()
        let caller = AudienceHarness.caller(AudienceHarness.alice, counter: 1)
        // A batch of two inputs: the join, then the end.
        let plannedInputs = harness.machine.plan(
            [
                (Moment(now: harness.now, offset: 200), AudienceInput(AudienceHarness.key, .join(caller: caller))),
                (
                    Moment(now: harness.now, offset: 201),
                    AudienceInput(AudienceHarness.key, AudienceHarness.endOfLive)
                ),
            ], in: &harness.rows)
        #expect(plannedInputs[1].request == .clear(live: AudienceHarness.key))
        var effects: [Effect] = []
        let change = LeaseChange.joined(isFirst: true, count: 1)
        harness.handle(.leasesAnswered(plannedInputs[0], .changed([change])), into: &effects)
        harness.handle(.leasesAnswered(plannedInputs[1], .nothing), into: &effects)
        #expect(AudienceHarness.rejectionCode(caller, effects) == .noSuchRoomOnEntry)
        // The end is passed on to the fan-out with the total of visits (R3.56 in docs/RULES.md): 0, because the join
        // was rejected.
        #expect(effects.count == 3, "expected the rejection of the join, and the two effects of the end")
        #expect(
            effects.suffix(2) == [
                .countRemoved(AudienceHarness.key),
                .barrage(BarrageInput(AudienceHarness.key, .ended(ending: AudienceHarness.ending))),
            ])
    }

    /// Rules: R3.56.
    @Test func `the end of a live is passed on with the total of visits, and a repeated end without a total`() {
        var harness = AudienceHarness()
        // For each join, Redis reports that bob had no session before. No leave is recorded, so no join continues an
        // earlier visit, and the total has three visits.
        for counter in 1...3 {
            let caller = AudienceHarness.caller(AudienceHarness.bob, counter: Int64(counter))
            _ = harness.send(.join(caller: caller), redisResult: .changed([.joined(isFirst: true, count: 1)]))
        }
        var ending = AudienceHarness.ending
        ending.totalViewers = 3
        #expect(
            harness.send(AudienceHarness.endOfLive).last
                == .barrage(BarrageInput(AudienceHarness.key, .ended(ending: ending))))
        #expect(
            // `AudienceHarness.ending` has no total.
            harness.send(AudienceHarness.endOfLive)
                == [.barrage(BarrageInput(AudienceHarness.key, .ended(ending: AudienceHarness.ending)))])
    }

    @Test func `a ticket from an earlier live with the same id is rejected`() {
        var harness = AudienceHarness()
        _ = harness.send(AudienceHarness.endOfLive)
        // A newer live with the same id; its epoch is above that of the ended live.
        _ = harness.send(.opened(epoch: AudienceHarness.epoch + 1, owner: AudienceHarness.owner))
        let earlierCaller = AudienceHarness.caller(
            AudienceHarness.alice, counter: 5, ticket: AudienceHarness.firstInputOffset)
        #expect(
            AudienceHarness.rejectionCode(earlierCaller, harness.send(.leave(caller: earlierCaller))) == .staleTicket)
        let heartbeat = AudienceHarness.heartbeat(of: "alice", ticket: Ticket(AudienceHarness.firstInputOffset))
        #expect(harness.plan(.heartbeats(beats: [heartbeat])).request == nil)
    }

    /// Rules: R1.19, R4.1, R4.2.
    @Test func `a page of the list has a limited size and contains the cursor of the next page`() {
        var harness = AudienceHarness()
        let caller = AudienceHarness.caller(AudienceHarness.alice, counter: 1, ticket: AudienceHarness.unusedTicket)
        let member = AudienceMember(user: AudienceHarness.alice, joinedAt: harness.now)
        // The cursor of a page is the ticket of the last viewer on the page before. An empty cursor stands for the
        // first page; the request to Redis then has -1, which is below every ticket.
        #expect(
            harness.plan(.list(cursor: "", count: 1000, caller: caller)).request
                == .page(live: AudienceHarness.key, after: -1, count: Limits.audiencePage))
        // `next` becomes the cursor of the next page; `count` is the number of all viewers.
        let effects = harness.send(
            .list(cursor: "", count: 1, caller: caller),
            redisResult: .page(members: [member], next: 110, count: 5))
        #expect(
            effects == [
                AudienceHarness.reply(
                    caller,
                    .audience(page: AudiencePage(members: [member], cursor: "110", count: 5, at: harness.now)))
            ])
        #expect(
            harness.plan(.list(cursor: "110", count: 1, caller: caller)).request
                == .page(live: AudienceHarness.key, after: 110, count: 1))
        let callerWithBadCursor = AudienceHarness.caller(
            AudienceHarness.alice, counter: 2, ticket: AudienceHarness.unusedTicket)
        #expect(
            AudienceHarness.rejectionCode(
                callerWithBadCursor, harness.send(.list(cursor: "x", count: 1, caller: callerWithBadCursor)))
                == .invalidParameter
        )
    }

    /// Rules: R4.4.
    @Test func `the membership of a future admin is verified if the user is in the live, and rejected if not`() {
        var harness = AudienceHarness()
        let caller = AudienceHarness.caller(AudienceHarness.owner, counter: 1, ticket: AudienceHarness.unusedTicket)
        let command = AudienceCommand.verifyAdminMembership(user: "alice", caller: caller)
        #expect(
            harness.send(command, redisResult: .membership(isMember: true)) == [
                .directory(
                    DirectoryInput(
                        app: "demo", .adminMembershipVerified(live: "stage-1", user: "alice", caller: caller)))
            ])
        #expect(
            AudienceHarness.rejectionCode(caller, harness.send(command, redisResult: .membership(isMember: false)))
                == .notMember)
    }

    @Test func `a confirmation reports a user without a session as gone to the seat machine`() {
        var harness = AudienceHarness()
        #expect(harness.plan(.confirm(user: "alice")).request == .isMember(live: AudienceHarness.key, user: "alice"))
        #expect(
            harness.send(.confirm(user: "alice"), redisResult: .membership(isMember: true)).isEmpty,
            "expected no effect, because alice is in the live")
        #expect(
            harness.send(.confirm(user: "alice"), redisResult: .membership(isMember: false))
                == [AudienceHarness.userGone("alice")])
    }

    @Test func `row keys are parsed back from their text`() {
        for key in [
            AudienceKey.partition, .live(AudienceHarness.key), .fence(AudienceHarness.key), .bans(AudienceHarness.key),
            .calls(AudienceHarness.key, "alice", "s1"),
        ] {
            #expect(AudienceKey(text: key.text) == key)
        }
        #expect(AudienceKey(text: "calls/demo/stage-1/alice") == nil, "the session is missing")
        #expect(AudienceKey(text: "") == nil)
    }

    @Test func `a stored revocation fence and its key are named floors`() throws {
        let row = try JSONEncoder().encode(AudienceRow.fence(row: RevocationFence()))
        #expect(String(decoding: row, as: UTF8.self) == #"{"floors":{"row":{"floors":[]}}}"#)
        #expect(AudienceKey.fence(AudienceHarness.key).text.hasPrefix("floors/"))
    }
}
