// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel
import TestSupport
import Testing

/// The error bound that PROTOCOL.md, section 9, states for counts.
///
/// A viewer is certain until 90 s after its last sign of life, when its lease ends. It is possible until 92 s after its
/// last sign of life, when the lease has expired at the latest.
@Suite(.timeLimit(.minutes(2))) struct CountBoundTests {
    /// A user in the live: the ticket of its join, and the time of its join or of its last heartbeat.
    private struct Viewer {
        var ticket: Int64
        var lastSignOfLife: Timestamp
    }

    /// Rules: R4.14.
    @Test(arguments: (1...6).map { UInt64($0) })
    func `a fresh count lies between the certain and the possible viewers, except for changes of the last second`(
        seed: UInt64
    ) throws {
        let redis = try LiveRedis()
        let partition = try PartitionHarness(redis: redis.port)
        try partition.processAndCommit()
        var random = SeededRandom(seed: seed)
        var viewers: [String: Viewer] = [:]
        /// The times of all joins and leaves.
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
            // Some users join and leave, some send no heartbeats, and the others send one every ten steps. A step takes
            // 500 ms to a second, so that is less than ten seconds.
            for _ in 0..<Int.random(in: 0..<4, using: &random) {
                let name = "u\(Int.random(in: 0..<40, using: &random))"
                let counter = Int64(partition.inbox.count)
                if let viewer = viewers[name] {
                    if Int.random(in: 0..<3, using: &random) > 0 { continue }
                    let caller = PartitionHarness.caller(name, counter: counter, ticket: viewer.ticket)
                    effects += try partition.send(.leave(caller: caller))
                    viewers[name] = nil
                    leftAt[name] = secondsNow()
                } else {
                    let ticket = Int64(partition.inbox.count)
                    effects += try partition.send(.join(caller: PartitionHarness.caller(name, counter: counter)))
                    viewers[name] = Viewer(ticket: ticket, lastSignOfLife: partition.now)
                    // A user who comes back within a minute continues the visit (R3.31). One who has never left counts
                    // as having left long ago: at half of `.min`, so that the difference does not overflow.
                    if secondsNow() - (leftAt[name] ?? .min / 2) >= 60 { visitCount += 1 }
                }
                changes.append(partition.now)
            }
            if step % 10 == 0 {
                var beats: [Heartbeat] = []
                for name in viewers.keys.sorted() {
                    guard let viewer = viewers[name] else { continue }
                    let hasFallenSilent = (viewer.ticket + Int64(seed)) % 5 == 0
                    // One viewer in five is silent. The others send no heartbeat when their lease may have expired: the
                    // heartbeat would publish a join that is no new visit.
                    if hasFallenSilent || (partition.now - viewer.lastSignOfLife).count > 80_000 { continue }
                    let silence = Milliseconds(Int64.random(in: 0..<5000, using: &random))
                    beats.append(PartitionHarness.beat(name, ticket: viewer.ticket, silentFor: silence))
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
                // The total may lag behind the visits; in the end both are equal.
                #expect(record.totalViewers <= visitCount)
            }
            let now = partition.now
            let certainCount = viewers.values.filter { (now - $0.lastSignOfLife).count < 90_000 }.count
            let possibleCount = viewers.values.filter { (now - $0.lastSignOfLife).count <= 92_000 }.count
            let recentChangeCount = changes.filter { (now - $0).count <= 1000 }.count
            #expect(
                publishedCount >= certainCount - recentChangeCount
                    && publishedCount <= possibleCount + recentChangeCount,
                "\(publishedCount), not \(certainCount)...\(possibleCount) ± \(recentChangeCount)")
            // After 95 s the lease has certainly expired. The viewer sends no heartbeat any more; its user may join
            // again.
            for (name, viewer) in viewers where (now - viewer.lastSignOfLife).count > 95_000 { viewers[name] = nil }
        }
        #expect(countRecordCount > 50, "enough counts were compared")
        try partition.tick(seconds: 2)
        #expect(PartitionHarness.counts(partition.published).last?.totalViewers == visitCount)
    }
}
