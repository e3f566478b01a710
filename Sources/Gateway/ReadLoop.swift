// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import CoreKit
internal import Dispatch
internal import KafkaClient
internal import Observability
internal import Synchronization

/// The life of a thread that reads topics: until it is stopped, with a new consumer after every error that makes one
/// useless.
final class ReadLoop: Sendable {
    private let kafka: KafkaSettings
    private let fetchWaitMilliseconds: Int
    private let isStopping = Atomic<Bool>(false)
    /// Signalled by `stop`, so that a pause after an error ends with it.
    private let stopped = DispatchSemaphore(value: 0)
    private let waker = Locked<ConsumerWaker?>(nil)
    private let lastTurn = Atomic<Int64>(0)

    /// How long a thread waits after an error.
    private static let pauseMilliseconds = 200

    /// A life that has not begun.
    ///
    /// - Parameters:
    ///   - kafka: where and who.
    ///   - fetchWaitMilliseconds: how long a broker holds back an empty answer.
    init(_ kafka: KafkaSettings, fetchWaitMilliseconds: Int) {
        self.kafka = kafka
        self.fetchWaitMilliseconds = fetchWaitMilliseconds
    }

    /// When the thread last came round, by the monotonic clock.
    var lastTurnAt: Timestamp { Timestamp(milliseconds: self.lastTurn.load(ordering: .relaxed)) }

    /// Runs `read` with a consumer, until `stop`, on the calling thread.
    ///
    /// - Parameters:
    ///   - read: reads for as long as `turns` says.
    ///   - failed: is told of an error before the next try.
    func run(_ read: (KafkaConsumer) throws(KafkaError) -> Void, failed: (KafkaError) -> Void) {
        while !self.isStopping.load(ordering: .acquiring) {
            do throws(KafkaError) {
                let consumer = try KafkaConsumer(self.kafka, fetchWaitMilliseconds: self.fetchWaitMilliseconds)
                defer { consumer.close() }
                self.waker.withLock { $0 = consumer.waker }
                defer { self.waker.withLock { $0 = nil } }
                try read(consumer)
            } catch {
                failed(error)
                _ = self.stopped.wait(timeout: .now() + .milliseconds(Self.pauseMilliseconds))
            }
        }
    }

    /// Begins a turn of the reader's loop.
    ///
    /// - Returns: false when the reader shall end.
    func turns() -> Bool {
        self.lastTurn.store(MonotonicClock.milliseconds, ordering: .relaxed)
        return !self.isStopping.load(ordering: .acquiring)
    }

    /// Tells of an error, as serious as it is.
    ///
    /// What passes by itself is no error: a topic that was made a moment ago has partitions without a leader, and a
    /// broker may be away.
    ///
    /// - Parameters:
    ///   - error: why the consumer is of no more use.
    ///   - message: what cannot be read.
    ///   - isStarting: nobody is served yet, so that nobody misses anything either.
    ///   - log: takes the line.
    static func tell(_ error: KafkaError, _ message: StaticString, isStarting: Bool, in log: Log) {
        let detail: KeyValuePairs<LogKey, LogValue> = [.detail: .string(error.description)]
        switch error.kind {
        case .retriable, .timedOut, .brokerDown, .unknownTopic:
            if isStarting { log.info(message, detail) } else { log.warning(message, detail) }
        case .queueFull, .fenced, .abortRequired, .fatal, .messageTooLarge, .unsupported, .sessionRefused,
            .invalidConfiguration, .closed, .other:
            log.error(message, detail)
        }
    }

    /// Makes the consumer's poll return, from any thread.
    func wake() { self.waker.withLock { $0 }?.wake() }

    /// Ends `run`, from any thread.
    func stop() {
        self.isStopping.store(true, ordering: .releasing)
        self.stopped.signal()
        self.wake()
    }
}
