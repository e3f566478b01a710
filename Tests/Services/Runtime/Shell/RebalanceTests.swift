// SPDX-License-Identifier: Apache-2.0
import Concurrency
import MachineKit
import PlazaModel
import TestSupport
import Testing

@testable import ServiceShell

/// The epochs of partitions after rebalances of the group.
extension MachineShellTests {
    @Test(.timeLimit(.minutes(2)), .enabled(if: LiveKafka.isAvailable, "set KAFKA_HOME"))
    func `I8 a partition that stays with its owner keeps its epoch, and one that moves gets a later epoch`() throws {
        let harness = try ShellHarness(.full)
        let lives = Self.onePerPartition("stay")
        let first = harness.start("first")
        for live in lives { try harness.sayOneByOne(3, in: live) }
        let before = try lives.map { try harness.lastEpoch(in: $0) }

        let second = harness.start("second")
        try Self.wait([(first, 2), (second, 2)])
        try Self.say("joined", to: lives, harness, until: 4)
        let shared = try lives.map { try harness.lastEpoch(in: $0) }
        #expect(zip(before, shared).filter { $0 == $1 }.count == 2, "the partitions that stay: \(before), \(shared)")
        #expect(zip(before, shared).filter { $0 < $1 }.count == 2, "those that move: \(before), \(shared)")

        #expect(second.stop())
        try Self.wait([(first, 4)])
        try Self.say("left", to: lives, harness, until: 5)
        let after = try lives.map { try harness.lastEpoch(in: $0) }
        for (index, epoch) in after.enumerated() {
            if before[index] == shared[index] {
                #expect(epoch == before[index], "it has had the same owner all the time")
            } else {
                #expect(epoch > shared[index], "rows that a former owner remembers are not used again")
            }
        }
        let numbers = try harness.feed(of: Set(lives)) { feeds in lives.allSatisfy { (feeds[$0]?.count ?? 0) >= 5 } }
        for live in lives { #expect(numbers[live] == [1, 2, 3, 4, 5]) }
        #expect(first.stop())
    }

    /// One live in each partition.
    private static func onePerPartition(_ name: String) -> [LiveKey] {
        (0..<ShellHarness.partitions).compactMap { partition in
            Self.lives(name, 100).first {
                PlazaTopic.partition(of: $0.text, among: ShellHarness.partitions) == partition
            }
        }
    }

    private static func say(_ text: String, to lives: [LiveKey], _ harness: ShellHarness, until count: Int) throws {
        for live in lives { try harness.say(text, in: live) }
        try harness.flush()
        _ = try harness.feed(of: Set(lives)) { feeds in lives.allSatisfy { (feeds[$0]?.count ?? 0) >= count } }
    }

    /// Waits until each shell owns the given number of partitions.
    private static func wait(_ counts: [(shell: RunningShell, partitions: Int)]) throws {
        let deadline = MonotonicClock.now + .seconds(20)
        while !counts.allSatisfy({ $0.shell.ownedPartitions == $0.partitions }) {
            try #require(MonotonicClock.now < deadline, "the partitions are not shared as wanted")
            DedicatedThread.sleep(for: .milliseconds(20))
        }
    }
}
