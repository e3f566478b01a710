// SPDX-License-Identifier: Apache-2.0
import Concurrency
import Foundation
import KafkaClient
import Observability
import PlazaModel
import ServiceShell
import TestSupport
import Testing

/// Tests of a machine's shell (the loop that consumes, decides and commits batches) with a broker.
///
/// All tests on the real Kafka use the same group, so the tests run one at a time. Each text of a live becomes an item
/// of the live's feed; the items are numbered from 1.
@Suite(.serialized) struct MachineShellTests {
    static let modes: [KafkaMode] = LiveKafka.isAvailable ? [.embedded, .full] : [.embedded]

    /// The keys of `count` new lives, which no other test and no earlier run uses.
    static func lives(_ name: String, count: Int) -> [LiveKey] {
        let runID = UUID().uuidString.prefix(8)
        return (0..<count).map { LiveKey("test", LiveID("\(name)-\(runID)-\($0)")) }
    }

    @Test(.timeLimit(.minutes(2)), arguments: modes)
    func `I8 nothing is lost, repeated or reordered when an instance starts and another stops`(_ mode: KafkaMode) throws
    {
        let harness = try ShellHarness(mode)
        let lives = Self.lives("move", count: 10)
        let firstShell = harness.start("one")
        for round in 0..<20 { for live in lives { try harness.sendText("\(round)", in: live) } }
        try harness.flush()
        let secondShell = harness.start("two")
        // Half of the 200 texts are in the feed.
        _ = try harness.readFeedNumbers(of: Set(lives)) { numbers in
            numbers.values.reduce(0) { $0 + $1.count } >= 100
        }
        for round in 20..<40 { for live in lives { try harness.sendText("\(round)", in: live) } }
        try harness.flush()
        #expect(firstShell.stop())
        for round in 40..<60 { for live in lives { try harness.sendText("\(round)", in: live) } }
        try harness.flush()
        let numbers = try harness.readFeedNumbers(of: Set(lives)) { found in
            lives.allSatisfy { (found[$0]?.max() ?? 0) >= 60 }
        }
        for live in lives {
            // With the in-memory broker, effects are written at least once. The test therefore drops repeated numbers,
            // as clients do. If this computer is too busy for the group's heartbeats, the old and the new owner may
            // both decide an input; then the feed has more than 60 items.
            let received = mode == .full ? numbers[live] ?? [] : Self.withoutRepeats(numbers[live] ?? [])
            let expected = mode == .full ? 60 : max(60, received.last ?? 0)
            #expect(received == Array(1...expected), "\(live.text)")
        }
        #expect(secondShell.stop())
    }

    @Test(.timeLimit(.minutes(1)), arguments: modes)
    func `a row that is due is handled although no input is received`(_ mode: KafkaMode) throws {
        let harness = try ShellHarness(mode)
        let live = Self.lives("alarm", count: 1)[0]
        let shell = harness.start("one")
        try harness.sendText("alarm", in: live)
        try harness.flush()
        let numbers = try harness.readFeedNumbers(of: [live]) { ($0[live]?.count ?? 0) >= 2 }
        #expect(numbers[live] == [1, 2], "the items \"alarm\" and, when the row is due, \"rang\"")
        #expect(shell.stop())
    }

    @Test(.timeLimit(.minutes(1)))
    func `a shell exports its partitions, rebalances, producer queue and consumer lag as metrics`() throws {
        let harness = try ShellHarness(.embedded)
        let live = Self.lives("metrics", count: 1)[0]
        let shell = harness.start("one")
        try harness.sendText("x", in: live)
        try harness.flush()
        _ = try harness.readFeedNumbers(of: [live]) { ($0[live]?.count ?? 0) >= 1 }
        #expect(shell.namedPartitions == Set(0..<ShellHarness.partitions))
        #expect(shell.stop())
        #expect(shell.namedPartitions == [])
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

    @Test(.timeLimit(.minutes(2)), .enabled(if: LiveKafka.isAvailable, "set KAFKA_HOME"))
    func `I8 ten thousand rows are restored in under half a second`() throws {
        let harness = try ShellHarness(.full)
        let lives = Self.lives("many", count: 10_000)
        let firstShell = harness.start("one")
        for live in lives { try harness.sendText("x", in: live) }
        try harness.flush()
        _ = try harness.readFeedNumbers(of: Set(lives)) { $0.count == lives.count }
        #expect(firstShell.stop())
        let secondShell = harness.start("two")
        try harness.sendText("y", in: lives[0])
        try harness.flush()
        let numbers = try harness.readFeedNumbers(of: [lives[0]]) { ($0[lives[0]]?.count ?? 0) == 2 }
        #expect(numbers[lives[0]] == [1, 2])
        let restore = secondShell.metrics.timing(
            MetricNames.Shell.restore, help: "", labels: ["machine": "barrage"]
        ).histogram
        #expect(restore.count >= 1)
        #expect(restore.maximum < 500_000, "\(restore.maximum) µs")
        #expect(secondShell.stop())
    }

    @Test(.timeLimit(.minutes(1)), .enabled(if: LiveKafka.isAvailable, "set KAFKA_HOME"))
    func
        `I8 a restore waits for the end of the last owner's open transaction, and ignores its records`()
        throws
    {
        let harness = try ShellHarness(.full)
        let live = Self.lives("open", count: 1)[0]
        let firstShell = harness.start("one")
        for text in ["a", "b", "c"] { try harness.sendText(text, in: live) }
        try harness.flush()
        _ = try harness.readFeedNumbers(of: [live]) { ($0[live]?.count ?? 0) >= 3 }
        #expect(firstShell.stop())
        // The last owner has left an open transaction that removes the row and moves the offset back to the beginning.
        let formerProducer = try harness.openTransaction(deletingRowOf: live)
        let start = MonotonicClock.milliseconds
        let secondShell = harness.start("two")
        try harness.sendText("d", in: live)
        try harness.flush()
        let numbers = try harness.readFeedNumbers(of: [live]) { ($0[live]?.count ?? 0) >= 4 }
        #expect(numbers[live] == [1, 2, 3, 4])
        // In milliseconds. The broker aborts the transaction 2 s after it began; before, no reader can pass it. It
        // began before `start`, so the lower bound is only 1 s.
        #expect((1000...10_000).contains(MonotonicClock.milliseconds - start))
        #expect(throws: KafkaError.self) { try formerProducer.commitTransaction(timeout: .seconds(2)) }
        #expect(secondShell.stop())
    }

    @Test(.timeLimit(.minutes(1)), .enabled(if: LiveKafka.isAvailable, "set KAFKA_HOME"))
    func `I8 readers ignore the incomplete batch of a former owner, and what it appends after a takeover`() throws {
        let harness = try ShellHarness(.full)
        let live = Self.lives("former", count: 1)[0]
        let firstShell = harness.start("one")
        // An owner's first batch is a transaction; its later batches are appended.
        try harness.sendTextsOneByOne(3, in: live)
        #expect(firstShell.stop())
        let epoch = try harness.lastEpoch(in: live)
        // An item without the last record of its batch. No owner would give the next item the number 90 or 91, so these
        // numbers would show in the feed.
        try harness.append(number: 90, in: live, BatchHeader(epoch: epoch))
        let secondShell = harness.start("two")
        try harness.sendText("4", in: live)
        try harness.flush()
        _ = try harness.readFeedNumbers(of: [live]) { ($0[live]?.count ?? 0) >= 4 }
        let laterEpoch = try harness.lastEpoch(in: live)
        #expect(laterEpoch > epoch)
        // If this batch counted, the next owner would begin at the offset 1,000,000 and at a time in the far future.
        let commit = BatchHeader.Commit(nextOffset: 1_000_000, metadata: "9999999999999", rows: [])
        try harness.append(number: 91, in: live, BatchHeader(epoch: epoch, commit: commit))
        try harness.sendText("5", in: live)
        try harness.flush()
        _ = try harness.readFeedNumbers(of: [live]) { ($0[live]?.count ?? 0) >= 5 }
        #expect(secondShell.stop())
        let thirdShell = harness.start("three")
        try harness.sendText("6", in: live)
        try harness.flush()
        let numbers = try harness.readFeedNumbers(of: [live]) { ($0[live]?.count ?? 0) >= 6 }
        #expect(numbers[live] == [1, 2, 3, 4, 5, 6])
        #expect(thirdShell.stop())
    }

    @Test(.timeLimit(.minutes(1)), .enabled(if: LiveKafka.isAvailable, "set KAFKA_HOME"))
    func `after the last batch of a partition a checkpoint is written, so that a restore reads no appended batches`()
        throws
    {
        let harness = try ShellHarness(.full)
        let live = Self.lives("quiet", count: 1)[0]
        let shell = harness.start("one")
        try harness.sendTextsOneByOne(3, in: live)
        let claims = try harness.waitForClaims(of: live) {
            $0.checkpointOffset > (try? harness.lastBatchHeader(in: live).offset) ?? .max
        }
        #expect(claims.claims.last?.epoch == (try harness.lastEpoch(in: live)))
        #expect(shell.stop())
    }

    @Test(.timeLimit(.minutes(2)), .enabled(if: LiveKafka.isAvailable, "set KAFKA_HOME"))
    func `I8 appended batches with an unknown outcome are applied once, and the next session continues`()
        throws
    {
        let harness = try ShellHarness(.full)
        let live = Self.lives("unsure", count: 1)[0]
        // The closure returns the timeout of each append. The 2nd and the 4th append time out at once, and each ends a
        // session.
        let appendCount = Locked(0)
        let firstShell = harness.start("one") {
            appendCount.withLock { appendCount in
                appendCount += 1
                return [2, 4].contains(appendCount) ? .zero : .seconds(5)
            }
        }
        try harness.sendTextsOneByOne(6, in: live)
        #expect(appendCount.withLock { $0 } >= 4)
        #expect(firstShell.stop())
        let secondShell = harness.start("two")
        try harness.sendText("7", in: live)
        try harness.flush()
        let numbers = try harness.readFeedNumbers(of: [live]) { ($0[live]?.count ?? 0) >= 7 }
        #expect(numbers[live] == [1, 2, 3, 4, 5, 6, 7])
        #expect(secondShell.stop())
    }

    /// Drops each number that is not higher than all numbers before it.
    static func withoutRepeats(_ numbers: [Int64]) -> [Int64] {
        var highest: Int64 = 0
        return numbers.filter { number in
            guard number > highest else { return false }
            highest = number
            return true
        }
    }
}
