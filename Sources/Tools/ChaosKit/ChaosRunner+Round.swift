// SPDX-License-Identifier: Apache-2.0
internal import ClusterKit
internal import Concurrency
internal import LoadKit
internal import MachineKit
internal import ProtocolClient

/// The cluster of a run, as its rounds use it.
struct ChaosTarget: Sendable {
    /// The gateways' addresses.
    var addresses: [PlazaAddress]
    /// Their addresses for HTTP; empty for a load without HTTP.
    var httpAddresses: [String] = []
    /// How many texts, tips and counters a feed of the app may have in a second.
    var feedBudget = AppsFile.defaultFeedBudget
    /// The app's backend; nil if the cluster does not know it.
    var backend: AppBackend?
    /// Returns what Kafka has of all lives whose names begin with `name`, since `start`.
    var readLog: @Sendable (_ name: String, _ start: Timestamp) async throws -> RoundLog = { _, _ in RoundLog() }
}

/// Runs one round.
extension ChaosRunner {
    /// Runs one round: the load, the stage workload, and the fault while both run.
    ///
    /// - Parameters:
    ///   - round: the fault, and when it is injected.
    ///   - plan: the seed, the names and the tokens.
    ///   - target: the cluster.
    ///   - injector: injects the fault.
    ///   - faults: gets the time of the fault.
    /// - Returns: what was found.
    /// - Throws: the reason why the load could not run.
    static func runRound(
        _ round: ChaosRound, _ plan: ChaosPlan, on target: ChaosTarget, _ injector: some FaultInjecting,
        recordingIn faults: FaultLog
    ) async throws -> RoundResult {
        let start = Timestamp.ofThisMachine
        // Lives and users of earlier rounds may still exist in the cluster, so each round needs names of its own.
        let name = "ch\(plan.name)-\(round.number)"
        let workload = try StageWorkload(
            StageWorkload.Setting(
                addresses: target.addresses, httpAddresses: target.httpAddresses, name: name, token: plan.token,
                stepTimeout: round.limits.answer))
        target.backend?.setReliable(false)
        let isLoadOver = Locked(false)
        async let recorded = workload.run(
            until: { isLoadOver.withLock { $0 } }, countsDueFrom: { faults.windows.last?.recoveredAt })
        // If the load cannot run, this function throws, and leaving it waits for `recorded`.
        defer { isLoadOver.withLock { $0 = true } }
        let (load, reasonNotInjected) = try await Self.runLoad(round, plan, target.addresses, name) {
            try? await Task.sleep(for: round.delay)
            return await faults.record(round) {
                await injector.inject(
                    round.fault, waitForLastSecondOfBattle: { await workload.waitForLastSecondOfBattle() },
                    sendBurst: { await workload.sendBurst(thenWait: round.burstDelay) })
            }
        }
        isLoadOver.withLock { $0 = true }
        // From here on the backend accepts every event at the next attempt, so that the round ends soon.
        target.backend?.setReliable(true)
        var history = await recorded
        history.feedBudget = target.feedBudget
        history.answersDueFrom = faults.windows.last?.recoveredAt
        var log = RoundLog()
        do {
            // The logs are read from a minute before the round, because a broker's clock may be behind.
            log = try await target.readLog(name, start - Milliseconds.seconds(60))
        } catch {
            history.stalls.append("the lives could not be read from Kafka after the round: \(error)")
        }
        history.logs = log.feeds
        if let backend = target.backend {
            history = await Self.awaitDeliveries(history, log.events) {
                backend.requests(aboutLivesNamed: name, since: start)
            }
        }
        var result = Self.makeResult(round, plan, load, history)
        // A finding counts even if the fault was not injected. Such a round need not cover every promise, however.
        result.invalid = reasonNotInjected
        if reasonNotInjected == nil { result.findings += RoundCoverage.findings(in: history).map(\.description) }
        target.backend?.forget(livesNamed: name, until: start)
        return result
    }

    /// How long the app's backend may wait for the last events of a round.
    ///
    /// It is far above the delays that the backend itself causes at the end of a round: a late answer holds up the
    /// events of its live for 5 s, and a failed one for up to 1 s.
    private static let deliveryLimit = Duration.seconds(30)

    /// Waits until the checks of the backend find nothing, at most for `deliveryLimit`.
    ///
    /// - Parameters:
    ///   - history: what the clients and Kafka have.
    ///   - events: the events in Kafka.
    ///   - requests: returns the backend's requests so far.
    /// - Returns: the history, with what the backend received.
    private static func awaitDeliveries(
        _ history: RoundHistory, _ events: [BackendHistory.LoggedEvent], requests: () -> [BackendRequest]
    ) async -> RoundHistory {
        let deadline = ContinuousClock.now + Self.deliveryLimit
        var history = history
        while true {
            history.backend = BackendHistory(requests: requests(), log: events)
            let isComplete = HistoryChecker.Check.ofBackend.allSatisfy { check in
                HistoryChecker.findings(of: check, in: history).isEmpty
            }
            if isComplete || ContinuousClock.now > deadline { return history }
            try? await Task.sleep(for: .milliseconds(250))
        }
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
}
