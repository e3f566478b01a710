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
    private let begun = ContinuousClock.now
    private let model = Locked(DashboardModel())

    init(_ access: ClusterAccess) { self.access = access }

    /// Milliseconds since the dashboard began.
    private var now: Int {
        let parts = (ContinuousClock.now - self.begun).components
        return Int(parts.seconds) * 1000 + Int(parts.attoseconds / 1_000_000_000_000_000)
    }

    /// Reads all processes each second; while one recovers, their states ten times a second.
    func pollUntilCancelled() async {
        var nextRound = self.now
        while !Task.isCancelled {
            let isRound = self.now >= nextRound
            let readings = await self.readings(withMetrics: isRound)
            let time = self.now
            self.model.withLock { isRound ? $0.add(readings, at: time) : $0.observe(readings, at: time) }
            if isRound { nextRound = max(nextRound + 1000, time) }
            let pause = self.model.withLock { $0.isRecovering } ? 100 : max(50, nextRound - self.now)
            try? await Task.sleep(for: .milliseconds(pause))
        }
    }

    /// The report from a sample on, as JSON.
    func report(from number: Int) -> [UInt8] {
        let report = self.model.withLock { $0.report(from: number, at: self.now) }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(report)).map { [UInt8]($0) } ?? []
    }

    /// Kills a process with SIGKILL.
    ///
    /// - Returns: false if the cluster has no such process, or it is down.
    func kill(_ name: String) -> Bool {
        // The pid is read again, because the one that the page showed may belong to another program by now.
        guard let state = try? ClusterState.read(runDirectory: self.access.runDirectory),
            let pid = state.processes.first(where: { $0.name == name })?.pid,
            Self.parent(of: pid) == state.supervisor
        else { return false }
        let time = self.now
        guard Foundation.kill(pid, SIGKILL) == 0 else { return false }
        self.model.withLock { $0.killed(name, pid: pid, at: time) }
        Subcommands.say("\(name) (pid \(pid)) was killed by the page")
        return true
    }

    /// A gateway's answer to a read of its HTTP API, in the name of the app's server.
    ///
    /// - Returns: nil when no gateway answers.
    func read(_ path: String) async -> HealthProbe.Answer? {
        let token = self.access.token("dashboard", isServer: true)
        for gateway in self.access.http {
            let answer = await HealthProbe.httpAnswer(
                host: gateway.host, port: Int(gateway.port), path: path, bearerToken: token)
            if let answer { return answer }
        }
        return nil
    }

    private func readings(withMetrics: Bool) async -> [ProcessReading] {
        // Between the end of a process and its next start the state keeps the process, without a pid.
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

    /// The parent of a process; nil if there is none.
    private static func parent(of pid: Int32) -> Int32? {
        guard let data = FileManager.default.contents(atPath: "/proc/\(pid)/stat") else { return nil }
        let text = String(decoding: data, as: UTF8.self)
        // The program's name, in parentheses, may hold blanks; the state and the parent follow it.
        guard let end = text.lastIndex(of: ")") else { return nil }
        let fields = text[text.index(after: end)...].split(separator: " ")
        return fields.count > 1 ? Int32(fields[1]) : nil
    }
}
