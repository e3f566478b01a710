// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel
import TestSupport
import Testing

/// The error bound that PROTOCOL.md, section 9, states for counts.
@Suite(.timeLimit(.minutes(2))) struct CountBoundTests {
    /// The true state of a user: the ticket of its join, and the time of its last heartbeat.
    private struct Viewer {
        var ticket: Int64
        var lastSign: Timestamp
    }

    /// Rules: R4.14.
    @Test(arguments: (1...6).map { UInt64($0) })
    func `a fresh count lies between the certain and the possible viewers, except for changes of the last second`(
        seed: UInt64
    ) throws {
        let redis = try LiveRedis()
        let partition = try PartitionHarness(redis: redis.port)
        try partition.run()
        var chance = SeededRandom(seed: seed)
        var here: [String: Viewer] = [:]
        var changes: [Timestamp] = []
        var told = 0
        var entries = 0
        var counts = 0
        for step in 0..<500 {
            var effects: [Effect] = []
            // Some users join and leave, some stop sending heartbeats, and the others send one every ten seconds.
            for _ in 0..<Int.random(in: 0..<4, using: &chance) {
                let name = "u\(Int.random(in: 0..<40, using: &chance))"
                let counter = Int64(partition.inbox.count)
                if let viewer = here[name] {
                    if Int.random(in: 0..<3, using: &chance) > 0 { continue }
                    let caller = PartitionHarness.caller(name, counter, ticket: viewer.ticket)
                    effects += try partition.send(.leave(caller: caller))
                    here[name] = nil
                } else {
                    let ticket = Int64(partition.inbox.count)
                    effects += try partition.send(.join(caller: PartitionHarness.caller(name, counter)))
                    here[name] = Viewer(ticket: ticket, lastSign: partition.now)
                    entries += 1
                }
                changes.append(partition.now)
            }
            if step % 10 == 0 {
                var beats: [Heartbeat] = []
                for name in here.keys.sorted() {
                    guard let viewer = here[name] else { continue }
                    let hasFallenSilent = (viewer.ticket + Int64(seed)) % 5 == 0
                    // No expired user may return here: its return would be published as a join that is not counted.
                    if hasFallenSilent || (partition.now - viewer.lastSign).count > 80_000 { continue }
                    let silentFor = Int64.random(in: 0..<5000, using: &chance)
                    beats.append(PartitionHarness.beat(name, viewer.ticket, silentFor: silentFor))
                    here[name]?.lastSign = max(viewer.lastSign, partition.now - Milliseconds(silentFor))
                }
                effects += try partition.send(.heartbeats(beats: beats))
            }
            effects += try partition.send(nil, after: Milliseconds(Int64.random(in: 500...1000, using: &chance)))
            let records = PartitionHarness.counts(effects)
            counts += records.count
            for record in records {
                #expect(!record.stale)
                told = record.count
                // Joins are counted exactly, as of the time of the count.
                #expect(record.totalViewers <= entries)
            }
            let now = partition.now
            let sure = here.values.filter { (now - $0.lastSign).count < 90_000 }.count
            let perhaps = here.values.filter { (now - $0.lastSign).count <= 92_000 }.count
            let late = changes.filter { (now - $0).count <= 1000 }.count
            #expect(told >= sure - late && told <= perhaps + late, "\(told), not \(sure)...\(perhaps) ± \(late)")
            // A user whose lease has expired does not return in this test.
            for (name, viewer) in here where (now - viewer.lastSign).count > 95_000 { here[name] = nil }
        }
        #expect(counts > 50)
        try partition.tick(seconds: 2)
        #expect(PartitionHarness.counts(partition.published).last?.totalViewers == entries)
    }
}
