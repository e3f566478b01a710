// SPDX-License-Identifier: Apache-2.0
internal import ClusterKit
internal import Concurrency
internal import LoadKit
internal import Observability
internal import ProtocolClient

/// A monitor that reads the gateways' metrics, and sends requests to their HTTP ports, while an attack runs.
actor GatewayMonitor {
    private let target: AttackTarget
    private var changes: [String: GatewayChange] = [:]
    /// How many requests were sent to the HTTP ports, and how many were answered.
    private var answerCounts = AnswerCounts()
    /// The minimum number of measuring rounds in an attack.
    ///
    /// A round reads the metrics and sends one request to each gateway. An attack whose planned time is shorter is
    /// prolonged until these rounds are done (`AttackPeriod`).
    static let minRounds = 5
    /// The pause before each of the first `minRounds` rounds.
    private static let firstPause = Duration.milliseconds(150)
    /// The pause before each later round.
    private static let pause = Duration.milliseconds(500)
    /// How long a request may take; then it counts as not answered.
    private static let answerTimeout = Duration.seconds(2)

    init(_ target: AttackTarget) { self.target = target }

    /// Reads the metrics before the attack.
    func begin() async {
        for (name, reading) in await self.readings() {
            self.changes[name] = GatewayChange(
                before: reading, after: reading, maxBytes: reading?.residentBytes ?? 0)
        }
    }

    /// Measures in rounds until the task is cancelled.
    ///
    /// The first `minRounds` rounds come after shorter pauses than the later rounds.
    ///
    /// - Parameter onEnoughRounds: called once, after `minRounds` rounds, or earlier if the task is cancelled. The
    ///   caller must not end the attack before this call. If only one or two requests were sent, a machine that is slow
    ///   for a moment would look like a gateway that does not answer.
    func watch(onEnoughRounds: @Sendable () -> Void) async {
        var rounds = 0
        while (try? await Task.sleep(for: rounds < Self.minRounds ? Self.firstPause : Self.pause)) != nil {
            await self.update()
            await self.probeHTTP()
            rounds += 1
            if rounds == Self.minRounds { onEnoughRounds() }
        }
        if rounds < Self.minRounds { onEnoughRounds() }
    }

    /// Reads the metrics after the attack.
    ///
    /// - Returns: the changes by the gateway's name, and how many HTTP requests were sent and answered.
    func end() async -> (changes: [String: GatewayChange], answerCounts: AnswerCounts) {
        await self.update()
        return (self.changes, self.answerCounts)
    }

    private func update() async {
        for (name, reading) in await self.readings() {
            self.changes[name]?.after = reading
            let maxBytes = max(self.changes[name]?.maxBytes ?? 0, reading?.residentBytes ?? 0)
            self.changes[name]?.maxBytes = maxBytes
        }
    }

    /// Reads the current metrics of each gateway; a reading is nil if the gateway does not answer.
    private func readings() async -> [(name: String, reading: GatewayReading?)] {
        let gateways = self.target.processes.filter { $0.kind == ServiceKind.gateway.rawValue }
        return await runOnDedicatedThread("metrics") {
            gateways.map { ($0.name, Self.reading(HealthProbe.metrics(port: $0.opsPort))) }
        }
    }

    private static func reading(_ page: String?) -> GatewayReading? {
        guard let page else { return nil }
        let values = MetricsPage(page).values
        // Without the memory, the verdict could not see that it grew, so the reading counts as missing.
        guard let start = values[MetricNames.Process.startTime],
            let residentBytes = values[MetricNames.Process.residentMemory]
        else { return nil }
        return GatewayReading(startTime: start, residentBytes: residentBytes)
    }

    /// Sends one request without a token to each gateway; any response, such as 401, shows that requests are served.
    private func probeHTTP() async {
        let addresses = self.target.httpAddresses
        let answered = await runOnDedicatedThread("http-probe") {
            addresses.count {
                HealthProbe.http(
                    host: $0.host, port: Int($0.port), path: "/v1/lives", timeout: Self.answerTimeout) != nil
            }
        }
        // If the attack has ended during these requests, the task is cancelled. The requests count nevertheless.
        self.answerCounts.asked += addresses.count
        self.answerCounts.answered += answered
    }
}
