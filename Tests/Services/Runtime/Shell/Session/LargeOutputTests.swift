// SPDX-License-Identifier: Apache-2.0
import Concurrency
import KafkaClient
import MachineKit
import PlazaModel
import PlazaWire
import TallyMachine
import TestSupport
import Testing

@testable import ServiceShell

/// Tests of inputs whose output together, or alone, is larger than the queue of the producer.
///
/// The machine is `TallyMachine`. The text "large" becomes an item of 480 KB, and "flood" becomes 100 such items. The
/// text "large alarm" makes the live's row due 300 ms later, and the due row becomes such an item.
///
/// The test on a real Kafka has a broker of its own. Other tests read the topics of their shared broker from the
/// beginning, and would have to read all this output.
@Suite(.serialized, .timeLimit(.minutes(2))) struct LargeOutputTests {
    @Test func `I16 inputs with too much output for a batch are processed in several batches, on the in-memory broker`()
        async throws
    {
        try await runOnDedicatedThread { try Self.processLargeInputs(ShellHarness(.embedded)) }
    }

    @Test func `I16 an input with more output than the queue can take is set aside, on the in-memory broker`()
        async throws
    {
        try await runOnDedicatedThread { try Self.setAsideFlood(ShellHarness(.embedded)) }
    }

    @Test(.enabled(if: RealKafka.isAvailable, "set KAFKA_HOME"))
    func `I16 no amount of output stops a partition, and each item is written once`() async throws {
        try await runOnDedicatedThread {
            let kafka = try RealKafka()
            let harness = try ShellHarness(.full, on: TopicBroker(kafka, clientID: "large"))
            try Self.processLargeInputs(harness)
            try Self.setAsideFlood(harness)
            try Self.processLargeDueRows(harness)
            withExtendedLifetime(kafka) {}
        }
    }

    /// Processes inputs whose output together is 48 MB (100 * 480 KB), with a queue of 20 MiB.
    private static func processLargeInputs(_ harness: ShellHarness) throws {
        let live = MachineShellTests.newLive("large")
        let inputCount = 100
        // All inputs are there before the shell starts, so that it polls them together.
        for _ in 0..<inputCount { try harness.sendText("large", in: live) }
        try harness.flush()
        let shell = harness.startShell("one", producerQueueKiB: 20 << 10)
        try Self.expectItems(inputCount, in: live, harness)
        #expect(shell.deadLetterCount == 0)
        #expect(shell.stop())
    }

    /// Sets aside one input whose output is 48 MB (100 * 480 KB), with a queue of 4 MiB, and processes five others.
    private static func setAsideFlood(_ harness: ShellHarness) throws {
        let live = MachineShellTests.newLive("flood")
        for text in ["before", "large", "large", "flood", "large", "after"] { try harness.sendText(text, in: live) }
        try harness.flush()
        let shell = harness.startShell("one", producerQueueKiB: 4 << 10)
        try Self.expectItems(5, in: live, harness)
        let deadLetters = try harness.readRecords(of: .deadLetters, in: live) { !$0.isEmpty }
        #expect(deadLetters.count == 1)
        let input = try Wire.decode(BarrageInput.self, from: try #require(deadLetters.first?.value))
        guard case .sendText("flood", _, let caller) = input.command else {
            Issue.record("expected the input \"flood\" as the dead letter, got \(input)")
            return
        }
        let replies = try harness.readReplies { $0.contains { $0.request == caller.request } }
        let errors = replies.filter { $0.request == caller.request }.compactMap { reply -> ReplyCode? in
            if case .failure(let error) = reply.outcome { error.code } else { nil }
        }
        #expect(errors.contains(.overLimit))
        #expect(shell.stop())
    }

    /// Processes 100 due rows of one partition, whose output together is 48 MB, with a queue of 20 MiB.
    private static func processLargeDueRows(_ harness: ShellHarness) throws {
        let candidates = MachineShellTests.newLives("due", count: 1000)
        let partition = harness.partition(of: candidates[0], .barrageInbox)
        let lives = candidates.filter { harness.partition(of: $0, .barrageInbox) == partition }.prefix(100)
        try #require(lives.count == 100)
        for live in lives { try harness.sendText("large alarm", in: live) }
        try harness.flush()
        let shell = harness.startShell("one", producerQueueKiB: 20 << 10)
        let numbers = try harness.readItemNumbers(of: Set(lives)) { found in
            lives.allSatisfy { (found[$0]?.count ?? 0) >= 2 }
        }
        // The item of the text, and that of the due row.
        for live in lives { #expect(numbers[live] == [1, 2]) }
        #expect(shell.deadLetterCount == 0)
        #expect(shell.stop())
    }

    /// Waits until the shell has committed all inputs that an inbox partition has now, or for at most 30 s.
    private static func waitUntilCommitted(_ partition: TopicPartition, _ harness: ShellHarness) throws {
        let group = try KafkaConsumer(harness.settings, group: AppendedFeed.group)
        defer { group.close() }
        let end = try group.endOffset(of: partition, timeout: .seconds(5))
        let deadline = MonotonicClock.now + .seconds(30)
        var offset: Int64 = 0
        while offset < end, MonotonicClock.now < deadline {
            let committed = (try? group.committedOffsets(of: [partition], timeout: .seconds(1)))?[partition] ?? nil
            offset = committed?.offset ?? 0
            DedicatedThread.sleep(for: .milliseconds(50))
        }
        #expect(offset >= end, "the inputs are not committed")
    }

    /// Waits until the live's feed has items with the numbers from 1 to `count`.
    private static func expectItems(_ count: Int, in live: LiveKey, _ harness: ShellHarness) throws {
        // The in-memory broker keeps only the last 5 MB of a partition, and may have an item twice. The feed is read
        // only after everything is written, because a reader cannot continue once the broker has removed the record
        // that it would read next.
        if harness.kafkaMode == .embedded {
            try Self.waitUntilCommitted(harness.partition(of: live, .barrageInbox), harness)
        }
        let numbers = try harness.readItemNumbers(of: [live]) { $0[live]?.last == Int64(count) }[live] ?? []
        if harness.kafkaMode == .embedded {
            #expect(numbers.last == Int64(count))
        } else {
            #expect(numbers == Array(1...Int64(count)))
        }
    }
}
