// SPDX-License-Identifier: Apache-2.0
import ProtocolClient
import Testing

@testable import ChaosKit

/// Tests that the checker finds a hang: a cluster that accepts connections and never answers.
struct HangTests {
    @Test(.timeLimit(.minutes(1)))
    func `a cluster that never answers is a finding that names the step, although no connection ends`() async throws {
        // The proxy accepts connections and forwards nothing, so no server is needed.
        let proxy = try FaultProxies(servers: [1])
        defer { proxy.stop() }
        proxy.interrupt(0, .silence([.toServer, .toClient]))
        let workload = try StageWorkload(
            StageWorkload.Setting(
                addresses: [PlazaAddress(host: "127.0.0.1", port: proxy.ports[0])], name: "hang",
                token: { user, _ in user }, stepTimeout: .seconds(1), callTimeout: .milliseconds(200)))
        let history = await workload.run(until: { true })
        let findings = HistoryChecker.findings(in: history).map(\.description)
        #expect(findings.contains { $0.hasPrefix("recovery: host-a's live.create had no valid answer") }, "\(findings)")
    }
}
