// SPDX-License-Identifier: Apache-2.0
internal import ClusterKit

/// The result of one round.
package struct RoundResult: Hashable, Sendable, Codable {
    /// The seed of the run; `seed`, `only` and `number` together determine the round.
    package var seed: UInt64
    /// The text that the kind of each fault had to contain; nil if all kinds were allowed.
    package var only: String?
    /// The number of the round.
    package var number: Int
    /// The number of brokers; nil if the broker was in memory, in a compose cluster, and in an older report.
    ///
    /// It decides which faults are possible, so only the same number repeats a round.
    package var brokers: Int?
    /// The number of instances of each service, which also decides which faults are possible; nil in a compose cluster
    /// and in an older report.
    package var instances: Int?
    /// The description of the fault.
    package var fault: String
    /// The kind of the fault, by which reports are grouped.
    package var kind: String
    /// The directory of Kafka; nil if the broker was in memory, or in an older report.
    package var kafkaHome: String?
    /// The file of libfaketime, or `none` if no clock could be set wrong; nil in an older report.
    package var faketime: String?
    /// The compose project whose containers had the fault; nil if the run started a cluster of its own.
    package var composeProject: String?
    /// The longest time in which no viewer of a live received anything while messages were due, in milliseconds.
    package var longestPause: Double
    /// The longest time in which one viewer received nothing while messages were due, in milliseconds; nil in an older
    /// report.
    package var longestViewerPause: Double?
    /// The longest time that a call of the workload took, repeated until it had a valid answer, in milliseconds; nil in
    /// an older report.
    package var longestAnswer: Double?
    /// The number of acknowledged messages of the load.
    package var admitted: Int
    /// The numbers of messages that were not acknowledged, by reason.
    package var refused: [String: Int]
    /// The number of feed items that a viewer of the load did not receive, summed over all its viewers.
    package var missing: Int
    /// The same sum for items that a viewer received more than once.
    package var repeated: Int
    /// The same sum for items that a viewer received after a later item.
    package var reordered: Int
    /// The number of false leave tips: feed items which say that a viewer left, although it had not.
    package var falseLeaves: Int
    /// The number of battles that began.
    package var battles: Int
    /// The number of seat applications and co-host requests.
    package var requests: Int
    /// The numbers of other steps of the workload by kind, such as `likes`; nil in an older report.
    package var workload: [String: Int]?
    /// The longest delay with which the machine woke this process, in milliseconds; nil if it was not measured.
    ///
    /// Above a second, the machine was short of processor time, and the pauses say nothing about the cluster.
    package var machineLag: Double?
    /// Why the fault was not injected; nil if it was.
    ///
    /// The table contains neither the times nor the counts of a round without its fault.
    package var invalid: String?
    /// The broken promises, one sentence each; empty if every promise held.
    package var findings: [String]
    /// Excerpts of the round's history that show findings; nil if there are none, and in an older report.
    package var evidence: [Evidence]?

    /// The options with which `plaza chaos` runs the round again, in the syntax of a shell.
    ///
    /// The options name everything that decides which faults are possible. The possible faults, the seed and the number
    /// decide which fault the round draws.
    package var options: String {
        var options = "--seed \(self.seed)"
        if let only = self.only { options += " --only \(Self.quoted(only))" }
        options += " --round \(self.number)"
        if let brokers = self.brokers { options += " --brokers \(brokers)" }
        if let instances = self.instances { options += " --instances \(instances)" }
        if let project = self.composeProject { options += " --compose \(Self.quoted(project))" }
        if let kafkaHome = self.kafkaHome { options += " --kafka-home \(Self.quoted(kafkaHome))" }
        if let faketime = self.faketime { options += " --faketime \(Self.quoted(faketime))" }
        return options
    }

    /// The title of the row of the report's table in which the round counts: the kind of its fault.
    ///
    /// A fault of one of several brokers has a row of its own, apart from the same fault of the only broker.
    var row: String {
        guard self.kind.hasSuffix("broker"), let brokers = self.brokers, brokers > 1 else { return self.kind }
        return "\(self.kind) (one of \(brokers))"
    }

    /// Whether the broker was in memory: it writes effects at least once (docs/SETTINGS.md, `--kafka-mode`).
    ///
    /// After a kill or a stop of a service, such a broker may repeat an effect although the service has no bug.
    var hadBrokerInMemory: Bool { self.instances != nil && self.kafkaHome == nil && self.composeProject == nil }

    /// Stores the facts about the cluster that the property `options` names, so that the round can run again.
    mutating func setReplay(_ options: ClusterOptions, clockLibrary: String?) {
        if case .kafkaHome(let home, let count) = options.broker { (self.kafkaHome, self.brokers) = (home, count) }
        self.instances = ServiceKind.allCases.map { options.instances(of: $0) }.max()
        self.faketime = clockLibrary ?? ChaosOptions.noClock
    }

    /// The number of messages that were not acknowledged.
    var refusedCount: Int { self.refused.values.reduce(0, +) }

    /// The numbers of messages that were not acknowledged, by reason, as a run prints them.
    var refusedText: String {
        let parts = self.refused.map { "\($0.value) × \($0.key)" }.sorted()
        return parts.isEmpty ? "none" : parts.joined(separator: ", ")
    }

    /// A word as a shell reads it.
    private static func quoted(_ word: String) -> String {
        "'\(word.replacing("'", with: #"'\''"#))'"
    }

    /// Whether the fault was injected, and every promise was kept.
    package var isPassed: Bool { self.invalid == nil && self.findings.isEmpty }

    /// The verdict, as a run prints it.
    var verdict: String {
        let verdict = self.findings.isEmpty ? "held" : "BROKEN: \(self.findings.joined(separator: "; "))"
        guard let reason = self.invalid else { return verdict }
        return self.findings.isEmpty ? "not counted: \(reason)" : "not counted: \(reason); \(verdict)"
    }

    package init(
        seed: UInt64, only: String?, number: Int, fault: String, kind: String, longestPause: Double, admitted: Int,
        refused: [String: Int], missing: Int, repeated: Int, reordered: Int, falseLeaves: Int, battles: Int,
        requests: Int, findings: [String]
    ) {
        (self.seed, self.only, self.number) = (seed, only, number)
        (self.fault, self.kind) = (fault, kind)
        (self.longestPause, self.admitted, self.refused) = (longestPause, admitted, refused)
        (self.missing, self.repeated, self.reordered) = (missing, repeated, reordered)
        self.falseLeaves = falseLeaves
        (self.battles, self.requests) = (battles, requests)
        self.findings = findings
    }
}
