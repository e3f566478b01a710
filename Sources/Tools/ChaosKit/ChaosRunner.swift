// SPDX-License-Identifier: Apache-2.0
package import ClusterKit
internal import Concurrency
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
    /// The beginning of the names of all lives and users, unique in the cluster.
    ///
    /// The name of a live decides its partition. So the same name repeats a round as closely as possible.
    package var name: String
    /// Makes a token for a user; if `isServer` is true, the token has the role of the app's own server.
    package var token: @Sendable (_ user: String, _ isServer: Bool) -> String

    /// `name`: nil to make the name from the seed, which suffices in a cluster without lives of earlier runs.
    package init(
        seed: UInt64, rounds: ClosedRange<Int>, duration: Duration, only: String? = nil,
        clockLibrary: String? = nil, name: String? = nil,
        token: @escaping @Sendable (_ user: String, _ isServer: Bool) -> String
    ) {
        self.seed = seed
        self.rounds = rounds
        self.duration = duration
        self.only = only
        self.clockLibrary = clockLibrary
        self.name = name ?? String(seed, radix: 36)
        self.token = token
    }
}

/// Why a chaos run cannot begin.
package enum ChaosError: Error, CustomStringConvertible {
    /// No possible fault has a kind that contains this text; the text is empty if no fault at all is possible.
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
    ///   - backend: the app's backend, which the cluster's options name; nil if there is none.
    ///   - say: called with a line before and after each round.
    ///   - save: called after each round with the report so far, so that a run that is ended early leaves one.
    /// - Returns: the results; the run continues after a round in which a promise was broken, and ends with a round
    ///   that could not run, or after which the cluster was not ready again within a minute.
    /// - Throws: `ChaosError.noFault` if no fault is possible; `LoopError` when a proxy or client cannot start.
    package static func run(
        _ plan: ChaosPlan, on cluster: LocalCluster, network: ChaosNetwork? = nil, backend: AppBackend? = nil,
        say: @escaping @Sendable (String) -> Void, save: @escaping @Sendable (ChaosReport) -> Void = { _ in }
    ) async throws -> ChaosReport {
        let options = cluster.options
        let shape = ClusterShape(of: options, links: network?.links ?? [], hasFakeClock: plan.clockLibrary != nil)
        let schedule = FaultSchedule(seed: plan.seed, shape: shape, only: plan.only)
        if schedule.count == 0 { throw ChaosError.noFault(plan.only ?? "") }
        let ports = try network?.clientPorts(of: cluster) ?? cluster.gateways.map { UInt16($0.port) }
        let target = ChaosTarget(
            addresses: ports.map { PlazaAddress(host: "127.0.0.1", port: $0) },
            httpAddresses: cluster.gateways.map(\.http),
            feedBudget: options.feedBudget ?? AppsFile.defaultFeedBudget, backend: backend
        ) { name, start in
            // The broker in memory writes at least once, so its log may have more than the clients get.
            guard case .kafkaHome = options.broker else { return RoundLog() }
            return try await FeedLogReader.read(livesNamed: name, of: cluster, since: start)
        }
        let injector = FaultInjector(cluster: cluster, network: network, clockLibrary: plan.clockLibrary)
        let faults = FaultLog()
        var report = try await Self.watchingPresence(plan, target.addresses, faults, say: say) {
            await Self.runRounds(
                plan.rounds.lazy.map { schedule.round($0) }, until: ContinuousClock.now + plan.duration, say: say,
                save: save,
                run: { round in
                    var result = try await Self.measuringLag {
                        try await Self.runRound(round, plan, on: target, injector, recordingIn: faults)
                    }
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
        report.kinds = schedule.kinds
        return report
    }

    /// Measures how late this machine wakes the process during a round.
    static func measuringLag(_ run: () async throws -> RoundResult) async throws -> RoundResult {
        let machineLag = MachineLag()
        // Stops the measurement if the round throws; a second `stop()` changes nothing.
        defer { machineLag.stop() }
        var result = try await run()
        result.machineLag = Double(machineLag.stop() / .milliseconds(1))
        return result
    }

    /// Runs rounds, and checks joins and leaves in one live that lasts as long as all of them (I4).
    ///
    /// In this live viewers enter, and then leave or fall silent. The report gets what was decided about them.
    ///
    /// - Parameters:
    ///   - plan: the seed, the name and the tokens.
    ///   - addresses: the gateways' addresses.
    ///   - faults: gets the faults of the rounds while `runRounds` runs; read when the rounds are over.
    ///   - say: called with a line at the end.
    ///   - runRounds: runs the rounds.
    /// - Returns: the report.
    /// - Throws: `LoopError` when the clients cannot start.
    static func watchingPresence(
        _ plan: ChaosPlan, _ addresses: [PlazaAddress], _ faults: FaultLog, say: @Sendable (String) -> Void,
        runRounds: () async -> ChaosReport
    ) async throws -> ChaosReport {
        let name = "pr\(plan.name)"
        let workload = try PresenceWorkload(
            PresenceWorkload.Setting(addresses: addresses, name: name) { plan.token($0, /* isServer: */ false) })
        let areRoundsOver = Locked(false)
        async let recorded = workload.run(until: { areRoundsOver.withLock { $0 } })
        var report = await runRounds()
        areRoundsOver.withLock { $0 = true }
        var history = await recorded
        history.faults = faults.windows
        var result = PresenceChecker.result(of: history)
        result.seed = plan.seed
        for line in result.lines.prefix(1) { say(line) }
        report.presence = [result]
        return report
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
    ///   - save: called after each round with the report so far.
    ///   - run: runs one round.
    ///   - settle: waits after a round until the cluster is ready, and returns the findings of a check of the cluster;
    ///     an error ends the run.
    /// - Returns: the results of all rounds that were run, and the error that ended the run, if one did.
    static func runRounds(
        _ rounds: some Sequence<ChaosRound>, until deadline: ContinuousClock.Instant,
        say: @Sendable (String) -> Void, save: @Sendable (ChaosReport) -> Void = { _ in },
        run: (ChaosRound) async throws -> RoundResult,
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
            if !findings.isEmpty {
                result.findings += findings
                say("    \(result.verdict)")
            }
            report.rounds.append(result)
            save(report)
            if !isReady { break }
        }
        return report
    }
}
