// SPDX-License-Identifier: Apache-2.0
import Concurrency
import KafkaClient
import MachineKit
import Observability
import PlazaModel
import TestSupport
import Testing

@testable import ServiceShell

/// Tests of a partition whose rows cannot be restored, because the metadata of its committed offset is damaged.
///
/// The second line of the metadata should have claims (after `@`) or compressed rows (in Base64), and here has neither.
@Suite(.serialized) struct DamagedPartitionTests {
    @Test(.timeLimit(.minutes(1)), arguments: ["1\n@", "1\nno base64", "1\nAAAA", "1\n//8="])
    func `a damaged partition is reported and not served, and others are served`(metadata: String) throws {
        try Self.checkDamageAndRepair(on: ShellHarness(.embedded), metadata: metadata)
    }

    @Test(.timeLimit(.minutes(1)), .enabled(if: LiveKafka.isAvailable, "set KAFKA_HOME"))
    func `I8 a damaged partition of a machine that appends is reported and not served, and others are served`() throws {
        // The test has its own broker, because other tests use the same group.
        let kafka = try LiveKafka()
        defer { withExtendedLifetime(kafka) {} }
        try Self.checkDamageAndRepair(
            on: ShellHarness(.full, on: TopicBroker(kafka, clientID: "damaged-partition")), metadata: "1\nAAAA")
    }

    /// Checks that the damaged partition of two is left out, and, on a real Kafka, that it is served after a repair.
    private static func checkDamageAndRepair(on harness: ShellHarness, metadata: String) throws {
        let (damaged, healthy) = try self.livesInTwoPartitions(of: harness)
        try harness.commit(OffsetAndMetadata(offset: 0, metadata: metadata), for: damaged)
        let shell = harness.start("one")
        try harness.sendText("a", in: damaged)
        try harness.sendText("b", in: healthy)
        try harness.flush()
        let numbers = try harness.readFeedNumbers(of: [damaged, healthy]) { $0[healthy]?.count == 1 }
        #expect(numbers == [healthy: [1]])
        let partition = harness.partition(of: damaged, .barrageInbox).partition
        #expect(
            shell.machineShell.degradations
                == ["barrage does not serve partition \(partition), whose rows cannot be restored"])
        #expect(shell.machineShell.isReady)
        #expect(shell.machineShell.isLive)
        #expect(shell.damagedPartitions == 1)
        #expect(shell.stop())

        // The in-memory broker accepts no offset for a group that had members, unless a member commits it.
        guard harness.mode == .full else { return }
        // The repair of docs/OPERATING.md, section 5.18.
        try harness.commit(OffsetAndMetadata(offset: 0), for: damaged)
        let repaired = harness.start("two")
        let repairedNumbers = try harness.readFeedNumbers(of: [damaged]) { $0[damaged]?.count == 1 }
        #expect(repairedNumbers == [damaged: [1]])
        #expect(repaired.machineShell.degradations.isEmpty)
        #expect(repaired.damagedPartitions == 0)
        #expect(repaired.stop())
    }

    /// Two new lives whose inputs are in different partitions.
    private static func livesInTwoPartitions(of harness: ShellHarness) throws -> (LiveKey, LiveKey) {
        let lives = MachineShellTests.lives("damaged", count: 20)
        let first = try #require(lives.first)
        let firstPartition = harness.partition(of: first, .barrageInbox)
        let second = try #require(lives.first { harness.partition(of: $0, .barrageInbox) != firstPartition })
        return (first, second)
    }
}
