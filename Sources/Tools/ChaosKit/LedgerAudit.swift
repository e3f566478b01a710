// SPDX-License-Identifier: Apache-2.0
internal import ClusterKit
internal import Concurrency
internal import LoadKit

/// Checks the servers' own ledgers after a round (I10): counters that must add up, such as
/// published = admitted + refused + dropped.
///
/// A process that was killed counts from 0 again, on both sides of the equation. So its ledger must balance after a
/// kill too. A ledger may be unbalanced only for the moment in which the process counts.
enum LedgerAudit {
    /// How long a ledger may stay unbalanced.
    private static let limit = Duration.seconds(10)

    /// Reads the ledger of each process until it is balanced.
    ///
    /// - Returns: a sentence for each process whose ledger stayed unbalanced, or could not be read, for 10 s.
    static func findings(in cluster: LocalCluster) async -> [String] {
        var findings: [String] = []
        for process in cluster.processes {
            guard let program = ServerLedger.Program(rawValue: process.kind), let port = process.opsPort else {
                continue
            }
            let deadline = ContinuousClock.now + Self.limit
            var imbalance: String?
            repeat {
                let metrics = await runOnDedicatedThread("ledger-audit") { HealthProbe.metrics(port: port) }
                imbalance = metrics.map { program.imbalance(of: $0) } ?? "its metrics could not be read"
                if imbalance == nil { break }
                try? await Task.sleep(for: .milliseconds(250))
            } while ContinuousClock.now < deadline
            if let imbalance { findings.append("I10: the ledger of \(process.name) is uneven: \(imbalance)") }
        }
        return findings
    }
}
