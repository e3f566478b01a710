// SPDX-License-Identifier: Apache-2.0
internal import ClusterKit
internal import Concurrency
internal import InspectKit
internal import KafkaClient
internal import MachineKit
internal import PlazaModel
internal import PlazaWire
internal import ServiceShell

/// Reads what Kafka has of the feeds of a round's lives, to be compared with what the clients received.
enum FeedLogReader {
    /// The name that the logs have as clients of a `FeedHistory`.
    static let client = "Kafka"

    /// Why a log could not be read to its end.
    struct Incomplete: Error, CustomStringConvertible {
        let description: String
    }

    /// How often the log is read before the reader gives up: a broker that had the fault may not be back yet.
    private static let attempts = 4
    /// Far more than the items of a round.
    private static let maxRecords = 1_000_000

    /// Reads the feeds of all lives whose ids begin with `prefix`.
    ///
    /// - Parameters:
    ///   - prefix: the beginning of the ids.
    ///   - cluster: a cluster with a real Kafka.
    ///   - start: records that are older are not read.
    /// - Returns: a history for each live.
    /// - Throws: the broker's error of the last attempt, or `Incomplete`.
    static func read(
        livesNamed prefix: String, of cluster: LocalCluster, since start: Timestamp
    ) async throws -> [FeedHistory] {
        for _ in 1..<Self.attempts {
            if let logs = try? await Self.readOnce(livesNamed: prefix, of: cluster, since: start) { return logs }
            try await Task.sleep(for: .seconds(2))
        }
        return try await Self.readOnce(livesNamed: prefix, of: cluster, since: start)
    }

    private static func readOnce(
        livesNamed prefix: String, of cluster: LocalCluster, since start: Timestamp
    ) async throws -> [FeedHistory] {
        let (brokers, security) = (cluster.state.kafka, cluster.options.kafkaSecurity)
        return try await runOnDedicatedThread("feed-log") {
            let scanner = try TopicScanner(
                brokers: brokers, security: security, mode: .full, maxRecords: Self.maxRecords)
            defer { scanner.close() }
            var entries: [TopicEntry] = []
            let keyPart = Array("/\(prefix)".utf8)
            let gap = try scanner.read(
                TopicScan(.roomFeed, from: start) { $0.key?.contains(keyPart) ?? false }, into: &entries)
            if let gap { throw Incomplete(description: gap) }
            // Without a record nothing would be compared.
            if entries.isEmpty { throw Incomplete(description: "room.feed has no item of these lives") }
            return try Self.histories(entries)
        }
    }

    /// Makes a history of each live from the records of the topic; its items have the time that the machine gave them.
    ///
    /// - Throws: `Incomplete` for a record that is no item of a feed.
    static func histories(_ entries: [TopicEntry]) throws -> [FeedHistory] {
        var histories: [LiveID: FeedHistory] = [:]
        for entry in entries.sorted(by: { ($0.partition, $0.offset) < ($1.partition, $1.offset) }) {
            guard let headers = FeedHeaders({ entry.headers[$0] }), let item = entry.decode(FeedEntry.self),
                let key = LiveKey(text: entry.key)
            else { throw Incomplete(description: "\(entry.location) is no item of a feed") }
            histories[key.live, default: FeedHistory(client: Self.client, live: key.live)].append([
                .item(epoch: headers.position.epoch, number: item.n, content: item.content, at: item.at)
            ])
        }
        return histories.values.sorted { $0.live.text < $1.live.text }
    }
}
