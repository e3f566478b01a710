// SPDX-License-Identifier: Apache-2.0

/// The spread of a machine's partitions over the instances of its service.
///
/// A machine makes the decisions of a service, such as those about seats. A service has one machine or two. The
/// instance that owns a partition decides the commands in the partition of the machine's inbox.
package struct PartitionSpread: Sendable, Equatable, Encodable {
    package var machine: String
    /// The number of partitions of the machine's inbox.
    package var partitions: Int
    /// How many of the partitions each instance owns, by the instance's name.
    package var owned: [String: Int]
    /// The partitions that no instance owns.
    package var unowned: [Int]
    /// The partitions that several instances own.
    package var shared: [Int]

    package init(machine: String, partitions: Int, owned: [String: Int], unowned: [Int] = [], shared: [Int] = []) {
        self.machine = machine
        self.partitions = partitions
        self.owned = owned
        self.unowned = unowned
        self.shared = shared
    }

    /// The numbers of partitions that an instance may own: from the average rounded down to the average rounded up.
    ///
    /// There is no further tolerance, because the assignor of the instances' consumer group gives each instance one of
    /// these two numbers.
    package var fairShare: ClosedRange<Int> {
        let instances = max(1, self.owned.count)
        return self.partitions / instances...(self.partitions + instances - 1) / instances
    }

    /// Whether each partition has one owner, and each instance has its share.
    package var isEven: Bool { self.faults.isEmpty }

    /// The faults of the spread, one sentence each.
    package var faults: [String] {
        var faults: [String] = []
        if !self.unowned.isEmpty {
            faults.append("no instance owns these partitions of \(self.machine): \(Self.list(self.unowned))")
        }
        if !self.shared.isEmpty {
            faults.append("several instances own these partitions of \(self.machine): \(Self.list(self.shared))")
        }
        let (least, most) = (self.fairShare.lowerBound, self.fairShare.upperBound)
        for (instance, count) in self.owned.sorted(by: { $0.key < $1.key }) where !self.fairShare.contains(count) {
            faults.append(
                "\(instance) owns \(count) of the \(self.partitions) partitions of \(self.machine), not "
                    + (least == most ? "\(least)" : "\(least) or \(most)"))
        }
        return faults
    }

    private static func list(_ partitions: [Int]) -> String { partitions.map { "\($0)" }.joined(separator: ", ") }

    /// The spread for a table, such as `seat 6, 6`.
    package var text: String {
        let counts = self.owned.sorted { $0.key < $1.key }.map { "\($0.value)" }
        return "\(self.machine) \(counts.joined(separator: ", "))"
    }
}

/// The moves of a machine's partitions to other owners when an instance was added.
package struct PartitionMoves: Sendable, Equatable, Encodable {
    package var machine: String
    /// The name of the instance that was added.
    package var newcomer: String
    /// The number of instances with the new one.
    package var instances: Int
    /// The number of partitions of the machine's inbox.
    package var partitions: Int
    /// How many of the partitions have another owner than before.
    package var moved: Int
    /// How many of the partitions the new instance owns.
    package var taken: Int
    /// The greatest number of partitions that may move.
    ///
    /// With a sticky assignor, only the partitions that the new instance takes would move. The assignor of the consumer
    /// group is `range`, which gives each instance consecutive partitions. So some partitions also move between the
    /// earlier instances. With up to four instances, at most half of all partitions move, plus half a partition for
    /// each instance, because shares are whole numbers.
    package let limit: Int

    package init(machine: String, newcomer: String, instances: Int, partitions: Int, moved: Int, taken: Int) {
        self.machine = machine
        self.newcomer = newcomer
        self.instances = instances
        self.partitions = partitions
        self.moved = moved
        self.taken = taken
        self.limit = max(taken, (partitions + instances) / 2)
    }

    /// The fault of the moves, as a sentence; nil if no more partitions moved than may move.
    package var fault: String? {
        guard self.moved > self.limit else { return nil }
        return "\(self.moved) of the \(self.partitions) partitions of \(self.machine) moved when \(self.newcomer) was "
            + "added, of which \(self.newcomer) took \(self.taken); at most \(self.limit) may move"
    }

    /// The moves for a table, such as `seat 6/6/7`: moved, taken by the new instance, and the limit.
    package var text: String { "\(self.machine) \(self.moved)/\(self.taken)/\(self.limit)" }
}
