// SPDX-License-Identifier: Apache-2.0

/// The severity of a client's log line; the raw values are syslog levels.
package enum KafkaLogLevel: Int, Sendable, Comparable {
    /// The client cannot continue.
    case critical = 2
    /// Something failed.
    case error = 3
    /// Something may fail.
    case warning = 4
    /// Worth knowing.
    case info = 6
    /// For debugging.
    case debug = 7

    /// Orders more severe levels first.
    package static func < (left: KafkaLogLevel, right: KafkaLogLevel) -> Bool { left.rawValue < right.rawValue }
}

/// The settings that all clients of a process share: the brokers' addresses, the client id, the security and the
/// callbacks.
///
/// Each client adds the settings of its role. `overrides` are applied last. All names are librdkafka's.
package struct KafkaSettings: Sendable {
    /// Writes a log line of a client; the facility is librdkafka's name for the part of the client that reports.
    ///
    /// It is called on librdkafka's threads, so it must be quick and must not block.
    package typealias LogWriter = @Sendable (_ level: KafkaLogLevel, _ facility: String, _ text: String) -> Void

    /// The bootstrap brokers: `host:port`, separated by commas.
    package var brokers: String
    /// The client id: the name of this client in the brokers' logs, metrics and quotas.
    package var clientID: String
    /// How connections are secured.
    package var security: KafkaSecurity
    /// Settings by librdkafka's names; they override all other settings.
    package var overrides: [String: String]
    /// The maximum size in bytes of what a producer sends as one record or batch, and of what a consumer fetches from a
    /// partition at once; nil keeps librdkafka's default.
    package var maxMessageBytes: Int?
    /// Receives the client's log lines.
    package var log: LogWriter
    /// Receives errors of the whole client, such as unreachable brokers.
    ///
    /// It is called on the producer's event thread, or inside the consumer's `poll`.
    package var onError: (@Sendable (KafkaError) -> Void)?
    /// The interval at which statistics are reported; zero disables them.
    package var statisticsInterval: Duration
    /// Receives the statistics; called on the same thread as `onError`.
    package var onStatistics: (@Sendable (KafkaStatistics) -> Void)?

    /// Creates settings; by default warnings and errors are written to standard error.
    package init(
        brokers: String, clientID: String, security: KafkaSecurity = KafkaSecurity(),
        overrides: [String: String] = [:], maxMessageBytes: Int? = nil,
        log: @escaping LogWriter = KafkaSettings.logToStandardError
    ) {
        self.brokers = brokers
        self.clientID = clientID
        self.security = security
        self.overrides = overrides
        self.maxMessageBytes = maxMessageBytes
        self.log = log
        self.onError = nil
        self.statisticsInterval = .zero
        self.onStatistics = nil
    }

    /// The settings that producers, consumers and admin clients have in common.
    var common: [(String, String)] {
        [
            ("bootstrap.servers", self.brokers),
            ("client.id", self.clientID),
            ("socket.nagle.disable", "true"),
            ("socket.keepalive.enable", "true"),
            ("reconnect.backoff.ms", "50"),
            ("reconnect.backoff.max.ms", "500"),
            ("topic.metadata.refresh.fast.interval.ms", "100"),
            ("statistics.interval.ms", String(self.statisticsInterval.rdkafkaMilliseconds)),
        ] + self.security.settings
    }

    /// The settings of a producer: records are acknowledged only when they are durable, and retries do not duplicate
    /// them.
    ///
    /// `retry.backoff.ms` is short (5 ms) to make transactions fast. A transaction often begins while the broker still
    /// writes the markers that end the previous transaction. Then the new transaction's first request is rejected and
    /// must be retried, by default only after 100 ms.
    func producer(transactionalID: String?, transactionTimeout: Duration, queueLimit: Int) -> [(String, String)] {
        var settings = self.common
        settings += [
            ("enable.idempotence", "true"),
            ("acks", "all"),
            ("linger.ms", "0"),
            ("retry.backoff.ms", "5"),
            // Batches have few records: compression would cost producer, broker and consumer more than it saves on the
            // network.
            ("compression.codec", "none"),
            ("queue.buffering.max.messages", String(queueLimit)),
            // 128 MiB.
            ("queue.buffering.max.kbytes", "131072"),
        ]
        if let bytes = self.maxMessageBytes {
            settings += [("message.max.bytes", String(bytes)), ("batch.size", String(bytes))]
        }
        if let transactionalID {
            settings += [
                ("transactional.id", transactionalID),
                ("transaction.timeout.ms", String(transactionTimeout.rdkafkaMilliseconds)),
            ]
        } else {
            // For a transactional producer librdkafka derives both timeouts from the transaction timeout.
            settings += [("message.timeout.ms", "30000"), ("socket.timeout.ms", "6000")]
        }
        return settings + self.sortedByName(self.overrides)
    }

    /// The settings of a consumer: offsets are committed only when the caller commits them.
    func consumer(_ additionalSettings: [(String, String)]) -> [(String, String)] {
        let fetchSettings = self.maxMessageBytes.map { [("fetch.message.max.bytes", String($0))] } ?? []
        return self.common + fetchSettings + [
            ("enable.auto.commit", "false"),
            ("enable.auto.offset.store", "false"),
            ("enable.partition.eof", "true"),
            ("allow.auto.create.topics", "false"),
            ("fetch.error.backoff.ms", "10"),
            ("socket.timeout.ms", "6000"),
            // 16 MiB of records that were fetched and not polled yet.
            ("queued.max.messages.kbytes", "16384"),
        ] + additionalSettings + self.sortedByName(self.overrides)
    }

    /// The settings of an admin client.
    var admin: [(String, String)] { self.common + self.sortedByName(self.overrides) }

    private func sortedByName(_ settings: [String: String]) -> [(String, String)] {
        settings.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
}
