// SPDX-License-Identifier: Apache-2.0
import Concurrency
import GatewayCore
import PlazaModel
import Testing

@testable import Gateway

/// The earlier messages that new viewers get (R5.15, R5.16, R5.17).
@Suite(.serialized, .timeLimit(.minutes(1))) struct HistoryTests {
    private let room = FakeCluster.key("room")

    private func cluster(historyCount: Int) throws -> FakeCluster {
        let cluster = try FakeCluster { $0.policies = Policies(["demo": AppPolicy(historyCount: historyCount)]) }
        cluster.create("room")
        return cluster
    }

    /// Returns the numbers of the earlier messages in the next frame, and the frame's token; nil for any other frame.
    ///
    /// The token is `EPOCH.NUMBER.OFFSET`: the position after which the feed continues.
    private func history(_ client: WireClient) throws -> (numbers: [Int64], token: String)? {
        guard case .frame(.history(_, FakeCluster.epoch, let items, let token), _) = try client.next() else {
            return nil
        }
        return (items.map(\.n), token)
    }

    /// A live whose 30 messages are not cached.
    ///
    /// bob's join has requested them from the replay reader, which reads old items from Kafka and does not answer here.
    /// Three more messages were published after that.
    private func uncachedFeed() throws -> (FakeCluster, bob: WireClient) {
        let cluster = try self.cluster(historyCount: 10)
        for number in Int64(1)...30 { cluster.writeUncached(number, in: self.room) }
        cluster.state.withLock { state in
            state.lastNumber[self.room] = 30
            state.answersReplays = false
        }
        let bob = try cluster.viewer("bob", of: "room")
        try cluster.waitForReplayRequests(1)
        for _ in 31...33 { cluster.publishText(self.room) }
        return (cluster, bob)
    }

    /// Rules: R5.15.
    @Test func `a new viewer gets the last messages as history, then the feed, each item once`() throws {
        let cluster = try self.cluster(historyCount: 5)
        let eve = try cluster.viewer("eve", of: "room")
        for _ in 1...8 { cluster.publishText(self.room) }
        cluster.publish(self.room, .audienceJoined(user: UserInfo(userID: "dora")))
        cluster.publish(self.room, .metadataChanged(set: ["k": "v"], removed: []))
        #expect(try eve.feed(upTo: 10) == Array(1...10))
        let bob = try cluster.viewer("bob", of: "room")
        let history = try self.history(bob)
        #expect(history?.numbers == [4, 5, 6, 7, 8], "items 9 and 10 are no messages")
        #expect(history?.token == "10.10.9", "the feed continues after this position, and could resume there")
        cluster.publishText(self.room)
        #expect(try bob.feed() == [11])
        #expect(cluster.metric("gateway_history_items_total") == 5)
        #expect(cluster.state.withLock { $0.replayRequests.isEmpty }, "the cache has the feed from its beginning")
    }

    @Test func `without history or without messages, a new viewer first gets an empty feed frame with a token`() throws
    {
        let cluster = try self.cluster(historyCount: 5)
        let eve = try cluster.viewer("eve", of: "room")
        cluster.publish(self.room, .audienceJoined(user: UserInfo(userID: "dora")))
        #expect(try eve.feed() == [1])
        let bob = try cluster.viewer("bob", of: "room")
        guard case .frame(let frame, _) = try bob.next() else {
            throw WireClient.Failure(description: "no frame")
        }
        #expect(frame == .feed(live: "room", epoch: FakeCluster.epoch, items: [], token: "10.1.0"))
        let clusterWithoutHistory = try self.cluster(historyCount: 0)
        let earlierViewer = try clusterWithoutHistory.viewer("eve", of: "room")
        clusterWithoutHistory.publishText(self.room)
        #expect(try earlierViewer.feed() == [1])
        let newViewer = try clusterWithoutHistory.viewer("bob", of: "room")
        guard case .frame(let firstFrame, _) = try newViewer.next() else {
            throw WireClient.Failure(description: "no frame")
        }
        #expect(firstFrame == .feed(live: "room", epoch: FakeCluster.epoch, items: [], token: "10.1.0"))
    }

    /// Rules: R5.4.
    @Test func `uncached messages are read once for all new viewers, and new items are held back meanwhile`() throws {
        let (cluster, bob) = try self.uncachedFeed()
        #expect(bob.isQuiet(milliseconds: 50))
        cluster.answerReplays()
        let history = try self.history(bob)
        #expect(history?.numbers == Array(21...30))
        #expect(history?.token == "10.30", "this gateway has not read the record of item 30, so the offset is missing")
        #expect(try bob.feed(upTo: 33) == [31, 32, 33])
        let eve = try cluster.viewer("eve", of: "room")
        #expect(try self.history(eve)?.numbers == Array(24...33))
        cluster.publishText(self.room)
        #expect(try eve.feed() == [34])
        #expect(try bob.feed() == [34])
        #expect(cluster.state.withLock { $0.replayRequests.count } == 1)
        try cluster.expectBalance(bob)
    }

    @Test
    func `if the reader does not answer within 1 s, a viewer gets no history, and a later one the cached messages`()
        throws
    {
        let (cluster, bob) = try self.uncachedFeed()
        #expect(try bob.feed(upTo: 33) == [31, 32, 33], "bob gets the feed without history")
        let eve = try cluster.viewer("eve", of: "room")
        try cluster.waitForReplayRequests(2)
        #expect(try self.history(eve)?.numbers == [31, 32, 33])
    }

    @Test func `a client that joins again or resumes gets no history`() throws {
        let cluster = try self.cluster(historyCount: 5)
        let bob = try cluster.viewer("bob", of: "room", session: "phone")
        for _ in 1...8 { cluster.publishText(self.room) }
        #expect(try bob.feed(upTo: 8) == Array(1...8))
        guard case .success(.joined) = try bob.call("live.join", "{\"live\":\"room\"}") else {
            throw WireClient.Failure(description: "not joined")
        }
        #expect(bob.isQuiet(milliseconds: 50))
        bob.cut()
        // bob's join was the first, so it has ticket 101.
        let point = ResumePoint(
            live: "room", ticket: Ticket(101), position: FeedPosition(epoch: FakeCluster.epoch, number: 8),
            token: "10.8.7")
        // The ids of the new connection's calls must be above those of the session's earlier calls.
        let (resumed, login) = try cluster.client("bob", session: "phone", resume: point, firstID: 50)
        guard case .success(.resumed(_, _, replayed: true)) = login else {
            Issue.record("\(login)")
            return
        }
        cluster.publishText(self.room)
        guard case .frame(let frame, _) = try resumed.next(), case .feed(_, _, let items, _) = frame else {
            Issue.record("no feed")
            return
        }
        #expect(items.map(\.n) == [9])
        guard case .success(.done) = try resumed.call("live.leave", "{\"live\":\"room\"}"),
            case .success(.joined) = try resumed.call("live.join", "{\"live\":\"room\"}")
        else { throw WireClient.Failure(description: "not left and joined again") }
        #expect(try self.history(resumed)?.numbers == [5, 6, 7, 8, 9], "a client that left and joins again is new")
    }

    @Test func `I16 a history of large messages is cut to half of the delivery budget, and keeps the latest`() throws {
        let cluster = try FakeCluster { settings in
            settings.policies = Policies(["demo": AppPolicy(historyCount: 50)])
            settings.budget = DeliveryBudget(bytes: 128 << 10)
        }
        cluster.create("room")
        let eve = try cluster.viewer("eve", of: "room")
        for _ in 1...50 {
            cluster.publishText(self.room, String(repeating: "x", count: 10_000))
            _ = try eve.feed()
        }
        let bob = try cluster.viewer("bob", of: "room")
        // Six messages of 10,000 bytes fit into half of the budget of 128 KiB.
        #expect(try self.history(bob)?.numbers == Array(45...50))
        cluster.publishText(self.room)
        #expect(try bob.feed() == [51])
    }
}
