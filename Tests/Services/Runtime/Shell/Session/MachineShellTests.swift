// SPDX-License-Identifier: Apache-2.0
import Concurrency
import Foundation
import KafkaClient
import MachineKit
import Observability
import PlazaModel
import ServiceShell
import TestSupport
import Testing

/// Tests of `MachineShell` (the loop that consumes a machine's inputs, decides and commits batches) with a broker.
///
/// All tests on the real Kafka use the same group, so the tests run one at a time. The machine is `TallyMachine`: each
/// text of a live becomes an item of the live's feed, and the items of a live are numbered from 1.
@Suite(.serialized) struct MachineShellTests {
    /// The in-memory broker (`embedded`) and, if it is installed, a real Kafka (`full`).
    static let kafkaModes: [KafkaMode] = RealKafka.isAvailable ? [.embedded, .full] : [.embedded]

    /// The keys of `count` lives that no other test and no earlier run uses.
    static func newLives(_ prefix: String, count: Int) -> [LiveKey] {
        let runID = UUID().uuidString.prefix(8)
        return (0..<count).map { LiveKey("test", LiveID("\(prefix)-\(runID)-\($0)")) }
    }

    /// The key of a live that no other test and no earlier run uses.
    static func newLive(_ prefix: String) -> LiveKey { Self.newLives(prefix, count: 1)[0] }

    @Test(.timeLimit(.minutes(2)), arguments: kafkaModes)
    func `I8 nothing is lost, repeated or reordered when an instance starts and another stops`(
        _ kafkaMode: KafkaMode
    ) throws {
        let harness = try ShellHarness(kafkaMode)
        let lives = Self.newLives("move", count: 10)
        let firstShell = harness.startShell("one")
        for round in 0..<20 { for live in lives { try harness.sendText("\(round)", in: live) } }
        try harness.flush()
        let secondShell = harness.startShell("two")
        // Wait until half of the 200 texts are in the feeds.
        _ = try harness.readItemNumbers(of: Set(lives)) { numbers in
            numbers.values.reduce(0) { $0 + $1.count } >= 100
        }
        for round in 20..<40 { for live in lives { try harness.sendText("\(round)", in: live) } }
        try harness.flush()
        #expect(firstShell.stop())
        for round in 40..<60 { for live in lives { try harness.sendText("\(round)", in: live) } }
        try harness.flush()
        let numbers = try harness.readItemNumbers(of: Set(lives)) { found in
            lives.allSatisfy { (found[$0]?.max() ?? 0) >= 60 }
        }
        for live in lives {
            var received = numbers[live] ?? []
            var expectedCount: Int64 = 60
            if kafkaMode == .embedded {
                // The in-memory broker has no transactions, so an item may be written twice. The test leaves out
                // repeated numbers, as clients do. On a busy computer the old and the new owner of a partition may both
                // decide an input; then the feed has more than 60 items.
                received = Self.withoutRepeats(received)
                expectedCount = max(60, received.last ?? 0)
            }
            #expect(received == Array(1...expectedCount), "\(live.text)")
        }
        #expect(secondShell.stop())
    }

    @Test(.timeLimit(.minutes(1)), arguments: kafkaModes)
    func `a row that is due is handled although no input is received`(_ kafkaMode: KafkaMode) throws {
        let harness = try ShellHarness(kafkaMode)
        let live = Self.newLive("alarm")
        let shell = harness.startShell("one")
        // This text makes the live's row due 300 ms later.
        try harness.sendText("alarm", in: live)
        try harness.flush()
        let numbers = try harness.waitForItems(2, in: live)
        #expect(numbers == [1, 2], "expected the item of the text, then that of the due row")
        #expect(shell.stop())
    }

    @Test(.timeLimit(.minutes(1)))
    func `a shell exports its partitions, rebalances, producer queue and consumer lag as metrics`() throws {
        let harness = try ShellHarness(.embedded)
        let live = Self.newLive("metrics")
        let shell = harness.startShell("one")
        try harness.sendText("x", in: live)
        try harness.flush()
        try harness.waitForItems(1, in: live)
        #expect(shell.ownedPartitions == Set(0..<ShellHarness.partitions))
        #expect(shell.stop())
        #expect(shell.ownedPartitions == [])
        let text = PrometheusText.render(shell.metrics)
        for line in [
            #"shell_owned_partition{machine="barrage",partition="0"} 0"#,
            #"kafka_rebalances_total{kind="assigned",machine="barrage"} 1"#,
            #"kafka_rebalances_total{kind="revoked",machine="barrage"} 1"#,
            #"kafka_consumer_lag_messages{reader="barrage"} 0"#,
            #"kafka_producer_queue_messages{writer="barrage"} 0"#,
            #"kafka_producer_queue_drops_total{writer="barrage"} 0"#,
            #"kafka_delivery_failures_total{writer="barrage"} 0"#,
            #"shell_malformed_total{machine="barrage"} 0"#,
        ] {
            #expect(text.contains(line + "\n"), "\(line)")
        }
    }

    @Test(.timeLimit(.minutes(2)), .enabled(if: RealKafka.isAvailable, "set KAFKA_HOME"))
    func `I8 a new owner restores ten thousand rows in under half a second`() throws {
        let harness = try ShellHarness(.full)
        let lives = Self.newLives("many", count: 10_000)
        let firstShell = harness.startShell("one")
        for live in lives { try harness.sendText("x", in: live) }
        try harness.flush()
        _ = try harness.readItemNumbers(of: Set(lives)) { $0.count == lives.count }
        // The first shell leaves a row for each live, which the second one restores.
        #expect(firstShell.stop())
        let secondShell = harness.startShell("two")
        try harness.sendText("y", in: lives[0])
        try harness.flush()
        let numbers = try harness.waitForItems(2, in: lives[0])
        #expect(numbers == [1, 2])
        let restore = secondShell.metrics.timing(
            MetricNames.Shell.restore, help: "", labels: ["machine": "barrage"]
        ).histogram
        #expect(restore.count >= 1)
        #expect(restore.maximum < 500_000, "\(restore.maximum) µs")
        #expect(secondShell.stop())
    }

    @Test(.timeLimit(.minutes(1)), .enabled(if: RealKafka.isAvailable, "set KAFKA_HOME"))
    func
        `I8 a restore waits for the end of the last owner's open transaction, and ignores its records`()
        throws
    {
        let harness = try ShellHarness(.full)
        let live = Self.newLive("open")
        let firstShell = harness.startShell("one")
        for text in ["a", "b", "c"] { try harness.sendText(text, in: live) }
        try harness.flush()
        try harness.waitForItems(3, in: live)
        #expect(firstShell.stop())
        // The harness leaves a transaction open, as an owner does that dies during a commit. The transaction would
        // remove the row and move the offset back to the beginning, if it were committed.
        let formerProducer = try harness.openTransaction(deletingRowOf: live)
        let startMilliseconds = MonotonicClock.now.milliseconds
        let secondShell = harness.startShell("two")
        try harness.sendText("d", in: live)
        try harness.flush()
        let numbers = try harness.waitForItems(4, in: live)
        #expect(numbers == [1, 2, 3, 4])
        // The broker aborts the transaction 2 s after its beginning, and no reader can read further before. A part of
        // the 2 s had passed at `startMilliseconds`, so the lower bound is only 1 s.
        #expect((1000...10_000).contains(MonotonicClock.now.milliseconds - startMilliseconds))
        #expect(throws: KafkaError.self, "the broker has aborted the transaction") {
            try formerProducer.commitTransaction(timeout: .seconds(2))
        }
        #expect(secondShell.stop())
    }

    @Test(.timeLimit(.minutes(1)), .enabled(if: RealKafka.isAvailable, "set KAFKA_HOME"))
    func `I8 readers ignore a former owner's incomplete batch, and one that it appends after a takeover`() throws {
        let harness = try ShellHarness(.full)
        let live = Self.newLive("former")
        let firstShell = harness.startShell("one")
        // An owner's first batch is a transaction; its later batches are appended.
        try harness.sendTextsOneByOne(3, in: live)
        #expect(firstShell.stop())
        let firstEpoch = try harness.lastEpoch(in: live)
        // The test appends an incomplete batch of the first owner, in which the last record is missing. If readers
        // accepted the batch's item, `numbers` below would contain 90.
        try harness.appendItem(number: 90, in: live, header: BatchHeader(epoch: firstEpoch))
        let secondShell = harness.startShell("two")
        try harness.sendText("4", in: live)
        try harness.flush()
        try harness.waitForItems(4, in: live)
        let secondEpoch = try harness.lastEpoch(in: live)
        #expect(secondEpoch > firstEpoch)
        // The test appends a batch of the first owner after the takeover. If readers accepted this batch, `numbers`
        // would contain 91, and the third owner would begin at the offset 1,000,000 and at a time in the far future.
        let commit = BatchHeader.Commit(nextOffset: 1_000_000, metadata: "9999999999999", rows: [])
        try harness.appendItem(number: 91, in: live, header: BatchHeader(epoch: firstEpoch, commit: commit))
        try harness.sendText("5", in: live)
        try harness.flush()
        try harness.waitForItems(5, in: live)
        #expect(secondShell.stop())
        let thirdShell = harness.startShell("three")
        try harness.sendText("6", in: live)
        try harness.flush()
        let numbers = try harness.waitForItems(6, in: live)
        #expect(numbers == [1, 2, 3, 4, 5, 6])
        #expect(thirdShell.stop())
    }

    @Test(.timeLimit(.minutes(1)), .enabled(if: RealKafka.isAvailable, "set KAFKA_HOME"))
    func `the owner of a quiet partition writes a checkpoint, so that a restore reads no appended batches`() throws {
        let harness = try ShellHarness(.full)
        let live = Self.newLive("quiet")
        let shell = harness.startShell("one")
        try harness.sendTextsOneByOne(3, in: live)
        // A restore reads the feed from the checkpoint's offset, which must be after the last appended record.
        let claims = try harness.waitForClaims(of: live) { claims in
            guard let lastRecord = try? harness.lastAppendedRecord(in: live) else { return false }
            return claims.checkpointOffset > lastRecord.offset
        }
        #expect(claims.claims.last?.epoch == (try harness.lastEpoch(in: live)))
        #expect(shell.stop())
    }

    @Test(.timeLimit(.minutes(2)), .enabled(if: RealKafka.isAvailable, "set KAFKA_HOME"))
    func `I8 a batch whose append timed out is applied once, and the next session continues`()
        throws
    {
        let harness = try ShellHarness(.full)
        let live = Self.newLive("unsure")
        // The 2nd and the 4th append time out at once. After each timeout the shell does not know whether the batch was
        // appended, and begins a new session.
        let appendCount = Locked(0)
        let appendTimeout: @Sendable () -> Duration = {
            appendCount.withLock { appendCount in
                appendCount += 1
                return [2, 4].contains(appendCount) ? .zero : .seconds(5)
            }
        }
        let firstShell = harness.startShell("one", appendTimeout: appendTimeout)
        try harness.sendTextsOneByOne(6, in: live)
        #expect(appendCount.withLock { $0 } >= 4, "both timeouts happened")
        #expect(firstShell.stop())
        let secondShell = harness.startShell("two")
        try harness.sendText("7", in: live)
        try harness.flush()
        let numbers = try harness.waitForItems(7, in: live)
        #expect(numbers == [1, 2, 3, 4, 5, 6, 7])
        #expect(secondShell.stop())
    }

    /// The numbers that are higher than all numbers before them.
    static func withoutRepeats(_ numbers: [Int64]) -> [Int64] {
        var highest: Int64 = 0
        return numbers.filter { number in
            guard number > highest else { return false }
            highest = number
            return true
        }
    }
}
