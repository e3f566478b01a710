// SPDX-License-Identifier: Apache-2.0
import ChildProcess
import ClusterKit
import Concurrency
import Foundation
import LoadKit
import PlazaModel
import ProtocolClient
import TestSupport
import Testing

/// Stops services, the only broker, or one of three brokers for 12, 30 and 75 s (SIGSTOP and SIGCONT) under load.
///
/// During a stop, Kafka's group sessions, transactions and the viewers' leases time out without the stopped process
/// noticing. Calls during the stop may be rejected or stay without a reply. But every acknowledged message is delivered
/// once and in order, viewers receive messages again soon after each stop, and then the whole cluster works again.
enum StandstillCases {
    /// How long viewers may wait for messages after the end of a stop.
    ///
    /// The limits are twice the times of RELIABILITY.md, section 2, because up to four clusters share the processors;
    /// `ChaosTests` checks the times themselves, on one cluster.
    private static let serviceRecovery = Duration.seconds(2 * 15)
    private static let brokerRecovery = Duration.seconds(2 * 20)
    /// How long no feed of the load may receive anything while two of three brokers run.
    ///
    /// The stops follow each other closely, so the recoveries of two stops, 20 s each, may become one pause. Even then
    /// each feed goes on long before the longest stop ends.
    private static let longestPauseOfThreeBrokers = Duration.seconds(2 * 20)
    /// The lengths of the stops of a broker.
    private static let stopSeconds = [12, 30, 75]

    /// The cases, each with a cluster of its own.
    static let all = [
        ConcurrentCase("each of three brokers stands still once, for 12, 30 or 75 s: nothing acknowledged is lost") {
            try await Self.stopEachOfThreeBrokers()
        },
        ConcurrentCase("the only broker stands still for 12, 30 and 75 s: nothing acknowledged is lost") {
            try await Self.stopTheOnlyBroker()
        },
        ConcurrentCase("four services, one instance each, stand still for 12 to 75 s: nothing acknowledged is lost") {
            try await Self.stopServices()
        },
    ]

    /// Stops all services except the gateway at the same time, each for 12, 30 or 75 s.
    ///
    /// A service that continues early runs while others are still stopped.
    private static func stopServices() async throws {
        let secondsByService = [
            "room-directory": 12, "cohost-battle": 30, "audience-presence": 75, "barrage-fanout": 75,
        ]
        // The load lasts 10 s longer than the longest stop.
        try await Self.runUnderLoad(kafkaBrokers: 1, seconds: 75 + 10) { cluster, probe in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (service, seconds) in secondsByService {
                    group.addTask { try await Self.stop("\(service)-1", of: cluster, seconds: seconds) }
                }
                try await group.waitForAll()
            }
            try await probe.expectDelivery(within: Self.serviceRecovery, after: "the services stood still for 75 s")
        }
    }

    private static func stopTheOnlyBroker() async throws {
        // The load lasts for all stops and 25 s more, for the recoveries after the stops.
        try await Self.runUnderLoad(kafkaBrokers: 1, seconds: Self.stopSeconds.reduce(0, +) + 25) { cluster, probe in
            for seconds in Self.stopSeconds {
                try await Self.stop("broker-1", of: cluster, seconds: seconds)
                try await probe.expectDelivery(
                    within: Self.brokerRecovery, after: "the only broker stood still for \(seconds) s")
            }
        }
    }

    /// Stops one broker after the other.
    ///
    /// Two brokers go on during each stop, so viewers receive messages before the stop ends.
    private static func stopEachOfThreeBrokers() async throws {
        // The load lasts for all stops and 15 s more, for the last recovery.
        let report = try await Self.runUnderLoad(
            kafkaBrokers: 3, seconds: Self.stopSeconds.reduce(0, +) + 15
        ) { cluster, probe in
            for (index, seconds) in Self.stopSeconds.enumerated() {
                try await Self.stop("broker-\(index + 1)", of: cluster, seconds: seconds)
                try await probe.expectDelivery(
                    within: Self.brokerRecovery, after: "one of three brokers stood still for \(seconds) s")
                let isLastStop = index == Self.stopSeconds.count - 1
                if !isLastStop {
                    try await Self.waitUntilReplicated(cluster, withoutAsking: index)
                }
            }
        }
        #expect(
            report.longestPauseMilliseconds <= Self.longestPauseOfThreeBrokers / .milliseconds(1), "\(report)")
    }

    /// Stops a process with SIGSTOP, and continues it after `seconds`.
    private static func stop(_ name: String, of cluster: LocalCluster, seconds: Int) async throws {
        try cluster.signal(name, SIGSTOP)
        try await Task.sleep(for: .seconds(seconds))
        try cluster.signal(name, SIGCONT)
    }

    /// Waits until every replica is in sync.
    ///
    /// Before that, a stop of another broker could leave a partition with only one replica in sync.
    ///
    /// - Parameters:
    ///   - cluster: a cluster of three brokers.
    ///   - broker: the index of the broker that stood still. It is not asked, because its first answers describe the
    ///     time before the stop.
    /// - Throws: `ScenarioFailure` if a replica stays behind for a minute, or the reason why Kafka's tool did not run.
    private static func waitUntilReplicated(_ cluster: LocalCluster, withoutAsking broker: Int) async throws {
        let brokers = cluster.state.kafka.split(separator: ",").enumerated()
        let askedBrokers = brokers.filter { $0.offset != broker }.map(\.element)
        let command = [
            "\(try #require(TestCluster.kafkaHome))/bin/kafka-topics.sh", "--bootstrap-server",
            askedBrokers.joined(separator: ","), "--describe", "--under-replicated-partitions",
        ]
        let deadline = ContinuousClock.now + .seconds(60)
        var output = ""
        repeat {
            let toolRun = try await runOnDedicatedThread { try TestProcess.run(command) }
            output = toolRun.output
            // The tool lists the replicas that are not in sync; if there are none, it prints nothing.
            if toolRun.end == .exited(0), output.allSatisfy(\.isWhitespace) { return }
        } while ContinuousClock.now < deadline
        throw ScenarioFailure("after 60 s, some replicas are not in sync: \(output)")
    }

    /// Runs load for `seconds` in a new cluster, calls `disturb` during the load, and checks the report of the load.
    ///
    /// Afterwards it plays the scenario, to check that the cluster works.
    @discardableResult
    private static func runUnderLoad(
        kafkaBrokers brokers: Int, seconds: Int,
        _ disturb: @escaping @Sendable (LocalCluster, FeedProbe) async throws -> Void
    ) async throws -> LoadReport {
        var options = TestCluster.options(kafkaBrokers: brokers)
        options.restartsExitedProcesses = true
        // In messages a second for each live, well above the rate of the load.
        options.feedBudget = 60
        return try await TestCluster.with(options, readyWithin: .seconds(120)) { cluster in
            let harness = try ClusterHarness(cluster)
            let report = try await harness.load(lives: 3, viewers: 5, rate: 5, duration: .seconds(seconds)) {
                let hub = try ClientHub()
                defer { hub.stop() }
                try await disturb(cluster, try await FeedProbe(harness, on: hub))
            }
            print("\(report)")
            #expect(report.isClean, "\(report)")
            #expect(report.admitted > 0, "no message was admitted")
            try await cluster.waitUntilReady(within: .seconds(60), resetReadiness: true)
            // The scenario checks lives, seats, co-hosts, battles and notices.
            try await harness.playScenario()
            return report
        }
    }
}

/// A live with a host and a viewer, beside the lives of the load.
///
/// The probe measures after a stop when the viewer receives messages again.
private struct FeedProbe {
    private let live = LiveID(ClusterHarness.uniqueName("probe"))
    private let host: DemoUser
    private let viewer: DemoUser

    /// Creates the live; its host and its viewer join.
    init(_ harness: ClusterHarness, on hub: ClientHub) async throws {
        self.host = DemoUser("host", harness.client("\(self.live)-host", on: hub))
        self.viewer = DemoUser("viewer", harness.client("\(self.live)-viewer", on: hub))
        try await self.host.call("live.create", CallParams(live: self.live), live: self.live)
        for user in [self.host, self.viewer] {
            try await user.call("live.join", CallParams(live: self.live), live: self.live)
        }
        try await self.expectDelivery(within: .seconds(10), after: "the join")
    }

    /// Sends a message again and again until a call is accepted, and fails unless the viewer receives the message in
    /// time.
    ///
    /// - Parameters:
    ///   - limit: how long it may take until the viewer receives the message.
    ///   - event: what happened right before, for the log and the message of a failure.
    /// - Throws: `ScenarioFailure` if the viewer does not receive it.
    func expectDelivery(within limit: Duration, after event: String) async throws {
        let began = ContinuousClock.now
        let text = ClusterHarness.uniqueName("after")
        let message = CallParams(live: self.live, text: text)
        var rejections: [String] = []
        var isAccepted = false
        while !isAccepted {
            do {
                try await self.host.call("barrage.sendText", message, live: self.live)
                isAccepted = true
            } catch {
                let elapsed = ContinuousClock.now - began
                rejections.append("\(elapsed / .seconds(1)) s: \(error)")
                guard elapsed < limit else {
                    throw ScenarioFailure("after \(event), no message was accepted: \(rejections.suffix(20))")
                }
                // The client waits between its attempts, because a client that sends too many frames is disconnected.
                try await Task.sleep(for: .milliseconds(200))
            }
        }
        let remainingSeconds = max(0.1, (limit - (ContinuousClock.now - began)) / .seconds(1))
        try await self.viewer.waitForFeedItem("a message after \(event)", within: remainingSeconds) {
            content -> Void? in
            if case .text(_, text, _) = content { () } else { nil }
        }
        let pause = ContinuousClock.now - began
        print("after \(event), the viewer waited \(pause / .seconds(1)) s for a message")
        #expect(pause <= limit, "after \(event), the viewer waited \(pause)")
    }
}
