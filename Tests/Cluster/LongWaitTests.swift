// SPDX-License-Identifier: Apache-2.0
import ClusterKit
import Foundation
import LoadKit
import TestSupport
import Testing

/// Tests whose cases last minutes, and wait most of the time: processes that stand still (SIGSTOP) under load, and
/// users who are away for more than a minute.
///
/// The cases run at the same time, each in a cluster of its own; one after the other they would take eight minutes.
@Suite(.enabled(if: TestCluster.kafkaHome != nil, "needs a real Kafka: set KAFKA_HOME"))
struct LongWaitTests {
    /// How many cases run at a time; the starts of more brokers at once would keep the processors busy.
    private static let clustersAtATime = 4

    @Test(.timeLimit(.minutes(8)))
    func `I4 I8 I15 nothing is lost, and nobody leaves, while processes stand still or users are away for up to 75 s`()
        async
    {
        // The case of users who are away comes last, although it is not the shortest, so that its cluster does not
        // start together with those of the longest cases. It ends while these still run.
        await ConcurrentCase.run(
            StandstillCases.all + Self.shortStops + AwayCase.all, atMost: Self.clustersAtATime)
    }

    /// For each of two services, one of its two instances stands still for 8 s, so that the other takes over.
    private static let shortStops = [ServiceKind.barrageFanout, .audiencePresence].map { kind in
        ConcurrentCase("\(kind.rawValue) stands still for 8 s: nothing is lost or repeated, and no leave is reported") {
            var options = TestCluster.options(kafkaBrokers: 1)
            // In messages a second for each live, well above the rate of the load.
            options.feedBudget = 60
            options.scale[.barrageFanout] = 2
            options.scale[.audiencePresence] = 2
            try await TestCluster.with(options) { cluster in
                let name = "\(kind.rawValue)-1"
                let report = try await ClusterHarness(cluster).load(duration: .seconds(18)) {
                    try cluster.signal(name, SIGSTOP)
                    // Longer than the group's session timeout of 2 s, so that the second instance takes over; and much
                    // shorter than the lease of 90 s, so that no viewer may be reported.
                    try await Task.sleep(for: .seconds(8))
                    try cluster.signal(name, SIGCONT)
                }
                KillTests.expectClean(report, "\(name) stood still for 8 s")
                #expect(
                    report.unexpectedLeaveTips == 0,
                    "\(name): \(report.unexpectedLeaveTips) viewers were falsely reported as having left")
                try await cluster.waitUntilReady(within: .seconds(30))
            }
        }
    }
}
