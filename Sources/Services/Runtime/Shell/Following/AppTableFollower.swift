// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
package import KafkaClient
package import Observability
package import PlazaModel
internal import PlazaWire
internal import Synchronization

/// Maintains the table of all apps' settings from the topic `apps`, on a dedicated thread.
///
/// The shell of a machine that needs the settings starts only after the whole topic has been read once. Each batch then
/// uses the settings that were current when the batch began.
package final class AppTableFollower: ServiceComponent {
    package let name = "apps"
    private let log: Log
    private let follower: CompactedTopicFollower
    private let table = Locked(AppTable())
    private let isLoaded = Atomic<Bool>(false)
    /// True once the table is loaded or `stop` was called.
    private let isLoadedOrStopped = ConditionVariable(false)

    /// Creates a follower; `run` starts reading.
    package init(_ settings: ShellSettings, log: Log) {
        self.log = log
        self.follower = CompactedTopicFollower(
            [.apps], partitions: settings.partitions, kafka: settings.kafka, fetchWait: settings.relaxedFetchWait,
            maxRecords: 500)
    }

    /// The current settings of all apps.
    ///
    /// May be called from any thread.
    package var snapshot: AppTable { self.table.withLock { $0 } }

    /// Whether the whole topic has been read once.
    package var isReady: Bool { self.isLoaded.load(ordering: .acquiring) }

    package var hungLoops: [String] { self.follower.isTurning ? [] : [self.name] }
    package var stalledParts: [String] { self.readStatus.state == .stalled ? [self.name] : [] }
    package var degradations: [String] {
        self.readStatus.state == .waitingForBroker ? ["\(self.name) wait for Kafka"] : []
    }

    /// The progress of reading, for health checks.
    package var readStatus: ReadStatus { self.follower.status }

    /// Waits until the table is loaded or `stop` is called, but no longer than `timeout`.
    func waitUntilLoaded(timeout: Duration) {
        _ = self.isLoadedOrStopped.wait(timeout: timeout) { $0 ? () : nil }
    }

    package func stop() {
        self.isLoadedOrStopped.update { $0 = true }
        self.follower.stop()
    }

    package func run() { self.follower.run(self) }
}

extension AppTableFollower: CompactedTopicSubscriber {
    /// Applies the record to the table.
    ///
    /// A record without a value changes nothing; a record that cannot be read is skipped and logged.
    package func recordReceived(_ record: IncomingRecord) {
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

    package func topicsLoaded() {
        self.isLoaded.store(true, ordering: .releasing)
        self.isLoadedOrStopped.update { $0 = true }
    }

    package func readFailed(_ error: KafkaError) {
        self.log.warning("the apps' settings cannot be read", [.detail: .string(error.description)])
    }
}
