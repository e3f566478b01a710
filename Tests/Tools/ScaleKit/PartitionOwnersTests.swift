// SPDX-License-Identifier: Apache-2.0
import LoadKit
import Testing

@testable import ScaleKit

/// Tests of how partitions are spread over instances, and of how many move when an instance is added.
struct PartitionOwnersTests {
    /// The owners of a machine's partitions; each instance exports 0 for partitions that it has lost.
    private static func owners(_ owned: [String: [Int]], lost: [Int] = []) -> PartitionOwners {
        PartitionOwners(
            owned.map { instance, partitions in
                var lines = ["shell_partitions{machine=\"seat\"} \(partitions.count)"]
                for partition in partitions + lost {
                    let value = partitions.contains(partition) ? 1 : 0
                    lines.append("shell_owned_partition{machine=\"seat\",partition=\"\(partition)\"} \(value)")
                }
                return (instance: instance, metrics: MetricsPage(lines.joined(separator: "\n")))
            })
    }

    /// The spread of 12 partitions.
    private static func spread(_ owned: [String: [Int]]) throws -> PartitionSpread {
        try #require(Self.owners(owned).spreads(of: 12).first)
    }

    @Test func `owners are read from the metrics of each machine`() {
        let page = MetricsPage(
            """
            # TYPE shell_partitions gauge
            shell_partitions{machine="connection"} 0
            shell_partitions{machine="seat"} 2
            shell_owned_partition{machine="seat",partition="0"} 1
            shell_owned_partition{machine="seat",partition="1"} 0
            shell_owned_partition{machine="seat",partition="11"} 1
            shell_owned_partition{machine="other",partition="other"} 1
            shell_rows{machine="seat"} 12
            """)
        let owners = PartitionOwners([(instance: "a", metrics: page)])
        #expect(owners.partitions == ["seat": ["a": [0, 11]], "connection": ["a": []]])
        // An instance that did not answer counts as one that owns nothing, so the spread is not even.
        let partly = PartitionOwners([(instance: "a", metrics: page)], of: ["a", "b"])
        #expect(partly.partitions == ["seat": ["a": [0, 11], "b": []], "connection": ["a": [], "b": []]])
        let isAnyEven = partly.spreads(of: 12).contains(where: \.isEven)
        #expect(!isAnyEven)
    }

    @Test func `a spread is even if each partition has one owner, and each instance its share`() throws {
        let half = try Self.spread(["a": Array(0..<6), "b": Array(6..<12)])
        #expect(half.isEven && half.fairShare == 6...6 && half.text == "seat 6, 6")
        // Five instances share 12 partitions: each has two or three.
        let fifth = try Self.spread(["a": [0, 1, 2], "b": [3, 4, 5], "c": [6, 7], "d": [8, 9], "e": [10, 11]])
        #expect(fifth.isEven && fifth.fairShare == 2...3)
    }

    @Test func `an instance with too few or too many partitions is a fault`() throws {
        let spread = try Self.spread(["a": Array(0..<12), "b": []])
        #expect(
            spread.faults == [
                "a owns 12 of the 12 partitions of seat, not 6", "b owns 0 of the 12 partitions of seat, not 6",
            ])
        let third = PartitionSpread(machine: "seat", partitions: 4, owned: ["a": 1, "b": 0, "c": 3])
        #expect(
            third.faults == [
                "b owns 0 of the 4 partitions of seat, not 1 or 2", "c owns 3 of the 4 partitions of seat, not 1 or 2",
            ])
    }

    @Test func `partitions without an owner, or with two, are faults`() throws {
        let spread = try Self.spread(["a": Array(0..<6), "b": [4, 5, 6, 7, 8, 9]])
        #expect(spread.unowned == [10, 11] && spread.shared == [4, 5])
        #expect(
            spread.faults == [
                "no instance owns these partitions of seat: 10, 11",
                "several instances own these partitions of seat: 4, 5",
            ])
    }

    @Test func `the partitions whose owner has changed are counted, and those that the new instance took`() {
        // The group gives each instance consecutive partitions, in the order of the instances' names.
        let before = Self.owners(["a": Array(0..<6), "b": Array(6..<12)])
        let after = Self.owners(["a": Array(0..<4), "b": Array(4..<8), "c": Array(8..<12)], lost: [9])
        #expect(
            after.moves(since: before, newcomer: "c", of: 12) == [
                PartitionMoves(machine: "seat", newcomer: "c", instances: 3, partitions: 12, moved: 6, taken: 4)
            ])
    }

    @Test func `the moves of a sticky assignor, and those of consecutive partitions, are within the limit`() {
        for partitions in 4...64 {
            for count in 2...4 {
                for place in 0..<count {
                    let before = Self.consecutive(partitions, (0..<count - 1).map { "m\($0)" })
                    var names = (0..<count - 1).map { "m\($0)" }
                    names.insert("new", at: place)
                    let after = Self.consecutive(partitions, names)
                    for moves in after.moves(since: before, newcomer: "new", of: partitions) {
                        #expect(moves.fault == nil, "\(partitions) partitions, \(names)")
                        // The limit is half of the number of partitions and instances, and there are at most four
                        // instances.
                        #expect(moves.limit <= partitions / 2 + 2)
                    }
                }
            }
        }
        let sticky = PartitionMoves(
            machine: "seat", newcomer: "b", instances: 2, partitions: 3, moved: 2, taken: 2)
        #expect(sticky.fault == nil)
    }

    @Test func `an assignment that gives every partition another owner is a fault`() {
        let before = Self.owners(["a": Array(0..<12)])
        let after = Self.owners(["b": Array(0..<6), "c": Array(6..<12)])
        let faults = after.moves(since: before, newcomer: "c", of: 12).map(\.fault)
        #expect(
            faults == [
                "12 of the 12 partitions of seat moved when c was added, of which c took 6; at most 7 may move"
            ])
    }

    /// Partitions as the assignor `range` spreads them.
    ///
    /// Each instance gets consecutive partitions. If they cannot be divided evenly, the first instances get one more.
    private static func consecutive(_ partitions: Int, _ names: [String]) -> PartitionOwners {
        var owned: [String: [Int]] = [:]
        var next = 0
        for (index, name) in names.enumerated() {
            let share = partitions / names.count + (index < partitions % names.count ? 1 : 0)
            owned[name] = Array(next..<next + share)
            next += share
        }
        return Self.owners(owned)
    }
}
