// SPDX-License-Identifier: Apache-2.0
internal import ClusterKit
internal import Concurrency
internal import InspectKit
internal import KafkaClient
internal import MachineKit
internal import PlazaModel
internal import PlazaWire
internal import ServiceShell

/// What Kafka has of a round's lives.
struct RoundLog: Sendable {
    /// The feed of each live.
    var feeds: [FeedHistory] = []
    /// The events for the app's backend.
    var events: [BackendHistory.LoggedEvent] = []
}

/// Reads the feeds and webhook events of a round's lives from Kafka, to compare them with what the clients and the
/// app's backend received.
enum FeedLogReader {
    /// The client's name in a `FeedHistory` that was read from Kafka.
    static let client = "Kafka"

    /// Why a log could not be read to its end.
    struct Incomplete: Error, CustomStringConvertible {
        let description: String
    }

    /// How often the reader tries to read the topics, because a broker that had the fault may not be back yet.
    private static let attempts = 4
    /// The maximum number of records to read of a topic; far more than a round writes.
    private static let maxRecords = 1_000_000

    /// Reads the feeds and webhook events of all lives whose ids begin with `prefix`.
    ///
    /// - Parameters:
    ///   - prefix: the beginning of the ids.
    ///   - cluster: a cluster with a real Kafka.
    ///   - start: records that are older are not read.
    /// - Returns: a history for each live, and the events.
    /// - Throws: the broker's error of the last attempt, or `Incomplete`.
    static func read(
        livesNamed prefix: String, of cluster: LocalCluster, since start: Timestamp
    ) async throws -> RoundLog {
        for _ in 1..<Self.attempts {
            if let logs = try? await Self.readOnce(livesNamed: prefix, of: cluster, since: start) { return logs }
            try await Task.sleep(for: .seconds(2))
        }
        return try await Self.readOnce(livesNamed: prefix, of: cluster, since: start)
    }

    private static func readOnce(
        livesNamed prefix: String, of cluster: LocalCluster, since start: Timestamp
    ) async throws -> RoundLog {
        let (brokers, security) = (cluster.state.kafka, cluster.options.kafkaSecurity)
        return try await runOnDedicatedThread("feed-log") {
            let scanner = try TopicScanner(
                brokers: brokers, security: security, mode: .full, maxRecords: Self.maxRecords)
            defer { scanner.close() }
            // A record's key is `APP/LIVE`.
            let keyPart = Array("/\(prefix)".utf8)
            func entries(of topic: PlazaTopic) throws -> [TopicEntry] {
                var entries: [TopicEntry] = []
                let scan = TopicScan(topic, from: start) { $0.key?.contains(keyPart) ?? false }
                if let gap = try scanner.read(scan, into: &entries) { throw Incomplete(description: gap) }
                return entries
            }
            let feedEntries = try entries(of: .roomFeed)
            // Each round writes feed items. With none to compare, the checks would find nothing wrong.
            if feedEntries.isEmpty { throw Incomplete(description: "room.feed has no item of these lives") }
            return RoundLog(
                feeds: try Self.histories(feedEntries), events: try Self.events(try entries(of: .webhooks)))
        }
    }

    /// Decodes the records of the topic `webhooks`.
    ///
    /// - Throws: `Incomplete` for a record that is no event.
    static func events(_ entries: [TopicEntry]) throws -> [BackendHistory.LoggedEvent] {
        try entries.map { entry in
            guard let event = entry.decode(WebhookEvent.self) else {
                throw Incomplete(description: "\(entry.location) is no event")
            }
            return BackendHistory.LoggedEvent(
                place: EventPlace(partition: entry.partition, offset: entry.offset), event: event)
        }.sorted { $0.place < $1.place }
    }

    /// Makes a history of each live from the records of the topic `room.feed`.
    ///
    /// The time of an item is the time that barrage-fanout, the service that writes feeds, gave the item.
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
