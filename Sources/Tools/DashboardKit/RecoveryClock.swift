// SPDX-License-Identifier: Apache-2.0

/// Measures how long each process takes from its end until it is ready again.
package struct RecoveryClock: Sendable {
    /// One end of a process.
    package struct Entry: Sendable, Equatable, Encodable {
        /// The name of the process.
        package var name: String
        /// Whether the dashboard killed the process; false if the process ended for another reason.
        package var isKill: Bool
        /// When the process ended or its end was noticed, in milliseconds since the dashboard began.
        package var endedAt: Int
        /// When the process was ready again; nil until then.
        package var readyAt: Int?

        /// Makes an entry.
        package init(name: String, isKill: Bool, endedAt: Int, readyAt: Int?) {
            self.name = name
            self.isKill = isKill
            self.endedAt = endedAt
            self.readyAt = readyAt
        }
    }

    /// The maximum number of stored entries.
    private static let capacity = 20

    /// The last entries, newest last.
    package private(set) var entries: [Entry] = []
    /// The last known pid of each process, by its name.
    private var pids: [String: Int32] = [:]
    /// The pid that ended, for each process that has ended and has not been ready again since then.
    private var endedPIDs: [String: Int32] = [:]

    /// Creates a clock without entries.
    package init() {}

    /// Whether a process has ended and has not been ready again since then.
    package var isMeasuring: Bool { !self.endedPIDs.isEmpty }

    /// Begins to measure because the dashboard has killed a process.
    package mutating func processKilled(_ name: String, pid: Int32, at time: Int) {
        guard self.endedPIDs[name] == nil else { return }
        self.beginEntry(name, pid: pid, isKill: true, at: time)
    }

    /// Compares the processes with those of the last call, to find those that have ended or have become ready.
    package mutating func observe(_ readings: [ProcessReading], at time: Int) {
        for reading in readings {
            let previousPID = self.pids[reading.name]
            if let previousPID, previousPID != reading.pid, self.endedPIDs[reading.name] == nil {
                self.beginEntry(reading.name, pid: previousPID, isKill: false, at: time)
            }
            if let pid = reading.pid { self.pids[reading.name] = pid }
            // Just after a kill, a reading may still show the killed process's pid and readiness. Therefore the process
            // is ready again only with a new pid.
            guard let endedPID = self.endedPIDs[reading.name], reading.isReady, reading.pid != nil,
                reading.pid != endedPID
            else { continue }
            self.endedPIDs[reading.name] = nil
            if let index = self.entries.lastIndex(where: { $0.name == reading.name }) {
                self.entries[index].readyAt = time
            }
        }
    }

    /// Adds an entry for a process that has ended.
    private mutating func beginEntry(_ name: String, pid: Int32, isKill: Bool, at time: Int) {
        self.endedPIDs[name] = pid
        self.entries.append(Entry(name: name, isKill: isKill, endedAt: time, readyAt: nil))
        if self.entries.count > Self.capacity { self.entries.removeFirst() }
    }
}
