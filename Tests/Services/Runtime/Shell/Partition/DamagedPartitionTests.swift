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
/// Rows are the state of a machine. The second line of the metadata should have epoch claims (after `@`) or compressed
/// rows (in Base64). In these tests it has neither. A shell is the loop that consumes inputs, decides and commits.
@Suite(.serialized) struct DamagedPartitionTests {
    @Test(.timeLimit(.minutes(1)), arguments: ["1\n@", "1\nno base64", "1\nAAAA", "1\n//8="])
    func `a damaged partition is reported and not served, and other partitions are served`(metadata: String) throws {
        try Self.checkDamageAndRepair(on: ShellHarness(.embedded), metadata: metadata)
    }

    @Test(.timeLimit(.minutes(1)), .enabled(if: RealKafka.isAvailable, "set KAFKA_HOME"))
    func `I8 a damaged partition is reported, and served after its repair, and other partitions are served`() throws {
        // The test has its own broker, because it damages the offset of a group that other tests use.
        let kafka = try RealKafka()
        defer { withExtendedLifetime(kafka) {} }
        try Self.checkDamageAndRepair(
            on: ShellHarness(.full, on: TopicBroker(kafka, clientID: "damaged-partition")), metadata: "1\nAAAA")
    }

    /// Checks that a shell serves a healthy partition and not the damaged one.
    ///
    /// On a real Kafka also checks that a shell serves the damaged partition after its repair.
    private static func checkDamageAndRepair(on harness: ShellHarness, metadata: String) throws {
        // Two lives; the partition of the first one is damaged.
        let (damagedLive, healthyLive) = try self.livesInTwoPartitions(of: harness)
        try harness.commitOffset(OffsetAndMetadata(offset: 0, metadata: metadata), for: damagedLive)
        let shell = harness.startShell("one")
        try harness.sendText("a", in: damagedLive)
        try harness.sendText("b", in: healthyLive)
        try harness.flush()
        let numbers = try harness.readItemNumbers(of: [damagedLive, healthyLive]) { $0[healthyLive]?.count == 1 }
        #expect(numbers == [healthyLive: [1]])
        let partition = harness.partition(of: damagedLive, .barrageInbox).partition
        #expect(
            shell.machineShell.degradations
                == ["barrage does not serve partition \(partition), whose rows cannot be restored"])
        #expect(shell.machineShell.isReady)
        #expect(shell.machineShell.isLive)
        #expect(shell.damagedPartitionCount == 1)
        #expect(shell.stop())

        // The repair commits an offset for the group while the group has no members. The in-memory broker rejects
        // such a commit for a group that had members before.
        guard harness.kafkaMode == .full else { return }
        // This is the repair of docs/OPERATING.md, section 5.18.
        try harness.commitOffset(OffsetAndMetadata(offset: 0), for: damagedLive)
        let nextShell = harness.startShell("two")
        let repairedNumbers = try harness.readItemNumbers(of: [damagedLive]) { $0[damagedLive]?.count == 1 }
        #expect(repairedNumbers == [damagedLive: [1]])
        #expect(nextShell.machineShell.degradations.isEmpty)
        #expect(nextShell.damagedPartitionCount == 0)
        #expect(nextShell.stop())
    }

    /// Two new lives whose inputs are in different partitions.
    private static func livesInTwoPartitions(of harness: ShellHarness) throws -> (LiveKey, LiveKey) {
        let lives = MachineShellTests.newLives("damaged", count: 20)
        let first = try #require(lives.first)
        let firstPartition = harness.partition(of: first, .barrageInbox)
        let second = try #require(lives.first { harness.partition(of: $0, .barrageInbox) != firstPartition })
        return (first, second)
    }
}
