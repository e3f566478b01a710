// SPDX-License-Identifier: Apache-2.0
internal import Observability

/// The report that the dashboard sends to its page as JSON.
package struct DashboardReport: Sendable, Equatable, Encodable {
    /// A process.
    package struct Process: Sendable, Equatable, Encodable {
        package var name: String
        package var kind: String
        package var pid: Int32?
        package var isReady: Bool
        package var problem: String?
        package var restarts: Int
        package var lastEnd: String?
        /// How many partitions the process owns, by machine.
        package var partitions: [String: Double]
        /// The resident memory in bytes; nil for a process without metrics.
        package var memory: Double?
        /// The connections of a gateway; nil for other processes.
        package var connections: Double?

        init(_ reading: ProcessReading) {
            self.name = reading.name
            self.kind = reading.kind
            self.pid = reading.pid
            self.isReady = reading.isReady
            self.problem = reading.problem
            self.restarts = reading.restarts
            self.lastEnd = reading.lastEnd
            self.partitions = reading.metrics?.sums(MetricNames.Shell.partitions, by: "machine") ?? [:]
            self.memory = reading.metrics?.sum(MetricNames.Process.residentMemory)
            self.connections =
                reading.kind == "gateway" ? reading.metrics?.sum(MetricNames.Gateway.connections) : nil
        }
    }

    /// Two ledgers: published = admitted + refused + dropped counts messages, and
    /// due = delivered + shed + disconnected + owed counts their deliveries to viewers.
    ///
    /// An item is shed for a slow reader, or owed until the viewer's socket has taken it. The counts include all
    /// processes that the dashboard has seen, from the start of each process and even after its end. What a process
    /// counted between its last reading and its end is missing on both sides.
    package struct Ledger: Sendable, Equatable, Encodable {
        package var published: Double
        package var admitted: Double
        package var refused: Double
        package var dropped: Double
        package var due: Double
        package var delivered: Double
        package var shed: Double
        package var disconnected: Double
        package var owed: Double
        /// The number of published messages that were not counted as admitted, refused or dropped, or were counted
        /// twice; 0 if the ledger adds up.
        ///
        /// A gap of a process counts only if five readings in a row have it, because one reading may show counts in the
        /// middle of a change.
        package var feedGap: Double
        /// The number of due items that were not counted as delivered, shed, disconnected or owed, or were counted
        /// twice; 0 if the ledger adds up.
        package var deliveryGap: Double
        /// The differences in the last readings of processes that have ended, without those in the two gaps: either the
        /// reading was in the middle of a change, or something was lost.
        package var undecided: Double
        /// The processes with a gap, with its size.
        package var uneven: [String: Double]
        /// How many processes with a ledger have ended.
        package var ends: Int
        /// An upper bound of the time, summed over these processes, from the last reading of a process to its end.
        package var unseenMilliseconds: Int
    }

    /// The owners of a machine's partitions.
    package struct Owners: Sendable, Equatable, Encodable {
        /// The machine's name, such as `barrage`.
        package var machine: String
        /// The program that runs the machine, such as `barrage-fanout`.
        package var service: String
        /// The names of the processes that own each partition, by its number: one, or none during a takeover.
        package var partitions: [[String]]

        /// Makes the owners of a machine's partitions.
        package init(machine: String, service: String, partitions: [[String]]) {
            self.machine = machine
            self.service = service
            self.partitions = partitions
        }
    }

    /// Milliseconds since the dashboard began.
    package var now: Int
    /// The number of the next sample; the page's next request asks for samples from this number on.
    package var next: Int
    /// The samples that the page lacked, oldest first.
    package var samples: [DashboardSample]
    /// All processes of the cluster.
    package var processes: [Process]
    /// The owners of all partitions, by machine.
    package var owners: [Owners]
    /// Messages that were dropped since the dashboard began, by class and reason.
    package var drops: [String: Double]
    /// Messages that were refused since the dashboard began, by reason.
    package var refusals: [String: Double]
    /// The ledgers of all processes that the dashboard has seen.
    package var ledger: Ledger
    /// Resumes that were replayed exactly since the dashboard began.
    package var replays: Double
    /// Resumes whose client had to load a snapshot instead, since the dashboard began, by reason.
    package var replaysRefused: [String: Double]
    /// The number of dead letters written by all processes that the dashboard has seen.
    package var deadLetters: Double
    /// Records that wait to be read, by reader.
    package var lag: [String: Double]
    /// The last ends of processes with their recoveries, newest last.
    package var recoveries: [RecoveryClock.Entry]
}
