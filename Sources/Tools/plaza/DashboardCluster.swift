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

    /// Reads states and metrics of all processes each second; while a process recovers, also the states ten times a
    /// second.
    func pollUntilCancelled() async {
        var nextRoundAt = self.elapsedMilliseconds
        while !Task.isCancelled {
            let isRoundDue = self.elapsedMilliseconds >= nextRoundAt
            let readings = await self.readings(withMetrics: isRoundDue)
            let time = self.elapsedMilliseconds
            self.model.withLock { model in
                isRoundDue ? model.addRound(readings, at: time) : model.updateStates(readings, at: time)
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
    func kill(_ name: String) -> Bool {
        // The pid that the page showed may belong to another program by now. So the pid is read again, and the process
        // must be a child of the cluster's supervisor.
        guard let state = try? ClusterState.read(runDirectory: self.access.runDirectory),
            let pid = state.processes.first(where: { $0.name == name })?.pid,
            Self.parent(of: pid) == state.supervisor
        else { return false }
        let time = self.elapsedMilliseconds
        guard Foundation.kill(pid, SIGKILL) == 0 else { return false }
        self.model.withLock { $0.processKilled(name, pid: pid, at: time) }
        Subcommands.printLine("\(name) (pid \(pid)) was killed by the page")
        return true
    }

    /// Reads a path of the gateways' HTTP API, with a token of the app's server.
    ///
    /// - Returns: the answer of the first gateway that answers; nil when none does.
    func readFromGateway(_ path: String) async -> HealthProbe.Answer? {
        let token = self.access.token("dashboard", isServer: true)
        for gateway in self.access.http {
            let answer = await HealthProbe.httpAnswer(
                host: gateway.host, port: Int(gateway.port), path: path, bearerToken: token)
            if let answer { return answer }
        }
        return nil
    }

    private func readings(withMetrics: Bool) async -> [ProcessReading] {
        // A process that has ended and is not started again yet is in the state, too, without a pid.
        guard let state = try? await ClusterState.read(runDirectory: self.access.runDirectory).checkingReadiness()
        else { return [] }
        return await runOnDedicatedThread("dashboard") {
            state.processes.map { process in
                let page = process.opsPort.flatMap { withMetrics ? HealthProbe.metrics(port: $0) : nil }
                return ProcessReading(
                    name: process.name, kind: process.kind, pid: process.pid, isReady: process.ready,
                    problem: process.problem, restarts: process.restarts, lastEnd: process.lastExitDescription,
                    metrics: page.map { MetricsTable(MetricsPage($0)) })
            }
        }
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
