// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import Dispatch
internal import KafkaClient
package import Observability
package import PlazaModel
internal import PlazaWire
internal import Synchronization

/// Follows the topic `apps` on a thread of its own, for a machine that needs apps' settings.
///
/// A machine's shell that is given it waits until all of the topic has been read once; from then on each batch is decided
/// with the settings as they are known when it begins.
package final class AppTableFollower: ServiceComponent {
    package let name = "apps"
    private let kafka: KafkaSettings
    private let partitions: Int
    private let fetchWaitMilliseconds: Int
    private let log: Log
    private let table = Locked(AppTable())
    private let isFilled = Atomic<Bool>(false)
    private let isStopping = Atomic<Bool>(false)
    private let lastTurn = Atomic<Int64>(MonotonicClock.milliseconds)
    private let waker = Locked<ConsumerWaker?>(nil)
    /// Signalled when the table is filled, and by `stop`.
    private let moved = DispatchSemaphore(value: 0)

    /// A follower that has read nothing yet.
    package init(_ settings: ShellSettings, log: Log) {
        self.kafka = settings.kafka
        self.partitions = settings.partitions
        self.fetchWaitMilliseconds = settings.unhurriedFetchWaitMilliseconds
        self.log = log
    }

    /// The settings of all apps as they are known now; any thread.
    package var snapshot: AppTable { self.table.withLock { $0 } }

    package var isReady: Bool { self.isFilled.load(ordering: .acquiring) }

    package var isLive: Bool { MonotonicClock.milliseconds - self.lastTurn.load(ordering: .relaxed) < 30_000 }

    /// Waits a while, or until all that the topic held at the start has been read.
    func wait(milliseconds: Int) {
        guard !self.isReady else { return }
        if self.moved.wait(timeout: .now() + .milliseconds(milliseconds)) == .success {
            // Others may wait as well.
            self.moved.signal()
        }
    }

    package func stop() {
        self.isStopping.store(true, ordering: .releasing)
        self.moved.signal()
        self.waker.withLock { $0 }?.wake()
    }

    /// Reads until `stop`; a client that is of no more use is replaced.
    package func run() {
        while !self.isStopping.load(ordering: .acquiring) {
            do throws(KafkaError) {
                try self.read()
            } catch {
                self.log.warning("the apps' settings cannot be read", [.detail: .string(error.description)])
                PauseTimer.wait(milliseconds: 200)
            }
        }
    }

    private func read() throws(KafkaError) {
        let consumer = try KafkaConsumer(self.kafka, fetchWaitMilliseconds: self.fetchWaitMilliseconds)
        defer { consumer.close() }
        self.waker.withLock { $0 = consumer.waker }
        defer { self.waker.withLock { $0 = nil } }
        let topic = PlazaTopic.apps.rawValue
        _ = try consumer.topicMetadata(topic, timeoutMilliseconds: 10_000)
        let places = (0..<Int32(self.partitions)).map { TopicPartition(topic, $0) }
        try consumer.assign(Dictionary(uniqueKeysWithValues: places.map { ($0, LogicalOffset.beginning) }))
        var missing = Set(places)
        var records: [IncomingRecord] = []
        while !self.isStopping.load(ordering: .acquiring) {
            self.lastTurn.store(MonotonicClock.milliseconds, ordering: .relaxed)
            records.removeAll(keepingCapacity: true)
            let outcome = try consumer.poll(max: 500, timeoutMilliseconds: 500, into: &records)
            for record in records { self.take(record) }
            guard !missing.isEmpty else { continue }
            missing.subtract(outcome.ends.keys)
            if missing.isEmpty {
                self.isFilled.store(true, ordering: .releasing)
                self.moved.signal()
            }
        }
    }

    /// Takes one record; one that cannot be read is left out and told of.
    private func take(_ record: IncomingRecord) {
        guard let value = record.value else { return }
        do throws(WireError) {
            let app = try Wire.decode(AppRecord.self, from: value)
            self.table.withLock { table in _ = table.apply(app) }
        } catch {
            self.log.warning(
                "a record cannot be read",
                [.topic: .string(record.topic), .offset: .int(Int(record.offset)), .detail: .string("\(error)")])
        }
    }
}
