// SPDX-License-Identifier: Apache-2.0
import ClusterKit
import LoadKit

/// Asks the processes that keep the ledger for their counts.
actor LedgerReader {
    private let sources: [(name: String, program: ServerLedger.Program, port: Int)]
    private var ledger = ServerLedger()

    init(_ access: ClusterAccess) {
        self.sources = access.ops.compactMap { process in
            ServerLedger.Program(rawValue: process.kind).map { (process.name, $0, process.port) }
        }
    }

    /// One round; the first is the beginning.
    func read() async {
        let sources = self.sources
        guard !sources.isEmpty else { return }
        let answers = await onOwnThread("ledger") {
            sources.map { source in
                let answer = Inquiry.http(
                    host: "127.0.0.1", port: source.port, path: "/metrics", timeoutMilliseconds: 2000)
                return (
                    name: source.name, program: source.program,
                    metrics: answer.flatMap { $0.status == 200 ? $0.body : nil }
                )
            }
        }
        self.ledger.take(answers)
    }

    /// A round each second until the task is cancelled: the oftener, the less is unseen of a process that dies.
    func readEachSecond() async {
        while (try? await Task.sleep(for: .seconds(1))) != nil { await self.read() }
    }

    /// The last round, when nothing more comes: gateways put what they delivered into their metrics ten times a second.
    func readAtEnd() async {
        try? await Task.sleep(for: .milliseconds(500))
        await self.read()
    }

    /// What was counted since the first round.
    var totals: ServerLedger.Totals { self.ledger.totals }
}
