// SPDX-License-Identifier: Apache-2.0
internal import ClientAddress
internal import GatewayCore
internal import MachineKit
package import Settings

/// The settings for the limits of one address, user, connection, app or app's servers at a gateway.
package struct AdmissionSettings: Sendable {
    private let maxConnections: Int
    private let limits: AdmissionLimits
    /// How many calls of one app a gateway forwards per second, if there are several apps and the setting is 0.
    private static let defaultCallsPerApp = 5000
    private let httpConnectionsPerAddress: Int
    private let pendingOutputMebibytes: Int
    private let slowReaderTimeout: Duration
    private let trustedProxies: TrustedProxies
    private let speaksProxyProtocol: Bool

    /// Declares and reads the settings; the reader's `finish()` reports invalid ones.
    ///
    /// - Parameters:
    ///   - reader: The reader.
    ///   - hardLimit: The highest value to which the process may raise its limit of open files.
    package init(_ reader: inout SettingsReader, hardLimit: Int = DescriptorLimit.hardLimit) {
        reader.section("Admission")
        let requested = reader.int(
            "max-connections", default: 0, range: 0...10_000_000,
            help: "WebSockets of this process; 0: 100000, or what the limit of open files allows.")
        self.maxConnections = Self.connections(requested, &reader, hardLimit)
        func readCount(_ name: String, _ defaultValue: Int, _ help: String) -> Int {
            reader.int(name, default: defaultValue, range: 1...10_000_000, help: help)
        }
        // A setting changes the number of a limit, never its period.
        func readRate(_ name: String, _ defaultLimit: RateLimit, _ help: String) -> RateLimit {
            RateLimit(readCount(name, defaultLimit.count, help), per: defaultLimit.period)
        }
        var limits = AdmissionLimits()
        limits.connectionsPerAddress = readCount(
            "connections-per-address", limits.connectionsPerAddress, "WebSockets of one address.")
        limits.handshakes = readRate("handshakes-per-second", limits.handshakes, "Handshakes of one address a second.")
        limits.connectionsPerUser = readCount(
            "connections-per-user", limits.connectionsPerUser, "WebSockets of one user.")
        let connectionsPerApp = reader.int(
            "connections-per-app", default: 0, range: 0...10_000_000,
            help: "WebSockets of one app; 0: half of all if there are several apps, otherwise all.")
        limits.connectionsPerApp = connectionsPerApp == 0 ? nil : connectionsPerApp
        limits.livesPerApp = readCount(
            "lives-per-app", limits.livesPerApp, "Lives of one app; beyond it no further ones are created.")
        let callsPerApp = reader.int(
            "calls-per-app", default: 0, range: 0...10_000_000,
            help: "Calls of one app a second that go to the services; 0: 5000 if there are several apps, else no limit."
        )
        limits.callsPerApp = callsPerApp == 0 ? nil : callsPerApp
        limits.callsPerUser = readCount(
            "calls-per-user", limits.callsPerUser,
            "Calls of one user a second that go to the services; at most a tenth of calls-per-app.")
        limits.frames = readRate(
            "frames-per-second", limits.frames, "Frames of one connection a second, pings included.")
        limits.bytes = readRate("bytes-per-second", limits.bytes, "Bytes of one connection a second.")
        limits.logins = readRate("logins-per-minute", limits.logins, "Logins of one user a minute.")
        limits.memberships = readRate(
            "joins-per-minute", limits.memberships, "Joins, resumes and leaves of one user a minute.")
        limits.joinsOfLive = readRate(
            "joins-of-live-per-minute", limits.joinsOfLive, "Joins and resumes of one user to one live a minute.")
        limits.replays = readRate(
            "replays-per-minute", limits.replays,
            "Replays of one user a minute that read the feed again; each 50,000 records count once.")
        limits.creations = readRate(
            "creations-per-second", limits.creations, "Lives that one user creates a second, by WebSocket and HTTP.")
        limits.gifts = readRate("gifts-per-second", limits.gifts, "Gifts of one user a second.")
        limits.deviceChanges = readRate(
            "device-changes-per-second", limits.deviceChanges, "Device changes of one user a second.")
        limits.reads = readRate(
            "reads-per-second", limits.reads,
            "Reads of one user a second, by WebSocket; a page of live.list counts once for each 20 entries.")
        limits.readPercent = reader.int(
            "reads-percent", default: limits.readPercent, range: 1...100,
            help: "Percent of the time of each of a gateway's threads for clients that reads by WebSocket may use.")
        limits.sanctions = readRate(
            "sanctions-per-second", limits.sanctions,
            "Users whom one user kicks, bans, unbans or mutes a second, by WebSocket.")
        limits.serverConnections = readCount(
            "server-connections-per-app", limits.serverConnections, "WebSockets of one app's servers.")
        limits.serverLogins = readRate(
            "server-logins-per-minute", limits.serverLogins, "Logins of one app's servers a minute.")
        limits.serverCalls = readRate(
            "server-calls-per-second", limits.serverCalls, "Calls of one app's servers a second, by WebSocket.")
        limits.serverReads = readRate(
            "server-reads-per-second", limits.serverReads,
            "Reads of one app's servers a second, by WebSocket; a page of live.list counts as 20.")
        limits.serverSettings = readRate(
            "server-settings-per-second", limits.serverSettings,
            "Changes of one app's words and gifts a second, by WebSocket and HTTP.")
        limits.anonymousRequests = readRate(
            "http-anonymous-per-second", limits.anonymousRequests,
            "HTTP requests of one address a second without a token, or for resources that need none, such as pages.")
        limits.refusedTokens = readRate(
            "http-refused-tokens-per-second", limits.refusedTokens,
            "HTTP requests of one address a second whose tokens are refused; further tokens are not checked.")
        limits.tokenChecks = readRate(
            "http-token-checks-per-second", limits.tokenChecks,
            "Tokens of one address a second that HTTP requests use for the first time, so that they must be checked.")
        self.limits = limits
        self.httpConnectionsPerAddress = readCount(
            "http-connections-per-address", 100,
            "HTTP connections of one address; behind a trusted proxy, open requests of one client.")
        self.pendingOutputMebibytes = reader.int(
            "pending-output-mib", default: 256, range: 16...1_000_000,
            help: "MiB of this process for what clients have not read yet; beyond it the largest are cut off.")
        self.slowReaderTimeout = reader.seconds(
            "slow-reader-seconds", default: 20, range: 2...3600,
            help: "How long a client may read nothing while bytes wait for it, before it is cut off.")
        self.trustedProxies = Self.proxies(&reader)
        self.speaksProxyProtocol = reader.flag(
            "proxy-protocol",
            help: "Whether trusted proxies begin WebSockets' connections with a PROXY header, version 2."
        )
    }

    /// Copies the values into the gateway's settings.
    ///
    /// - Parameters:
    ///   - settings: The gateway's settings.
    ///   - appCount: The number of apps of the cluster.
    package func apply(to settings: inout GatewaySettings, appCount: Int) {
        settings.maxConnections = self.maxConnections
        settings.admission = self.limits
        settings.hasSeveralApps = appCount > 1
        if appCount > 1 {
            settings.admission.connectionsPerApp = self.limits.connectionsPerApp ?? max(1, self.maxConnections / 2)
            settings.admission.callsPerApp = self.limits.callsPerApp ?? Self.defaultCallsPerApp
        }
        settings.httpConnectionsPerAddress = self.httpConnectionsPerAddress
        settings.maxQueuedBytes = self.pendingOutputMebibytes << 20
        settings.slowReaderTimeout = Milliseconds(self.slowReaderTimeout)
        settings.trustedProxies = self.trustedProxies
        settings.speaksProxyProtocol = self.speaksProxyProtocol
    }

    /// Returns the largest number of connections for the setting `requested`; 0 means as many as possible.
    ///
    /// If the limit of open files is too low, the setting is rejected.
    private static func connections(_ requested: Int, _ reader: inout SettingsReader, _ hardLimit: Int) -> Int {
        do throws(DescriptorLimit.Shortage) {
            return try DescriptorLimit.connections(requested: requested == 0 ? nil : requested, hardLimit: hardLimit)
        } catch {
            reader.reject("max-connections", value: requested == 0 ? nil : "\(requested)", remedy: error.remedy)
            // The number does not matter, because a program with a rejected setting does not start.
            return 1
        }
    }

    /// Reads the blocks of addresses of the trusted proxies.
    private static func proxies(_ reader: inout SettingsReader) -> TrustedProxies {
        let texts = reader.list(
            "trusted-proxies", placeholder: "BLOCK,…",
            help: "The proxies that are trusted to state a client's address, such as 10.0.0.0/8.")
        for text in texts where AddressBlock(text) == nil {
            reader.reject("trusted-proxies", value: text, remedy: "give addresses, or blocks such as 10.0.0.0/8")
        }
        return TrustedProxies(texts.compactMap { AddressBlock($0) })
    }
}
