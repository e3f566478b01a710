// SPDX-License-Identifier: Apache-2.0

/// Names of metrics: `<service>_<noun>_<unit>`, with the base units of Prometheus.
///
/// The prefixes `shell_`, `kafka_`, `redis_` and `http_` mark metrics that several services have; the job label of the
/// scrape distinguishes the services. Names of counters end in `_total`, those of times in `_seconds`.
/// A metric whose name only one place needs is named in that place.
package enum MetricNames {
    /// The shell: the loop around a machine that consumes a batch of inputs, decides, commits and replies.
    package enum Shell {
        /// Inbox records of committed batches.
        package static let recordsIn = "shell_records_in_total"
        /// Records that committed batches have written.
        package static let recordsOut = "shell_records_out_total"
        /// Batches, by outcome; a batch that is appended without a transaction counts as well.
        package static let transactions = "shell_transactions_total"
        /// Time from a batch's poll to its commit.
        package static let batch = "shell_batch_seconds"
        /// Duration of taking over partitions, including the reading of their rows.
        package static let restore = "shell_restore_seconds"
        /// The machine's rows (records of its state) in memory.
        package static let rows = "shell_rows"
        /// Partitions that this instance owns.
        package static let partitions = "shell_partitions"
        /// Whether this instance owns a partition, by machine and partition: 1 or 0.
        ///
        /// Only partitions that the process has been assigned since its start are exported.
        package static let ownedPartition = "shell_owned_partition"
        /// Assigned partitions that are not served, because their rows cannot be restored.
        package static let damagedPartitions = "shell_damaged_partitions"
        /// Inputs and rows that were skipped because they could not be decoded.
        package static let malformed = "shell_malformed_total"
        /// Inputs and rows that could not be processed and were written to the topic of dead letters.
        package static let deadLetters = "shell_dead_letters_total"
        /// Replies, by outcome: sent or lost.
        package static let replies = "shell_replies_total"
        /// Whether the service is ready: 1 or 0.
        package static let ready = "shell_ready"
        /// How long work has waited for a batch to become durable; 0 without work.
        package static let waiting = "shell_waiting_seconds"
        /// How long the append in progress has waited to become durable; 0 between appends.
        package static let appendWaiting = "shell_append_waiting_seconds"
    }

    /// The spans of traces.
    package enum Traces {
        /// Spans, by outcome: sent, dropped because the buffer was full, or failed at the collector.
        package static let spans = "traces_spans_total"
    }

    /// The Kafka client.
    package enum Kafka {
        /// Messages waiting in a producer's queue, by writer.
        package static let producerQueueDepth = "kafka_producer_queue_messages"
        /// Messages that were dropped because the producer's queue was full.
        package static let producerQueueDrops = "kafka_producer_queue_drops_total"
        /// Messages that were in the producer's queue and could not be delivered.
        package static let deliveryFailures = "kafka_delivery_failures_total"
        /// Partition assignments and revocations by the consumer group, by kind.
        package static let rebalances = "kafka_rebalances_total"
        /// Messages between the read position and the end of the partitions, by reader.
        package static let consumerLag = "kafka_consumer_lag_messages"
        /// How long a reader has had something to read and has read nothing, by reader; 0 while it reads.
        package static let readerWaiting = "kafka_reader_waiting_seconds"
    }

    /// The Redis client.
    package enum Redis {
        /// Pipelines (groups of commands that are sent together), by outcome.
        package static let pipelines = "redis_pipelines_total"
        /// Duration of a pipeline.
        package static let pipeline = "redis_pipeline_seconds"
        /// Connections that were opened; each partition has its own connection.
        package static let connections = "redis_connections_total"
        /// Connections that are open now.
        package static let connected = "redis_connected"
    }

    /// Webhooks: the sender in room-directory, and the gateways' requests before a call.
    package enum Webhooks {
        /// Events that a backend accepted.
        package static let delivered = "webhooks_delivered_total"
        /// Failed attempts to send an event.
        package static let failedAttempts = "webhooks_failed_tries_total"
        /// Events that will not be sent any more, by reason.
        package static let givenUp = "webhooks_given_up_total"
        /// Events that were read, and are neither delivered nor given up.
        package static let pending = "webhooks_pending"
        /// Apps whose further events stay in the topic until earlier ones are finished; each counts once per partition.
        package static let appsBehind = "webhooks_apps_behind"
        /// Duration of an attempt to send an event.
        package static let attempt = "webhooks_try_seconds"
        /// Requests to backends before a call, by kind and answer.
        package static let requests = "webhooks_asked_total"
        /// Duration of a request to a backend before a call.
        package static let request = "webhooks_asking_seconds"
    }

    /// The HTTP server.
    package enum HTTP {
        /// Requests, by status.
        package static let requests = "http_requests_total"
        /// Time from the request to its response.
        package static let request = "http_request_seconds"
    }

    /// The gateway.
    package enum Gateway {
        /// WebSocket connections that are logged in.
        package static let connections = "gateway_connections"
        /// Connections, frames and calls that a limit refused or ended, by reason.
        package static let refusals = "gateway_refusals_total"
        /// Calls, by method and outcome.
        package static let calls = "gateway_calls_total"
        /// Time from a call to its reply.
        package static let call = "gateway_call_seconds"
        /// Feed items that viewers should get: each admitted item counts once for each viewer.
        package static let due = "gateway_feed_due_total"
        /// Feed items written to viewers' connections.
        package static let delivered = "gateway_feed_delivered_total"
        /// Feed items that were dropped because a slow reader was over its delivery budget, by class.
        package static let shed = "gateway_feed_shed_total"
        /// Feed items that did not reach viewers because the viewers were disconnected.
        package static let disconnected = "gateway_feed_disconnected_total"
        /// Time since the last turn of a shard's event loop, by shard.
        package static let shardTurnAge = "gateway_shard_turn_age_seconds"
    }

    /// The counts of messages in the barrage machine; with the gateway's counts they form the ledger of the feed
    /// (counters that must add up).
    package enum Barrage {
        /// Received messages, by feed class.
        package static let published = "barrage_published_total"
        /// Messages that entered a feed, by class.
        package static let admitted = "barrage_admitted_total"
        /// Messages that were refused, by reason.
        package static let refused = "barrage_refused_total"
        /// Messages dropped by the feed budget, by class and reason.
        package static let dropped = "barrage_dropped_total"
    }

    /// Presence.
    package enum Audience {
        /// Sessions that joined.
        package static let joins = "audience_joins_total"
        /// Sessions that left, by reason.
        package static let leaves = "audience_leaves_total"
        /// Members of lives in the owned partitions.
        package static let members = "audience_members"
        /// Presence epochs that were started.
        package static let epochs = "audience_epochs_total"
        /// Whether the leases of a partition, which are in Redis, cannot be reached: 1 or 0.
        package static let leasesAway = "audience_leases_away"
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
