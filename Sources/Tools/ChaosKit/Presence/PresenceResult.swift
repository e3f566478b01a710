// SPDX-License-Identifier: Apache-2.0
internal import MachineKit

/// What a run decided about joins, leaves and silent viewers (I4).
package struct PresenceResult: Hashable, Sendable, Codable {
    /// The seed of the run.
    package var seed: UInt64 = 0
    /// The number of joins about which it was decided whether they showed in time.
    package var joins = 0
    /// The same number for leaves by `live.leave`.
    package var leaves = 0
    /// The same number for leaves of viewers who fell silent.
    package var silences = 0
    /// The number of viewers who left without a tip, which is allowed when Redis may have lost the leases.
    package var vanished = 0
    /// The number of viewers about whose leave nothing was decided: the run ended before it was due, or the watcher may
    /// have missed it.
    package var undecided = 0
    /// The shortest time from a silent viewer's last sign of life until its leave showed, in milliseconds; nil if no
    /// leave of a silent viewer showed.
    package var shortestSilence: Int64?
    /// The longest such time.
    package var longestSilence: Int64?
    /// The broken promises, one sentence each; empty if every promise held.
    package var findings: [String] = []
    /// The events that show each finding.
    package var evidence: [Evidence] = []

    package init() {}

    /// Adds what was decided about one visit to the counts.
    mutating func addCounts(of visitCheck: PresenceChecker.VisitCheck) {
        if visitCheck.isJoinDecided { self.joins += 1 }
        let isSilence = visitCheck.visit.ending != .leave
        if visitCheck.hasVanished {
            self.vanished += 1
        } else if !visitCheck.isLeaveDecided {
            self.undecided += 1
        } else if isSilence {
            self.silences += 1
        } else {
            self.leaves += 1
        }
        guard isSilence, let delay = visitCheck.leaveDelay?.count else { return }
        self.shortestSilence = min(self.shortestSilence ?? delay, delay)
        self.longestSilence = max(self.longestSilence ?? delay, delay)
    }

    /// What was decided, and the findings with their events, as a report prints them.
    var lines: [String] {
        var summary =
            "I4 in the run of seed \(self.seed): \(self.joins) joins, \(self.leaves) leaves and "
            + "\(self.silences) silences of viewers decided"
        if let shortest = self.shortestSilence, let longest = self.longestSilence {
            summary +=
                " (their leaves showed \(Milliseconds(shortest).inSeconds) to \(Milliseconds(longest).inSeconds) s "
                + "after their last sign of life)"
        }
        if self.vanished > 0 { summary += ", \(self.vanished) gone without a tip when Redis was lost" }
        if self.undecided > 0 { summary += ", \(self.undecided) not due or not seen before the end" }
        summary += self.findings.isEmpty ? ": held" : ": BROKEN: \(self.findings.joined(separator: "; "))"
        return [summary]
            + self.findings.flatMap { finding in
                ["    \(finding)"]
                    + (self.evidence.first { $0.finding == finding }?.lines ?? []).map { "        \($0)" }
            }
    }

    /// Adds a broken promise with the events that show it.
    mutating func add(_ finding: Finding, _ events: [Evidence.Event]) {
        self.findings.append(finding.description)
        self.evidence.append(Evidence(finding: finding.description, events: events, isShortest: true))
    }
}

extension Milliseconds {
    /// The time in seconds with one decimal, rounded down.
    var inSeconds: String { "\(self.count / 1000).\(self.count / 100 % 10)" }
}
