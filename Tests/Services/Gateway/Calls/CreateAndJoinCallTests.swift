// SPDX-License-Identifier: Apache-2.0
import Concurrency
import GatewayCore
import MachineKit
import PlazaModel
import PlazaWire
import Testing
import Tokens

@testable import Gateway

/// `live.create` with the parameter `join`: one call creates the live and lets the owner join it.
@Suite(.serialized, .timeLimit(.minutes(1))) struct CreateAndJoinCallTests {
    private static let createAndJoin = #"{"live":"room","join":true}"#
    private let live = FakeCluster.key("room")

    /// The join in the result of a create; nil if the result has none or the create failed.
    private func joined(_ outcome: Outcome) -> JoinedLive? {
        guard case .success(.live(_, _, _, let joined)) = outcome else { return nil }
        return joined
    }

    /// Rules: R3.66.
    @Test func `the owner has joined its live when the reply arrives, and gets the feed`() throws {
        let cluster = try FakeCluster()
        let (client, _) = try cluster.client("anna")
        let joined = try #require(self.joined(try client.call("live.create", Self.createAndJoin)))
        #expect(joined.epoch == FakeCluster.epoch && joined.confirmed && joined.token != nil)
        cluster.publishText(self.live)
        #expect(try client.nextItemNumbers() == [1])
        let records = cluster.state.withLock { $0.records }
        let inboxRecords = records.filter { $0.topic == .directoryInbox || $0.topic == .audienceInbox }
        #expect(inboxRecords.count == 2, "one record creates the live, one joins it")
        #expect(try client.call("live.leave", #"{"live":"room"}"#) == .success(result: .done))
    }

    /// Rules: R12.8.
    @Test func `a create with a join counts for the user's limit of joins and leaves`() throws {
        // Three joins or leaves are admitted at once, and then one more every 60 s / 3 = 20 s.
        let cluster = try FakeCluster { $0.admission.memberships = RateLimit(3, per: .seconds(60)) }
        let (client, _) = try cluster.client("anna")
        // This create and this leave are the first two. A client that is in a live may not create another one (R1.1),
        // so it leaves before the next create.
        #expect(self.joined(try client.call("live.create", Self.createAndJoin)) != nil)
        #expect(try client.call("live.leave", #"{"live":"room"}"#) == .success(result: .done))
        // This create is the third.
        #expect(self.joined(try client.call("live.create", #"{"live":"second","join":true}"#)) != nil)
        #expect(cluster.refusalCount(.memberships) == 0)

        let (tablet, _) = try cluster.client("anna", session: "tablet")
        let rejection = try tablet.call("live.create", #"{"live":"third","join":true}"#).error
        #expect(rejection?.code == .tooFrequent && (1...20_000).contains(rejection?.retryAfter ?? 0))
        #expect(cluster.refusalCount(.memberships) == 1)
        #expect(
            try tablet.call("live.create", #"{"live":"third"}"#).error == nil,
            "a create without a join is not counted, and the rejected create has created nothing")
    }

    /// Rules: R3.66.
    @Test func `I15 a create with a join that is sent again after its reply gets the join of its first copy`() throws {
        let cluster = try FakeCluster()
        let (client, _) = try cluster.client("anna")
        let id = try client.begin("live.create", Self.createAndJoin)
        let first = self.joined(try client.answer(to: id))
        // The call with the same id is a repetition.
        _ = try client.begin("live.create", Self.createAndJoin, id: id)
        let second = self.joined(try client.answer(to: id))
        #expect(first != nil && first?.ticket == second?.ticket)
    }

    /// Rules: R3.66.
    @Test func `when the join is rejected, the reply has the created live without a join`() throws {
        let cluster = try FakeCluster()
        // Presence rejects the join of a live that it does not know.
        cluster.state.withLock { _ = $0.unknownLives.insert(self.live) }
        let (client, _) = try cluster.client("anna")
        guard case .success(.live(let info, _, _, nil)) = try client.call("live.create", Self.createAndJoin) else {
            Issue.record("the live was not created, or its owner joined it")
            return
        }
        #expect(info.liveID == "room")

        // Now presence knows the live, so the owner can join it.
        cluster.state.withLock { $0.unknownLives = [] }
        guard case .success(.joined) = try client.call("live.join", #"{"live":"room"}"#) else {
            Issue.record("the owner could not join later")
            return
        }
    }

    @Test
    func `without the parameter join the owner does not join, and a server's call with the parameter is rejected`()
        throws
    {
        let cluster = try FakeCluster()
        let (client, _) = try cluster.client("anna")
        for params in [#"{"live":"room"}"#, #"{"live":"room","join":false}"#, #"{"live":"room","join":null}"#] {
            guard case .success(.live(_, _, _, nil)) = try client.call("live.create", params) else {
                Issue.record("the live was not created, or its owner joined it, with \(params)")
                continue
            }
        }
        #expect(cluster.recordCount { $0.topic == .audienceInbox } == 0, "presence has got no join")

        let (server, _) = try cluster.client("backend", role: .server)
        guard case .failure(let error) = try server.call("live.create", #"{"live":"x","owner":"bob","join":true}"#)
        else {
            Issue.record("an app's server could join the live that it created")
            return
        }
        #expect(error.code == .noPermission)
    }
}
