// SPDX-License-Identifier: Apache-2.0
import ClusterKit
import Concurrency
import DashboardKit
import Foundation
import LoadKit
import ProtocolClient

/// The cluster that the dashboard shows: reads its processes at intervals, and kills one on request.
final class DashboardCluster: Sendable {
    private let access: ClusterAccess
    private let startedAt = ContinuousClock.now
    private let model = Locked(DashboardModel())

    init(_ access: ClusterAccess) { self.access = access }

    /// Milliseconds since the dashboard began.
    private var elapsedMilliseconds: Int {
        // A millisecond has 10^15 attoseconds.
        let elapsed = (ContinuousClock.now - self.startedAt).components
        return Int(elapsed.seconds) * 1000 + Int(elapsed.attoseconds / 1_000_000_000_000_000)
    }

    /// Reads states and metrics of all processes each second; while a process recovers, reads the states ten times a
    /// second.
    func pollUntilCancelled() async {
        var nextRoundAt = self.elapsedMilliseconds
        while !Task.isCancelled {
            let isRoundDue = self.elapsedMilliseconds >= nextRoundAt
            let (readings, partitionCount) = await self.readings(withMetrics: isRoundDue)
            let time = self.elapsedMilliseconds
            self.model.withLock { model in
                if isRoundDue {
                    model.addRound(readings, partitionCount: partitionCount, at: time)
                } else {
                    model.updateStates(readings, at: time)
                }
            }
            if isRoundDue { nextRoundAt = max(nextRoundAt + 1000, time) }
            // If a round takes longer than a second, the next round begins after 50 ms.
            let untilNextRound = max(50, nextRoundAt - self.elapsedMilliseconds)
            let pause = self.model.withLock { $0.isRecovering } ? 100 : untilNextRound
            try? await Task.sleep(for: .milliseconds(pause))
        }
    }

    /// The report as JSON, with the samples whose number is at least `number`.
    func report(from number: Int) -> [UInt8] {
        let report = self.model.withLock { $0.report(from: number, at: self.elapsedMilliseconds) }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(report)).map { [UInt8]($0) } ?? []
    }

    /// Kills a process with SIGKILL.
    ///
    /// - Returns: false if the cluster has no such process, or it is down.
    func kill(_ name: String) async -> Bool {
        guard let process = self.process(name) else { return false }
        // What the process counts after the last reading of its metrics is lost. Therefore its metrics are read just
        // before the kill.
        let readAt = self.elapsedMilliseconds
        let page = await runOnDedicatedThread("dashboard") { process.opsPort.flatMap { HealthProbe.metrics(port: $0) } }
        let metrics = page.map { (table: MetricsTable(MetricsPage($0)), at: readAt) }
        // The process may have ended meanwhile, and its pid may belong to another program.
        guard let pid = process.pid, self.process(name)?.pid == pid else { return false }
        let time = self.elapsedMilliseconds
        guard Foundation.kill(pid, SIGKILL) == 0 else { return false }
        self.model.withLock { $0.processKilled(name, pid: pid, lastMetrics: metrics, at: time) }
        Subcommands.printLine("\(name) (pid \(pid)) was killed by the page")
        return true
    }

    /// Reads a path of the gateways' HTTP API, with a token of the app's server.
    ///
    /// - Returns: the response of the first gateway that responds; nil when none does.
    func readFromGateway(_ path: String) async -> HealthProbe.Response? {
        let token = self.access.token("dashboard", isServer: true)
        for gateway in self.access.http {
            let response = await HealthProbe.httpResponse(
                host: gateway.host, port: Int(gateway.port), path: path, bearerToken: token)
            if let response { return response }
        }
        return nil
    }

    /// A process that runs as a child of the cluster's supervisor; nil if there is none of this name.
    private func process(_ name: String) -> ClusterState.Process? {
        // The pid in the state may belong to another program, if the process has just ended.
        guard let state = try? ClusterState.read(runDirectory: self.access.runDirectory),
            let process = state.processes.first(where: { $0.name == name }), let pid = process.pid,
            Self.parent(of: pid) == state.supervisor
        else { return nil }
        return process
    }

    /// Reads all processes, and the number of partitions of each topic; empty and 0 if no cluster runs.
    private func readings(withMetrics: Bool) async -> (readings: [ProcessReading], partitionCount: Int) {
        // The state also lists processes that have ended and have not been started again. Such a process has no pid.
        guard let state = try? await ClusterState.read(runDirectory: self.access.runDirectory).checkingReadiness()
        else { return ([], 0) }
        let readings = await runOnDedicatedThread("dashboard") {
            state.processes.map { process in
                let readAt = self.elapsedMilliseconds
                let page = process.opsPort.flatMap { withMetrics ? HealthProbe.metrics(port: $0) : nil }
                return ProcessReading(
                    name: process.name, kind: process.kind, pid: process.pid, isReady: process.ready,
                    problem: process.problem, restarts: process.restarts, lastEnd: process.lastExitDescription,
                    metrics: page.map { MetricsTable(MetricsPage($0)) }, metricsReadAt: readAt)
            }
        }
        return (readings, state.partitions)
    }

    /// The pid of a process's parent; nil if there is no such process.
    private static func parent(of pid: Int32) -> Int32? {
        guard let data = FileManager.default.contents(atPath: "/proc/\(pid)/stat") else { return nil }
        let text = String(decoding: data, as: UTF8.self)
        // The program's name, in parentheses, may contain blanks and parentheses. The state and the parent's pid follow
        // it.
        guard let end = text.lastIndex(of: ")") else { return nil }
        let fields = text[text.index(after: end)...].split(separator: " ")
        return fields.count > 1 ? Int32(fields[1]) : nil
    }
}
