// SPDX-License-Identifier: Apache-2.0
package import ClusterKit
internal import Concurrency
internal import LoadKit
internal import MachineKit
internal import ProtocolClient

/// The parameters of a chaos run.
package struct ChaosPlan: Sendable {
    /// The seed of the schedule of faults.
    package var seed: UInt64
    /// The numbers of the rounds to run; no round begins after `duration`, except the first.
    package var rounds: ClosedRange<Int>
    /// The time after the beginning of the run from which on no further round begins.
    package var duration: Duration
    /// Only faults whose kind contains this text are injected; nil for all faults.
    package var only: String?
    /// The library file of libfaketime, which sets a process's clock wrong; nil if clocks are left alone.
    package var clockLibrary: String?
    /// Makes a token for a user; if `isServer` is true, the token has the role of the app's own server.
    package var token: @Sendable (_ user: String, _ isServer: Bool) -> String

    package init(
        seed: UInt64, rounds: ClosedRange<Int>, duration: Duration, only: String? = nil,
        clockLibrary: String? = nil,
        token: @escaping @Sendable (_ user: String, _ isServer: Bool) -> String
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
    /// No fault that is possible in the cluster has a kind that contains this text; an empty text stands for any kind.
    case noFault(String)

    package var description: String {
        switch self {
        case .noFault(let text): "no kind of fault of this cluster has \"\(text)\" in its name."
        }
    }
}

/// Injects the faults of a schedule into a cluster, one fault in each round, while clients use the cluster, and checks
/// what the clients saw.
package enum ChaosRunner {
    /// Runs the plan.
    ///
    /// - Parameters:
    ///   - plan: the seed, the rounds and the duration.
    ///   - cluster: a running cluster that this process started; it must restart processes that exit.
    ///   - network: the cluster's proxies; nil if no link can be interrupted.
    ///   - say: called with a line before and after each round.
    /// - Returns: the results; the run continues after a round in which a promise was broken, and ends with a round
    ///   that could not run, or after which the cluster was not ready again within a minute.
    /// - Throws: `ChaosError.noFault` if no fault is possible.
    package static func run(
        _ plan: ChaosPlan, on cluster: LocalCluster, network: ChaosNetwork? = nil,
        say: @escaping @Sendable (String) -> Void
    ) async throws -> ChaosReport {
        let options = cluster.options
        let shape = ClusterShape(of: options, links: network?.links ?? [], hasFakeClock: plan.clockLibrary != nil)
        let schedule = FaultSchedule(seed: plan.seed, shape: shape, only: plan.only)
        if schedule.count == 0 { throw ChaosError.noFault(plan.only ?? "") }
        return await Self.runRounds(
            plan.rounds.lazy.map { schedule.round($0) }, until: ContinuousClock.now + plan.duration, say: say,
            run: { round in
                // Measures how late this machine wakes the process during the round.
                let machineLag = MachineLag()
                // Stops the measurement if the round throws; a second `stop()` changes nothing.
                defer { machineLag.stop() }
                // The logs are read from a minute before the round, because a broker's clock may be behind.
                let start = Timestamp.ofThisMachine - Milliseconds.seconds(60)
                let ports = try network?.clientPorts(of: cluster) ?? cluster.gateways.map { UInt16($0.port) }
                var result = try await Self.runRound(
                    round, plan, ports.map { PlazaAddress(host: "127.0.0.1", port: $0) },
                    httpAddresses: cluster.gateways.map(\.http),
                    feedBudget: options.feedBudget ?? AppsFile.defaultFeedBudget,
                    FaultInjector(cluster: cluster, network: network, clockLibrary: plan.clockLibrary)
                ) { name in
                    // The broker in memory writes at least once, so its log may have more than the clients get.
                    guard case .kafkaHome = options.broker else { return [] }
                    return try await FeedLogReader.read(livesNamed: name, of: cluster, since: start)
                }
                result.machineLag = Double(machineLag.stop() / .milliseconds(1))
                // What is needed to run this round again.
                result.setReplay(options, clockLibrary: plan.clockLibrary)
                return result
            },
            settle: { () async throws(NotReady) -> [String] in
                do {
                    try await cluster.waitUntilReady(within: .seconds(60))
                } catch {
                    throw NotReady(reason: "\(error)")
                }
                return await LedgerAudit.findings(in: cluster)
            })
    }

    /// The cluster was not ready after a round.
    struct NotReady: Error {
        let reason: String
    }

    /// Runs rounds one after the other.
    ///
    /// - Parameters:
    ///   - rounds: the rounds.
    ///   - deadline: no round begins after it, except the first.
    ///   - say: called with a line before and after each round.
    ///   - run: runs one round.
    ///   - settle: waits after a round until the cluster is ready, and returns the findings of a check of the cluster;
    ///     an error ends the run.
    /// - Returns: the results of all rounds that were run, and the error that ended the run, if one did.
    static func runRounds(
        _ rounds: some Sequence<ChaosRound>, until deadline: ContinuousClock.Instant,
        say: @Sendable (String) -> Void, run: (ChaosRound) async throws -> RoundResult,
        settle: () async throws(NotReady) -> [String]
    ) async -> ChaosReport {
        var report = ChaosReport()
        for round in rounds {
            guard report.rounds.isEmpty || ContinuousClock.now < deadline else { break }
            say("round \(round.number): \(round.fault)")
            var result: RoundResult
            do {
                result = try await run(round)
            } catch {
                // The error becomes part of the report. If it were thrown, the results of the earlier rounds would be
                // lost.
                report.error = "Round \(round.number), \(round.fault), could not run: \(error)"
                say("    \(report.error ?? "")")
                break
            }
            say(
                "    longest pause \(Int(result.longestPause)) ms, \(result.admitted) messages, refused: "
                    + "\(result.refusedText), machine up to \(Int(result.machineLag ?? 0)) ms late; \(result.verdict)")
            var isReady = true
            var findings: [String] = []
            do throws(NotReady) {
                findings = try await settle()
            } catch {
                isReady = false
                findings = ["recovery: the cluster was not ready 60 s after the round: \(error.reason)"]
            }
            // An invalid round does not count, so it has no findings, unless the cluster was not ready after it.
            if isReady, result.invalid != nil { findings = [] }
            if !findings.isEmpty {
                result.findings += findings
                say("    \(result.verdict)")
            }
            report.rounds.append(result)
            if !isReady { break }
        }
        return report
    }

    /// Runs one round: the load, the stage workload, and the fault while both run.
    ///
    /// - Parameters:
    ///   - round: the fault, and when it is injected.
    ///   - plan: makes the tokens.
    ///   - addresses: the gateways' addresses.
    ///   - httpAddresses: their addresses for HTTP; empty for a load without HTTP.
    ///   - feedBudget: how many messages a feed of the app may have in a second.
    ///   - injector: injects the fault.
    ///   - readLogs: returns the feeds, as they are in Kafka, of all lives whose names begin with `name`.
    /// - Returns: what was found.
    /// - Throws: the reason why the load could not run.
    static func runRound(
        _ round: ChaosRound, _ plan: ChaosPlan, _ addresses: [PlazaAddress], httpAddresses: [String] = [],
        feedBudget: Int = AppsFile.defaultFeedBudget, _ injector: some FaultInjecting,
        readLogs: (_ name: String) async throws -> [FeedHistory] = { _ in [] }
    ) async throws -> RoundResult {
        // Lives and users of earlier rounds may still exist in the cluster, so each round needs names of its own.
        let name = "ch\(String(UInt32.random(in: .min ... .max), radix: 36))-\(round.number)"
        let workload = try StageWorkload(
            StageWorkload.Setting(
                addresses: addresses, httpAddresses: httpAddresses, name: name, token: plan.token,
                stepTimeout: round.limits.answer))
        let isLoadOver = Locked(false)
        async let recorded = workload.run(until: { isLoadOver.withLock { $0 } })
        let (load, reasonNotInjected) = try await Self.runLoad(round, plan, addresses, name) {
            try? await Task.sleep(for: round.delay)
            return await injector.inject(
                round.fault, waitForLastSecondOfBattle: { await workload.waitForLastSecondOfBattle() },
                sendBurst: { await workload.sendBurst(thenWait: round.burstDelay) })
        }
        isLoadOver.withLock { $0 = true }
        var history = await recorded
        history.feedBudget = feedBudget
        do {
            history.logs = try await readLogs(name)
        } catch {
            history.stalls.append("the feeds could not be read from Kafka after the round: \(error)")
        }
        var result = Self.makeResult(round, plan, load, history)
        if let reasonNotInjected {
            result.invalid = reasonNotInjected
            (result.findings, result.evidence) = ([], nil)
        }
        return result
    }

    /// Sends messages in four lives until the feeds must have recovered from the fault.
    ///
    /// - Parameters:
    ///   - round: the round, whose fault determines how long messages are sent.
    ///   - plan: makes the tokens.
    ///   - addresses: the gateways' addresses.
    ///   - name: the beginning of the names of lives and users.
    ///   - fault: called when the first message was sent; injects the fault, and returns why the fault was
    ///     not injected; nil if it was.
    /// - Returns: the results of the load, and why the fault was not injected; nil if it was.
    /// - Throws: the reason why the load could not run.
    private static func runLoad(
        _ round: ChaosRound, _ plan: ChaosPlan, _ addresses: [PlazaAddress], _ name: String,
        fault: @escaping @Sendable () async -> String?
    ) async throws -> (LoadReport, reasonNotInjected: String?) {
        // The letter `l` tells the load's lives and users apart from those of the stage workload.
        var load = LoadPlan(addresses: addresses, name: "\(name)l") { plan.token($0, /* isServer: */ false) }
        // In each of the four lives 10 viewers receive and send messages, together 5 messages a second.
        (load.lives, load.viewers, load.rate) = (4, 10, 5)
        // Each viewer compares what it gets with what the other viewers of its live get under the same number.
        load.comparedViewers = load.viewers
        load.duration = round.loadDuration
        // Clients that lost their connection in the fault may receive the last items late.
        load.drainTimeout = .seconds(40)
        // The stream ends when the first message is sent, or when the load ends without one.
        let (untilSending, sendingBegan) = AsyncStream.makeStream(of: Void.self)
        let hasSent = Locked(false)
        async let run = LoadRunner.run(load) { progress in
            guard progress.stage == .sending else { return }
            hasSent.withLock { $0 = true }
            sendingBegan.finish()
        }
        let injection = Task { () -> String? in
            for await _ in untilSending {}
            guard hasSent.withLock({ $0 }) else { return "the load could not begin" }
            return await fault()
        }
        let report = try await run
        sendingBegan.finish()
        var reasonNotInjected = await injection.value
        if reasonNotInjected != nil, let failure = report.failures.first { reasonNotInjected? += ": \(failure)" }
        return (report, reasonNotInjected)
    }

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
        result.workload = history.workloadCounts
        result.evidence = evidence.isEmpty ? nil : evidence
        return result
    }
}
