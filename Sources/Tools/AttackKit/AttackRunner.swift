// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import EventLoop
internal import LoadKit
internal import PlazaModel
internal import ProtocolClient

/// Runs attacks one after another, each while honest clients use the cluster.
package enum AttackRunner {
    /// Runs the plan.
    ///
    /// - Parameters:
    ///   - plan: what to run.
    ///   - say: called with a line of text before the run without an attack, and before each attack.
    /// - Returns: the results of all attacks; the run continues after a failed attack.
    /// - Throws: `AttackError.baseline` if honest clients fail without an attack; `LoopError` or `LoadError` if the
    ///   system has no thread or file descriptor left.
    package static func run(_ plan: AttackPlan, say: @Sendable (String) -> Void) async throws -> AttackReport {
        say("without an attack")
        // The first run only warms up connections and caches. Without it, the baseline would have a high p99. An attack
        // may double the baseline's p99, so the limit would be too high.
        _ = try await Self.runHonestClients(plan, "warm", duration: .seconds(1))
        let baseline = HonestResult(try await Self.runHonestClients(plan, "base", duration: plan.duration))
        let failures = baseline.failures + (baseline.missing == 0 ? [] : ["\(baseline.missing) items are missing."])
        guard failures.isEmpty else { throw AttackError.baseline(failures) }
        let runnableNames = Set(plan.runnable.map(\.name))
        var report = AttackReport(
            baseline: baseline, skipped: plan.attacks.map(\.name).filter { !runnableNames.contains($0) })
        for (number, attack) in plan.runnable.enumerated() {
            say("\(attack.name): \(attack.summary)")
            let measured = try await Self.measure(attack, plan, "a\(number)")
            let verdict = AttackVerdict(measured, baseline: baseline)
            report.results.append(
                .init(name: attack.name, summary: attack.summary, measured: measured, verdict: verdict))
        }
        return report
    }

    /// Runs one attack at the same time as the honest clients, then checks the directory's partitions.
    private static func measure(_ attack: any Attack, _ plan: AttackPlan, _ suffix: String) async throws
        -> AttackMeasurement
    {
        let monitor = GatewayMonitor(plan.target)
        await monitor.begin()
        let tally = Locked(AttackTally())
        var measured = AttackMeasurement()
        measured.allowedBytes = attack.allowedBytes
        let namePrefix = Self.namePrefix(plan, suffix)
        // Honest clients have names with this prefix alone. The attack adds an x to the prefix, and the partition check
        // a p, so that no two of them use the same name.
        let report = try await Self.runHonestClients(plan, suffix, duration: plan.duration) { lives in
            let mayEnd = Locked(false)
            let monitoring = Task { await monitor.watch { mayEnd.withLock { $0 = true } } }
            let result = try await Self.runSwarm(attack, plan, namePrefix: "\(namePrefix)x", honestLives: lives) {
                mayEnd.withLock { $0 }
            }
            tally.withLock { $0 = result }
            monitoring.cancel()
            await monitoring.value
        }
        measured.honest = HonestResult(report)
        measured.tally = tally.withLock { $0 }
        measured.partitions = try await PartitionCheck(target: plan.target, namePrefix: "\(namePrefix)p").run()
        (measured.gateways, measured.http) = await monitor.end()
        return measured
    }

    /// Runs the honest clients, and starts `disturbance` as soon as they send messages.
    ///
    /// - Parameters:
    ///   - plan: the plan.
    ///   - suffix: the end of the prefix of all names in this run; each run of the plan has another suffix.
    ///   - duration: how long messages are sent.
    ///   - disturbance: what to do while messages are sent, such as an attack; gets the lives of the honest clients.
    ///     By default, nothing is done.
    /// - Returns: what the honest clients saw.
    /// - Throws: the error of `disturbance`, or the reason why the load could not run.
    private static func runHonestClients(
        _ plan: AttackPlan, _ suffix: String, duration: Duration,
        disturbance: @escaping @Sendable ([LiveID]) async throws -> Void = { _ in }
    ) async throws -> LoadReport {
        let target = plan.target
        var load = LoadPlan(addresses: target.gateways, name: Self.namePrefix(plan, suffix)) { target.userToken($0) }
        (load.lives, load.viewers, load.rate) = (Self.lives, Self.viewers, Self.rate)
        load.duration = duration
        let lives = (0..<load.lives).map { load.liveID($0) }
        // The stream has no elements. It ends when the first message is sent, or when the load ends without a message.
        let (untilSending, sendingBegan) = AsyncStream.makeStream(of: Void.self)
        let run = Task { [load] in
            defer { sendingBegan.finish() }
            return try await LoadRunner.run(load) { if $0.stage == .sending { sendingBegan.finish() } }
        }
        for await _ in untilSending {}
        try await disturbance(lives)
        return try await run.value
    }

    /// Runs the attack's connections on an event loop and thread of their own.
    ///
    /// `mayEnd` returns whether enough was measured. While it returns false, the attack lasts longer than planned, but
    /// not without limit (`AttackPeriod`).
    private static func runSwarm(
        _ attack: any Attack, _ plan: AttackPlan, namePrefix: String, honestLives: [LiveID],
        mayEnd: @escaping @Sendable () -> Bool
    ) async throws -> AttackTally {
        // The stream yields one tally, or none if the swarm cannot start.
        let (tallies, continuation) = AsyncStream.makeStream(of: AttackTally.self)
        let thread = try EventLoop.start(name: "plaza-attack") { loop in
            let swarm = AttackSwarm(
                attack, plan, namePrefix: namePrefix, honestLives: honestLives, loop: loop, mayEnd: mayEnd
            ) { tally in
                continuation.yield(tally)
                continuation.finish()
            }
            do {
                try swarm.start()
            } catch {
                continuation.finish()
            }
        }
        // If the swarm could not start, the tally stays empty. The verdict of an empty tally is a failure.
        var tally = AttackTally()
        for await result in tallies { tally = result }
        thread.stop()
        thread.join()
        return tally
    }

    /// The prefix of all names of a run, made of the plan's seed and the run's suffix.
    ///
    /// The seed is reduced to a number below 2^32, which has at most seven digits in base 36.
    private static func namePrefix(_ plan: AttackPlan, _ suffix: String) -> String {
        "at\(String(plan.seed % 0xFFFF_FFFF, radix: 36))-\(suffix)"
    }

    /// The load of the honest clients: lives, viewers of each live, and messages a second in each live.
    private static let (lives, viewers, rate) = (2, 10, 10.0)
}
