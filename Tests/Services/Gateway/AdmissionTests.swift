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
@Suite(.serialized, .timeLimit(.minutes(1))) struct AdmissionTests {
    private func refused(_ cluster: FakeCluster, _ reason: RefusalReason) -> Int {
        let family = cluster.registry.snapshot().first { $0.name == "gateway_refusals_total" }
        let sample = family?.samples.first { $0.labels.pairs.contains { $0.value == reason.rawValue } }
        if case .number(let value)? = sample?.value { return Int(value) }
        return 0
    }

    private func error(_ outcome: Outcome) -> ReplyError? {
        if case .failure(let error) = outcome { return error }
        return nil
    }

    /// Rules: R12.6.
    @Test func `an address has so many connections on all shards together`() throws {
        let cluster = try FakeCluster {
            $0.admission.connectionsPerAddress = 3
            $0.shards = 2
        }
        var clients = try (0..<3).map { _ in try WireClient(port: cluster.gateway.port) }
        #expect(clients.allSatisfy { $0.status == 101 })
        let refused = try WireClient(port: cluster.gateway.port)
        #expect(refused.status == 429 && refused.head.contains("\r\nRetry-After: 5\r\n"))
        #expect(self.refused(cluster, .connectionsPerAddress) == 1)
        clients.removeFirst().cut()
        var status = 0
        for _ in 0..<200 where status != 101 { status = try WireClient(port: cluster.gateway.port).status }
        #expect(status == 101, "the place of one that ended")
    }

    /// Rules: R12.6.
    @Test func `an address opens so many WebSockets a second`() throws {
        let cluster = try FakeCluster { $0.admission.handshakes = RateLimit(2, per: .seconds(60)) }
        let clients = try (0..<3).map { _ in try WireClient(port: cluster.gateway.port) }
        #expect(clients.map(\.status) == [101, 101, 429])
        let seconds = clients[2].head.split(separator: "Retry-After: ").last.flatMap { Int($0.prefix { $0.isNumber }) }
        #expect((10...30).contains(try #require(seconds)))
        #expect(self.refused(cluster, .handshakes) == 1)
    }

    /// Rules: R12.6.
    @Test func `a user has so many connections, and its next one replaces its own session`() throws {
        let cluster = try FakeCluster { $0.admission.connectionsPerUser = 2 }
        let (first, _) = try cluster.client("bob", session: "one")
        let (second, _) = try cluster.client("bob", session: "two")
        let (third, outcome) = try cluster.client("bob", session: "three")
        #expect(self.error(outcome)?.code == .overLimit && self.error(outcome)?.retryAfter == 5000)
        #expect(try third.closeCode() == 4106)
        let (again, welcome) = try cluster.client("bob", session: "one")
        #expect(self.error(welcome) == nil)
        #expect(try first.closeCode() == 4102)
        #expect(try again.answersPing())
        #expect(try second.answersPing())
        let (eve, _) = try cluster.client("eve")
        #expect(try eve.answersPing())
        #expect(self.refused(cluster, .connectionsPerUser) == 1)
    }

    /// Rules: R12.6.
    @Test func `an app has its share of the connections`() throws {
        let cluster = try FakeCluster { $0.admission.connectionsPerApp = 2 }
        let clients = try (0..<2).map { try cluster.client("u\($0)").0 }
        let (third, outcome) = try cluster.client("u2")
        #expect(self.error(outcome)?.code == .overloaded && self.error(outcome)?.retryAfter == 5000)
        #expect(try third.closeCode() == 4004)
        let other = try WireClient(port: cluster.gateway.port)
        let token = FakeCluster.Tokens.token("bob", app: "other")
        let params = String(decoding: Wire.encode(LoginParams(token: token)), as: UTF8.self)
        #expect(self.error(try other.call("login", params)) == nil)
        #expect(try clients[0].answersPing())
    }

    /// Rules: R12.9.
    @Test func `before its login a connection sends ten frames and 16 KB`() throws {
        let cluster = try FakeCluster()
        let many = try WireClient(port: cluster.gateway.port)
        for _ in 0..<11 { try many.write(WireClient.masked(0x89, [])) }
        #expect(try many.closeCode() == 4104)
        let large = try WireClient(port: cluster.gateway.port)
        // Half a message: nothing of it is a frame yet.
        let message = WireClient.masked(0x81, [UInt8](repeating: 65, count: 30_000))
        try large.write(Array(message.prefix(20_000)))
        #expect(try large.closeCode() == 4104)
        #expect(self.refused(cluster, .beforeLogin) == 2)
        let (good, _) = try cluster.client("bob")
        for _ in 0..<20 { try good.write(WireClient.masked(0x89, [])) }
        try good.send("{\"id\":90,\"method\":\"ping\",\"x\":\"" + String(repeating: "a", count: 20_000) + "\"}")
        #expect(try good.answersPing(), "the login ends these limits")
    }

    /// Rules: R12.9.
    @Test func `control frames count as frames, and bytes have a rate`() throws {
        let cluster = try FakeCluster {
            $0.admission.frames = RateLimit(50)
            $0.admission.bytes = RateLimit(40_000)
        }
        let (pinging, _) = try cluster.client("bob")
        for _ in 0..<80 { try pinging.write(WireClient.masked(0x89, [1, 2])) }
        #expect(try pinging.closeCode() == 4104)
        #expect(self.refused(cluster, .frames) == 1)
        let (sending, _) = try cluster.client("eve")
        for _ in 0..<4 { try? sending.send("{\"id\":90,\"x\":\"" + String(repeating: "a", count: 20_000) + "\"}") }
        #expect(try sending.closeCode() == 4104)
        #expect(self.refused(cluster, .bytes) == 1)
    }

    /// Rules: R12.10.
    @Test func `unfinished messages of all connections share a memory`() throws {
        let cluster = try FakeCluster {
            $0.shards = 1
            $0.maxUnfinishedBytes = 120_000
        }
        let half = Array(WireClient.masked(0x81, [UInt8](repeating: 65, count: 60_000)).prefix(50_000))
        let (first, _) = try cluster.client("a")
        let (second, _) = try cluster.client("b")
        let (third, _) = try cluster.client("c")
        for client in [first, second, third] { try client.write(half) }
        // Which of them is over it depends on how the bytes arrive.
        let deadline = ContinuousClock.now + .seconds(10)
        while self.refused(cluster, .unfinishedMessages) == 0, ContinuousClock.now < deadline {
            _ = first.isQuiet(milliseconds: 20)
        }
        #expect(self.refused(cluster, .unfinishedMessages) == 1)
        let (good, _) = try cluster.client("d")
        #expect(try good.answersPing())
    }

    /// Rules: R12.8.
    @Test func `a user's logins, joins, gifts, device changes, reads and sanctions have rates on all its connections`()
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
        cluster.create("a")
        let (first, _) = try cluster.client("bob")
        let (second, _) = try cluster.client("bob")
        for client in [first, second, first] { #expect(self.error(try client.call("gift.list")) == nil) }
        let read = self.error(try second.call("gift.list"))
        #expect(read?.code == .tooFrequent && (5_000...20_000).contains(read?.retryAfter ?? 0))
        #expect(self.error(try first.call("ping")) == nil, "no read")
        for _ in 0..<2 {
            #expect(self.error(try first.call("live.join", "{\"live\":\"a\"}")) == nil)
            #expect(self.error(try first.call("live.leave", "{\"live\":\"a\"}")) == nil)
        }
        #expect(self.error(try first.call("live.join", "{\"live\":\"a\"}"))?.code == .tooFrequent)
        _ = try first.call("seat.device", "{\"live\":\"a\"}")
        #expect(self.error(try second.call("seat.device", "{\"live\":\"a\"}"))?.code == .tooFrequent)
        _ = try first.call("gift.send", "{\"live\":\"a\"}")
        #expect(self.error(try second.call("gift.send", "{\"live\":\"a\"}"))?.code == .tooFrequent)
        // Nobody answers these calls here; the reply to the ping shows that they were counted.
        try first.begin("live.ban", #"{"live":"a","users":["u","v"],"duration":9}"#)
        try first.begin("audience.kick", #"{"live":"a","user":"u"}"#)
        _ = try first.call("ping")
        #expect(
            self.error(try second.call("live.mute", #"{"live":"a","users":["u","v"],"duration":9}"#))?.code
                == .tooFrequent)
        #expect(self.error(try second.call("audience.kick", #"{"live":"a","user":"u"}"#))?.code == .tooFrequent)
        _ = try cluster.client("bob")
        #expect(self.error(try cluster.client("bob").1)?.code == .tooFrequent, "the fourth login")
        let (eve, _) = try cluster.client("eve")
        #expect(self.error(try eve.call("gift.list")) == nil)
        #expect(self.refused(cluster, .logins) == 1 && self.refused(cluster, .reads) == 1)
        #expect(self.refused(cluster, .memberships) == 1)
    }

    @Test func `a client's made-up close codes share one label`() throws {
        let cluster = try FakeCluster()
        for code in [3000, 3999, 4104, 4999] as [UInt16] {
            let client = try WireClient(port: cluster.gateway.port)
            try client.write(WireClient.masked(0x88, [UInt8(code >> 8), UInt8(code & 255)]))
            _ = try client.closeCode()
        }
        // The gateway counts right after it has answered the close frame.
        let deadline = ContinuousClock.now + .seconds(10)
        while cluster.metric("gateway_disconnects_total") < 4, ContinuousClock.now < deadline { sched_yield() }
        let family = cluster.registry.snapshot().first { $0.name == "gateway_disconnects_total" }
        let counted = (family?.samples ?? []).filter { sample in
            if case .number(let value) = sample.value { return value > 0 }
            return false
        }
        #expect(counted.map { $0.labels.pairs.map(\.value) } == [["other"]])
    }
}

/// Clients behind proxies.
@Suite(.serialized, .timeLimit(.minutes(1))) struct ProxiedClientTests {
    private static func header(_ address: [UInt8]) -> [UInt8] {
        [0x0D, 0x0A, 0x0D, 0x0A, 0x00, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A, 0x21, 0x11, 0, 12] + address
            + [127, 0, 0, 1, 0x12, 0x34, 0, 80]
    }

    private func cluster(proxyProtocol: Bool) throws -> FakeCluster {
        let block = try #require(AddressBlock("127.0.0.0/8"))
        return try FakeCluster {
            $0.trustedProxies = TrustedProxies([block])
            $0.speaksProxyProtocol = proxyProtocol
            $0.admission.connectionsPerAddress = 1
        }
    }

    @Test func `a PROXY header names the client, which then has the limits`() throws {
        let cluster = try self.cluster(proxyProtocol: true)
        let port = cluster.gateway.port
        let first = try WireClient(port: port, before: Self.header([1, 1, 1, 1]))
        #expect(first.status == 101)
        #expect(try WireClient(port: port, before: Self.header([1, 1, 1, 1])).status == 429)
        let other = try WireClient(port: port, before: Self.header([1, 1, 1, 2]))
        #expect(other.status == 101)
        try first.send("{\"id\":1,\"method\":\"ping\"}")
        guard case .frame = try first.next() else {
            Issue.record("the first frame is read right after the header and the handshake")
            return
        }
    }

    @Test func `a trusted proxy that does not begin with the header is cut off`() throws {
        let cluster = try self.cluster(proxyProtocol: true)
        #expect(throws: WireClient.Failure.self) { try WireClient(port: cluster.gateway.port) }
        var broken = Self.header([1, 1, 1, 1])
        broken[13] = 0x77
        #expect(throws: WireClient.Failure.self) { try WireClient(port: cluster.gateway.port, before: broken) }
        #expect(cluster.metric("gateway_refusals_total") == 2)
    }

    /// Rules: R12.7.
    @Test func `a PROXY header of a peer that is not trusted is no handshake`() throws {
        let cluster = try FakeCluster { $0.speaksProxyProtocol = true }
        #expect(try WireClient(port: cluster.gateway.port, before: Self.header([1, 1, 1, 1])).status == 400)
        #expect(try WireClient(port: cluster.gateway.port).status == 101)
    }

    /// Rules: R12.7.
    @Test func `X-Forwarded-For names the client when proxies speak HTTP`() throws {
        let cluster = try self.cluster(proxyProtocol: false)
        let port = cluster.gateway.port
        let first = try WireClient(port: port, headers: "X-Forwarded-For: 9.9.9.9, 1.1.1.1\r\n")
        let second = try WireClient(port: port, headers: "X-Forwarded-For: 9.9.9.8\r\nX-Forwarded-For: 1.1.1.1\r\n")
        let third = try WireClient(port: port, headers: "X-Forwarded-For: 1.1.1.2\r\n")
        #expect([first.status, second.status, third.status] == [101, 429, 101])
        #expect(try WireClient(port: port).status == 101)
    }
}

@Suite struct AdmissionSettingsTests {
    private func read(_ arguments: [String], hard: Int = 1_048_576) throws(SettingsError) -> GatewaySettings {
        var reader = SettingsReader(program: "gateway", summary: "", arguments: arguments, environment: [:])
        let admission = AdmissionSettings(&reader, hardLimit: hard)
        try reader.finish()
        var settings = GatewaySettings(id: "gateway-1")
        admission.apply(to: &settings, apps: 2)
        return settings
    }

    @Test func `limits are settings`() throws {
        let standard = try self.read([])
        #expect(standard.maxConnections == 100_000 && standard.admission.connectionsPerApp == 50_000)
        var expected = AdmissionLimits()
        expected.connectionsPerApp = 50_000
        #expect(standard.admission == expected)
        let own = try self.read([
            "--max-connections", "5000", "--connections-per-app", "7", "--connections-per-user", "3",
            "--joins-per-minute", "9", "--trusted-proxies", "10.0.0.0/8,fd00::1", "--proxy-protocol",
        ])
        #expect(own.maxConnections == 5000 && own.admission.connectionsPerApp == 7 && own.speaksProxyProtocol)
        #expect(own.admission.connectionsPerUser == 3)
        #expect(own.admission.memberships == RateLimit(9, per: .seconds(60)))
        #expect(own.trustedProxies.contains(try #require(IPAddress("10.9.9.9"))))
    }

    @Test func `a block of proxies that is none keeps the gateway from starting`() {
        let error = #expect(throws: SettingsError.self) { try self.read(["--trusted-proxies", "10.0.0.1/8"]) }
        #expect(error?.description.contains("give addresses, or blocks such as 10.0.0.0/8") == true)
    }

    @Test func `connections that do not fit into the limit of open files keep the gateway from starting`() throws {
        #expect(try self.read([], hard: 20_000).maxConnections == 17_952, "what there is")
        #expect(try self.read(["--max-connections", "17952"], hard: 20_000).maxConnections == 17_952)
        let error = #expect(throws: SettingsError.self) { try self.read(["--max-connections", "17953"], hard: 20_000) }
        let sentence =
            "needs 20001 open files and the system allows 20000: raise that (ulimit -Hn), or give at most 17952"
        #expect(error?.description.contains(sentence) == true)
        #expect(throws: SettingsError.self) { try self.read([], hard: 2_048) }
        #expect(throws: SettingsError.self) { try self.read([], hard: 0) }
    }
}
