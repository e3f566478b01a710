// SPDX-License-Identifier: Apache-2.0
import ClientAddress
import GatewayCore
import Glibc
import MachineKit
import Observability
import PlazaModel
import PlazaWire
import Testing
import Tokens

@testable import Gateway

/// A gateway's limits for one address, connection, user or app (I16 in docs/RULES.md: everything has a limit).
///
/// `retryAfter` is in milliseconds, the header `Retry-After` in seconds. A client whose connection exceeds a limit gets
/// 5 s as the time to retry. `RateLimit(3, per: .seconds(60))` admits three calls at once, and then one call every
/// 60 / 3 = 20 s.
@Suite(.serialized, .timeLimit(.minutes(1))) struct AdmissionTests {
    /// Rules: R12.6.
    @Test func `an address gets at most its limit of connections, counted over all shards`() throws {
        let cluster = try FakeCluster {
            $0.admission.connectionsPerAddress = 3
            $0.shards = 2
        }
        var clients = try (0..<3).map { _ in try WireClient(port: cluster.gateway.port) }
        #expect(clients.allSatisfy { $0.status == 101 }, "three handshakes succeed")
        let fourthClient = try WireClient(port: cluster.gateway.port)
        #expect(fourthClient.status == 429 && fourthClient.head.contains("\r\nRetry-After: 5\r\n"))
        #expect(cluster.refusalCount(.connectionsPerAddress) == 1)
        clients.removeFirst().cutConnection()
        // The gateway may notice the end of the first connection late, so the handshake is tried up to 200 times.
        var status = 0
        for _ in 0..<200 where status != 101 { status = try WireClient(port: cluster.gateway.port).status }
        #expect(status == 101, "the connection that has ended does not count any more")
    }

    /// Rules: R12.6.
    @Test func `an address gets at most its limit of handshakes`() throws {
        let cluster = try FakeCluster { $0.admission.handshakes = RateLimit(2, per: .seconds(60)) }
        let clients = try (0..<3).map { _ in try WireClient(port: cluster.gateway.port) }
        #expect(clients.map(\.status) == [101, 101, 429], "the third handshake is refused")
        let retryAfter = clients[2].head.split(separator: "Retry-After: ").last.flatMap {
            Int($0.prefix { $0.isNumber })
        }
        // One more handshake is admitted after 60 s / 2 = 30 s, less the time that this test has taken.
        #expect((10...30).contains(try #require(retryAfter)))
        #expect(cluster.refusalCount(.handshakes) == 1)
    }

    /// Rules: R12.6.
    @Test func `malformed and unfinished handshakes count as handshakes of their address`() throws {
        let cluster = try FakeCluster { $0.admission.handshakes = RateLimit(4, per: .seconds(60)) }
        /// Sends a text on a new connection and ends its sending side; returns the response, or an empty text.
        func response(to request: String) throws -> String {
            let descriptor = try WireClient.connect(cluster.gateway.port)
            defer { close(descriptor) }
            _ = unsafe send(descriptor, Array(request.utf8), request.utf8.count, Int32(MSG_NOSIGNAL))
            shutdown(descriptor, Int32(SHUT_WR))
            var buffer = [UInt8](repeating: 0, count: 4096)
            let count = unsafe recv(descriptor, &buffer, buffer.count, 0)
            return String(decoding: buffer[..<max(0, count)], as: UTF8.self)
        }
        #expect(try response(to: "GET /nowhere HTTP/1.1\r\nHost: a\r\n\r\n").hasPrefix("HTTP/1.1 404"))
        #expect(try response(to: "\u{1}\r\n\r\n").hasPrefix("HTTP/1.1 400"))
        #expect(try response(to: "POST /v1 HTTP/1.1\r\nHost: a\r\n\r\n").hasPrefix("HTTP/1.1 405"))
        // The client ends this connection in the middle of its head.
        #expect(try response(to: "GET /v1 HT").isEmpty)
        // These four handshakes have used up the rate. Now a well-formed handshake and a malformed one are refused.
        #expect(try WireClient(port: cluster.gateway.port).status == 429)
        #expect(try response(to: "\u{1}\r\n\r\n").hasPrefix("HTTP/1.1 429"))
        #expect(cluster.refusalCount(.handshakes) == 2)
    }

    /// Rules: R13.43.
    @Test func `an address whose HTTP requests are malformed gets no HTTP connection beyond the rate of handshakes`()
        throws
    {
        let cluster = try FakeCluster { $0.admission.handshakes = RateLimit(3, per: .seconds(60)) }
        let admission = cluster.gateway.admission
        // Both addresses share the rate, because they are of one network: their first 64 bits are the same.
        let address = try #require(IPAddress("2001:db8::1"))
        let neighbor = try #require(IPAddress("2001:db8::2"))
        for _ in 0..<3 {
            #expect(admission.allowsHTTPConnection(from: address))
            admission.httpRequestMalformed(from: address)
        }
        #expect(!admission.allowsHTTPConnection(from: address) && !admission.allowsHTTPConnection(from: neighbor))
        #expect(admission.allowsHTTPConnection(from: try #require(IPAddress("2001:db8:0:1::1"))), "another network")
        #expect(throws: Never.self, "handshakes have a rate of their own") {
            try admission.admitHandshake(from: address)
        }
    }

    /// Rules: R12.6.
    @Test func `a user gets at most its limit of connections, but a session may reconnect and replace its connection`()
        throws
    {
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
        #expect(try eve.getsPong(), "bob's connections do not count for eve")
        #expect(cluster.refusalCount(.connectionsPerUser) == 1)
    }

    /// Rules: R12.8.
    @Test func `a resume counts as a join of its user, and other users resume at once`() throws {
        let cluster = try FakeCluster { $0.admission.joinsOfLive = RateLimit(3, per: .seconds(60)) }
        cluster.create("room")
        // Bob's join gets the fake cluster's first ticket, 101.
        _ = try cluster.viewer("bob", of: "room", session: "phone")
        let point = ResumePoint(
            live: "room", ticket: Ticket(101), position: FeedPosition(epoch: FakeCluster.epoch, number: 0))
        func resume(_ user: String, firstID: Int64) throws -> ReplyError? {
            try cluster.client(user, session: "phone", resume: point, firstID: firstID).login.error
        }
        // Bob's join and two resumes reach the limit of three. The call ids of each connection are above those of the
        // session's earlier connections, because a call with an earlier id would repeat that call.
        for firstID: Int64 in [50, 100] { #expect(try resume("bob", firstID: firstID) == nil) }
        let rejection = try resume("bob", firstID: 150)
        // At three joins a minute, the next join is admitted after at most 60 s / 3 = 20 s.
        #expect(rejection?.code == .tooFrequent && (1...20_000).contains(rejection?.retryAfter ?? 0))
        #expect(cluster.refusalCount(.memberships) == 1)
        for number in 0..<40 {
            #expect(try resume("u\(number)", firstID: 50) == nil, "each user has a limit of its own")
        }
        let (bob, login) = try cluster.client("bob", session: "tablet")
        #expect(login.error == nil, "a login without a resume is no join")
        #expect(try bob.call("live.join", "{\"live\":\"room\"}").error?.code == .tooFrequent)
    }

    /// Rules: R12.9.
    @Test func `a connection that sends more than ten frames or 16 KiB before its login is closed`() throws {
        let cluster = try FakeCluster()
        // The clients `pinging` and `sending` do not log in.
        let pinging = try WireClient(port: cluster.gateway.port)
        for _ in 0..<11 { try pinging.write(WireClient.maskedFrame(.ping, [])) }
        #expect(try pinging.closeCode() == DisconnectCode.flooding.code)
        let sending = try WireClient(port: cluster.gateway.port)
        // Only 20,000 bytes of this message of 30,000 are sent. They are more than 16 KiB (16,384 bytes), but no
        // complete frame.
        let message = WireClient.maskedFrame(.text, [UInt8](repeating: UInt8(ascii: "A"), count: 30_000))
        try sending.write(Array(message.prefix(20_000)))
        #expect(try sending.closeCode() == DisconnectCode.flooding.code)
        #expect(cluster.refusalCount(.beforeLogin) == 2)
        let (loggedIn, _) = try cluster.client("bob")
        for _ in 0..<20 { try loggedIn.write(WireClient.maskedFrame(.ping, [])) }
        try loggedIn.send("{\"id\":90,\"method\":\"ping\",\"x\":\"" + String(repeating: "a", count: 20_000) + "\"}")
        #expect(try loggedIn.getsPong(), "the two limits apply only before the login")
    }

    /// Rules: R12.9.
    @Test func `a connection is closed when its control frames or its bytes exceed their rates`() throws {
        let cluster = try FakeCluster {
            // Frames and bytes a second.
            $0.admission.frames = RateLimit(50)
            $0.admission.bytes = RateLimit(40_000)
        }
        let (pinging, _) = try cluster.client("bob")
        for _ in 0..<80 { try pinging.write(WireClient.maskedFrame(.ping, [1, 2])) }
        #expect(try pinging.closeCode() == DisconnectCode.flooding.code)
        #expect(cluster.refusalCount(.frames) == 1)
        let (sending, _) = try cluster.client("eve")
        // Four frames of 20 KB exceed the rate of 40 KB a second, although they are not valid calls. The gateway may
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
        // Three clients each send 50,000 bytes of a message of 60,000. Two unfinished messages are within the limit of
        // 120,000 bytes, three are not.
        let unfinishedMessage = Array(
            WireClient.maskedFrame(.text, [UInt8](repeating: UInt8(ascii: "A"), count: 60_000)).prefix(50_000))
        let (first, _) = try cluster.client("anna")
        let (second, _) = try cluster.client("bob")
        let (third, _) = try cluster.client("carol")
        for client in [first, second, third] { try client.write(unfinishedMessage) }
        // Which connection exceeds the limit depends on the order in which the bytes arrive. So the test looks at the
        // metric instead of a connection, every 20 ms (`isQuiet` waits) and for 10 s at most.
        let deadline = ContinuousClock.now + .seconds(10)
        while cluster.refusalCount(.unfinishedMessages) == 0, ContinuousClock.now < deadline {
            _ = first.isQuiet(milliseconds: 20)
        }
        #expect(cluster.refusalCount(.unfinishedMessages) == 1)
        let (dora, _) = try cluster.client("dora")
        #expect(try dora.getsPong(), "a client without an unfinished message is served")
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
        // Of bob's reads on both connections, three are admitted. The next one is admitted after 20 s, less the time
        // that the calls have taken.
        for client in [first, second, first] { #expect(try client.call("gift.list").error == nil) }
        let read = try second.call("gift.list").error
        #expect(read?.code == .tooFrequent && (5_000...20_000).contains(read?.retryAfter ?? 0))
        #expect(try first.call("ping").error == nil, "a ping is not a read")

        for _ in 0..<2 {
            #expect(try first.call("live.join", "{\"live\":\"room\"}").error == nil)
            #expect(try first.call("live.leave", "{\"live\":\"room\"}").error == nil)
        }
        #expect(try first.call("live.join", "{\"live\":\"room\"}").error?.code == .tooFrequent)

        // One device change and one gift a minute are admitted. These calls count although they lack a parameter.
        _ = try first.call("seat.device", "{\"live\":\"room\"}")
        #expect(try second.call("seat.device", "{\"live\":\"room\"}").error?.code == .tooFrequent)

        _ = try first.call("gift.send", "{\"live\":\"room\"}")
        #expect(try second.call("gift.send", "{\"live\":\"room\"}").error?.code == .tooFrequent)

        // A sanction counts once for each user that it names, so the ban counts as two and the kick as one. They reach
        // the limit of three. The fake cluster does not answer a kick, so the test waits only for the reply to the
        // ping. This reply shows that the gateway has counted both sanctions.
        try first.begin("live.ban", #"{"live":"room","users":["carol","dora"],"duration":9}"#)
        try first.begin("audience.kick", #"{"live":"room","user":"carol"}"#)
        _ = try first.call("ping")
        #expect(
            try second.call("live.mute", #"{"live":"room","users":["carol","dora"],"duration":9}"#).error?.code
                == .tooFrequent)
        #expect(try second.call("audience.kick", #"{"live":"room","user":"carol"}"#).error?.code == .tooFrequent)

        // After the two logins at the beginning, this is the third one.
        _ = try cluster.client("bob")
        #expect(try cluster.client("bob").login.error?.code == .tooFrequent, "the fourth login is rejected")

        let (eve, _) = try cluster.client("eve")
        #expect(try eve.call("gift.list").error == nil, "bob's calls do not count for eve")
        #expect(cluster.refusalCount(.logins) == 1 && cluster.refusalCount(.reads) == 1)
        #expect(cluster.refusalCount(.memberships) == 1, "only the third join was rejected")
    }

    /// Rules: R12.8.
    @Test func `the rate of logins of an open connection is checked before the signature of the token`() throws {
        let cluster = try FakeCluster { $0.admission.logins = RateLimit(2, per: .seconds(60)) }
        let (client, _) = try cluster.client("bob")
        let token = FakeCluster.Tokens.token("bob")
        #expect(try client.call("login", "{\"token\":\"\(token)\"}").error == nil)
        // If the gateway checked this token, the error would be `tokenInvalid`, and the connection would be closed.
        #expect(try client.call("login", "{\"token\":\"a.b.c\"}").error?.code == .tooFrequent)
        #expect(try client.getsPong())
        #expect(cluster.refusalCount(.logins) == 1)
    }

    /// Rules: R12.8.
    @Test func `a page of the list counts as one read of a user for each 20 entries`() throws {
        let cluster = try FakeCluster { $0.admission.reads = RateLimit(5, per: .seconds(60)) }
        let (client, _) = try cluster.client("bob")
        // A page of 50 entries counts as three reads. A page has 20 entries by default, and counts as one.
        #expect(try client.call("live.list", #"{"count":50}"#).error == nil)
        #expect(try client.call("live.list").error == nil)
        let rejection = try client.call("live.list", #"{"count":50}"#).error
        // The rejected call has taken the one read that was left. Its repetition needs three reads, which are available
        // after 3 * 12 s = 36 s, less the time of this test.
        #expect(rejection?.code == .tooFrequent && (24_000...36_000).contains(rejection?.retryAfter ?? 0))
        #expect(cluster.refusalCount(.reads) == 1)

        // The rate of reads is a user's. The reads of an app's server have another rate (R12.14 in docs/RULES.md).
        let (server, _) = try cluster.client("shop", role: .server)
        for _ in 0..<5 { #expect(try server.call("live.list", #"{"count":50}"#).error == nil) }
    }

    /// Rules: R12.19.
    @Test func `a user creates lives at a rate over all its connections, whether it joins them or not`() throws {
        let cluster = try FakeCluster { $0.admission.creations = RateLimit(2, per: .seconds(60)) }
        let (first, _) = try cluster.client("bob")
        let (second, _) = try cluster.client("bob")
        #expect(try first.call("live.create", #"{"live":"one"}"#).error == nil)
        #expect(try second.call("live.create", #"{"live":"two"}"#).error == nil)
        // The next create is admitted after 60 s / 2 = 30 s, less the time that the calls have taken.
        let rejection = try first.call("live.create", #"{"live":"three"}"#).error
        #expect(rejection?.code == .tooFrequent && (15_000...30_000).contains(rejection?.retryAfter ?? 0))
        #expect(try second.call("live.create", #"{"live":"three","join":true}"#).error?.code == .tooFrequent)
        #expect(cluster.refusalCount(.creations) == 2)

        let (eve, _) = try cluster.client("eve")
        #expect(try eve.call("live.create", #"{"live":"four"}"#).error == nil, "another user has its own rate")
        let (server, _) = try cluster.client("shop", role: .server)
        for number in 0..<5 {
            let params = #"{"live":"live\#(number)","owner":"owner\#(number)"}"#
            #expect(try server.call("live.create", params).error == nil, "the rate does not apply to an app's server")
        }
    }

    @Test func `disconnects with unexpected close codes of clients are counted under one metric label`() throws {
        let cluster = try FakeCluster()
        // A gateway closes connections with the code 4104, but no client should. The other three codes have no meaning.
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
        let labelValues = samplesAboveZero.map { $0.labels.pairs.map(\.value) }
        #expect(labelValues == [["other"]], "all four disconnects are counted under the label `other`")
    }
}
