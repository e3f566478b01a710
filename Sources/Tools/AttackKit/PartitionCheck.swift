// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel
internal import ProtocolClient

/// A check after an attack that each partition of the directory still works.
///
/// The check creates a live in each partition, and ends the live.
struct PartitionCheck {
    let target: AttackTarget
    /// The beginning of the names of the lives and their owners.
    let namePrefix: String

    /// Sends the calls to all partitions at the same time.
    ///
    /// - Returns: how many partitions were tried, and in how many a live was created and ended in time.
    /// - Throws: `LoopError` when the system has no thread or descriptor left.
    func run() async throws -> AnswerCounts {
        let hub = try ClientHub(name: "plaza-partition")
        defer { hub.stop() }
        var options = BareClientCore.Options(
            token: self.target.serverToken("\(self.namePrefix)-server"), session: SessionID("\(self.namePrefix)-server")
        )
        options.callTimeout = .seconds(10)
        let client = hub.client(addresses: self.target.gateways, options: options)
        let liveNames = self.liveNames
        return await withTaskGroup(of: Bool.self) { group in
            for (index, name) in liveNames.enumerated() {
                let live = LiveID(name)
                let params = CallParams(live: live, owner: UserID("\(self.namePrefix)-\(index)"))
                group.addTask {
                    do {
                        try await client.call("live.create", params)
                        try await client.call("live.end", CallParams(live: live))
                        return true
                    } catch {
                        return false
                    }
                }
            }
            var counts = AnswerCounts()
            for await hasSucceeded in group {
                counts.asked += 1
                counts.answered += hasSucceeded ? 1 : 0
            }
            return counts
        }
    }

    /// The name of one live for each partition; a partition is left out if no name is found for it.
    private var liveNames: [String] {
        let count = self.target.partitions ?? AttackTarget.assumedPartitions
        return (0..<count).compactMap {
            PartitionedName.live("\(self.namePrefix)-\($0)", app: self.target.app, partition: $0, of: count)
        }
    }
}

/// A search for a live's name that belongs to a given partition.
///
/// Kafka's partition of a live is computed from the live's key: its app and its name.
enum PartitionedName {
    /// Finds a name that begins with `prefix`.
    ///
    /// - Parameters:
    ///   - prefix: the beginning of the name.
    ///   - app: the live's app.
    ///   - partition: the partition in which the live must be.
    ///   - count: the number of partitions.
    /// - Returns: the name; nil if none of `100 * count` tried names is in the partition, which is very unlikely.
    static func live(_ prefix: String, app: AppID, partition: Int, of count: Int) -> String? {
        (0..<100 * count).lazy.map { "\(prefix)-\($0)" }.first {
            PlazaTopic.partition(of: LiveKey(app, LiveID($0)).text, among: count) == partition
        }
    }
}
