// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel
internal import ProtocolClient

extension LoadRun {
    /// The results of the run so far.
    func report() -> LoadReport {
        var expected = 0
        var delivered = 0
        var missing = 0
        var repeated = 0
        var reordered = 0
        var reconnects = 0
        for viewer in self.viewerOfConnection.values where viewer.hasEntered {
            let tracker = viewer.connection.tracker
            let received = tracker.received - viewer.receivedBeforeSending
            delivered += received
            expected += received + viewer.missing
            missing += viewer.missing
            repeated += tracker.repeated
            reordered += tracker.reordered
            reconnects += viewer.connection.reconnectCount
        }
        var refused: [String: Int] = [:]
        for live in self.lives { refused.merge(live.refused) { $0 + $1 } }
        let latency = LoadReport.Latency(self.latencies.deliveries)
        // The connections' trackers count items that were received twice under the same number, and `appliedTwiceCount`
        // messages that were received twice under different numbers. Both are repeats.
        let appliedTwiceCount = self.lives.reduce(0) { $0 + $1.appliedTwiceCount }
        var report = LoadReport(
            lives: self.plan.lives, viewers: self.plan.viewers, rate: self.plan.rate, size: self.plan.size,
            seconds: self.plan.seconds, p50: latency.p50, p90: latency.p90, p99: latency.p99, p999: latency.p999,
            max: latency.max, p99BySecond: self.latencies.p99BySecond,
            acknowledgement: .init(self.latencies.acknowledgements), expected: expected, delivered: delivered,
            missing: missing, repeated: repeated + appliedTwiceCount, reordered: reordered,
            published: self.sentMessages,
            admitted: self.lives.reduce(0) { $0 + $1.admitted }, refused: refused,
            dropped: self.lives.reduce(0) { $0 + $1.dropped },
            unanswered: self.lives.reduce(0) { $0 + $1.openCalls.count },
            numberMismatches: self.lives.reduce(0) { $0 + $1.numberMismatches.count }, reconnects: reconnects,
            unexpectedLeaveTips: self.unexpectedLeaveTips,
            longestPauseMilliseconds: Double(self.lives.map(\.pauseClock.longestMicroseconds).max() ?? 0) / 1000,
            failures: self.failures)
        report.orderConflicts = self.lives.reduce(0) { $0 + $1.order.conflictCount }
        report.comparedMessages = self.lives.reduce(0) { $0 + $1.order.comparedCount }
        report.comparedGateways = self.lives.map(\.comparedGateways).min() ?? 0
        let viewerPauses = self.viewerOfConnection.values.map(\.pauseClock.longestMicroseconds)
        report.longestViewerPauseMilliseconds = Double(viewerPauses.max() ?? 0) / 1000
        report.incidents = self.firstIncidents
        if let failure = report.nothingAdmittedFailure { report.failures.append(failure) }
        return report
    }

    /// The first incidents of each kind, including those that are found only at the end of the run.
    private var firstIncidents: [LoadIncident] {
        var incidents = self.incidents
        for live in self.lives {
            for (sequence, acknowledged, received) in live.numberMismatches {
                incidents.add(
                    .misplaced, "viewer 0", in: live.id,
                    "got message \(sequence) as item \(received), and its reply said item \(acknowledged)")
            }
            for viewer in live.viewers where viewer.hasEntered {
                let last = viewer.connection.tracker.position?.number ?? 0
                guard max(last, viewer.numberBeforeSending) < live.highestAcknowledged else { continue }
                incidents.add(
                    .missing, viewer.name, in: live.id,
                    "got item \(last) last, and item \(live.highestAcknowledged) was acknowledged")
            }
        }
        return incidents.firstOfEachKind
    }
}
