// SPDX-License-Identifier: Apache-2.0
import Concurrency
import Gateway
import MachineKit
import PlazaModel
import PlazaWire
import Testing
import Tokens

/// Shared reads: the first page of the audience list, and the summary of a live.
///
/// Presence and the fan-out answer these reads. The gateway makes one request for all clients that call at about the
/// same time.
@Suite(.serialized, .timeLimit(.minutes(1))) struct SharedReadTests {
    /// The parameters of a call about the live room, such as `audience.list`.
    private static let liveParams = #"{"live":"room"}"#

    /// Whether a record asks for the audience list.
    private static func isList(_ record: TopicRecord) -> Bool { Self.listCaller(record) != nil }

    /// The caller of a record that asks for the audience list; nil for any other record.
    private static func listCaller(_ record: TopicRecord) -> Caller? {
        guard let input = record.audienceInput, case .list(_, _, let caller) = input.command else { return nil }
        return caller
    }

    /// Rules: R1.20.
    @Test func `viewers who call while a request is under way share the answer to the next request`() throws {
        let cluster = try FakeCluster()
        cluster.create("room")
        let clients = try (1...6).map { try cluster.viewer("user\($0)", of: "room") }
        cluster.state.withLock { $0.answersCalls = false }
        let first = try clients[0].begin("audience.list", Self.liveParams)
        let record = try cluster.waitForRecord { Self.isList($0) ? $0 : nil }
        // A call without a count asks for 200 members, so these calls make the same read as the first one.
        let laterCalls = try clients.dropFirst().map {
            ($0, try $0.begin("audience.list", #"{"live":"room","count":200}"#))
        }
        // When a client has the reply to its ping, the gateway has received the client's earlier call.
        for (client, _) in laterCalls { #expect(try client.getsPong()) }
        #expect(cluster.recordCount(Self.isList) == 1, "until the request is answered, there is no second one")
        cluster.state.withLock { $0.answersCalls = true }
        cluster.answer(record)
        #expect(try clients[0].answer(to: first) == .success(result: FakeCluster.emptyAudiencePage))
        for (client, id) in laterCalls {
            #expect(try client.answer(to: id) == .success(result: FakeCluster.emptyAudiencePage))
        }
        #expect(cluster.recordCount(Self.isList) == 2, "one request for the first call, one for all others")
        #expect(cluster.metric("gateway_shared_asks_total") == 2)
        #expect(cluster.metric("gateway_shared_reads_total") == 6)
        let caller = try cluster.waitForRecord(Self.listCaller)
        #expect(
            caller.role == .server && caller.ticket == nil,
            "the gateway makes the request with the rights of an app's server, not with a client's")
    }

    /// Rules: R1.20.
    @Test func `20 clients that call for a live's summary cause at most eight requests`() throws {
        let cluster = try FakeCluster()
        cluster.create("room")
        let clients = try (1...20).map { try cluster.client("user\($0)").client }
        let ids = try clients.map { try $0.begin("live.summary", Self.liveParams) }
        for (client, id) in zip(clients, ids) {
            #expect(try client.answer(to: id) == .success(result: FakeCluster.summaryResult))
        }
        #expect(
            cluster.recordCount { $0.topic == .barrageInbox } <= 8,
            "a burst of five requests and then one a second, for at most three seconds")
    }

    /// Rules: R1.20.
    @Test func `a client outside the live, or one that leaves while it waits, gets no list`() throws {
        let cluster = try FakeCluster()
        cluster.create("room")
        // Eve has not joined the live.
        let (eve, _) = try cluster.client("eve")
        guard case .failure(let error) = try eve.call("audience.list", Self.liveParams) else {
            Issue.record("eve got the list although she is not in the live")
            return
        }
        #expect(error.code == .notInRoom)
        let client = try cluster.viewer("bob", of: "room")
        cluster.state.withLock { $0.answersCalls = false }
        let id = try client.begin("audience.list", Self.liveParams)
        let record = try cluster.waitForRecord { Self.isList($0) ? $0 : nil }
        cluster.state.withLock { $0.answersCalls = true }
        guard case .success = try client.call("live.leave", Self.liveParams) else {
            Issue.record("bob could not leave")
            return
        }
        // Presence answers the request for the list only after bob has left.
        cluster.answer(record)
        guard case .failure(let error) = try client.answer(to: id) else {
            Issue.record("bob got the list after he left")
            return
        }
        #expect(error.code == .notInRoom)
    }

    /// Rules: R1.20.
    @Test func `calls for other pages or unknown lives, and calls of the app's server, share no request`() throws {
        let cluster = try FakeCluster()
        cluster.create("room")
        let client = try cluster.viewer("bob", of: "room")
        for params in [#"{"live":"room","count":10}"#, #"{"live":"room","cursor":"7"}"#] {
            #expect(try client.call("audience.list", params) == .success(result: FakeCluster.emptyAudiencePage))
        }
        let (server, _) = try cluster.client("backend", role: .server)
        #expect(try server.call("audience.list", Self.liveParams) == .success(result: FakeCluster.emptyAudiencePage))
        // The read model does not have this live, so the gateway forwards the call to the fan-out, which answers.
        #expect(try client.call("live.summary", #"{"live":"ended"}"#) == .success(result: FakeCluster.summaryResult))
        #expect(cluster.metric("gateway_shared_asks_total") == 0)
    }

    @Test func `a call that is sent again while it waits gets one answer, and counts as open`() throws {
        let cluster = try FakeCluster()
        cluster.create("room")
        let client = try cluster.viewer("bob", of: "room")
        cluster.state.withLock { $0.answersCalls = false }
        // The call with the same id is a repetition.
        let id = try client.begin("audience.list", Self.liveParams)
        _ = try client.begin("audience.list", Self.liveParams, id: id)
        // Together with the list these are 16 open calls, the most that a session may have.
        for _ in 1...15 { _ = try client.begin("live.summary", Self.liveParams) }
        guard case .failure(let error) = try client.call("live.summary", Self.liveParams) else {
            Issue.record("a seventeenth call was accepted")
            return
        }
        #expect(error.code == .overloaded)
        let record = try cluster.waitForRecord { Self.isList($0) ? $0 : nil }
        // The test waits until the gateway has written the request for the summary. If the gateway wrote this request
        // only after the next line, the fan-out would answer it, too.
        _ = try cluster.waitForRecord { $0.topic == .barrageInbox ? $0 : nil }
        cluster.state.withLock { $0.answersCalls = true }
        cluster.answer(record)
        #expect(try client.answer(to: id) == .success(result: FakeCluster.emptyAudiencePage))
        #expect(try client.getsPong())
        #expect(cluster.metric("gateway_shared_reads_total") == 1, "the repeated call got one reply")
    }

    @Test func `a call fails if the shared request cannot be written, and the next call makes a new request`() throws {
        let cluster = try FakeCluster()
        cluster.create("room")
        let client = try cluster.viewer("bob", of: "room")
        cluster.state.withLock { $0.sinkRejection = .unavailable }
        guard case .failure(let error) = try client.call("audience.list", Self.liveParams) else {
            Issue.record("the call succeeded although its request could not be written")
            return
        }
        #expect(error.code == .unavailable && error.retryAfter != nil)
        cluster.state.withLock { $0.sinkRejection = nil }
        #expect(try client.call("audience.list", Self.liveParams) == .success(result: FakeCluster.emptyAudiencePage))
    }
}
