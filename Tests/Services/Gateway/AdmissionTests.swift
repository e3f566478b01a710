// SPDX-License-Identifier: Apache-2.0
import ClientAddress
import GatewayCore
import Glibc
import MachineKit
import Observability
import PlazaModel
import PlazaWire
import Settings
import Testing

@testable import Gateway

/// What one address, connection, user or app may take of a gateway (I16, everything has a limit).
///
/// `retryAfter` is in milliseconds, the header `Retry-After` in seconds. A client that is refused because there are too
/// many connections should retry after 5 s.
@Suite(.serialized, .timeLimit(.minutes(1))) struct AdmissionTests {
    /// Rules: R12.6.
    @Test func `an address gets at most its limit of connections, counted over all shards`() throws {
        let cluster = try FakeCluster {
            $0.admission.connectionsPerAddress = 3
            $0.shards = 2
        }
        var clients = try (0..<3).map { _ in try WireClient(port: cluster.gateway.port) }
        #expect(clients.allSatisfy { $0.status == 101 })
        let refused = try WireClient(port: cluster.gateway.port)
        #expect(refused.status == 429 && refused.head.contains("\r\nRetry-After: 5\r\n"))
        #expect(cluster.refusalCount(.connectionsPerAddress) == 1)
        clients.removeFirst().cut()
        // The gateway may notice the end of the connection only after some attempts of the next one.
        var status = 0
        for _ in 0..<200 where status != 101 { status = try WireClient(port: cluster.gateway.port).status }
        #expect(status == 101, "an ended connection frees its place")
    }

    /// Rules: R12.6.
    @Test func `an address gets at most its limit of handshakes`() throws {
        let cluster = try FakeCluster { $0.admission.handshakes = RateLimit(2, per: .seconds(60)) }
        let clients = try (0..<3).map { _ in try WireClient(port: cluster.gateway.port) }
        #expect(clients.map(\.status) == [101, 101, 429])
        let retryAfter = clients[2].head.split(separator: "Retry-After: ").last.flatMap {
            Int($0.prefix { $0.isNumber })
        }
        // One more handshake is admitted after 30 s, less the time that this test has taken.
        #expect((10...30).contains(try #require(retryAfter)))
        #expect(cluster.refusalCount(.handshakes) == 1)
    }

    /// Rules: R12.6.
    @Test func `a user gets at most its limit of connections, and may still replace one of its sessions`() throws {
        let cluster = try FakeCluster { $0.admission.connectionsPerUser = 2 }
        let (first, _) = try cluster.client("bob", session: "one")
        let (second, _) = try cluster.client("bob", session: "two")
        let (third, outcome) = try cluster.client("bob", session: "three")
        #expect(outcome.error?.code == .overLimit && outcome.error?.retryAfter == 5000)
        #expect(try third.closeCode() == DisconnectCode.tooManyConnections.code)
        let (replacing, login) = try cluster.client("bob", session: "one")
        #expect(login.error == nil)
        #expect(try first.closeCode() == DisconnectCode.replaced.code)
        #expect(try replacing.getsPong())
        #expect(try second.getsPong())
        let (eve, _) = try cluster.client("eve")
        #expect(try eve.getsPong())
        #expect(cluster.refusalCount(.connectionsPerUser) == 1)
    }

    /// Rules: R12.8.
    @Test func `a resume counts as a join of its user, and other users resume at once`() throws {
        let cluster = try FakeCluster { $0.admission.joinsOfLive = RateLimit(3, per: .seconds(60)) }
        cluster.create("room")
        // bob's join gets the fake cluster's first ticket, 101.
        _ = try cluster.viewer("bob", of: "room", session: "phone")
        let point = ResumePoint(
            live: "room", ticket: Ticket(101), position: FeedPosition(epoch: FakeCluster.epoch, number: 0))
        func resume(_ user: String, firstID: Int64) throws -> ReplyError? {
            try cluster.client(user, session: "phone", resume: point, firstID: firstID).login.error
        }
        // With bob's join, two resumes reach the limit. The ids of each connection's calls are above the earlier ones.
        for firstID: Int64 in [50, 100] { #expect(try resume("bob", firstID: firstID) == nil) }
        let refused = try resume("bob", firstID: 150)
        // At three joins a minute the next one is admitted after 20 s.
        #expect(refused?.code == .tooFrequent && (1...20_000).contains(refused?.retryAfter ?? 0))
        #expect(cluster.refusalCount(.memberships) == 1)
        for number in 0..<40 { #expect(try resume("u\(number)", firstID: 50) == nil) }
        let (bob, login) = try cluster.client("bob", session: "tablet")
        #expect(login.error == nil, "a login without a resume")
        #expect(try bob.call("live.join", "{\"live\":\"room\"}").error?.code == .tooFrequent)
    }

    /// Rules: R12.9.
    @Test func `a connection that sends more than ten frames or 16 KiB before its login is closed`() throws {
        let cluster = try FakeCluster()
        let pinging = try WireClient(port: cluster.gateway.port)
        for _ in 0..<11 { try pinging.write(WireClient.maskedFrame(.ping, [])) }
        #expect(try pinging.closeCode() == DisconnectCode.flooding.code)
        let sending = try WireClient(port: cluster.gateway.port)
        // Only a part of a message is sent, so that no frame is complete.
        let message = WireClient.maskedFrame(.text, [UInt8](repeating: UInt8(ascii: "A"), count: 30_000))
        try sending.write(Array(message.prefix(20_000)))
        #expect(try sending.closeCode() == DisconnectCode.flooding.code)
        #expect(cluster.refusalCount(.beforeLogin) == 2)
        let (good, _) = try cluster.client("bob")
        for _ in 0..<20 { try good.write(WireClient.maskedFrame(.ping, [])) }
        try good.send("{\"id\":90,\"method\":\"ping\",\"x\":\"" + String(repeating: "a", count: 20_000) + "\"}")
        #expect(try good.getsPong(), "these limits apply only before the login")
    }

    /// Rules: R12.9.
    @Test func `a connection is closed when its control frames or its bytes exceed their rates`() throws {
        let cluster = try FakeCluster {
            $0.admission.frames = RateLimit(50)
            $0.admission.bytes = RateLimit(40_000)
        }
        let (pinging, _) = try cluster.client("bob")
        for _ in 0..<80 { try pinging.write(WireClient.maskedFrame(.ping, [1, 2])) }
        #expect(try pinging.closeCode() == DisconnectCode.flooding.code)
        #expect(cluster.refusalCount(.frames) == 1)
        let (sending, _) = try cluster.client("eve")
        // Four frames of 20 KB exceed the rate of 40 KB a second, although they are no valid calls. The gateway may
        // close the connection before the last one is sent.
        for _ in 0..<4 { try? sending.send("{\"id\":90,\"x\":\"" + String(repeating: "a", count: 20_000) + "\"}") }
        #expect(try sending.closeCode() == DisconnectCode.flooding.code)
        #expect(cluster.refusalCount(.bytes) == 1)
    }

    /// Rules: R12.10.
    @Test func `unfinished messages of all connections share one memory limit`() throws {
        let cluster = try FakeCluster {
            $0.shards = 1
            $0.maxUnfinishedBytes = 120_000
        }
        // Each client sends 50,000 bytes of a message of 60,000: two of them are within the limit, three are not.
        let unfinishedMessage = Array(
            WireClient.maskedFrame(.text, [UInt8](repeating: UInt8(ascii: "A"), count: 60_000)).prefix(50_000))
        let (first, _) = try cluster.client("anna")
        let (second, _) = try cluster.client("bob")
        let (third, _) = try cluster.client("carol")
        for client in [first, second, third] { try client.write(unfinishedMessage) }
        // Which connection exceeds the limit depends on the order in which the bytes arrive. The test looks at the
        // metric each 20 ms, for 10 s at most.
        let deadline = ContinuousClock.now + .seconds(10)
        while cluster.refusalCount(.unfinishedMessages) == 0, ContinuousClock.now < deadline {
            _ = first.isQuiet(milliseconds: 20)
        }
        #expect(cluster.refusalCount(.unfinishedMessages) == 1)
        let (good, _) = try cluster.client("dora")
        #expect(try good.getsPong())
    }

    /// Rules: R12.8.
    @Test
    func `a user's logins, joins, gifts, device changes, reads and sanctions have rates over all its connections`()
        throws
    {
        let cluster = try FakeCluster {
            $0.admission.reads = RateLimit(3, per: .seconds(60))
            $0.admission.joinsOfLive = RateLimit(2, per: .seconds(60))
            $0.admission.logins = RateLimit(3, per: .seconds(60))
            $0.admission.deviceChanges = RateLimit(1, per: .seconds(60))
            $0.admission.gifts = RateLimit(1, per: .seconds(60))
            $0.admission.sanctions = RateLimit(3, per: .seconds(60))
        }
        cluster.create("room")
        let (first, _) = try cluster.client("bob")
        let (second, _) = try cluster.client("bob")
        // Reads of a user on two connections: three are admitted. At three reads a minute the next one is admitted
        // after 20 s, less the time that the calls have taken.
        for client in [first, second, first] { #expect(try client.call("gift.list").error == nil) }
        let read = try second.call("gift.list").error
        #expect(read?.code == .tooFrequent && (5_000...20_000).contains(read?.retryAfter ?? 0))
        #expect(try first.call("ping").error == nil, "a ping is not a read")

        for _ in 0..<2 {
            #expect(try first.call("live.join", "{\"live\":\"room\"}").error == nil)
            #expect(try first.call("live.leave", "{\"live\":\"room\"}").error == nil)
        }
        #expect(try first.call("live.join", "{\"live\":\"room\"}").error?.code == .tooFrequent)

        _ = try first.call("seat.device", "{\"live\":\"room\"}")
        #expect(try second.call("seat.device", "{\"live\":\"room\"}").error?.code == .tooFrequent)

        _ = try first.call("gift.send", "{\"live\":\"room\"}")
        #expect(try second.call("gift.send", "{\"live\":\"room\"}").error?.code == .tooFrequent)

        // The fake cluster answers no kick, so the test waits for neither reply; the reply to the ping shows that the
        // calls were counted. They count as three, because a call counts once for each user that it names.
        try first.begin("live.ban", #"{"live":"room","users":["carol","dora"],"duration":9}"#)
        try first.begin("audience.kick", #"{"live":"room","user":"carol"}"#)
        _ = try first.call("ping")
        #expect(
            try second.call("live.mute", #"{"live":"room","users":["carol","dora"],"duration":9}"#).error?.code
                == .tooFrequent)
        #expect(try second.call("audience.kick", #"{"live":"room","user":"carol"}"#).error?.code == .tooFrequent)

        // With the two at the beginning, this is the third login.
        _ = try cluster.client("bob")
        #expect(try cluster.client("bob").login.error?.code == .tooFrequent, "the fourth login")

        let (eve, _) = try cluster.client("eve")
        #expect(try eve.call("gift.list").error == nil, "the rates of another user")
        #expect(cluster.refusalCount(.logins) == 1 && cluster.refusalCount(.reads) == 1)
        #expect(cluster.refusalCount(.memberships) == 1, "the third join")
    }

    @Test func `close codes that clients make up are counted under one metric label`() throws {
        let cluster = try FakeCluster()
        // 4104 is a code that only the gateway gives; the others mean nothing to the gateway.
        for code in [3000, 3999, 4104, 4999] as [UInt16] {
            let client = try WireClient(port: cluster.gateway.port)
            try client.write(WireClient.maskedFrame(.close, [UInt8(code >> 8), UInt8(code & 255)]))
            _ = try client.closeCode()
        }
        // The gateway counts a disconnect right after it has answered the close frame. The test waits for 10 s at most.
        let deadline = ContinuousClock.now + .seconds(10)
        while cluster.metric("gateway_disconnects_total") < 4, ContinuousClock.now < deadline { sched_yield() }
        let family = cluster.registry.snapshot().first { $0.name == "gateway_disconnects_total" }
        let samplesAboveZero = (family?.samples ?? []).filter { sample in
            if case .number(let value) = sample.value { return value > 0 }
            return false
        }
        #expect(samplesAboveZero.map { $0.labels.pairs.map(\.value) } == [["other"]])
    }
}

/// Clients behind proxies.
@Suite(.serialized, .timeLimit(.minutes(1))) struct ProxiedClientTests {
    /// A PROXY header (version 2, TCP over IPv4) with a client address of four bytes.
    ///
    /// It has a signature of 12 bytes, the version and command, the address family, and the length of the rest: two
    /// addresses and two ports.
    private static func proxyHeader(_ address: [UInt8]) -> [UInt8] {
        [0x0D, 0x0A, 0x0D, 0x0A, 0x00, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A, 0x21, 0x11, 0, 12] + address
            + [127, 0, 0, 1, 0x12, 0x34, 0, 80]
    }

    /// A gateway behind proxies on this machine, which admits one connection per client address.
    private func cluster(speaksProxyProtocol: Bool) throws -> FakeCluster {
        let block = try #require(AddressBlock("127.0.0.0/8"))
        return try FakeCluster {
            $0.trustedProxies = TrustedProxies([block])
            $0.speaksProxyProtocol = speaksProxyProtocol
            $0.admission.connectionsPerAddress = 1
        }
    }

    @Test func `limits apply to the client address in a PROXY header`() throws {
        let cluster = try self.cluster(speaksProxyProtocol: true)
        let port = cluster.gateway.port
        let first = try WireClient(port: port, proxyHeader: Self.proxyHeader([1, 1, 1, 1]))
        #expect(first.status == 101)
        #expect(try WireClient(port: port, proxyHeader: Self.proxyHeader([1, 1, 1, 1])).status == 429)
        let fromOtherAddress = try WireClient(port: port, proxyHeader: Self.proxyHeader([1, 1, 1, 2]))
        #expect(fromOtherAddress.status == 101)
        try first.send("{\"id\":1,\"method\":\"ping\"}")
        guard case .frame = try first.next() else {
            Issue.record("the ping after the PROXY header and the handshake was not answered")
            return
        }
    }

    @Test func `a connection of a trusted proxy without a valid PROXY header is cut off`() throws {
        let cluster = try self.cluster(speaksProxyProtocol: true)
        #expect(throws: WireClient.Failure.self) { try WireClient(port: cluster.gateway.port) }
        var malformedHeader = Self.proxyHeader([1, 1, 1, 1])
        let addressFamilyIndex = 13
        malformedHeader[addressFamilyIndex] = 0x77
        #expect(throws: WireClient.Failure.self) {
            try WireClient(port: cluster.gateway.port, proxyHeader: malformedHeader)
        }
        #expect(cluster.metric("gateway_refusals_total") == 2)
    }

    /// Rules: R12.7.
    @Test func `a PROXY header of an untrusted peer is rejected as a bad request`() throws {
        let cluster = try FakeCluster { $0.speaksProxyProtocol = true }
        #expect(try WireClient(port: cluster.gateway.port, proxyHeader: Self.proxyHeader([1, 1, 1, 1])).status == 400)
        #expect(try WireClient(port: cluster.gateway.port).status == 101)
    }

    /// Rules: R12.7.
    @Test func `limits apply to the client address in X-Forwarded-For when proxies speak HTTP`() throws {
        let cluster = try self.cluster(speaksProxyProtocol: false)
        let port = cluster.gateway.port
        let first = try WireClient(port: port, headers: "X-Forwarded-For: 9.9.9.9, 1.1.1.1\r\n")
        let second = try WireClient(port: port, headers: "X-Forwarded-For: 9.9.9.8\r\nX-Forwarded-For: 1.1.1.1\r\n")
        let third = try WireClient(port: port, headers: "X-Forwarded-For: 1.1.1.2\r\n")
        // The last address is the client's, because the proxy has appended it.
        #expect([first.status, second.status, third.status] == [101, 429, 101])
        #expect(try WireClient(port: port).status == 101, "without the header the proxy's own address counts")
    }
}

/// The settings of the limits.
@Suite struct AdmissionSettingsTests {
    /// Reads command-line arguments; `hardLimit` is the system's limit of open files.
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
        // Limits for one of several apps: half of the connections, and 5000 calls a second.
        var expected = AdmissionLimits()
        expected.connectionsPerApp = 50_000
        expected.callsPerApp = 5000
        #expect(defaults.admission == expected)

        let changed = try self.settings(from: [
            "--max-connections", "5000", "--connections-per-app", "7", "--calls-per-app", "11",
            "--connections-per-user", "3",
            "--calls-per-user", "5", "--server-connections-per-app", "6", "--server-logins-per-minute", "7",
            "--server-calls-per-second", "8", "--server-reads-per-second", "10",
            "--joins-per-minute", "9", "--trusted-proxies", "10.0.0.0/8,fd00::1", "--proxy-protocol",
        ])
        #expect(
            changed.maxConnections == 5000 && changed.admission.connectionsPerApp == 7 && changed.speaksProxyProtocol)
        #expect(changed.admission.connectionsPerUser == 3 && changed.admission.callsPerApp == 11)
        #expect(changed.admission.callsPerUser == 5 && changed.admission.serverConnections == 6)
        #expect(changed.admission.serverLogins == RateLimit(7, per: .seconds(60)))
        #expect(changed.admission.serverCalls == RateLimit(8) && changed.admission.serverReads == RateLimit(10))
        #expect(changed.admission.memberships == RateLimit(9, per: .seconds(60)))
        #expect(changed.trustedProxies.contains(try #require(IPAddress("10.9.9.9"))))
    }

    @Test func `an invalid block of proxies keeps the gateway from starting`() {
        let error = #expect(throws: SettingsError.self) {
            try self.settings(from: ["--trusted-proxies", "10.0.0.1/8"])
        }
        #expect(error?.description.contains("give addresses, or blocks such as 10.0.0.0/8") == true)
    }

    @Test func `connections that do not fit into the limit of open files keep the gateway from starting`() throws {
        // The gateway keeps 2048 files for other uses: 20,000 - 2048 = 17,952, and 17,953 + 2048 = 20,001.
        #expect(
            try self.settings(from: [], hardLimit: 20_000).maxConnections == 17_952,
            "the default is lowered to what the limit allows")
        #expect(try self.settings(from: ["--max-connections", "17952"], hardLimit: 20_000).maxConnections == 17_952)
        let error = #expect(throws: SettingsError.self) {
            try self.settings(from: ["--max-connections", "17953"], hardLimit: 20_000)
        }
        let sentence =
            "needs 20001 open files and the system allows 20000: raise that (ulimit -Hn), or give at most 17952"
        #expect(error?.description.contains(sentence) == true)
        // With these limits no file is left for connections.
        #expect(throws: SettingsError.self) { try self.settings(from: [], hardLimit: 2_048) }
        #expect(throws: SettingsError.self) { try self.settings(from: [], hardLimit: 0) }
    }
}
