// SPDX-License-Identifier: Apache-2.0

internal import Concurrency
package import KafkaClient
internal import MachineKit
package import Observability

/// Runs a machine, a pure state machine that decides the inputs of one inbox topic (docs/ARCHITECTURE.md).
///
/// The shell polls a batch of the inbox, lets the machine decide the inputs, commits the result and sends the replies.
///
/// All work is done on the thread that calls `run()`, which returns after `stop()`. After an error that makes a Kafka
/// client unusable, the shell begins a new `ShellSession`. An aborted transaction is retried within the session.
package final class MachineShell: Sendable {
    private let spec: MachineSpec
    private let settings: ShellSettings
    private let log: Log
    private let metrics: MetricsRegistry
    private let status = LoopStatus()

    package init(_ spec: MachineSpec, settings: ShellSettings, log: Log, metrics: MetricsRegistry) {
        self.spec = spec
        self.settings = settings
        self.log = log
        self.metrics = metrics
        metrics.observe(
            MetricNames.Shell.waiting, help: "How long work has waited for a batch to become durable.",
            labels: ["machine": spec.name]
        ) { [status] in Double(status.waitingTime.count) / 1000 }
    }

    /// The machine's name.
    package var machineName: String { self.spec.name }

    /// Whether the machine is a member of its group and has restored its rows; true even if it owns no partition.
    package var isReady: Bool { self.status.isReady }

    package var hungLoops: [String] { self.status.isTurning ? [] : [self.machineName] }
    package var stalledParts: [String] {
        // `hungLoops` already names a loop that hangs. A loop is also stalled if each session fails before its first
        // turn.
        self.status.isTurning && (self.status.isStalled || !self.status.hasTurned) ? [self.machineName] : []
    }

    package var degradations: [String] {
        self.status.damagedPartitions.map {
            "\(self.machineName) does not serve partition \($0), whose rows cannot be restored"
        }
            + self.status.unreadableRowCounts.sorted { $0.key < $1.key }.map { partition, count in
                "\(self.machineName) serves partition \(partition) without \(count) of its rows, which it cannot read"
            }
    }

    /// Makes `run()` return after the current batch.
    package func stop() { self.status.stop() }

    /// Runs sessions on the calling thread until `stop()` is called, or until three sessions within a minute were stuck
    /// (`SessionRestarts`).
    package func run() {
        var restarts = SessionRestarts()
        while !self.status.isStopping {
            let beganAt = MonotonicClock.now
            self.status.reportSessionBegan()
            let sessionTimeout = self.settings.sessionTimeout.timeout
            do {
                defer { self.status.resetReadiness() }
                let session = try ShellSession(
                    self.spec, self.settings, sessionTimeout: sessionTimeout, self.log, self.metrics, self.status)
                self.status.setWaker(session.waker)
                defer { session.close() }
                try session.run()
            } catch {
                if self.settings.sessionTimeout.raiseIfRejected(error, requested: sessionTimeout, log: self.log) {
                    // The next session requests the raised timeout.
                    continue
                }
                self.log.warning(
                    "the machine begins anew", [.detail: .string("\(error)"), .component: .string(self.spec.name)])
                switch restarts.sessionFailed(
                    error, isStalled: self.status.isStalled, beganAt: beganAt, at: MonotonicClock.now)
                {
                case .restart(after: let pause):
                    if !self.status.isStopping { DedicatedThread.sleep(for: Duration(pause)) }
                case .exit:
                    return self.log.error(
                        "three sessions in a minute made no progress", [.component: .string(self.spec.name)])
                }
            }
        }
    }
}

/// The settings that all shells of a process share.
package struct ShellSettings: Sendable {
    package var kafka: KafkaSettings
    /// The process's name in the cluster.
    ///
    /// It is part of the transactional ids, so no two processes may share it.
    package var instance: String
    /// Identifies this process in the records of attempts; a restarted process of the same name has another value.
    package var process = UInt64.random(in: .min ... .max).description
    /// The number of partitions of every topic.
    package var partitions: Int
    package var mode: KafkaMode
    /// The interval between checkpoints of a partition with appended batches; a restore reads at most the batches of
    /// one interval.
    ///
    /// A checkpoint is a transaction that writes all changed rows to the state topic.
    package var checkpointInterval: Duration = .seconds(15)
    /// How long an append may take until its batches, one for each partition, are durable; after that the session ends.
    ///
    /// Called for each append.
    package var appendTimeout: @Sendable () -> Duration = { .seconds(5) }
    /// How long an instance may send no heartbeat before the group reassigns its partitions.
    ///
    /// The in-memory broker needs a longer time than Kafka (`EmbeddedBroker.sessionTimeout`).
    package var sessionTimeout: GroupSessionTimeout
    /// Records the spans of traced inputs.
    package var tracer = Tracer.off

    package init(kafka: KafkaSettings, instance: String, partitions: Int, mode: KafkaMode) {
        self.kafka = kafka
        self.instance = instance
        self.partitions = partitions
        self.mode = mode
        self.sessionTimeout = GroupSessionTimeout(first: mode == .embedded ? .seconds(4) : .seconds(2))
    }

    /// How long a broker may delay an empty fetch response; short for the in-memory broker, which does not wake a
    /// pending fetch.
    package var fetchWait: Duration { self.mode == .embedded ? .milliseconds(5) : .milliseconds(100) }

    /// `fetchWait` for consumers that need no low latency.
    ///
    /// It is longer for the in-memory broker, because each fetch uses time of the broker's only thread.
    package var relaxedFetchWait: Duration { self.mode == .embedded ? .milliseconds(50) : .milliseconds(100) }
}
