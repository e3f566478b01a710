// SPDX-License-Identifier: Apache-2.0
internal import Dispatch
internal import LivePlazaKit
internal import LivePlazaTransport
internal import Observability
internal import ProtocolClient
internal import Synchronization

/// Runs a load whose clients are instances of the Swift SDK, over one transport.
package final class SDKLoadRun: Sendable {
    private let plan: SDKLoadPlan
    private let transport: LoopTransport
    /// The delivery queues of the instances; one for each core that the instances may use.
    private let queues = [DispatchQueue(label: "viewers-0"), DispatchQueue(label: "viewers-1")]
    private let tallies = [SDKLoadTally(), SDKLoadTally()]
    private let progress = Progress()

    /// What the clients' tasks have achieved so far.
    private final class Progress: Sendable {
        let entered = Mutex(0)
        let accepted = Mutex(0)
        let failures = Mutex<[String: Int]>([:])
    }

    /// How long the run waits for the last messages, and for released instances to end.
    private static let drain = Duration.seconds(10)

    /// Prepares a run.
    ///
    /// - Throws: `ErrorInfo` when the system has no thread or descriptor left.
    package init(_ plan: SDKLoadPlan) throws {
        self.plan = plan
        self.transport = try LoopTransport()
    }

    /// Runs the load.
    ///
    /// - Parameter tell: Receives a line of text for people, each second while clients enter.
    /// - Returns: What was measured.
    /// - Throws: `CancellationError`.
    package func run(tell: @escaping @Sendable (String) -> Void) async throws -> SDKLoadReport {
        var report = SDKLoadReport()
        // The first instance has what all share: the transport's thread and buffers, the metadata of types.
        let memoryBefore = ProcessUsage.residentBytes
        var owners: [SDKLoadViewer] = []
        var viewers: [SDKLoadViewer] = []
        for live in 0..<self.plan.lives {
            owners.append(self.makeViewer("\(self.plan.name)-h\(live)", live, live))
            for viewer in 0..<self.plan.viewers {
                viewers.append(self.makeViewer("\(self.plan.name)-\(live)v\(viewer)", live, viewer))
            }
        }
        report.clients = owners.count + viewers.count
        let (progress, clients) = (self.progress, report.clients)
        let ticker = Task {
            while true {
                try await Task.sleep(for: .seconds(1))
                tell("\(progress.entered.withLock { $0 }) of \(clients) have entered")
            }
        }
        let began = ContinuousClock.now
        await self.enter(owners, asOwners: true)
        await self.enter(viewers, asOwners: false)
        ticker.cancel()
        report.entered = self.progress.entered.withLock { $0 }
        report.enteringSeconds = (ContinuousClock.now - began) / .seconds(1)
        report.bytesPerClient = Int((ProcessUsage.residentBytes - memoryBefore) / Double(max(1, report.clients)))

        tell("sending for \(self.plan.seconds) s")
        let cpuBefore = ProcessUsage.cpuSeconds
        (report.sent, report.accepted) = await self.send(owners)
        report.expected = report.accepted * (self.plan.viewers + 1)
        await self.waitForMessages(report.expected)
        let cpu = ProcessUsage.cpuSeconds - cpuBefore
        self.addCounts(to: &report)
        report.cpuMicrosecondsPerMessage = report.shown > 0 ? cpu * 1e6 / Double(report.shown) : 0

        tell("leaving")
        await self.end(viewers, asOwners: false)
        await self.end(owners, asOwners: true)
        let weak = (owners + viewers).map { WeakClient(plaza: $0.plaza) }
        (owners, viewers) = ([], [])
        report.leaked = await Self.waitForRelease(weak)
        report.failures = self.progress.failures.withLock { $0.map { "\($0.value) × \($0.key)" }.sorted() }
        return report
    }

    private func makeViewer(_ userID: String, _ live: Int, _ number: Int) -> SDKLoadViewer {
        let count = self.plan.addresses.count
        let gateways = (0..<count).map { self.plan.addresses[($0 + number) % count] }
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

    /// Performs an action for all viewers, for `maxEntering` of them at the same time.
    private func forEach(
        _ viewers: [SDKLoadViewer], _ action: @escaping @Sendable (SDKLoadViewer) async throws -> Void
    ) async {
        await withTaskGroup(of: Void.self) { group in
            for (index, viewer) in viewers.enumerated() {
                if index >= self.plan.maxEntering { await group.next() }
                group.addTask {
                    do { try await action(viewer) } catch { self.failed(error) }
                }
            }
        }
    }

    private func failed(_ error: any Error) { self.progress.failures.withLock { $0["\(error)", default: 0] += 1 } }

    /// Sends the messages of all lives when they are due, each by its live's owner.
    private func send(_ owners: [SDKLoadViewer]) async -> (sent: Int, accepted: Int) {
        let count = self.plan.rate * self.plan.seconds
        let begin = ContinuousClock.now
        await withTaskGroup(of: Void.self) { group in
            for owner in owners {
                group.addTask {
                    for number in 1...max(1, count) {
                        try? await Task.sleep(
                            until: begin + .milliseconds(number * 1000 / self.plan.rate), clock: .continuous)
                        do {
                            try await owner.send(number)
                            self.progress.accepted.withLock { $0 += 1 }
                        } catch {
                            self.failed(error)
                        }
                    }
                }
            }
        }
        return (count * owners.count, self.progress.accepted.withLock { $0 })
    }

    private var shown: Int { self.tallies.reduce(0) { $0 + $1.counts.withLock { $0.shown } } }

    private func waitForMessages(_ expected: Int) async {
        let end = ContinuousClock.now + Self.drain
        while self.shown < expected, ContinuousClock.now < end { try? await Task.sleep(for: .milliseconds(20)) }
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
        report.p50 = Double(latencies.percentile(50)) / 1000
        report.p99 = Double(latencies.percentile(99)) / 1000
        report.max = Double(latencies.maximum) / 1000
    }

    private struct WeakClient { weak var plaza: LivePlaza? }

    /// Returns how many instances still exist after a while.
    private static func waitForRelease(_ clients: [WeakClient]) async -> Int {
        let end = ContinuousClock.now + Self.drain
        while clients.contains(where: { $0.plaza != nil }), ContinuousClock.now < end {
            try? await Task.sleep(for: .milliseconds(20))
        }
        return clients.count { $0.plaza != nil }
    }
}
