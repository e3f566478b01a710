// SPDX-License-Identifier: Apache-2.0
import AudienceCore
import MachineKit
import PlazaModel
import Testing

/// How many devices a user may have in a live, and resumes after a kick.
///
/// Each device has a session of its own. A resume is a join with the ticket of the session's earlier join.
@Suite struct DeviceTests {
    /// A live of an app with this policy for a user's devices.
    private static func harness(_ devices: DevicePolicy) -> AudienceHarness {
        var policy = AppPolicy()
        policy.devices = devices
        return AudienceHarness(policies: Policies(["demo": policy]))
    }

    /// The effects by which a join of alice, the harness's last input, removes her other devices from the live.
    private static func effectsOfRemovedDevices(_ harness: AudienceHarness) -> [Effect] {
        let ticketOfJoin = Ticket(harness.offset)
        return AudienceHarness.effectsOfRevokedTickets(of: "alice", before: ticketOfJoin) + [
            .notice(
                Notice(
                    to: UserKey("demo", "alice"), live: "stage-1", at: harness.now, floor: ticketOfJoin,
                    content: .kickedOut(reason: .byLoggedOnOtherDevice, by: "alice")))
        ]
    }

    /// Whether a planned join makes Redis remove the user's other sessions; nil if the input is planned otherwise.
    private static func removesOtherSessions(_ planned: PlannedInput) -> Bool? {
        guard case .join(_, _, _, _, _, removesOtherSessions: let removesOthers)? = planned.request else { return nil }
        return removesOthers
    }

    /// Rules: R3.33.
    @Test func `where one device is allowed, a second device replaces the first, and viewers see no change`() {
        var harness = Self.harness(.one)
        _ = harness.send(
            .join(caller: AudienceHarness.caller(AudienceHarness.alice, counter: 1)),
            redisResult: .changed([.joined(isFirst: true, count: 1)]))
        harness.now = harness.now + .seconds(5)
        let secondDevice = AudienceHarness.caller(AudienceHarness.alice, counter: 1, session: "s2")
        #expect(Self.removesOtherSessions(harness.plan(.join(caller: secondDevice))) == true)
        let effects = harness.send(
            .join(caller: secondDevice),
            redisResult: .changed([.joined(isFirst: false, count: 1, replacesOthers: true)]))
        let reply = harness.joinReply(to: secondDevice)
        #expect(effects == Self.effectsOfRemovedDevices(harness) + [reply])
        #expect(harness.rows.live(AudienceHarness.key)?.totalViewers == 1)
        // The first device calls with the ticket of its join, which was the test's first input.
        let firstDevice = AudienceHarness.caller(
            AudienceHarness.alice, counter: 2, ticket: AudienceHarness.firstInputOffset)
        #expect(
            AudienceHarness.rejectionCode(firstDevice, harness.send(.list(cursor: "", count: 1, caller: firstDevice)))
                == .staleTicket)
    }

    @Test func `a device that joins again does not replace itself`() {
        var harness = Self.harness(.one)
        _ = harness.send(
            .join(caller: AudienceHarness.caller(AudienceHarness.alice, counter: 1)),
            redisResult: .changed([.joined(isFirst: true, count: 1)]))
        let rejoining = AudienceHarness.caller(AudienceHarness.alice, counter: 2, ticket: harness.offset)
        let effects = harness.send(.join(caller: rejoining), redisResult: .changed([.joined(isFirst: false, count: 1)]))
        #expect(effects == [harness.joinReply(to: rejoining)])
    }

    @Test func `where several devices are allowed, a join replaces no other device`() {
        var harness = Self.harness(.several)
        let planned = harness.plan(.join(caller: AudienceHarness.caller(AudienceHarness.alice, counter: 1)))
        #expect(Self.removesOtherSessions(planned) == false)
        #expect(
            AudienceHarness.notices(
                harness.sendWithoutRedis(.join(caller: AudienceHarness.caller(AudienceHarness.alice, counter: 1)))
            ).isEmpty)
    }

    @Test
    func `where one device is allowed, a new join without Redis replaces all other devices, and a resume none`() {
        var harness = Self.harness(.one)
        // Without Redis, the machine does not know whether alice has other devices.
        _ = harness.tickWithoutRedis()
        let effectsOfJoin = harness.sendWithoutRedis(
            .join(caller: AudienceHarness.caller(AudienceHarness.alice, counter: 1)))
        #expect(Self.effectsOfRemovedDevices(harness).allSatisfy(effectsOfJoin.contains))
        let resuming = AudienceHarness.caller(AudienceHarness.alice, counter: 2, ticket: harness.offset)
        #expect(AudienceHarness.notices(harness.sendWithoutRedis(.join(caller: resuming))).isEmpty)
        #expect(
            harness.plan(.join(caller: resuming)).decision == .repeated,
            "expected that the same call, sent again, only gets its earlier reply")
    }

    /// Rules: R4.10, R15.19.
    @Test func `I6 a kicked session cannot resume, but can join again`() {
        var harness = Self.harness(.several)
        _ = harness.send(
            .join(caller: AudienceHarness.caller(AudienceHarness.alice, counter: 1)),
            redisResult: .changed([.joined(isFirst: true, count: 1)]))
        let ticket = harness.offset
        _ = harness.send(
            .kick(user: "alice", reason: .byAdmin, caller: AudienceHarness.caller(AudienceHarness.owner, counter: 1)),
            redisResult: .changed([.kicked(user: AudienceHarness.alice, count: 0)]))
        let resuming = AudienceHarness.caller(AudienceHarness.alice, counter: 2, ticket: ticket)
        let effects = harness.send(.join(caller: resuming))
        #expect(AudienceHarness.rejectionCode(resuming, effects) == .staleTicket)
        #expect(AudienceHarness.rejectionReason(effects) == "byAdmin")
        let rejoining = AudienceHarness.caller(AudienceHarness.alice, counter: 3)
        #expect(harness.plan(.join(caller: rejoining)).decision == .proceed)
    }

    @Test func `I6 a resume with a ticket that only Redis knows to be void is rejected without a reason`() {
        var harness = Self.harness(.several)
        _ = harness.send(
            .join(caller: AudienceHarness.caller(AudienceHarness.alice, counter: 1)),
            redisResult: .changed([.joined(isFirst: true, count: 1)]))
        let resuming = AudienceHarness.caller(AudienceHarness.alice, counter: 2, ticket: harness.offset)
        let rejected = harness.send(.join(caller: resuming), redisResult: .changed([.ticketVoid]))
        #expect(AudienceHarness.rejectionCode(resuming, rejected) == .staleTicket)
        #expect(
            AudienceHarness.rejectionReason(rejected) == nil,
            "expected no reason, because the machine does not know of a kick")
    }

    @Test func `I6 a resume after a kick in the same batch is rejected even without Redis, with the kick's reason`() {
        var harness = Self.harness(.several)
        _ = harness.send(
            .join(caller: AudienceHarness.caller(AudienceHarness.alice, counter: 1)),
            redisResult: .changed([.joined(isFirst: true, count: 1)]))
        let resuming = AudienceHarness.caller(AudienceHarness.alice, counter: 2, ticket: harness.offset)
        let kick = AudienceCommand.kick(
            user: "alice", reason: .byAdmin, caller: AudienceHarness.caller(AudienceHarness.owner, counter: 1))
        let plannedInputs = harness.machine.plan(
            [
                (Moment(now: harness.now, offset: 200), AudienceInput(AudienceHarness.key, kick)),
                (Moment(now: harness.now, offset: 201), AudienceInput(AudienceHarness.key, .join(caller: resuming))),
            ], in: &harness.rows)
        var effects: [Effect] = []
        // Redis was not reached, so it has executed no request of the batch.
        harness.handle(.leasesUnavailable(batch: plannedInputs, mayHaveRun: false), into: &effects)
        for planned in plannedInputs { harness.handle(.leasesAnswered(planned, .unavailable), into: &effects) }
        #expect(AudienceHarness.rejectionCode(resuming, effects) == .staleTicket)
        #expect(AudienceHarness.rejectionReason(effects) == "byAdmin")
        #expect(!effects.contains(AudienceHarness.publish(.audienceJoined(user: AudienceHarness.alice))))
    }
}
