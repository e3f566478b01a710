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
    ///   - say: called with a line before each attack.
    /// - Returns: the results of all attacks; a failed one does not stop those after it.
    /// - Throws: `AttackError.baseline` when honest clients fail without an attack, or `LoopError` and `LoadError` when
    ///   the system has no thread or descriptor left.
    package static func run(_ plan: AttackPlan, say: @Sendable (String) -> Void) async throws -> AttackReport {
        say("without an attack")
        // The first run only warms up connections and caches. A cold baseline would have a high p99, and the limit, which
        // is twice that p99, would be too lenient.
        _ = try await Self.load(plan, "warm", seconds: .seconds(1)) { _ in }
        let baseline = HonestResult(try await Self.load(plan, "base", seconds: plan.duration) { _ in })
        let failures = baseline.failures + (baseline.missing == 0 ? [] : ["\(baseline.missing) items are missing."])
        guard failures.isEmpty else { throw AttackError.baseline(failures) }
        let names = Set(plan.runnable.map(\.name))
        var report = AttackReport(
            baseline: baseline, skipped: plan.attacks.map(\.name).filter { !names.contains($0) })
        for (number, attack) in plan.runnable.enumerated() {
            say("\(attack.name): \(attack.summary)")
            let measured = try await Self.measure(attack, plan, "a\(number)")
            let verdict = AttackVerdict(measured, baseline: baseline)
            report.results.append(
                .init(name: attack.name, summary: attack.summary, measured: measured, verdict: verdict))
        }
        return report
    }

    private static func measure(_ attack: any Attack, _ plan: AttackPlan, _ suffix: String) async throws
        -> AttackMeasurement
    {
        let monitor = GatewayMonitor(plan.target)
        await monitor.begin()
        let tally = Locked(AttackTally())
        var measured = AttackMeasurement()
        let report = try await Self.load(plan, suffix, seconds: plan.duration) { lives in
            let watch = Task { await monitor.watch() }
            let result = try await Self.attack(attack, plan, "\(Self.name(plan, suffix))x", lives)
            tally.withLock { $0 = result }
            watch.cancel()
            await watch.value
        }
        measured.honest = HonestResult(report)
        measured.tally = tally.withLock { $0 }
        measured.partitions = try await PartitionCheck(target: plan.target, name: "\(Self.name(plan, suffix))p").run()
        (measured.gateways, measured.http) = await monitor.end()
        return measured
    }

    /// Runs the honest clients, and starts `disturbance` as soon as they send messages.
    ///
    /// - Parameters:
    ///   - plan: the plan.
    ///   - suffix: distinguishes the run from others of the plan.
    ///   - seconds: how long messages are sent.
    ///   - disturbance: gets the lives of the honest clients.
    /// - Returns: what the honest clients saw.
    /// - Throws: the error of `disturbance`, or the reason why the load could not run.
    private static func load(
        _ plan: AttackPlan, _ suffix: String, seconds: Duration,
        disturbance: @escaping @Sendable ([LiveID]) async throws -> Void
    ) async throws -> LoadReport {
        let target = plan.target
        var load = LoadPlan(addresses: target.gateways, name: Self.name(plan, suffix)) { target.userToken($0) }
        (load.lives, load.viewers, load.rate) = (Self.lives, Self.viewers, Self.rate)
        load.duration = seconds
        let lives = (0..<load.lives).map { load.liveID($0) }
        let (sending, began) = AsyncStream.makeStream(of: Void.self)
        let run = Task { [load] in
            defer { began.finish() }
            return try await LoadRunner.run(load) { if $0.stage == .sending { began.finish() } }
        }
        for await _ in sending {}
        try await disturbance(lives)
        return try await run.value
    }

    /// Runs the attack's connections on an event loop and thread of their own.
    private static func attack(
        _ attack: any Attack, _ plan: AttackPlan, _ name: String, _ lives: [LiveID]
    ) async throws -> AttackTally {
        let (results, finished) = AsyncStream.makeStream(of: AttackTally.self)
        let thread = try EventLoop.start(name: "plaza-attack") { loop in
            let swarm = AttackSwarm(attack, plan, name: name, honestLives: lives, loop: loop) { tally in
                finished.yield(tally)
                finished.finish()
            }
            do {
                try swarm.start()
            } catch {
                finished.finish()
            }
        }
        var tally = AttackTally()
        for await result in results { tally = result }
        thread.stop()
        thread.join()
        return tally
    }

    /// The prefix of all names of a run: the seed and the name of the run.
    private static func name(_ plan: AttackPlan, _ suffix: String) -> String {
        "at\(String(plan.seed % 0xFFFF_FFFF, radix: 36))-\(suffix)"
    }

    private static let (lives, viewers, rate) = (2, 10, 10.0)
}
