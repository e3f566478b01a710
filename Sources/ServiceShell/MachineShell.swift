// SPDX-License-Identifier: Apache-2.0

internal import Concurrency
internal import CoreKit
package import KafkaClient
package import Observability
internal import PlazaModel
internal import PlazaWire

/// The one loop that runs any machine: consume a batch of its inbox, decide, commit, answer (docs/ARCHITECTURE.md).
///
/// All of it on one thread, which `run()` occupies until `stop()`. An error that makes a Kafka client useless ends one
/// life of the shell and begins the next; a transaction that must abort does not even do that.
package final class MachineShell: Sendable {
    /// What other threads may see and ask.
    private struct Shared {
        var isStopping = false
        var isReady = false
        var lastTurn: Int64 = MonotonicClock.milliseconds
        var waker: ConsumerWaker?
    }

    private let spec: MachineSpec
    private let settings: ShellSettings
    private let log: Log
    private let metrics: MetricsRegistry
    private let shared = Locked(Shared())

    package init(_ spec: MachineSpec, settings: ShellSettings, log: Log, metrics: MetricsRegistry) {
        self.spec = spec
        self.settings = settings
        self.log = log
        self.metrics = metrics
    }

    /// The machine's name.
    package var machineName: String { self.spec.name }

    /// Whether the machine is a member of its group and has its rows: true also for one that has no partition.
    package var isReady: Bool { self.shared.withLock { $0.isReady } }

    /// Whether the loop still turns: false when it has hung for 30 s.
    package var isLive: Bool {
        self.shared.withLock { MonotonicClock.milliseconds - $0.lastTurn < 30_000 }
    }

    /// Ends `run()` after the batch in hand.
    package func stop() {
        let waker = self.shared.withLock { shared in
            shared.isStopping = true
            return shared.waker
        }
        waker?.wake()
    }

    /// Runs until `stop()`, on the calling thread.
    package func run() {
        var pause: Int64 = 50
        while !self.isStopping {
            let began = MonotonicClock.milliseconds
            let session = self.settings.session.milliseconds
            do {
                let life = try ShellLife(
                    self.spec, self.settings, session: session, self.log, self.metrics,
                    isStopping: { [shared] in shared.withLock { $0.isStopping } },
                    report: { [shared] isReady in
                        shared.withLock {
                            $0.isReady = isReady
                            $0.lastTurn = MonotonicClock.milliseconds
                        }
                    })
                self.shared.withLock { $0.waker = life.waker }
                defer { life.close() }
                try life.run()
            } catch {
                if self.settings.session.takesStep(after: error, asked: session, log: self.log) { continue }
                self.log.warning(
                    "the machine begins anew", [.detail: .string("\(error)"), .reason: .string(self.spec.name)])
            }
            self.shared.withLock { $0.isReady = false }
            if MonotonicClock.milliseconds - began > 10_000 { pause = 50 }
            self.pause(milliseconds: pause)
            pause = min(pause * 2, 1000)
        }
    }

    private var isStopping: Bool { self.shared.withLock { $0.isStopping } }

    private func pause(milliseconds: Int64) {
        guard !self.isStopping else { return }
        PauseTimer.wait(milliseconds: milliseconds)
    }
}

/// What every shell of a process shares.
package struct ShellSettings: Sendable {
    package var kafka: KafkaSettings
    /// The process's name in the cluster: two processes never share it, for it is the transactional id.
    package var instance: String
    package var partitions: Int
    package var mode: KafkaMode
    /// How often a partition to which batches are appended has a transaction: what a restore reads at most.
    package var checkpointMilliseconds: Int64 = 15_000
    /// How long an appended batch may take to become durable before the shell begins anew from what came of it; asked
    /// for each batch.
    package var appendMilliseconds: @Sendable () -> Int = { 5000 }
    /// After how long without a heartbeat the group gives an instance's partitions away; the in-memory broker needs
    /// more than twice its own pace of rebalancing.
    package var session: GroupSession

    package init(kafka: KafkaSettings, instance: String, partitions: Int, mode: KafkaMode) {
        self.kafka = kafka
        self.instance = instance
        self.partitions = partitions
        self.mode = mode
        self.session = GroupSession(first: mode == .full ? 2000 : 4000)
    }

    /// How long a broker holds back an empty answer: the in-memory one does not wake a waiting fetch.
    package var fetchWaitMilliseconds: Int { self.mode == .full ? 100 : 5 }

    /// The same for what nobody waits for within milliseconds: each fetch costs the in-memory broker's one thread.
    package var unhurriedFetchWaitMilliseconds: Int { self.mode == .full ? 100 : 50 }
}
