// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel
import TestSupport
import Testing

/// How far a published count may be from the truth (PROTOCOL.md, section 9).
///
/// A lease is a viewer's entry in Redis. Until 90 s after the viewer's last sign of life the lease exists, so the
/// viewer certainly counts. Between 90 s and 92 s the lease expires, so the viewer possibly counts. After 92 s the
/// viewer does not count.
@Suite(.timeLimit(.minutes(2))) struct CountBoundTests {
    /// A user who has joined: the ticket of the join, and the time of the join or of the last heartbeat.
    private struct Viewer {
        var ticket: Int64
        var lastSignOfLife: Timestamp
    }

    /// Rules: R4.14.
    @Test(arguments: (1...6).map { UInt64($0) })
    func `a fresh count is between certain and possible viewers, give or take the changes of the last second`(
        seed: UInt64
    ) throws {
        let redis = try RealRedis()
        let partition = try PartitionHarness(redisPort: redis.port)
        try partition.processAndCommit()
        var random = SeededRandom(seed: seed)
        var viewers: [String: Viewer] = [:]
        /// The times of all joins and leaves that the test has sent.
        var changes: [Timestamp] = []
        /// The last published count.
        var publishedCount = 0
        /// How many visits have begun.
        var visitCount = 0
        /// When each user last left, in seconds.
        var leftAt: [String: Int64] = [:]
        func secondsNow() -> Int64 { partition.now.milliseconds / 1000 }
        /// How many counts have been published.
        var countRecordCount = 0
        for step in 0..<500 {
            var effects: [Effect] = []
            // Up to three times, one of 40 users is drawn. A user outside the live joins; a user in the live leaves
            // with a probability of one third. A call's number is its offset in the inbox.
            for _ in 0..<Int.random(in: 0..<4, using: &random) {
                let name = "u\(Int.random(in: 0..<40, using: &random))"
                let nextOffset = Int64(partition.inbox.count)
                if let viewer = viewers[name] {
                    if Int.random(in: 0..<3, using: &random) > 0 { continue }
                    let caller = PartitionHarness.caller(name, counter: nextOffset, ticket: viewer.ticket)
                    effects += try partition.send(.leave(caller: caller))
                    viewers[name] = nil
                    leftAt[name] = secondsNow()
                } else {
                    effects += try partition.send(.join(caller: PartitionHarness.caller(name, counter: nextOffset)))
                    viewers[name] = Viewer(ticket: nextOffset, lastSignOfLife: partition.now)
                    // A user who comes back within a minute continues the visit (R3.31 in docs/RULES.md).
                    let continuesVisit = leftAt[name].map { secondsNow() - $0 < 60 } ?? false
                    if !continuesVisit { visitCount += 1 }
                }
                changes.append(partition.now)
            }
            // Every ten steps most viewers send a heartbeat. A step takes 0.5 to 1 s, so ten steps take 5 to 10 s.
            // About a fifth of the viewers, chosen by their tickets, never send one.
            if step % 10 == 0 {
                var beats: [Heartbeat] = []
                for name in viewers.keys.sorted() {
                    guard let viewer = viewers[name] else { continue }
                    let isSilent = (viewer.ticket + Int64(seed)) % 5 == 0
                    // A heartbeat after the lease has expired would return the viewer to the live, for which this test
                    // does not account. A lease lasts 90 s. To be safe, a viewer that was silent for more than 80 s
                    // stays silent.
                    let isLate = (partition.now - viewer.lastSignOfLife).count > 80_000
                    if isSilent || isLate { continue }
                    let silence = Milliseconds(Int64.random(in: 0..<5000, using: &random))
                    beats.append(PartitionHarness.heartbeat(name, ticket: viewer.ticket, silentFor: silence))
                    viewers[name]?.lastSignOfLife = max(viewer.lastSignOfLife, partition.now - silence)
                }
                effects += try partition.send(.heartbeats(beats: beats))
            }
            let tickEffects = try partition.sendTick(after: Milliseconds(Int64.random(in: 500...1000, using: &random)))
            for name in PartitionHarness.leftUsers(tickEffects) { leftAt[name] = secondsNow() }
            effects += tickEffects
            let records = PartitionHarness.counts(effects)
            countRecordCount += records.count
            for record in records {
                #expect(!record.stale)
                publishedCount = record.count
                // The published total may lag behind; the end of the test checks that both become equal.
                #expect(record.totalViewers <= visitCount)
            }
            let now = partition.now
            let certainCount = viewers.values.filter { (now - $0.lastSignOfLife).count < 90_000 }.count
            let possibleCount = viewers.values.filter { (now - $0.lastSignOfLife).count <= 92_000 }.count
            let recentChangeCount = changes.filter { (now - $0).count <= 1000 }.count
            #expect(
                publishedCount >= certainCount - recentChangeCount
                    && publishedCount <= possibleCount + recentChangeCount,
                "the count is \(publishedCount), not \(certainCount)...\(possibleCount) ± \(recentChangeCount)")
            // After 95 s the lease has certainly expired, so the user is out of the live and may join again.
            for (name, viewer) in viewers where (now - viewer.lastSignOfLife).count > 95_000 { viewers[name] = nil }
        }
        #expect(countRecordCount > 50, "expected enough counts for the comparison")
        try partition.tick(seconds: 2)
        #expect(PartitionHarness.counts(partition.published).last?.totalViewers == visitCount)
    }
}
