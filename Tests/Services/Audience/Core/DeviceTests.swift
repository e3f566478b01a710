// SPDX-License-Identifier: Apache-2.0
import AudienceCore
import MachineKit
import PlazaModel
import Testing

@Suite struct DeviceTests {
    private static func harness(_ devices: DevicePolicy) -> AudienceHarness {
        var policy = AppPolicy()
        policy.devices = devices
        return AudienceHarness(policies: Policies(["demo": policy]))
    }

    private static func replaced(_ harness: AudienceHarness) -> [Effect] {
        let floor = Ticket(harness.offset)
        return AudienceHarness.floors("alice", floor) + [
            .notice(
                Notice(
                    to: UserKey("demo", "alice"), live: "stage-1", at: harness.now, floor: floor,
                    content: .kickedOut(reason: .byLoggedOnOtherDevice, by: "alice")))
        ]
    }

    /// Rules: R3.33.
    @Test func `where one device is allowed, a second device replaces the first, and viewers see no change`() {
        var harness = Self.harness(.one)
        _ = harness.send(
            .join(caller: AudienceHarness.caller(AudienceHarness.alice, 1)),
            .changed([.joined(isFirst: true, count: 1)]))
        harness.now = harness.now + .seconds(5)
        let second = AudienceHarness.caller(AudienceHarness.alice, 1, session: "s2")
        guard case .join(_, _, _, _, _, isOnly: true)? = harness.plan(.join(caller: second)).request else {
            return #expect(Bool(false), "the other sessions stay")
        }
        let effects = harness.send(
            .join(caller: second), .changed([.joined(isFirst: false, count: 1, replaces: true)]))
        let reply = AudienceHarness.reply(second, .joined(ticket: Ticket(harness.offset), epoch: 7, confirmed: true))
        #expect(effects == Self.replaced(harness) + [reply])
        #expect(harness.rows.live(AudienceHarness.key)?.totalViewers == 1)
        let old = AudienceHarness.caller(AudienceHarness.alice, 2, ticket: 102)
        #expect(AudienceHarness.rejection(old, harness.send(.list(cursor: "", count: 1, caller: old))) == .staleTicket)
    }

    @Test func `a device that joins again does not replace itself`() {
        var harness = Self.harness(.one)
        _ = harness.send(
            .join(caller: AudienceHarness.caller(AudienceHarness.alice, 1)),
            .changed([.joined(isFirst: true, count: 1)]))
        let again = AudienceHarness.caller(AudienceHarness.alice, 2, ticket: harness.offset)
        let effects = harness.send(.join(caller: again), .changed([.joined(isFirst: false, count: 1)]))
        #expect(
            effects == [
                AudienceHarness.reply(again, .joined(ticket: Ticket(harness.offset), epoch: 7, confirmed: true))
            ])
    }

    @Test func `where several devices are allowed, a join replaces no other device`() {
        var harness = Self.harness(.several)
        let planned = harness.plan(.join(caller: AudienceHarness.caller(AudienceHarness.alice, 1)))
        guard case .join(_, _, _, _, _, isOnly: false)? = planned.request else {
            return #expect(Bool(false), "the other sessions are removed")
        }
        #expect(
            AudienceHarness.notices(
                harness.sendUnavailable(.join(caller: AudienceHarness.caller(AudienceHarness.alice, 1)))
            ).isEmpty)
    }

    @Test
    func `while the leases are uncertain, a fresh join replaces all other devices, and a resume replaces none`() {
        var harness = Self.harness(.one)
        _ = harness.sendUnavailable(nil)
        let fresh = harness.sendUnavailable(.join(caller: AudienceHarness.caller(AudienceHarness.alice, 1)))
        #expect(Self.replaced(harness).allSatisfy(fresh.contains))
        let resuming = AudienceHarness.caller(AudienceHarness.alice, 2, ticket: harness.offset)
        #expect(AudienceHarness.notices(harness.sendUnavailable(.join(caller: resuming))).isEmpty)
        #expect(harness.plan(.join(caller: resuming)).decision == .repeated)
    }

    /// Rules: R4.10, R15.19.
    @Test func `I6 a kicked session cannot resume, but can join again`() {
        var harness = Self.harness(.several)
        _ = harness.send(
            .join(caller: AudienceHarness.caller(AudienceHarness.alice, 1)),
            .changed([.joined(isFirst: true, count: 1)]))
        let old = harness.offset
        _ = harness.send(
            .kick(user: "alice", reason: .byAdmin, caller: AudienceHarness.caller(AudienceHarness.owner, 1)),
            .changed([.kicked(user: AudienceHarness.alice, count: 0)]))
        let resuming = AudienceHarness.caller(AudienceHarness.alice, 2, ticket: old)
        let effects = harness.send(.join(caller: resuming))
        #expect(AudienceHarness.rejection(resuming, effects) == .staleTicket)
        #expect(AudienceHarness.refusalReason(effects) == "byAdmin")
        let fresh = AudienceHarness.caller(AudienceHarness.alice, 3)
        #expect(harness.plan(.join(caller: fresh)).decision == .proceed)
    }

    @Test
    func `I6 a resume after a kick in one batch is rejected by the leases, or without Redis by the revocation fence`() {
        var harness = Self.harness(.several)
        _ = harness.send(
            .join(caller: AudienceHarness.caller(AudienceHarness.alice, 1)),
            .changed([.joined(isFirst: true, count: 1)]))
        let resuming = AudienceHarness.caller(AudienceHarness.alice, 2, ticket: harness.offset)
        let rejected = harness.send(.join(caller: resuming), .changed([.ticketVoid]))
        #expect(AudienceHarness.rejection(resuming, rejected) == .staleTicket)
        #expect(AudienceHarness.refusalReason(rejected) == nil, "the session may have left: no kick is recorded")

        let late = AudienceHarness.caller(AudienceHarness.alice, 3, ticket: 102)
        let kick = AudienceCommand.kick(
            user: "alice", reason: .byAdmin, caller: AudienceHarness.caller(AudienceHarness.owner, 1))
        let inputs = [kick, .join(caller: late)].enumerated().map { index, command in
            (
                moment: Moment(now: harness.now, offset: 200 + Int64(index)),
                input: AudienceInput?.some(AudienceInput(AudienceHarness.key, command))
            )
        }
        let plannedInputs = harness.machine.plan(inputs, in: &harness.rows)
        var effects: [Effect] = []
        harness.handle(.leasesUnavailable(batch: plannedInputs, mayHaveRun: false), into: &effects)
        for planned in plannedInputs { harness.handle(.leasesAnswered(planned, .unavailable), into: &effects) }
        #expect(AudienceHarness.rejection(late, effects) == .staleTicket)
        #expect(AudienceHarness.refusalReason(effects) == "byAdmin")
        #expect(!effects.contains(AudienceHarness.tip(.audienceJoined(user: AudienceHarness.alice))))
    }
}
