// SPDX-License-Identifier: Apache-2.0
internal import ClusterKit
package import LoadKit

/// A change of the number of instances of a service, and what was seen under a steady load meanwhile.
///
/// In a test of gateways, one change keeps the number, and only compares what all gateways send.
package struct ScaleChange: Sendable, Encodable {
    /// The number of instances before.
    package var from: Int
    /// The number of instances afterwards.
    package var to: Int
    /// The longest time in which a viewer of a feed received nothing, in milliseconds.
    package var pauseMilliseconds = 0.0
    /// The acknowledged messages that a viewer did not receive, summed over all viewers.
    package var lost = 0
    /// The messages that a viewer received again, summed over all viewers.
    package var repeated = 0
    /// The messages that a viewer received after later ones, summed over all viewers.
    package var reordered = 0
    /// The messages that arrived with a number other than the one in their reply.
    package var misplaced = 0
    /// How often two viewers of a live received different messages under one number.
    package var orderConflicts = 0
    /// The number of messages that viewers of one live have compared.
    package var comparedMessages = 0
    /// The number of gateways to which the viewers that compared messages were connected.
    package var comparedGateways = 0
    /// How often a viewer was said to have left, although none did.
    package var falseLeaves = 0
    /// How the partitions are spread afterwards, for each machine of the service.
    package var spreads: [PartitionSpread] = []
    /// The partitions that moved, for each instance that was added and each machine of the service.
    package var moves: [PartitionMoves] = []
    /// The other faults, such as rejected calls.
    package var findings: [ScaleFinding] = []

    package init(from: Int, to: Int) {
        self.from = from
        self.to = to
    }

    /// Adds the figures of the messages that were sent meanwhile.
    package mutating func add(_ load: LoadReport) {
        self.pauseMilliseconds = max(self.pauseMilliseconds, load.longestViewerPauseMilliseconds)
        self.lost += load.missing
        self.repeated += load.repeated
        self.reordered += load.reordered
        self.misplaced += load.numberMismatches
        self.orderConflicts += load.orderConflicts
        self.comparedMessages += load.comparedMessages
        self.comparedGateways = load.comparedGateways
        self.falseLeaves += load.unexpectedLeaveTips
        self.findings += load.failures.map { ScaleFinding(.answers, $0) }
        var rejected = load.refused
        if load.dropped > 0 { rejected["dropped by the budget"] = load.dropped }
        if load.unanswered > 0 { rejected["no answer"] = load.unanswered }
        self.findings += Self.rejections(rejected, of: "messages")
    }

    /// Adds a finding for each promise that the change should have tested but could not test.
    ///
    /// - Parameters:
    ///   - load: the kind of work.
    ///   - isCovered: whether messages were sent until the change was complete.
    package mutating func requireEvidence(of load: ScaleLoad, isCovered: Bool) {
        if !isCovered {
            self.findings.append(
                ScaleFinding(.pause, "the messages ended before the change was complete, so a pause may be missed"))
        }
        if load.service != .gateway {
            if self.spreads.isEmpty {
                self.findings.append(ScaleFinding(.spread, "no instance names its partitions"))
            }
        } else if self.from == self.to, self.to > 1 {
            if self.comparedGateways < self.to {
                self.findings.append(
                    ScaleFinding(
                        .oneOrder, "the viewers of a live were on \(self.comparedGateways) gateways, not \(self.to)"))
            }
            if self.comparedMessages == 0 {
                self.findings.append(ScaleFinding(.oneOrder, "no viewers compared what they received"))
            }
        }
    }

    /// Makes a finding for each reason for which calls were rejected.
    ///
    /// `counts` has the number of rejected calls by reason; `calls` says what was called, such as `messages`.
    static func rejections(_ counts: [String: Int], of calls: String) -> [ScaleFinding] {
        counts.sorted { $0.key < $1.key }.map { reason, count in
            ScaleFinding(.answers, "\(count) \(calls) were rejected (\(reason))")
        }
    }

    /// The numbers of instances in words, such as `2 → 4`, or `4` when the number did not change.
    package var instancesText: String { self.from == self.to ? "\(self.to)" : "\(self.from) → \(self.to)" }

    /// Whether instances were added.
    package var isAddition: Bool { self.to > self.from }

    /// All faults, in the order of the promises.
    package var allFindings: [ScaleFinding] {
        var all = self.findings
        func require(_ isKept: Bool, _ promise: ScalePromise, _ fault: String) {
            if !isKept { all.append(ScaleFinding(promise, fault)) }
        }
        require(self.lost == 0, .loss, "\(self.lost) acknowledged messages were lost")
        require(self.repeated == 0, .repetition, "\(self.repeated) messages came twice")
        require(self.reordered == 0, .order, "\(self.reordered) messages came out of order")
        require(
            self.misplaced == 0, .order, "\(self.misplaced) messages came under another number than their reply named")
        require(
            self.orderConflicts == 0, .oneOrder,
            "\(self.orderConflicts) times two viewers of a live got different messages under one number")
        require(self.falseLeaves == 0, .presence, "\(self.falseLeaves) times a viewer was said to have left")
        all += self.spreads.flatMap(\.faults).map { ScaleFinding(.spread, $0) }
        all += self.moves.compactMap(\.fault).map { ScaleFinding(.stickiness, $0) }
        let isQuick = !self.isAddition || self.pauseMilliseconds <= ScalePromise.maxPauseMilliseconds
        require(
            isQuick, .pause,
            "a feed paused for \(Int(self.pauseMilliseconds)) ms while instances were added, more than "
                + "\(Int(ScalePromise.maxPauseMilliseconds)) ms")
        return ScalePromise.allCases.flatMap { promise in all.filter { $0.promise == promise } }
    }
}
