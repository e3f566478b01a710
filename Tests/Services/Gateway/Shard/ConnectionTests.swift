// SPDX-License-Identifier: Apache-2.0
import Concurrency
import Gateway
import GatewayCore
import MachineKit
import PlazaModel
import PlazaWire
import Testing
import Tokens

/// Connections from login to close: calls, replies, and the feed.
@Suite(.serialized, .timeLimit(.minutes(1))) struct ConnectionTests {
    /// The code of an error; nil for a success.
    private func code(_ outcome: Outcome) -> ReplyCode? {
        if case .failure(let error) = outcome { return error.code }
        return nil
    }

    /// Rules: R2.1, R2.27, R5.3.
    @Test func `a client logs in, creates and joins a live, sends a text, and gets it in the feed`() throws {
        let cluster = try FakeCluster()
        let (client, login) = try cluster.client("bob")
        guard case .success(.loggedIn(let session, let user, "gateway-1", _, let loggedInAt?)) = login else {
            Issue.record("unexpected outcome of the login: \(login)")
            return
        }
        #expect(SessionID(checking: session.text) != nil)
        #expect(user.userID == "bob")
        guard case .success(.live) = try client.call("live.create", "{\"live\":\"room\"}"),
            case .success(.joined) = try client.call("live.join", "{\"live\":\"room\"}"),
            case .success(.sent(let position)) = try client.call(
                "barrage.sendText", "{\"live\":\"room\",\"text\":\"hi\"}")
        else {
            Issue.record("create, join or send failed")
            return
        }
        #expect(position == FeedPosition(epoch: FakeCluster.epoch, number: 1))
        #expect(try client.nextItemNumbers() == [1])
        guard case .success(.room(let details)) = try client.call("live.get", "{\"live\":\"room\"}") else {
            Issue.record("live.get did not give the live's details")
            return
        }
        #expect(details.info.liveOwner.userID == "bob")
        guard case .success(.pong(let answeredAt)) = try client.call("ping") else {
            Issue.record("a ping was not answered with a time")
            return
        }
        #expect(
            loggedInAt <= answeredAt && answeredAt.milliseconds > 1_700_000_000_000,
            "the times count milliseconds since 1970; 1,700,000,000,000 is in 2023")
    }

    /// Rules: R13.11.
    @Test func `I6 an app's server cannot join a live, but can act in it`() throws {
        let cluster = try FakeCluster()
        cluster.create("room")
        let client = try WireClient(port: cluster.gateway.port)
        let token = FakeCluster.Tokens.token("shop", role: .server)
        // A resume is a join, too. It is rejected because of the token's role, whatever its ticket is.
        let resume = #""resume":{"live":"room","ticket":101,"position":{"epoch":10,"number":0}}"#
        #expect(self.code(try client.call("login", "{\"token\":\"\(token)\",\(resume)}")) == .noPermission)
        #expect(self.code(try client.call("live.join", "{\"live\":\"room\"}")) == .noPermission)
        let sent = try client.call("barrage.sendText", "{\"live\":\"room\",\"text\":\"hi\"}")
        #expect(sent == .success(result: .sent(position: FeedPosition(epoch: FakeCluster.epoch, number: 1))))
    }

    @Test func `I7 all viewers on all shards get all items, in order`() throws {
        let cluster = try FakeCluster()
        cluster.create("room")
        let viewers = try (0..<40).map { try cluster.viewer("u\($0)", of: "room") }
        for index in 0..<200 { cluster.publishText(FakeCluster.key("room"), "message \(index)") }
        for viewer in viewers { #expect(try viewer.itemNumbers(upTo: 200) == Array(1...200)) }
        #expect(cluster.metric("gateway_feed_due_total") <= 200 * 40, "each item is due at most once per viewer")
    }

    @Test func `the gateway's text of a feed frame equals the codec's encoding`() throws {
        // The gateway puts feed frames together from encoded items, without the codec.
        let cluster = try FakeCluster()
        // The quotation mark in the live's id must be escaped in the frame, as it is in the parameters of the join.
        cluster.create("ro\"om")
        let viewer = try cluster.viewer("bob", of: "ro\\\"om")
        cluster.publishText(FakeCluster.key("ro\"om"), "first")
        while true {
            guard case .frame(let frame, let text) = try viewer.next() else {
                Issue.record("the connection was closed before the item")
                return
            }
            guard case .feed(let live, _, let items, let token) = frame else { continue }
            #expect(live == "ro\"om")
            #expect(text == Wire.encode(frame))
            if !items.isEmpty {
                #expect(token == "10.1.0", "epoch 10, item 1, record offset 0")
                break
            }
        }
    }

    /// Rules: R2.2, R2.7.
    @Test func `I17 calls before a login are rejected, and an invalid token closes the connection`() throws {
        let cluster = try FakeCluster()
        let early = try WireClient(port: cluster.gateway.port)
        #expect(self.code(try early.call("live.get", "{\"live\":\"room\"}")) == .notLoggedIn)
        // A token for bob whose header has the algorithm `none`, without a signature.
        let unsignedToken =
            "eyJhbGciOiJub25lIiwia2lkIjoiazEifQ.eyJhcHAiOiJkZW1vIiwic3ViIjoiYm9iIiwiZXhwIjo5OTk5OTk5OTk5fQ."
        let validToken = FakeCluster.Tokens.token("bob")
        let forgedToken = String(validToken.dropLast(4)) + "AAAA"
        let cases: [(token: String, replyCode: ReplyCode, disconnectCode: DisconnectCode)] = [
            (FakeCluster.Tokens.token("bob", secondsFromNow: -1), .tokenExpired, .tokenExpired),
            ("", .tokenInvalid, .tokenRefused), ("x.y.z", .tokenInvalid, .tokenRefused),
            (unsignedToken, .tokenInvalid, .tokenRefused), (forgedToken, .tokenInvalid, .tokenRefused),
        ]
        for (token, replyCode, disconnectCode) in cases {
            let client = try WireClient(port: cluster.gateway.port)
            let params = String(decoding: Wire.encode(LoginParams(token: token)), as: UTF8.self)
            #expect(self.code(try client.call("login", params)) == replyCode)
            #expect(try client.closeCode() == disconnectCode.code)
        }
    }

    @Test func `I17 a token of one app gives no access to the lives of another`() throws {
        let cluster = try FakeCluster()
        cluster.create("room")
        let client = try WireClient(port: cluster.gateway.port)
        let token = FakeCluster.Tokens.token("bob", app: "other")
        let params = String(decoding: Wire.encode(LoginParams(token: token)), as: UTF8.self)
        guard case .success = try client.call("login", params) else {
            Issue.record("the other app's token was rejected")
            return
        }
        #expect(self.code(try client.call("live.get", "{\"live\":\"room\"}")) == .noSuchRoom)
    }

    @Test func `a connection is closed when its token expires`() throws {
        let cluster = try FakeCluster()
        let client = try WireClient(port: cluster.gateway.port)
        let token = FakeCluster.Tokens.token("bob", secondsFromNow: 2)
        _ = try client.call("login", String(decoding: Wire.encode(LoginParams(token: token)), as: UTF8.self))
        #expect(try client.closeCode() == DisconnectCode.tokenExpired.code)
    }

    @Test func `a session that logs in on a new connection closes its old connection`() throws {
        let cluster = try FakeCluster()
        // The operating system chooses a shard for each connection. There are six rounds, so that both connections get
        // the same shard in some rounds, and different shards in others.
        for round in 0..<6 {
            let (old, _) = try cluster.client("bob", session: "phone\(round)")
            let (new, _) = try cluster.client("bob", session: "phone\(round)")
            #expect(try old.closeCode() == DisconnectCode.replaced.code)
            #expect(try new.getsPong())

            let (eve, _) = try cluster.client("eve", session: "phone\(round)")
            #expect(try eve.getsPong())
            #expect(try new.getsPong(), "I17: eve's session of the same name does not replace bob's")
        }
    }

    /// Rules: R1.1.
    @Test func `a client can act only in the live that it is in`() throws {
        let cluster = try FakeCluster()
        cluster.create("arena")
        cluster.create("bistro")
        // Bob is in arena, not in bistro.
        let client = try cluster.viewer("bob", of: "arena")
        #expect(self.code(try client.call("barrage.sendText", "{\"live\":\"bistro\",\"text\":\"x\"}")) == .notInRoom)
        #expect(self.code(try client.call("live.join", "{\"live\":\"bistro\"}")) == .inAnotherRoom)
        #expect(self.code(try client.call("live.create", "{\"live\":\"cafe\"}")) == .inAnotherRoom)
        #expect(self.code(try client.call("live.leave", "{\"live\":\"bistro\"}")) == .notInRoom)
        #expect(try client.call("live.leave", "{\"live\":\"arena\"}") == .success(result: .done))
        #expect(self.code(try client.call("barrage.sendText", "{\"live\":\"arena\",\"text\":\"x\"}")) == .notInRoom)
        // This item must not reach bob any more.
        cluster.publishText(FakeCluster.key("arena"))
        guard case .success(.joined) = try client.call("live.join", "{\"live\":\"bistro\"}") else {
            Issue.record("bob cannot join bistro after he has left arena")
            return
        }
        cluster.publishText(FakeCluster.key("bistro"))
        #expect(try client.nextItemNumbers() == [1], "bob gets the item of bistro, and none of arena after he left it")
    }

    @Test func `each command carries its session, the id of its call, and the ticket of the join`() throws {
        let cluster = try FakeCluster()
        cluster.create("room")
        let client = try cluster.viewer("bob", of: "room", session: "phone")
        _ = try client.call("barrage.sendText", "{\"live\":\"room\",\"text\":\"x\"}", id: 77)
        // The fake cluster does not answer this call, so the test does not wait for a reply.
        _ = try client.begin("live.update", "{\"live\":\"room\",\"notice\":\"n\"}", id: 78)
        let caller = try cluster.waitForRecord { record -> Caller? in
            guard let input = record.barrageInput, case .sendText(_, _, let caller) = input.command else { return nil }
            return caller
        }
        #expect(caller.request.counter == 77)
        #expect(caller.ticket == Ticket(101), "the first ticket of the fake cluster")
        #expect(caller.replyTo == "gateway-1")
        let updateCaller = try cluster.waitForRecord { record -> Caller? in
            guard let input = record.directoryInput, case .updateInfo(_, _, let caller) = input.command
            else { return nil }
            return caller
        }
        #expect(updateCaller.ticket == Ticket(101), "a command to the directory has the ticket, too")
        #expect(updateCaller.request.session == caller.request.session)
    }

    @Test func `I15 an unanswered call is resent with the same request id and gets one reply`() throws {
        let cluster = try FakeCluster()
        cluster.create("room")
        let client = try cluster.viewer("bob", of: "room")
        cluster.state.withLock { $0.answersCalls = false }
        let id = try client.begin("barrage.sendText", "{\"live\":\"room\",\"text\":\"x\"}")
        let firstRecord = try cluster.waitForRecord { $0.topic == .barrageInbox ? $0 : nil }

        cluster.state.withLock { state in
            state.records.removeAll()
            state.answersCalls = true
        }
        // The gateway resends the record 2 s after it was written.
        #expect(
            try client.answer(to: id)
                == .success(result: .sent(position: FeedPosition(epoch: FakeCluster.epoch, number: 1))))
        let resentRecord = try cluster.waitForRecord { $0.topic == .barrageInbox ? $0 : nil }
        #expect(firstRecord == resentRecord)
        #expect(try client.nextItemNumbers() == [1])

        // The cluster replies a second time, as if it had received both records.
        cluster.answer(resentRecord)
        #expect(try client.getsPong(), "the client gets no second reply to the call")
    }

    @Test
    func
        `calls get a retry hint while the broker is away or its queue is full, and succeed when it is back`()
        throws
    {
        let cluster = try FakeCluster()
        cluster.create("room")
        let client = try cluster.viewer("bob", of: "room")
        let textParams = "{\"live\":\"room\",\"text\":\"x\"}"
        cluster.state.withLock { $0.answersCalls = false }
        let id = try client.begin("barrage.sendText", textParams)
        _ = try cluster.waitForRecord { $0.topic == .barrageInbox ? $0 : nil }
        let recordToken = cluster.state.withLock { $0.recordTokens.last ?? 0 }

        // From a lost record the gateway concludes that the broker is away.
        cluster.gateway.recordLost(token: recordToken)
        guard case .failure(let lost) = try client.answer(to: id) else {
            Issue.record("the call succeeded although its record was lost")
            return
        }
        #expect(lost.code == .unavailable && lost.retryAfter != nil)

        cluster.state.withLock { $0.answersCalls = true }
        for _ in 0..<4 {
            guard case .failure(let error) = try client.call("barrage.sendText", textParams) else {
                Issue.record("the call succeeded although the broker is away")
                return
            }
            #expect(error.code == .unavailable && error.retryAfter != nil)
        }
        // From a delivered record the gateway concludes that the broker is back.
        cluster.gateway.recordDelivered()
        #expect(self.code(try client.call("barrage.sendText", textParams)) == nil)

        cluster.state.withLock { $0.sinkRejection = .full }
        guard case .failure(let full) = try client.call("barrage.sendText", textParams) else {
            Issue.record("the call succeeded although the queue is full")
            return
        }
        #expect(full.code == .overloaded && full.retryAfter != nil, "I16: the error tells when to retry")
    }

    @Test func `records that are lost together fail their calls, each with one reply`() throws {
        let cluster = try FakeCluster()
        cluster.create("room")
        let clients = try ["bob", "carol"].map { try cluster.viewer($0, of: "room") }
        cluster.state.withLock { $0.answersCalls = false }
        let earlierRecordCount = cluster.state.withLock { $0.recordTokens.count }
        var openCalls: [(client: WireClient, id: Int64)] = []
        for number in 0..<6 {
            for client in clients {
                let id = try client.begin("barrage.sendText", "{\"live\":\"room\",\"text\":\"\(number)\"}")
                openCalls.append((client, id))
            }
        }
        try cluster.waitUntil { state in state.records.count(where: { $0.topic == .barrageInbox }) >= openCalls.count }
        // A record's token names the call that waits for the record; token 0 stands for a record without a call.
        let tokens = cluster.state.withLock { $0.recordTokens.dropFirst(earlierRecordCount) }.filter { $0 != 0 }
        #expect(tokens.count == openCalls.count)
        // The gateway must ignore a token whose call has already failed, and a token that it never gave.
        let repeatedToken = tokens[0]
        let unknownToken = tokens[0] &+ 1_000_000
        for token in tokens + [repeatedToken, unknownToken] { cluster.gateway.recordLost(token: token) }
        for (client, id) in openCalls { #expect(self.code(try client.answer(to: id)) == .unavailable) }
        #expect(self.code(try clients[0].call("ping")) == nil, "the client's next frame is the reply to its ping")
    }

    @Test func `a reply is held back until the read model has the revision that the reply requires`() throws {
        let cluster = try FakeCluster()
        let (client, _) = try cluster.client("bob")
        cluster.state.withLock { $0.answersCalls = false }
        let id = try client.begin("live.create", "{\"live\":\"room\"}")
        let caller = try cluster.waitForRecord { record -> Caller? in
            guard let input = record.directoryInput, case .create(_, _, _, let caller) = input.command
            else { return nil }
            return caller
        }
        let done = Outcome.success(result: .done)
        cluster.gateway.received(
            Reply(to: caller, app: FakeCluster.app, done, required: RequiredRevision(.rooms, "room", revision: 1)))
        #expect(client.isQuiet(milliseconds: 50), "the reply waits: the read model does not have the live yet")
        // The gateway's read model now gets the live's record with revision 1, for which the reply has waited.
        cluster.create("room")
        #expect(try client.answer(to: id) == done)
    }

    @Test func `a stopping gateway sends drain frames, closes its connections, and ends after its drain time`() throws {
        let cluster = try FakeCluster()
        cluster.create("room")
        let viewers = try (0..<20).map { try cluster.viewer("u\($0)", of: "room") }
        let start = ContinuousClock.now
        // The clients get the default drain time, 1.5 s, to leave, but they do nothing. A gateway that waited for them
        // would never end. The bound of 10 s leaves time to a slow machine.
        cluster.gateway.stop()
        #expect(ContinuousClock.now - start < .seconds(10))
        for viewer in viewers {
            // Frames of the live may come before the drain frame.
            while true {
                guard case .frame(let frame, _) = try viewer.next() else {
                    Issue.record("the connection was closed without a drain frame")
                    return
                }
                if case .drain = frame { break }
            }
            #expect(try viewer.closeCode() == DisconnectCode.draining.code)
        }
        #expect(!cluster.gateway.isReady, "a stopped gateway is not ready")
    }
}
