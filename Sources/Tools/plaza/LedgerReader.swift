// SPDX-License-Identifier: Apache-2.0
import ClusterKit
import Concurrency
import LoadKit

/// Reads the ledger's counters from the processes that keep them.
actor LedgerReader {
    /// The processes that keep the ledger, with their ops ports.
    private let sources: [(name: String, program: ServerLedger.Program, port: Int)]
    private var ledger = ServerLedger()

    init(_ access: ClusterAccess) {
        self.sources = access.opsPorts.compactMap { process in
            ServerLedger.Program(rawValue: process.kind).map { (process.name, $0, process.port) }
        }
    }

    /// Reads the counters of all processes once; the first reading is the start of the totals.
    func read() async {
        let sources = self.sources
        guard !sources.isEmpty else { return }
        let answers: [(name: String, program: ServerLedger.Program, metrics: String?)] = await runOnDedicatedThread(
            "ledger"
        ) {
            sources.map { ($0.name, $0.program, HealthProbe.metrics(port: $0.port)) }
        }
        self.ledger.addRound(answers)
    }

    /// Reads the counters each second until the task is cancelled.
    ///
    /// When a process dies, only its counts since the last reading are lost.
    func readEachSecond() async {
        while (try? await Task.sleep(for: .seconds(1))) != nil { await self.read() }
    }

    /// Waits until the gateways have updated their metrics, then reads the counters for the last time.
    func readAtEnd() async {
        try? await Task.sleep(for: .milliseconds(500))
        await self.read()
    }

    /// The totals since the first reading.
    var totals: ServerLedger.Totals { self.ledger.totals }
}
