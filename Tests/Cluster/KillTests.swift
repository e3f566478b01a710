// SPDX-License-Identifier: Apache-2.0
import ClusterKit
import Concurrency
import LoadKit
import ProtocolClient
import TestSupport
import Testing

/// Kills or stops each service, or kills a broker, while load runs on a real Kafka.
@Suite(.serialized, .enabled(if: TestCluster.kafkaHome != nil, "needs a real Kafka: set KAFKA_HOME"))
struct KillTests {
    /// The maximum outage in milliseconds: how long a call during the kill may wait for its reply (OPERATING.md).
    static let maxOutageMilliseconds = 3000.0
    /// The feed budget of each live in messages a second, well above the rate of the load.
    private static let feedBudget = 60

    @Test(.timeLimit(.minutes(6)))
    func `I8 I15 each service is killed under load and restarted: nothing acknowledged is lost, repeated or reordered`()
        async throws
    {
        var options = TestCluster.options(kafkaBrokers: 1)
        options.restartsExitedProcesses = true
        options.feedBudget = Self.feedBudget
        try await TestCluster.with(options) { cluster in
            let harness = try ClusterHarness(cluster)
            for kind in ServiceKind.allCases {
                try await Self.killUnderLoad(harness, kind, "\(kind.rawValue)-1", "was killed and restarted")
                try await cluster.waitUntilReady(within: .seconds(30))
            }
        }
    }

    @Test(.timeLimit(.minutes(6)))
    func `I8 I15 each service is killed under load: a second instance takes over, and nothing acknowledged is lost`()
        async throws
    {
        var options = TestCluster.options(kafkaBrokers: 1)
        options.feedBudget = Self.feedBudget
        for kind in ServiceKind.allCases { options.scale[kind] = 2 }
        try await TestCluster.with(options) { cluster in
            let harness = try ClusterHarness(cluster)
            for kind in ServiceKind.allCases {
                // All co-host connections of an app are in one partition, and only the owner of this partition has
                // work. The partition of the test's app is the last one, which Kafka assigns to the last instance, 2.
                let killed = "\(kind.rawValue)-\(kind == .cohostBattle ? 2 : 1)"
                try await Self.killUnderLoad(harness, kind, killed, "was killed, and a second instance took over")
                try await cluster.restart(killed)
                try await cluster.waitUntilReady(within: .seconds(30))
            }
        }
    }

    @Test(.timeLimit(.minutes(4)))
    func `an instance of each service is added and removed under load: nothing is lost, and each stops within 2 s`()
        async throws
    {
        var options = TestCluster.options(kafkaBrokers: 1)
        options.feedBudget = Self.feedBudget
        try await TestCluster.with(options) { cluster in
            let harness = try ClusterHarness(cluster)
            let report = try await harness.load(duration: .seconds(25)) {
                let added = try ServiceKind.allCases.map { try cluster.add($0) }
                try await cluster.waitUntilReady(within: .seconds(30))
                for name in added {
                    let began = ContinuousClock.now
                    try await cluster.remove(name)
                    let timeToStop = ContinuousClock.now - began
                    print("\(name) stopped in \(timeToStop)")
                    // After the timeout the process would be killed.
                    #expect(timeToStop < LocalCluster.terminationTimeout, "\(name) took \(timeToStop) to stop")
                }
            }
            Self.expectClean(report, "instances were added and removed")
        }
    }

    @Test(.timeLimit(.minutes(4)))
    func `I8 one of three brokers is killed under load: nothing acknowledged is lost, and feeds pause for at most 5 s`()
        async throws
    {
        let options = TestCluster.options(kafkaBrokers: 3)
        try await TestCluster.with(options, readyWithin: .seconds(120)) { cluster in
            let report = try await ClusterHarness(cluster).load(rate: 5, duration: .seconds(15)) {
                try await cluster.kill("broker-2")
            }
            print("broker-2 of three killed: longest pause of a feed \(Int(report.longestPauseMilliseconds)) ms")
            #expect(report.isClean, "\(report)")
            #expect(report.unanswered == 0, "\(report.unanswered) messages have no reply")
            // The gateway rejects calls during the outage at once, with `unavailable`, so no client waits for a
            // timeout.
            #expect(report.refused.keys.allSatisfy { $0 == "unavailable" }, "\(report.refused)")
            #expect(report.admitted > 0, "no message was admitted")
            #expect(
                report.longestPauseMilliseconds <= 5000,
                "a feed paused for \(Int(report.longestPauseMilliseconds)) ms")
        }
    }

    /// Kills a process of the service `kind` two seconds into a load, while a probe calls the service.
    ///
    /// `situation` says in failures what happened to the process.
    static func killUnderLoad(_ harness: ClusterHarness, _ kind: ServiceKind, _ process: String, _ situation: String)
        async throws
    {
        let hub = try ClientHub()
        defer { hub.stop() }
        let probe = try await ServiceProbe(harness, kind, on: hub)
        let isProbing = Locked(true)
        async let longestCallMilliseconds = probe.measureLongestCall(while: { isProbing.withLock { $0 } })
        let report = try await harness.load { try await harness.cluster.kill(process) }
        isProbing.withLock { $0 = false }
        let outageMilliseconds = try await longestCallMilliseconds
        let feedPause = Int(report.longestPauseMilliseconds)
        print("\(process) \(situation): no reply for \(Int(outageMilliseconds)) ms, no feed item for \(feedPause) ms")
        Self.expectClean(report, "\(process) \(situation)")
        #expect(
            outageMilliseconds <= Self.maxOutageMilliseconds,
            "\(process) \(situation): no reply for \(Int(outageMilliseconds)) ms")
    }

    /// Checks that no message was rejected, lost, repeated or reordered; the feed budget may have dropped some.
    ///
    /// `situation` says in failures what happened.
    static func expectClean(
        _ report: LoadReport, _ situation: String, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(report.isClean, "\(situation): \(report)", sourceLocation: sourceLocation)
        #expect(
            report.unanswered == 0, "\(situation): \(report.unanswered) messages have no reply",
            sourceLocation: sourceLocation)
        #expect(
            report.refused.isEmpty, "\(situation): calls were rejected: \(report.refused)",
            sourceLocation: sourceLocation)
        #expect(report.admitted > 0, "\(situation): no message was admitted", sourceLocation: sourceLocation)
    }
}
