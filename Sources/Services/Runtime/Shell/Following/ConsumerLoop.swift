// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
package import KafkaClient
internal import MachineKit
package import Observability
internal import Synchronization

/// Runs a consumer on the calling thread until `stop` is called.
///
/// After an error that makes the consumer unusable, the loop pauses and creates a new consumer.
package final class ConsumerLoop: Sendable {
    private let kafka: KafkaSettings
    private let fetchWait: Duration
    private let isStopping = Atomic<Bool>(false)
    /// Signalled by `stop`, to end the pause after an error early.
    private let stopped = WakeSignal()
    private let waker = Locked<ConsumerWaker?>(nil)
    private let turns = TurnClock()
    /// The progress of reading, for health checks.
    package let status = ReadStatus()

    /// The pause between an error and the next consumer.
    private static let retryPause = Duration.milliseconds(200)

    /// Creates a loop; `run` starts it.
    ///
    /// - Parameters:
    ///   - kafka: the brokers' addresses and the client id.
    ///   - fetchWait: how long a broker may delay an empty fetch response.
    package init(_ kafka: KafkaSettings, fetchWait: Duration) {
        self.kafka = kafka
        self.fetchWait = fetchWait
    }

    /// Whether a turn of `read`'s polling loop, or an attempt to use a new consumer, has begun within the last 30 s, or
    /// `recordProgress` was called.
    package var isTurning: Bool { self.turns.isTurning }

    /// Calls `read` with a consumer until `stop` is called.
    ///
    /// After an error `read` is called again with a new consumer.
    ///
    /// - Parameters:
    ///   - read: polls the consumer in a loop for as long as `beginTurn` returns true; throws the error that makes the
    ///     consumer unusable.
    ///   - failed: called with each error, before the pause.
    package func run(_ read: (KafkaConsumer) throws(KafkaError) -> Void, failed: (KafkaError) -> Void) {
        while !self.isStopping.load(ordering: .acquiring) {
            self.recordProgress()
            do throws(KafkaError) {
                let consumer = try KafkaConsumer(self.kafka, fetchWait: self.fetchWait)
                defer { consumer.close() }
                self.waker.withLock { $0 = consumer.waker }
                defer { self.waker.withLock { $0 = nil } }
                try read(consumer)
            } catch {
                self.status.report { $0.consumerFailed(error, at: MonotonicClock.now) }
                failed(error)
                self.stopped.wait(timeout: Self.retryPause)
            }
        }
    }

    /// Records the start of a turn; `read` calls this method before each poll.
    ///
    /// - Returns: false when `read` must return.
    package func beginTurn() -> Bool {
        self.recordProgress()
        self.status.report { $0.turnBegan(at: MonotonicClock.now) }
        return !self.isStopping.load(ordering: .acquiring)
    }

    /// Records that the loop is not hung, during work between two polls that may take long.
    package func recordProgress() { self.turns.recordTurn() }

    /// Makes the consumer's current or next poll return at once.
    ///
    /// May be called from any thread.
    package func wakeUp() { self.waker.withLock { $0 }?.wakeUp() }

    /// Makes `run` return.
    ///
    /// May be called from any thread.
    package func stop() {
        self.isStopping.store(true, ordering: .releasing)
        self.stopped.wakeUp()
        self.wakeUp()
    }

    /// Logs an error at the level that fits its kind.
    ///
    /// Transient errors are not logged as errors: partitions of a new topic briefly have no leader, and a broker may be
    /// unreachable for a while.
    ///
    /// - Parameters:
    ///   - error: the error that made the consumer unusable.
    ///   - message: the log message; it names what cannot be read.
    ///   - isStarting: whether the service does not serve clients yet; transient errors are then logged at level info.
    ///   - log: the log to write to.
    package static func logFailure(
        _ error: KafkaError, _ message: StaticString, isStarting: Bool, in log: Log
    ) {
        let detail: KeyValuePairs<LogKey, LogValue> = [.detail: .string(error.description)]
        switch error.kind {
        case .retriable, .timedOut, .brokerDown, .unknownTopic:
            if isStarting { log.info(message, detail) } else { log.warning(message, detail) }
        case .queueFull, .fenced, .abortRequired, .fatal, .unanswered, .messageTooLarge, .invalidRecord, .unsupported,
            .sessionTimeoutRejected, .authenticationFailed, .tlsFailed, .accessDenied, .invalidConfiguration, .closed,
            .other:
            log.error(message, detail)
        }
    }
}
