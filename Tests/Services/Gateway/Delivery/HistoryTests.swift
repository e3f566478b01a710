// SPDX-License-Identifier: Apache-2.0
import Concurrency
import GatewayCore
import PlazaModel
import Testing

@testable import Gateway

/// The history: the earlier messages that new viewers get (R5.15, R5.16, R5.17 in docs/RULES.md).
@Suite(.serialized, .timeLimit(.minutes(1))) struct HistoryTests {
    private let live = FakeCluster.key("room")

    /// A cluster with the live room, whose new viewers get the last `historyCount` messages.
    private func cluster(historyCount: Int) throws -> FakeCluster {
        let cluster = try FakeCluster { $0.policies = Policies(["demo": AppPolicy(historyCount: historyCount)]) }
        cluster.create("room")
        return cluster
    }

    /// Reads the next frame; returns the numbers of its earlier messages and its token, or nil if it is not a history.
    ///
    /// The token is `EPOCH.NUMBER.OFFSET`: the position after which the feed continues.
    private func history(_ client: WireClient) throws -> (numbers: [Int64], token: String)? {
        guard case .frame(.history(_, FakeCluster.epoch, let items, let token), _) = try client.next() else {
            return nil
        }
        return (items.map(\.n), token)
    }

    /// A cluster with a live whose first 30 messages are not cached, and whose viewer bob waits for the last ten.
    ///
    /// Because of bob's join the gateway has asked the replay reader for the messages. The reader answers only when a
    /// test calls `answerReplays`. After the join the messages 31 to 33 were published.
    private func uncachedFeed() throws -> (FakeCluster, bob: WireClient) {
        let cluster = try self.cluster(historyCount: 10)
        for number in Int64(1)...30 { cluster.writeUncached(number, in: self.live) }
        cluster.state.withLock { state in
            state.lastNumber[self.live] = 30
            state.answersReplays = false
        }
        let bob = try cluster.viewer("bob", of: "room")
        try cluster.waitForReplayRequests(1)
        for _ in 31...33 { cluster.publishText(self.live) }
        return (cluster, bob)
    }

    /// Rules: R5.15.
    @Test func `a new viewer gets the last messages as history, then the feed, each item once`() throws {
        let cluster = try self.cluster(historyCount: 5)
        // Eve sees items 1 to 10, of which 9 and 10 are not messages.
        let eve = try cluster.viewer("eve", of: "room")
        for _ in 1...8 { cluster.publishText(self.live) }
        cluster.publish(self.live, .audienceJoined(user: UserInfo(userID: "dora")))
        cluster.publish(self.live, .metadataChanged(set: ["k": "v"], removed: []))
        #expect(try eve.itemNumbers(upTo: 10) == Array(1...10))
        let bob = try cluster.viewer("bob", of: "room")
        let history = try self.history(bob)
        #expect(history?.numbers == [4, 5, 6, 7, 8], "bob gets the last five messages")
        #expect(history?.token == "10.10.9", "bob's feed continues after item 10, whose record has offset 9")
        cluster.publishText(self.live)
        #expect(try bob.nextItemNumbers() == [11])
        #expect(cluster.metric("gateway_history_items_total") == 5)
        #expect(
            cluster.state.withLock { $0.replayRequests.isEmpty },
            "nothing is read from Kafka, because the cache has the feed from its beginning")
    }

    @Test func `without history or without messages, a new viewer first gets an empty feed frame with a token`() throws
    {
        let cluster = try self.cluster(historyCount: 5)
        let eve = try cluster.viewer("eve", of: "room")
        // The only item of the feed is not a message.
        cluster.publish(self.live, .audienceJoined(user: UserInfo(userID: "dora")))
        #expect(try eve.nextItemNumbers() == [1])
        let bob = try cluster.viewer("bob", of: "room")
        guard case .frame(let frame, _) = try bob.next() else {
            throw WireClient.Failure(description: "the connection ended before bob's first frame")
        }
        #expect(frame == .feed(live: "room", epoch: FakeCluster.epoch, items: [], token: "10.1.0"))

        // In this cluster the app's policy does not allow history.
        let clusterWithoutHistory = try self.cluster(historyCount: 0)
        let earlierViewer = try clusterWithoutHistory.viewer("eve", of: "room")
        clusterWithoutHistory.publishText(self.live)
        #expect(try earlierViewer.nextItemNumbers() == [1])
        let newViewer = try clusterWithoutHistory.viewer("bob", of: "room")
        guard case .frame(let firstFrame, _) = try newViewer.next() else {
            throw WireClient.Failure(description: "the connection ended before the new viewer's first frame")
        }
        #expect(firstFrame == .feed(live: "room", epoch: FakeCluster.epoch, items: [], token: "10.1.0"))
    }

    /// Rules: R5.4.
    @Test func `uncached messages are read once for all new viewers, and new items are held back meanwhile`() throws {
        let (cluster, bob) = try self.uncachedFeed()
        #expect(bob.isQuiet(milliseconds: 50), "items 31 to 33 are held back until bob has the history")
        cluster.answerReplays()
        let history = try self.history(bob)
        #expect(history?.numbers == Array(21...30))
        #expect(
            history?.token == "10.30",
            "the token lacks an offset, because this gateway itself has not read the record of item 30")
        #expect(try bob.itemNumbers(upTo: 33) == [31, 32, 33])
        // Eve's history is in the cache now.
        let eve = try cluster.viewer("eve", of: "room")
        #expect(try self.history(eve)?.numbers == Array(24...33))
        cluster.publishText(self.live)
        #expect(try eve.nextItemNumbers() == [34])
        #expect(try bob.nextItemNumbers() == [34])
        #expect(cluster.state.withLock { $0.replayRequests.count } == 1)
        try cluster.expectLedgerBalances(bob)
    }

    @Test
    func `if the reader does not answer within 1 s, a viewer gets no history, and a later one the cached messages`()
        throws
    {
        let (cluster, bob) = try self.uncachedFeed()
        #expect(try bob.itemNumbers(upTo: 33) == [31, 32, 33], "bob gets the feed without history")
        // Because of eve's join the gateway asks the reader again, which again does not answer.
        let eve = try cluster.viewer("eve", of: "room")
        try cluster.waitForReplayRequests(2)
        #expect(try self.history(eve)?.numbers == [31, 32, 33])
    }

    @Test func `a client that joins again or resumes gets no history`() throws {
        let cluster = try self.cluster(historyCount: 5)
        let bob = try cluster.viewer("bob", of: "room", session: "phone")
        for _ in 1...8 { cluster.publishText(self.live) }
        #expect(try bob.itemNumbers(upTo: 8) == Array(1...8))
        guard case .success(.joined) = try bob.call("live.join", "{\"live\":\"room\"}") else {
            throw WireClient.Failure(description: "bob's second join failed")
        }
        #expect(bob.isQuiet(milliseconds: 50), "the second join brings no history")
        bob.cutConnection()
        // The resume point has the ticket of the first join, 101, and item 8, whose record has offset 7.
        let point = ResumePoint(
            live: "room", ticket: Ticket(101), position: FeedPosition(epoch: FakeCluster.epoch, number: 8),
            token: "10.8.7")
        // The ids of the new connection's calls must be above those of the session's earlier calls.
        let (resumed, login) = try cluster.client("bob", session: "phone", resume: point, firstID: 50)
        guard case .success(.resumed(_, _, replayed: true)) = login else {
            Issue.record("unexpected outcome of the login: \(login)")
            return
        }
        cluster.publishText(self.live)
        guard case .frame(let frame, _) = try resumed.next(), case .feed(_, _, let items, _) = frame else {
            Issue.record("the first frame after the resume is no feed frame")
            return
        }
        #expect(items.map(\.n) == [9], "the resume brings no history, only the new item")
        guard case .success(.done) = try resumed.call("live.leave", "{\"live\":\"room\"}"),
            case .success(.joined) = try resumed.call("live.join", "{\"live\":\"room\"}")
        else { throw WireClient.Failure(description: "bob could not leave and join again") }
        #expect(
            try self.history(resumed)?.numbers == [5, 6, 7, 8, 9],
            "a client that has left and joins again is a new viewer")
    }

    @Test func `I16 a history of large messages is cut to half of the delivery budget, and keeps the latest`() throws {
        let cluster = try FakeCluster { settings in
            settings.policies = Policies(["demo": AppPolicy(historyCount: 50)])
            settings.budget = DeliveryBudget(bytes: 128 << 10)
        }
        cluster.create("room")
        let eve = try cluster.viewer("eve", of: "room")
        for _ in 1...50 {
            cluster.publishText(self.live, String(repeating: "x", count: 10_000))
            _ = try eve.nextItemNumbers()
        }
        let bob = try cluster.viewer("bob", of: "room")
        // Six messages of 10,000 bytes fit into half of the budget of 128 KiB.
        #expect(try self.history(bob)?.numbers == Array(45...50))
        cluster.publishText(self.live)
        #expect(try bob.nextItemNumbers() == [51])
    }
}
