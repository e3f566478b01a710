// SPDX-License-Identifier: Apache-2.0
import ClientAddress
import GatewayCore
import MachineKit
import PlazaModel
import Settings
import Testing

@testable import Gateway

/// The settings of a gateway's limits of connections, calls and joins.
@Suite struct AdmissionSettingsTests {
    /// The settings that command-line arguments give to a gateway of two apps.
    ///
    /// `hardLimit` is the operating system's limit of open files.
    private func settings(from arguments: [String], hardLimit: Int = 1_048_576) throws(SettingsError) -> GatewaySettings
    {
        var reader = SettingsReader(program: "gateway", summary: "", arguments: arguments, environment: [:])
        let admission = AdmissionSettings(&reader, hardLimit: hardLimit)
        try reader.finish()
        var settings = GatewaySettings(id: "gateway-1")
        admission.apply(to: &settings, appCount: 2)
        return settings
    }

    @Test func `limits have defaults, and settings change them`() throws {
        let defaults = try self.settings(from: [])
        #expect(defaults.maxConnections == 100_000 && defaults.admission.connectionsPerApp == 50_000)
        // Because there are several apps, each gets half of the connections, and 5000 calls a second.
        var expected = AdmissionLimits()
        expected.connectionsPerApp = 50_000
        expected.callsPerApp = 5000
        #expect(defaults.admission == expected && defaults.hasSeveralApps)

        let changed = try self.settings(from: [
            "--max-connections", "5000", "--connections-per-app", "7", "--calls-per-app", "11",
            "--connections-per-user", "3", "--lives-per-app", "14",
            "--calls-per-user", "5", "--server-connections-per-app", "6", "--server-logins-per-minute", "7",
            "--server-calls-per-second", "8", "--server-reads-per-second", "10", "--server-settings-per-second", "13",
            "--reads-percent", "70",
            "--joins-per-minute", "9", "--replays-per-minute", "15", "--creations-per-second", "12",
            "--trusted-proxies", "10.0.0.0/8,fd00::1", "--proxy-protocol",
        ])
        #expect(
            changed.maxConnections == 5000 && changed.admission.connectionsPerApp == 7 && changed.speaksProxyProtocol)
        #expect(changed.admission.connectionsPerUser == 3 && changed.admission.callsPerApp == 11)
        #expect(changed.admission.callsPerUser == 5 && changed.admission.serverConnections == 6)
        #expect(changed.admission.serverLogins == RateLimit(7, per: .seconds(60)))
        #expect(changed.admission.serverCalls == RateLimit(8) && changed.admission.serverReads == RateLimit(10))
        #expect(changed.admission.readPercent == 70)
        // The rate of joins also counts leaves and resumes: all changes of memberships.
        #expect(changed.admission.memberships == RateLimit(9, per: .seconds(60)))
        #expect(changed.admission.replays == RateLimit(15, per: .seconds(60)))
        #expect(changed.admission.creations == RateLimit(12))
        #expect(changed.admission.serverSettings == RateLimit(13) && changed.admission.livesPerApp == 14)
        #expect(changed.trustedProxies.contains(try #require(IPAddress("10.9.9.9"))))
    }

    @Test func `an invalid block of proxies keeps the gateway from starting`() {
        // In an address block, all bits after the prefix (8 bits here) must be 0, but 10.0.0.1 ends with a 1.
        let error = #expect(throws: SettingsError.self) {
            try self.settings(from: ["--trusted-proxies", "10.0.0.1/8"])
        }
        #expect(error?.description.contains("give addresses, or blocks such as 10.0.0.0/8") == true)
    }

    @Test func `more connections than the limit of open files allows keep the gateway from starting`() throws {
        // A connection needs one open file, and the gateway keeps 2048 files for other uses. So a limit of 20,000 files
        // allows 20,000 - 2048 = 17,952 connections. One connection more would need 20,001 files.
        #expect(
            try self.settings(from: [], hardLimit: 20_000).maxConnections == 17_952,
            "the default of 100,000 is lowered to what the limit allows")
        #expect(try self.settings(from: ["--max-connections", "17952"], hardLimit: 20_000).maxConnections == 17_952)
        let error = #expect(throws: SettingsError.self) {
            try self.settings(from: ["--max-connections", "17953"], hardLimit: 20_000)
        }
        let sentence =
            "needs 20001 open files and the system allows 20000: raise that (ulimit -Hn), or give at most 17952"
        #expect(error?.description.contains(sentence) == true)
        // The gateway keeps all 2048 files for other uses, so no file is left for connections.
        #expect(throws: SettingsError.self) { try self.settings(from: [], hardLimit: 2_048) }
        #expect(throws: SettingsError.self) { try self.settings(from: [], hardLimit: 0) }
    }
}
