// SPDX-License-Identifier: Apache-2.0
import AudienceCore
import MachineKit
import PlazaModel
import Testing

@Suite struct CountTests {
    /// Rules: R4.13.
    @Test func `published counts of a live are at least a second apart, and the last value is always published`() {
        var harness = AudienceHarness()
        var published: [CountRecord] = []
        for index in 1...25 {
            let user = UserInfo(userID: UserID("u\(index)"))
            let effects = harness.send(
                .join(caller: AudienceHarness.caller(user, 1)), .changed([.joined(isFirst: true, count: index)]))
            for case .count(let record) in effects { published.append(record) }
            harness.now = harness.now + Milliseconds(150)
        }
        #expect(harness.rows.nextDue != nil)
        for case .count(let record) in harness.tick(after: .seconds(1)) { published.append(record) }
        for (a, b) in zip(published, published.dropFirst()) { #expect((b.at - a.at).count >= 1000) }
        #expect(published.first?.count == 1)
        #expect(published.last?.count == 25)
        #expect(published.last?.totalViewers == 25)
        #expect(harness.tick(after: .seconds(5)).isEmpty)
    }

    /// Rules: R3.31.
    @Test func `repeated visits are counted in the total`() {
        var harness = AudienceHarness()
        for visit in 1...3 {
            _ = harness.send(
                .join(caller: AudienceHarness.caller(AudienceHarness.alice, Int64(2 * visit))),
                .changed([.joined(isFirst: true, count: 1)]))
            _ = harness.send(
                .leave(
                    caller: AudienceHarness.caller(AudienceHarness.alice, Int64(2 * visit + 1), ticket: harness.offset)),
                .changed([.left(user: AudienceHarness.alice, isLast: true, count: 0)]))
        }
        #expect(harness.rows.live(AudienceHarness.key)?.totalViewers == 3)
        #expect(harness.rows.live(AudienceHarness.key)?.count == 0)
    }

    @Test func `the count of a new live is published before its first viewer joins`() {
        let machine = AudienceMachine(partition: 0)
        var rows = AudienceMachine.Rows()
        let moment = Moment(now: Timestamp(milliseconds: 5), offset: 9)
        let plannedInputs = machine.plan(
            [(moment, AudienceInput(AudienceHarness.key, .opened(epoch: 7, owner: AudienceHarness.owner)))], in: &rows)
        var effects: [Effect] = []
        machine.handle(.leasesAnswered(plannedInputs[0], .nothing), in: &rows, at: moment, into: &effects)
        #expect(
            effects == [
                .count(CountRecord(app: "demo", live: "stage-1", epoch: 7, count: 0, totalViewers: 0, at: moment.now))
            ])
    }
}
