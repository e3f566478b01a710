// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel
import PlazaWire
import Testing

@testable import AudienceCore

/// The published count of viewers, and the total of visits.
@Suite struct CountTests {
    /// Rules: R4.13.
    @Test func `published counts of a live are at least a second apart, and the last value is always published`() {
        var harness = AudienceHarness()
        var published: [CountRecord] = []
        // 25 users join, one every 150 ms.
        for index in 1...25 {
            let user = UserInfo(userID: UserID("u\(index)"))
            let effects = harness.send(
                .join(caller: AudienceHarness.caller(user, counter: 1)),
                redisResult: .changed([.joined(isFirst: true, count: index)]))
            for case .count(let record) in effects { published.append(record) }
            harness.now = harness.now + Milliseconds(150)
        }
        #expect(harness.rows.nextDue != nil, "expected that the last count is still due")
        for case .count(let record) in harness.tick(after: .seconds(1)) { published.append(record) }
        for (earlier, later) in zip(published, published.dropFirst()) {
            #expect((later.at - earlier.at).count >= 1000, "expected a second between two counts")
        }
        #expect(published.first?.count == 1)
        #expect(published.last?.count == 25)
        #expect(published.last?.totalViewers == 25)
        #expect(harness.tick(after: .seconds(5)).isEmpty, "expected that nothing is left to publish")
    }

    /// Rules: R3.31.
    @Test func `each visit that begins a minute or more after the previous one has ended counts in the total`() {
        var harness = AudienceHarness()
        // In each visit alice joins and leaves. The next visit begins 60 s after the leave.
        for visit in 1...3 {
            _ = harness.send(
                .join(caller: AudienceHarness.caller(AudienceHarness.alice, counter: Int64(2 * visit))),
                redisResult: .changed([.joined(isFirst: true, count: 1)]))
            _ = harness.send(
                .leave(
                    caller: AudienceHarness.caller(
                        AudienceHarness.alice, counter: Int64(2 * visit + 1), ticket: harness.offset)),
                redisResult: .changed([.left(user: AudienceHarness.alice, isLast: true, count: 0)]))
            harness.now = harness.now + .seconds(60)
        }
        #expect(harness.rows.live(AudienceHarness.key)?.totalViewers == 3)
        #expect(harness.rows.live(AudienceHarness.key)?.count == 0)
    }

    /// Rules: R3.31.
    @Test func `a user who returns within a minute after a leave or a kick is counted once`() {
        var harness = AudienceHarness()
        // alice joins ten times. After each join she leaves or, every second time, is kicked. She joins again 59 s
        // later. Each of the ten rounds has two new call numbers: 3 * visit and 3 * visit + 1.
        for visit in 1...10 {
            let effects = harness.send(
                .join(caller: AudienceHarness.caller(AudienceHarness.alice, counter: Int64(3 * visit))),
                redisResult: .changed([.joined(isFirst: true, count: 1)]))
            let continuesVisit: Bool? = visit == 1 ? nil : true
            let publishedJoin = AudienceHarness.publish(
                .audienceJoined(user: AudienceHarness.alice, continuesVisit: continuesVisit))
            #expect(effects.contains(publishedJoin))
            if visit.isMultiple(of: 2) {
                _ = harness.send(
                    .kick(
                        user: "alice", reason: .byAdmin,
                        caller: AudienceHarness.caller(AudienceHarness.owner, counter: Int64(3 * visit + 1))),
                    redisResult: .changed([.kicked(user: AudienceHarness.alice, count: 0)]))
            } else {
                _ = harness.send(
                    .leave(
                        caller: AudienceHarness.caller(
                            AudienceHarness.alice, counter: Int64(3 * visit + 1), ticket: harness.offset)),
                    redisResult: .changed([.left(user: AudienceHarness.alice, isLast: true, count: 0)]))
            }
            harness.now = harness.now + .seconds(59)
        }
        #expect(harness.rows.live(AudienceHarness.key)?.totalViewers == 1)
    }

    /// Rules: R3.31.
    @Test func `the row of a live stores only the last leaves, but the visits of all users are counted`() {
        var harness = AudienceHarness()
        for index in 1...100 {
            let user = UserInfo(userID: UserID("u\(index)"))
            _ = harness.send(
                .join(caller: AudienceHarness.caller(user, counter: 1, session: SessionID("s\(index)"))),
                redisResult: .changed([.joined(isFirst: true, count: 1)]))
            _ = harness.send(
                .leave(
                    caller: AudienceHarness.caller(
                        user, counter: 2, ticket: harness.offset, session: SessionID("s\(index)"))),
                redisResult: .changed([.left(user: user, isLast: true, count: 0)]))
        }
        let row = harness.rows.live(AudienceHarness.key)
        #expect(row?.totalViewers == 100)
        let encodedLeaves = Wire.encode(row?.recentLeaves ?? RecentLeaves())
        #expect(
            encodedLeaves.count < 700, "expected 32 leaves, each a number of at most 19 digits and a comma: 640 bytes")
    }

    @Test func `the count of a new live is published before its first viewer joins`() {
        // `AudienceHarness` opens its live before a test begins, so this test has a machine of its own.
        let epoch = AudienceHarness.epoch
        let machine = AudienceMachine(partition: 0)
        var rows = AudienceMachine.Rows()
        let moment = Moment(now: Timestamp(milliseconds: 5), offset: 9)
        let plannedInputs = machine.plan(
            [(moment, AudienceInput(AudienceHarness.key, .opened(epoch: epoch, owner: AudienceHarness.owner)))],
            in: &rows)
        var effects: [Effect] = []
        machine.handle(.leasesAnswered(plannedInputs[0], .nothing), in: &rows, at: moment, into: &effects)
        #expect(
            effects == [
                .count(
                    CountRecord(app: "demo", live: "stage-1", epoch: epoch, count: 0, totalViewers: 0, at: moment.now))
            ])
    }
}
