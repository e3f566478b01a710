// SPDX-License-Identifier: Apache-2.0
package import ClusterKit
internal import Concurrency
internal import LoadKit
internal import ProtocolClient

/// What a chaos run does.
package struct ChaosPlan: Sendable {
    package var seed: UInt64
    /// The numbers of the rounds to run; the run also ends after `duration`.
    package var rounds: ClosedRange<Int>
    package var duration: Duration
    /// A part of the names of the kinds of faults to inject; nil: all.
    package var only: String?
    /// The file of libfaketime; nil: no clock is wrong.
    package var clockLibrary: String?
    /// Makes a token for a user, or for the app's server.
    package var token: @Sendable (_ user: String, _ isServer: Bool) -> String

    package init(
        seed: UInt64, rounds: ClosedRange<Int>, duration: Duration, only: String? = nil,
        clockLibrary: String? = nil,
        token: @escaping @Sendable (String, Bool) -> String
    ) {
        self.seed = seed
        self.rounds = rounds
        self.duration = duration
        self.only = only
        self.clockLibrary = clockLibrary
        self.token = token
    }
}

/// Why a chaos run cannot begin.
package enum ChaosError: Error, CustomStringConvertible {
    /// No kind of fault has a name with this part.
    case noFault(String)

    package var description: String {
        switch self {
        case .noFault(let part): "no kind of fault of this cluster has \"\(part)\" in its name."
        }
    }
}

/// Injects the faults of a schedule into a cluster, one a round, while clients use it, and judges what they saw.
package enum ChaosRunner {
    /// Runs the plan.
    ///
    /// - Parameters:
    ///   - plan: the seed, the rounds and the limit of time.
    ///   - cluster: a running cluster that this process started; it must restart processes that exit.
    ///   - network: its proxies; nil: no link is interrupted.
    ///   - say: called with a line before and after each round.
    /// - Returns: the results; a round that breaks a promise does not stop those after it.
    /// - Throws: the reason why the cluster was not ready again within a minute after a round; `ChaosError.noFault` if
    ///   the plan admits no fault.
    package static func run(
        _ plan: ChaosPlan, on cluster: LocalCluster, network: ChaosNetwork? = nil,
        say: @escaping @Sendable (String) -> Void
    ) async throws -> ChaosReport {
        let options = cluster.options
        let brokers = if case .kafkaHome(_, let count) = options.broker { count } else { 0 }
        let instances = Dictionary(uniqueKeysWithValues: ServiceKind.allCases.map { ($0, options.instances(of: $0)) })
        let shape = ClusterShape(
            instances: instances, brokers: brokers, links: network?.links ?? [],
            hasFakeClock: plan.clockLibrary != nil)
        let schedule = FaultSchedule(seed: plan.seed, shape: shape, only: plan.only)
        if schedule.count == 0 { throw ChaosError.noFault(plan.only ?? "") }
        let deadline = ContinuousClock.now + plan.duration
        var report = ChaosReport()
        for number in plan.rounds where report.rounds.isEmpty || ContinuousClock.now < deadline {
            let round = schedule.round(number)
            say("round \(round.number): \(round.fault)")
            let lag = MachineLag()
            defer { lag.stop() }
            var result = try await Self.play(round, plan, cluster, network)
            result.machineLag = Double(lag.stop() / .milliseconds(1))
            let refused = result.refused.map { "\($0.value) × \($0.key)" }.sorted().joined(separator: ", ")
            say(
                "    longest pause \(Int(result.longestPause)) ms, \(result.admitted) messages, refused: "
                    + "\(refused.isEmpty ? "none" : refused), machine up to \(Int(result.machineLag ?? 0)) ms late; \(result.verdict)"
            )
            report.rounds.append(result)
            try await cluster.waitUntilReady(within: .seconds(60))
        }
        return report
    }

    /// Plays one round: both workloads, and the fault in the middle of them.
    private static func play(
        _ round: ChaosRound, _ plan: ChaosPlan, _ cluster: LocalCluster, _ network: ChaosNetwork?
    ) async throws -> RoundResult {
        let ports = try network?.clientPorts(of: cluster) ?? cluster.gateways.map { UInt16($0.port) }
        let addresses = ports.map { PlazaAddress(host: "127.0.0.1", port: $0) }
        let name = "ch\(String(UInt32.random(in: .min ... .max), radix: 36))-\(round.number)"
        let workload = try StageWorkload(
            StageWorkload.Setting(
                addresses: addresses, name: name, token: plan.token,
                allowed: round.fault.allowedStandstill + .seconds(15)))
        let isOver = Locked(false)
        let injector = FaultInjector(cluster: cluster, network: network, clockLibrary: plan.clockLibrary)
        async let history = workload.run { isOver.withLock { $0 } }
        let (load, invalid) = try await Self.load(round, plan, addresses, name) {
            try? await Task.sleep(for: round.delay)
            return await injector.inject(round.fault) { await workload.untilLastSecondOfBattle() }
        }
        isOver.withLock { $0 = true }
        var result = Self.result(round, plan, load, await history)
        if let invalid {
            result.invalid = invalid
            result.findings = []
        }
        return result
    }

    /// Runs messages in four lives until the fault is over and some seconds longer.
    ///
    /// - Returns: what the load saw, and why the fault was not injected; nil if it was.
    private static func load(
        _ round: ChaosRound, _ plan: ChaosPlan, _ addresses: [PlazaAddress], _ name: String,
        fault: @escaping @Sendable () async -> String?
    ) async throws -> (LoadReport, invalid: String?) {
        var load = LoadPlan(addresses: addresses, name: "\(name)l") { plan.token($0, false) }
        (load.lives, load.viewers, load.rate) = (4, 10, 5)
        load.duration = .seconds(12) + round.fault.duration
        load.drainTimeout = .seconds(40)
        let (sending, began) = AsyncStream.makeStream(of: Void.self)
        let isSending = Locked(false)
        async let run = LoadRunner.run(load) { progress in
            guard progress.stage == .sending else { return }
            isSending.withLock { $0 = true }
            began.finish()
        }
        let injection = Task { () -> String? in
            for await _ in sending {}
            guard isSending.withLock({ $0 }) else { return "the load could not begin" }
            return await fault()
        }
        let report = try await run
        began.finish()
        var invalid = await injection.value
        if invalid != nil, let failure = report.failures.first { invalid? += ": \(failure)" }
        return (report, invalid)
    }

    /// The number of failures of the load that a round shows.
    private static let shownFailures = 3

    private static func refused(_ load: LoadReport) -> [String: Int] {
        var refused = load.refused
        if load.dropped > 0 { refused["dropped by the budget"] = load.dropped }
        if load.unanswered > 0 { refused["no answer"] = load.unanswered }
        return refused
    }

    private static func result(
        _ round: ChaosRound, _ plan: ChaosPlan, _ load: LoadReport, _ history: RoundHistory
    ) -> RoundResult {
        var findings = HistoryChecker.findings(in: history).map(\.description)
        // A load that cannot begin gives one failure for each viewer.
        findings += load.failures.prefix(Self.shownFailures).map { "load: \($0)" }
        if load.failures.count > Self.shownFailures {
            findings.append("load: \(load.failures.count - Self.shownFailures) failures more")
        }
        if let failure = load.nothingAdmittedFailure { findings.append("load: \(failure)") }
        for (count, promise) in [
            (load.missing, "I8: acknowledged messages were lost"), (load.repeated, "I15: messages were received twice"),
            (load.reordered, "I7: messages were received out of order"),
            (load.numberMismatches, "I7: messages came under another number than their reply named"),
            (load.unexpectedLeaveTips, "I5: viewers were said to have left"),
        ] where count > 0 { findings.append("\(promise) (\(count))") }
        let allowed = Double(round.fault.allowedStandstill.components.seconds) * 1000
        if load.longestPauseMilliseconds > allowed {
            findings.append(
                "recovery: a feed paused for \(Int(load.longestPauseMilliseconds)) ms, more than \(Int(allowed))")
        }
        return RoundResult(
            seed: plan.seed, only: plan.only, number: round.number, fault: round.fault.description,
            kind: round.fault.kind,
            longestPause: load.longestPauseMilliseconds, admitted: load.admitted, refused: Self.refused(load),
            missing: load.missing,
            repeated: load.repeated, reordered: load.reordered, falseLeaves: load.unexpectedLeaveTips,
            battles: history.battles.count, requests: history.requests.count, findings: findings)
    }
}
