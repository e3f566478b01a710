// SPDX-License-Identifier: Apache-2.0

/// How serious a line of the client's log is.
package enum KafkaLogLevel: Int, Sendable, Comparable {
    /// The client cannot go on.
    case critical = 2
    /// Something failed.
    case error = 3
    /// Something may fail.
    case warning = 4
    /// Worth knowing.
    case info = 6
    /// For those who look for a fault.
    case debug = 7

    /// More serious comes first.
    package static func < (left: KafkaLogLevel, right: KafkaLogLevel) -> Bool { left.rawValue < right.rawValue }
}

/// What every client of one process shares: where the brokers are and who asks.
///
/// Each client adds what its role needs; `overrides` come last and win. All names are librdkafka's.
package struct KafkaSettings: Sendable {
    /// The brokers to ask first, `host:port` joined by commas.
    package var brokers: String
    /// The name under which brokers log and count this client.
    package var clientID: String
    /// Settings by librdkafka's names, above all others.
    package var overrides: [String: String]
    /// Takes the client's log: level, facility, text.
    ///
    /// Called on librdkafka's threads; must be quick and must not block.
    package var log: @Sendable (KafkaLogLevel, String, String) -> Void
    /// Takes errors of the client as a whole, such as brokers that went away.
    ///
    /// Called on the client's event thread, for
    /// consumers inside `poll`.
    package var onError: (@Sendable (KafkaError) -> Void)?
    /// How often statistics are told; 0 is never.
    package var statisticsIntervalMilliseconds: Int
    /// Takes the statistics, called like `onError`.
    package var onStatistics: (@Sendable (KafkaStatistics) -> Void)?

    /// Makes settings; warnings and errors go to standard error unless another log is given.
    package init(
        brokers: String, clientID: String, overrides: [String: String] = [:],
        log: @escaping @Sendable (KafkaLogLevel, String, String) -> Void = KafkaSettings.logToStandardError
    ) {
        self.brokers = brokers
        self.clientID = clientID
        self.overrides = overrides
        self.log = log
        self.onError = nil
        self.statisticsIntervalMilliseconds = 0
        self.onStatistics = nil
    }

    /// The settings that every client has.
    ///
    /// The short back-offs are what makes transactions quick: the next one meets the last one's markers and is told to
    /// come again, which took 100 ms by default.
    var common: [(String, String)] {
        [
            ("bootstrap.servers", self.brokers),
            ("client.id", self.clientID),
            ("socket.nagle.disable", "true"),
            ("socket.keepalive.enable", "true"),
            ("reconnect.backoff.ms", "50"),
            ("reconnect.backoff.max.ms", "500"),
            ("topic.metadata.refresh.fast.interval.ms", "100"),
            ("statistics.interval.ms", String(self.statisticsIntervalMilliseconds)),
        ]
    }

    /// The settings of a producer: nothing is acknowledged before it is durable, and nothing is sent twice.
    func producer(transactionalID: String?, transactionTimeoutMilliseconds: Int, queueLimit: Int) -> [(String, String)]
    {
        var settings = self.common
        settings += [
            ("enable.idempotence", "true"),
            ("acks", "all"),
            ("linger.ms", "0"),
            ("retry.backoff.ms", "5"),
            // Batches are of a few records: compressing costs three processes more than it spares the wire.
            ("compression.codec", "none"),
            ("queue.buffering.max.messages", String(queueLimit)),
            ("queue.buffering.max.kbytes", "131072"),
        ]
        if let transactionalID {
            settings += [
                ("transactional.id", transactionalID),
                ("transaction.timeout.ms", String(transactionTimeoutMilliseconds)),
            ]
        } else {
            // With transactions librdkafka sets both by the transaction's time-out.
            settings += [("message.timeout.ms", "30000"), ("socket.timeout.ms", "6000")]
        }
        return settings + self.ordered(self.overrides)
    }

    /// The settings of a consumer: offsets are committed by the caller alone.
    func consumer(_ role: [(String, String)]) -> [(String, String)] {
        self.common + [
            ("enable.auto.commit", "false"),
            ("enable.auto.offset.store", "false"),
            ("enable.partition.eof", "true"),
            ("allow.auto.create.topics", "false"),
            ("fetch.error.backoff.ms", "10"),
            ("socket.timeout.ms", "6000"),
            ("queued.max.messages.kbytes", "16384"),
        ] + role + self.ordered(self.overrides)
    }

    /// The settings of an admin client.
    var admin: [(String, String)] { self.common + self.ordered(self.overrides) }

    private func ordered(_ settings: [String: String]) -> [(String, String)] {
        settings.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
}
