// SPDX-License-Identifier: Apache-2.0
import Concurrency
import MachineKit
import PlazaModel
import TestSupport
import Testing

@testable import ServiceShell

/// Tests of the epochs of partitions after rebalances of the consumer group.
///
/// An owner is the shell that has acquired a partition. It begins a new epoch, which is higher than all earlier epochs
/// of the partition.
extension MachineShellTests {
    @Test(.timeLimit(.minutes(2)), .enabled(if: RealKafka.isAvailable, "set KAFKA_HOME"))
    func `I8 a partition that stays with its owner keeps its epoch, and one that moves gets a higher epoch`() throws {
        let harness = try ShellHarness(.full)
        let lives = Self.newLivesOnePerPartition("stay")
        let firstShell = harness.startShell("first")
        for live in lives { try harness.sendTextsOneByOne(3, in: live) }
        let firstEpochs = try lives.map { try harness.lastEpoch(in: $0) }

        let secondShell = harness.startShell("second")
        // The inbox has four partitions, so each of the two shells owns two of them.
        try Self.waitForOwnedPartitions([(firstShell, 2), (secondShell, 2)])
        #expect(firstShell.ownedPartitions.isDisjoint(with: secondShell.ownedPartitions))
        #expect(firstShell.ownedPartitions.union(secondShell.ownedPartitions) == [0, 1, 2, 3])
        try Self.sendTextToAll("joined", to: lives, harness, untilItemCount: 4)
        let sharedEpochs = try lives.map { try harness.lastEpoch(in: $0) }
        #expect(
            zip(firstEpochs, sharedEpochs).filter { $0 == $1 }.count == 2,
            "two partitions stay with the first shell: \(firstEpochs), \(sharedEpochs)")
        #expect(
            zip(firstEpochs, sharedEpochs).filter { $0 < $1 }.count == 2,
            "two partitions move to the second shell: \(firstEpochs), \(sharedEpochs)")

        #expect(secondShell.stop())
        try Self.waitForOwnedPartitions([(firstShell, 4)])
        try Self.sendTextToAll("left", to: lives, harness, untilItemCount: 5)
        let lastEpochs = try lives.map { try harness.lastEpoch(in: $0) }
        for (index, epoch) in lastEpochs.enumerated() {
            if firstEpochs[index] == sharedEpochs[index] {
                #expect(epoch == firstEpochs[index], "the first shell has owned this partition all the time")
            } else {
                #expect(epoch > sharedEpochs[index], "the first shell has acquired this partition again")
            }
        }
        let numbers = try harness.readItemNumbers(of: Set(lives)) { feeds in
            lives.allSatisfy { (feeds[$0]?.count ?? 0) >= 5 }
        }
        for live in lives { #expect(numbers[live] == [1, 2, 3, 4, 5]) }
        #expect(firstShell.stop())
    }

    /// The keys of new lives, one in each partition.
    private static func newLivesOnePerPartition(_ name: String) -> [LiveKey] {
        (0..<ShellHarness.partitions).compactMap { partition in
            Self.newLives(name, count: 100).first {
                PlazaTopic.partition(of: $0.text, among: ShellHarness.partitions) == partition
            }
        }
    }

    /// Sends a text to each live, and waits until each feed has `count` items.
    private static func sendTextToAll(
        _ text: String, to lives: [LiveKey], _ harness: ShellHarness, untilItemCount count: Int
    ) throws {
        for live in lives { try harness.sendText(text, in: live) }
        try harness.flush()
        _ = try harness.readItemNumbers(of: Set(lives)) { feeds in
            lives.allSatisfy { (feeds[$0]?.count ?? 0) >= count }
        }
    }

    /// Waits until each shell owns the given number of partitions.
    private static func waitForOwnedPartitions(_ counts: [(shell: RunningShell, partitions: Int)]) throws {
        let deadline = MonotonicClock.now + .seconds(20)
        while !counts.allSatisfy({ $0.shell.ownedPartitionCount == $0.partitions }) {
            try #require(MonotonicClock.now < deadline, "the shells do not own the expected numbers of partitions")
            DedicatedThread.sleep(for: .milliseconds(20))
        }
    }
}
