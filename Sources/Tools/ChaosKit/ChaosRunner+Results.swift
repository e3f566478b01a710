// SPDX-License-Identifier: Apache-2.0
internal import LoadKit

/// Makes the result of a round.
extension ChaosRunner {
    /// How many failures of the load become a finding each; further failures are only counted.
    private static let maxShownFailures = 3

    /// The numbers of messages of the load that were not admitted, by reason.
    private static func refusedCounts(_ load: LoadReport) -> [String: Int] {
        var refused = load.refused
        if load.dropped > 0 { refused["dropped by the budget"] = load.dropped }
        if load.unanswered > 0 { refused["no answer"] = load.unanswered }
        return refused
    }

    /// Makes the result of a round from the results of the load and the clients' histories.
    static func makeResult(
        _ round: ChaosRound, _ plan: ChaosPlan, _ load: LoadReport, _ history: RoundHistory
    ) -> RoundResult {
        var findings = HistoryChecker.findings(in: history).map(\.description)
        // A load that cannot begin has one failure for each viewer, so only the first ones are shown.
        findings += load.failures.prefix(Self.maxShownFailures).map { "load: \($0)" }
        if load.failures.count > Self.maxShownFailures {
            findings.append("load: \(load.failures.count - Self.maxShownFailures) failures more")
        }
        // This failure is the last one of the load, so `prefix` above may have left it out.
        if let failure = load.nothingAdmittedFailure, !findings.contains("load: \(failure)") {
            findings.append("load: \(failure)")
        }
        var evidence = HistoryReducer.evidence(of: history)
        for (count, kind, promise) in [
            (load.missing, LoadIncident.Kind.missing, "I8: acknowledged messages were lost"),
            (load.repeated, .repeated, "I15: messages were received twice"),
            (load.reordered, .reordered, "I7: messages were received out of order"),
            (load.numberMismatches, .misplaced, "I7: messages came under another number than their reply named"),
            (load.unexpectedLeaveTips, .leaveTip, "I5: viewers were said to have left"),
        ] where count > 0 {
            findings.append("\(promise) (\(count))")
            evidence.append(Evidence(finding: "\(promise) (\(count))", load.incidents.filter { $0.kind == kind }))
        }
        if load.orderConflicts > 0 {
            findings.append("I7: viewers of a live got different messages under one number (\(load.orderConflicts))")
        }
        for (subject, pause, limit) in [
            ("a feed paused", load.longestPauseMilliseconds, round.limits.pause),
            ("a viewer got nothing", load.longestViewerPauseMilliseconds, round.limits.viewerPause),
        ] where pause > limit / .milliseconds(1) {
            findings.append(
                "recovery: \(subject) for \(Int(pause)) ms, more than \(Int(limit / .milliseconds(1)))")
        }
        var result = RoundResult(
            seed: plan.seed, only: plan.only, number: round.number, fault: round.fault.description,
            kind: round.fault.kind,
            longestPause: load.longestPauseMilliseconds, admitted: load.admitted, refused: Self.refusedCounts(load),
            missing: load.missing,
            repeated: load.repeated, reordered: load.reordered, falseLeaves: load.unexpectedLeaveTips,
            battles: history.battles.count, requests: history.requests.count, findings: findings)
        result.longestViewerPause = load.longestViewerPauseMilliseconds
        result.longestAnswer = history.longestAnswer / .milliseconds(1)
        result.workload = history.workloadCounts
        result.evidence = evidence.isEmpty ? nil : evidence
        return result
    }
}
