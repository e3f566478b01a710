// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import Dispatch
internal import LivePlazaKit
internal import LivePlazaTransport
internal import Observability
internal import ProtocolClient
internal import Synchronization

/// Runs a load whose clients are instances of the Swift SDK, all over the same transport.
package final class SDKLoadRun: Sendable {
    private let plan: SDKLoadPlan
    private let transport: LoopTransport
    /// The delivery queues, among which the instances are distributed, so that they can use two processor cores.
    private let queues = [DispatchQueue(label: "viewers-0"), DispatchQueue(label: "viewers-1")]
    /// The counts of each delivery queue, in the order of `queues`.
    private let tallies: [SDKLoadTally]
    private let progress = Progress()

    /// What the clients' tasks have achieved so far.
    private final class Progress: Sendable {
        /// How many clients have entered their live.
        let entered = Mutex(0)
        /// How many messages the server has accepted.
        let accepted = Mutex(0)
        /// How often each error has occurred.
        let failures = Mutex<[String: Int]>([:])
    }

    /// How long the run waits for the last messages, and then for the released instances to be deallocated.
    private static let drainTimeout = Duration.seconds(10)

    /// Prepares a run.
    ///
    /// - Throws: `ErrorInfo` when the system has no thread or descriptor left.
    package init(_ plan: SDKLoadPlan) throws {
        self.plan = plan
        self.transport = try LoopTransport()
        let clock = Stopwatch()
        self.tallies = self.queues.map { _ in SDKLoadTally(clock) }
    }

    /// Runs the load.
    ///
    /// - Parameter say: called with a line of text at each stage, and each second while clients enter.
    /// - Returns: the results.
    /// - Throws: `CancellationError`.
    package func run(say: @escaping @Sendable (String) -> Void) async throws -> SDKLoadReport {
        var report = SDKLoadReport()
        // The transport's thread and buffers, which all instances share, exist before this reading. So they do not
        // count as memory of the instances.
        let bytesBefore = ProcessUsage.residentBytes
        var owners: [SDKLoadViewer] = []
        var viewers: [SDKLoadViewer] = []
        for live in 0..<self.plan.lives {
            owners.append(self.makeViewer("\(self.plan.name)-h\(live)", live: live, number: live))
            for viewer in 0..<self.plan.viewers {
                viewers.append(self.makeViewer("\(self.plan.name)-\(live)v\(viewer)", live: live, number: viewer))
            }
        }
        report.clients = owners.count + viewers.count
        let (progress, clientCount) = (self.progress, report.clients)
        let progressReporting = Task {
            while true {
                try await Task.sleep(for: .seconds(1))
                say("\(progress.entered.withLock { $0 }) of \(clientCount) have entered")
            }
        }
        let began = ContinuousClock.now
        await self.enter(owners, asOwners: true)
        await self.enter(viewers, asOwners: false)
        progressReporting.cancel()
        report.entered = self.progress.entered.withLock { $0 }
        report.enteringSeconds = (ContinuousClock.now - began) / .seconds(1)
        report.bytesPerClient = Int((ProcessUsage.residentBytes - bytesBefore) / Double(max(1, report.clients)))

        say("sending for \(self.plan.seconds) s")
        let cpuSecondsBefore = ProcessUsage.cpuSeconds
        (report.sent, report.accepted) = await self.sendMessages(from: owners)
        // Each accepted message is shown by the viewers of its live and by the owner.
        report.expected = report.accepted * (self.plan.viewers + 1)
        await self.waitForMessages(report.expected)
        let cpuSeconds = ProcessUsage.cpuSeconds - cpuSecondsBefore
        self.addCounts(to: &report)
        report.cpuMicrosecondsPerMessage = report.shown > 0 ? cpuSeconds * 1e6 / Double(report.shown) : 0

        say("leaving")
        await self.end(viewers, asOwners: false)
        await self.end(owners, asOwners: true)
        let weakClients = (owners + viewers).map { WeakClient(plaza: $0.plaza) }
        // The run gives up its references to the instances. An instance that still exists after the wait has leaked.
        (owners, viewers) = ([], [])
        report.leaked = await Self.waitForRelease(weakClients)
        report.failures = self.progress.failures.withLock { failures in
            failures.map { "\($0.value) × \($0.key)" }.sorted()
        }
        return report
    }

    /// Makes an instance, for a viewer or an owner, in the live with the number `live`.
    ///
    /// `number` decides with which gateway the instance begins, and which of the two delivery queues it gets.
    private func makeViewer(_ userID: String, live: Int, number: Int) -> SDKLoadViewer {
        let addressCount = self.plan.addresses.count
        let gateways = (0..<addressCount).map { self.plan.addresses[($0 + number) % addressCount] }
        let options = PlazaOptions(
            gateways: gateways.map { "ws://\($0.host):\($0.port)/v1" }, transport: self.transport,
            deliveryQueue: self.queues[number % 2], loginTimeout: .seconds(60), callTimeout: .seconds(60))
        return SDKLoadViewer(userID, in: "\(self.plan.name)-\(live)", options, self.tallies[number % 2])
    }

    private func enter(_ viewers: [SDKLoadViewer], asOwners: Bool) async {
        await self.forEach(viewers) { viewer in
            try await viewer.enter(self.plan, asOwner: asOwners)
            self.progress.entered.withLock { $0 += 1 }
        }
    }

    private func end(_ viewers: [SDKLoadViewer], asOwners: Bool) async {
        await self.forEach(viewers) { await $0.end(asOwner: asOwners) }
    }

    /// Performs an action for all viewers, for at most `maxEntering` of them at the same time; errors are counted.
    private func forEach(
        _ viewers: [SDKLoadViewer], _ action: @escaping @Sendable (SDKLoadViewer) async throws -> Void
    ) async {
        await withTaskGroup(of: Void.self) { group in
            for (index, viewer) in viewers.enumerated() {
                // When `maxEntering` actions run, one of them must end before the next one begins.
                if index >= self.plan.maxEntering { await group.next() }
                group.addTask {
                    do { try await action(viewer) } catch { self.recordFailure(error) }
                }
            }
        }
    }

    private func recordFailure(_ error: any Error) {
        self.progress.failures.withLock { $0["\(error)", default: 0] += 1 }
    }

    /// Lets the owner of each live send `rate` messages a second; returns how many were sent and accepted in all lives.
    private func sendMessages(from owners: [SDKLoadViewer]) async -> (sent: Int, accepted: Int) {
        let messagesPerLive = self.plan.rate * self.plan.seconds
        let began = ContinuousClock.now
        await withTaskGroup(of: Void.self) { group in
            for owner in owners {
                group.addTask {
                    for number in 1...max(1, messagesPerLive) {
                        try? await Task.sleep(
                            until: began + .milliseconds(number * 1000 / self.plan.rate), clock: .continuous)
                        do {
                            try await owner.send(number)
                            self.progress.accepted.withLock { $0 += 1 }
                        } catch {
                            self.recordFailure(error)
                        }
                    }
                }
            }
        }
        return (messagesPerLive * owners.count, self.progress.accepted.withLock { $0 })
    }

    private var shownCount: Int { self.tallies.reduce(0) { sum, tally in sum + tally.counts.withLock { $0.shown } } }

    /// Waits until the instances have shown `expected` messages, at most for `drainTimeout`.
    private func waitForMessages(_ expected: Int) async {
        let deadline = ContinuousClock.now + Self.drainTimeout
        while self.shownCount < expected, ContinuousClock.now < deadline {
            try? await Task.sleep(for: .milliseconds(20))
        }
    }

    private func addCounts(to report: inout SDKLoadReport) {
        var latencies = Histogram()
        for tally in self.tallies {
            let counts = tally.counts.withLock { $0 }
            report.shown += counts.shown
            report.repeated += counts.repeated
            report.reordered += counts.reordered
            latencies.merge(counts.latencies)
        }
        // The histogram has microseconds, the report milliseconds.
        report.p50 = Double(latencies.percentile(50)) / 1000
        report.p99 = Double(latencies.percentile(99)) / 1000
        report.max = Double(latencies.maximum) / 1000
    }

    private struct WeakClient { weak var plaza: LivePlaza? }

    /// Waits until all instances are deallocated, at most for `drainTimeout`, and returns how many still exist.
    private static func waitForRelease(_ clients: [WeakClient]) async -> Int {
        let deadline = ContinuousClock.now + Self.drainTimeout
        while clients.contains(where: { $0.plaza != nil }), ContinuousClock.now < deadline {
            try? await Task.sleep(for: .milliseconds(20))
        }
        return clients.count { $0.plaza != nil }
    }
}
