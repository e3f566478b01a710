// SPDX-License-Identifier: Apache-2.0

/// How long processes take from their end until their successors are ready.
package struct RecoveryClock: Sendable {
    /// One end of a process.
    package struct Entry: Sendable, Equatable, Encodable {
        /// The process.
        package var name: String
        /// Whether the dashboard killed it; false if it ended for another reason.
        package var isKill: Bool
        /// When it ended or its end was noticed, in milliseconds since the dashboard began.
        package var endedAt: Int
        /// When its successor was ready; nil until then.
        package var readyAt: Int?

        /// Makes an entry.
        package init(name: String, isKill: Bool, endedAt: Int, readyAt: Int?) {
            self.name = name
            self.isKill = isKill
            self.endedAt = endedAt
            self.readyAt = readyAt
        }
    }

    /// How many entries are kept.
    private static let capacity = 20

    /// The last entries, newest last.
    package private(set) var entries: [Entry] = []
    private var pids: [String: Int32] = [:]
    /// The processes that have ended and whose successor is not ready yet, with the pid that ended.
    private var away: [String: Int32?] = [:]

    /// Creates a clock without entries.
    package init() {}

    /// Whether a process has ended and its successor is not ready yet.
    package var isRunning: Bool { !self.away.isEmpty }

    /// Begins to measure because the dashboard has killed a process.
    package mutating func killed(_ name: String, pid: Int32, at time: Int) {
        guard self.away[name] == nil else { return }
        self.begin(name, pid: pid, isKill: true, at: time)
    }

    /// Compares the processes with those of the last call, to find those that have ended or have become ready.
    package mutating func observe(_ readings: [ProcessReading], at time: Int) {
        for reading in readings {
            let before = self.pids[reading.name]
            if let before, before != reading.pid, self.away[reading.name] == nil {
                self.begin(reading.name, pid: before, isKill: false, at: time)
            }
            if let pid = reading.pid { self.pids[reading.name] = pid }
            // The state may still name the process that was killed, with its last readiness; a successor has another
            // pid.
            guard let ended = self.away[reading.name], reading.isReady, reading.pid != nil, reading.pid != ended else {
                continue
            }
            self.away[reading.name] = nil
            if let index = self.entries.lastIndex(where: { $0.name == reading.name }) {
                self.entries[index].readyAt = time
            }
        }
    }

    private mutating func begin(_ name: String, pid: Int32, isKill: Bool, at time: Int) {
        self.away[name] = .some(pid)
        self.entries.append(Entry(name: name, isKill: isKill, endedAt: time, readyAt: nil))
        if self.entries.count > Self.capacity { self.entries.removeFirst() }
    }
}
