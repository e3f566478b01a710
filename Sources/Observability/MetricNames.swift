// SPDX-License-Identifier: Apache-2.0

/// The names of all metrics: `<service>_<noun>_<unit>`, with the base units of Prometheus.
///
/// What every service has begins with `shell_`, `kafka_`, `redis_` or `http_`, and the scrape's job tells the services
/// apart. A counter ends in `_total`, a time in `_seconds`.
package enum MetricNames {
    /// The shell's loop.
    package enum Shell {
        /// Records read from the inbox.
        package static let recordsIn = "shell_records_in_total"
        /// Records written in transactions, by kind of topic.
        package static let recordsOut = "shell_records_out_total"
        /// Transactions, by outcome.
        package static let transactions = "shell_transactions_total"
        /// Time from the first input of a batch to its commit.
        package static let batch = "shell_batch_seconds"
        /// Time that a partition's restore took.
        package static let restore = "shell_restore_seconds"
        /// Rows held, by partition.
        package static let rows = "shell_rows"
        /// Partitions owned.
        package static let partitions = "shell_partitions"
        /// Inputs and rows that could not be read, and were skipped.
        package static let malformed = "shell_malformed_total"
        /// Replies sent.
        package static let replies = "shell_replies_total"
        /// Whether the service is ready: 1 or 0.
        package static let ready = "shell_ready"
    }

    /// The Kafka client.
    package enum Kafka {
        /// Messages waiting in a producer's queue, by writer.
        package static let producerQueueDepth = "kafka_producer_queue_messages"
        /// Messages that did not get into that queue because it was full.
        package static let producerQueueDrops = "kafka_producer_queue_drops_total"
        /// Messages that were in that queue and could not be delivered.
        package static let deliveryFailures = "kafka_delivery_failures_total"
        /// Times that a machine's group gave it partitions or took them, by kind.
        package static let rebalances = "kafka_rebalances_total"
        /// Messages between partitions' ends and what was read, by reader.
        package static let consumerLag = "kafka_consumer_lag_messages"
    }

    /// The Redis client.
    package enum Redis {
        /// Pipelines, by outcome.
        package static let pipelines = "redis_pipelines_total"
        /// Time that a pipeline took.
        package static let pipeline = "redis_pipeline_seconds"
        /// Connections made; each partition has one of its own.
        package static let connections = "redis_connections_total"
        /// Connections that stand.
        package static let connected = "redis_connected"
    }

    /// Webhooks: the sender in room-directory, and what gateways ask before.
    package enum Webhooks {
        /// Events that a backend took.
        package static let delivered = "webhooks_delivered_total"
        /// Tries that failed.
        package static let failed = "webhooks_failed_tries_total"
        /// Events that no backend will get, by reason.
        package static let givenUp = "webhooks_given_up_total"
        /// Events read and not done with.
        package static let pending = "webhooks_pending"
        /// Apps whose further events wait in the topic, counted in each partition.
        package static let behind = "webhooks_apps_behind"
        /// Time that a try took.
        package static let tries = "webhooks_try_seconds"
        /// Questions to backends, by kind and answer.
        package static let asked = "webhooks_asked_total"
        /// Time that a question took.
        package static let asking = "webhooks_asking_seconds"
    }

    /// The HTTP server.
    package enum HTTP {
        /// Requests, by status.
        package static let requests = "http_requests_total"
        /// Time from request to answer.
        package static let request = "http_request_seconds"
    }

    /// The gateway.
    package enum Gateway {
        /// WebSocket connections.
        package static let connections = "gateway_connections"
        /// Calls, by method and outcome.
        package static let calls = "gateway_calls_total"
        /// Time from call to reply.
        package static let call = "gateway_call_seconds"
        /// Feed items that are due to viewers: admitted × viewers.
        package static let due = "gateway_feed_due_total"
        /// Feed items handed to viewers' connections.
        package static let delivered = "gateway_feed_delivered_total"
        /// Feed items that gave way to a slow reader's budget, by class.
        package static let shed = "gateway_feed_shed_total"
        /// Feed items that were due to viewers who were disconnected.
        package static let disconnected = "gateway_feed_disconnected_total"
    }

    /// The ledger of the feed.
    package enum Barrage {
        /// Messages that came in, by class.
        package static let published = "barrage_published_total"
        /// Messages that entered a feed, by class.
        package static let admitted = "barrage_admitted_total"
        /// Messages that were refused, by reason.
        package static let refused = "barrage_refused_total"
        /// Messages that gave way to the budget, by class and reason.
        package static let dropped = "barrage_dropped_total"
    }

    /// Presence.
    package enum Audience {
        /// Sessions that joined.
        package static let joins = "audience_joins_total"
        /// Sessions that left, by reason.
        package static let leaves = "audience_leaves_total"
        /// Members held by the partitions owned.
        package static let members = "audience_members"
        /// Epochs begun.
        package static let epochs = "audience_epochs_total"
    }

    /// The process itself, with the names that all of Prometheus's clients use.
    package enum Process {
        /// Processor time used, user and system.
        package static let cpu = "process_cpu_seconds_total"
        /// Resident memory.
        package static let residentMemory = "process_resident_memory_bytes"
        /// When the process started, in seconds since 1970.
        package static let startTime = "process_start_time_seconds"
    }
}
