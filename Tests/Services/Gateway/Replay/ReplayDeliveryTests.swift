// SPDX-License-Identifier: Apache-2.0
import Concurrency
import GatewayCore
import MachineKit
import PlazaModel
import PlazaWire
import Testing

@testable import Gateway

/// Resumes whose missed items are no longer in the gateway's cache.
///
/// A client that lost its connection resumes its live after the last feed item that it has. The replay reader of the
/// gateway reads the missed items again from the feed's partition. In these tests the fake cluster is the replay
/// reader.
@Suite(.serialized, .timeLimit(.minutes(1))) struct ReplayDeliveryTests {
    private let live = FakeCluster.key("room")

    /// The resume point of a client whose last item is `number`.
    ///
    /// Its token says that the item's record has the offset `offset`. Ticket 101 is the first one that the fake cluster
    /// gives.
    private func point(after number: Int64, offset: Int64?, epoch: Int64 = FakeCluster.epoch) -> ResumePoint {
        let position = FeedPosition(epoch: epoch, number: number)
        return ResumePoint(
            live: "room", ticket: Ticket(101), position: position,
            token: FeedToken(position, offset: offset).text)
    }

    /// The position of a successful resume, and whether its missed items are replayed; nil for any other outcome.
    private func resumed(_ outcome: Outcome) -> (position: FeedPosition, isReplayed: Bool)? {
        guard case .success(.resumed(_, let position, let replayed)) = outcome else { return nil }
        return (position, replayed)
    }

    /// Sends a login with a resume; returns the client and the id of the call, without waiting for the reply.
    private func beginResume(_ cluster: FakeCluster, _ point: ResumePoint, user: String = "bob") throws -> (
        client: WireClient, id: Int64
    ) {
        // The ids of the new connection's calls must be above those of the session's earlier calls.
        let client = try WireClient(port: cluster.gateway.port, firstID: 50)
        let params = LoginParams(token: FakeCluster.Tokens.token(user), session: user, resume: point)
        return (client, try client.begin("login", String(decoding: Wire.encode(params), as: UTF8.self)))
    }

    /// Sends a login of bob with a resume, and waits until the gateway has asked the replay reader.
    ///
    /// The replay reader answers only when the test calls `answerReplays`.
    private func beginUnansweredResume(
        _ cluster: FakeCluster, after number: Int64
    ) throws -> (client: WireClient, id: Int64) {
        cluster.state.withLock { $0.answersReplays = false }
        let resume = try self.beginResume(
            cluster, self.point(after: number, offset: cluster.offset(of: number, in: self.live)))
        try cluster.waitForReplayRequests(1)
        return resume
    }

    /// A cluster with a live whose items 1 to `count` were delivered to eve, and are no longer cached.
    private func expiredFeed(of count: Int64) throws -> (FakeCluster, eve: WireClient) {
        let cluster = try FakeCluster()
        cluster.create("room")
        let eve = try cluster.viewer("eve", of: "room")
        for _ in 1...count { cluster.publishText(self.live) }
        #expect(try eve.itemNumbers(upTo: count) == Array(1...count))
        cluster.expireCachedItems()
        return (cluster, eve)
    }

    @Test func `I7 a client whose missed items have expired gets exactly these items from the replay reader`() throws {
        let cluster = try FakeCluster()
        cluster.create("room")
        let eve = try cluster.viewer("eve", of: "room")
        for _ in 1...300 {
            cluster.publishText(self.live)
            cluster.publishText(FakeCluster.key("other"))
        }
        #expect(try eve.itemNumbers(upTo: 300) == Array(1...300))
        cluster.expireCachedItems()
        for _ in 301...310 { cluster.publishText(self.live) }
        let offset = cluster.offset(of: 20, in: self.live)
        let (bob, login) = try cluster.client("bob", session: "phone", resume: self.point(after: 20, offset: offset))
        #expect(self.resumed(login)?.isReplayed == true)
        for _ in 311...320 { cluster.publishText(self.live) }
        // Items 21 to 300 have expired, 301 to 310 are cached, 311 to 320 are new.
        #expect(try bob.itemNumbers(upTo: 320) == Array(21...320))
        #expect(cluster.metric("gateway_replays_total") == 1)
        #expect(cluster.metric("gateway_replays_refused_total") == 0)
        #expect(cluster.state.withLock { $0.replayRequests.count } == 1)
    }

    @Test func `I7 new items are held back until the replay is sent`() throws {
        let (cluster, eve) = try self.expiredFeed(of: 50)
        let (bob, id) = try self.beginUnansweredResume(cluster, after: 20)
        for _ in 51...60 { cluster.publishText(self.live) }
        #expect(try eve.itemNumbers(upTo: 60) == Array(51...60))
        #expect(bob.isQuiet(milliseconds: 50), "bob gets neither a reply nor an item yet")
        cluster.answerReplays()
        #expect(self.resumed(try bob.answer(to: id))?.isReplayed == true)
        for _ in 61...65 { cluster.publishText(self.live) }
        #expect(try bob.itemNumbers(upTo: 65) == Array(21...65))
        try cluster.expectLedgerBalances(eve)
    }

    @Test func `I10 a long replay is sent as fast as the client reads, and the ledger balances`() throws {
        // The feed has 400 items.
        let (cluster, eve) = try FakeCluster.makeWithLongFeed(in: self.live, messageBytes: 4000, shards: 1)
        cluster.expireCachedItems()
        let offset = cluster.offset(of: 1, in: self.live)
        let (bob, id) = try self.beginResume(cluster, self.point(after: 1, offset: offset))
        try cluster.waitForReplayRequests(1)
        for _ in 401...450 { cluster.publishText(self.live, "live") }
        #expect(try eve.itemNumbers(upTo: 450) == Array(401...450))
        #expect(self.resumed(try bob.answer(to: id))?.isReplayed == true)
        #expect(try bob.itemNumbers(upTo: 450) == Array(2...450))
        try cluster.expectLedgerBalances(eve)
    }

    @Test func `40 clients that resume one live together are served by one scan`() throws {
        let (cluster, eve) = try self.expiredFeed(of: 100)
        cluster.state.withLock { $0.answersReplays = false }
        let point = self.point(after: 60, offset: cluster.offset(of: 60, in: self.live))
        let clients = try (0..<40).map { try self.beginResume(cluster, point, user: "u\($0)") }
        try cluster.waitForReplayRequests(40)
        #expect(cluster.answerReplays() == 1, "one scan serves all 40 requests")
        for (client, id) in clients {
            #expect(self.resumed(try client.answer(to: id))?.isReplayed == true)
            #expect(try client.itemNumbers(upTo: 100) == Array(61...100))
        }
        try cluster.expectLedgerBalances(eve)
    }

    /// Rules: R12.22.
    @Test func `a user who needs too many replays must load a snapshot, and other users are served`() throws {
        let cluster = try FakeCluster { $0.admission.replays = RateLimit(2, per: .seconds(3600)) }
        cluster.create("room")
        let eve = try cluster.viewer("eve", of: "room")
        for _ in 1...50 { cluster.publishText(self.live) }
        #expect(try eve.itemNumbers(upTo: 50) == Array(1...50))
        cluster.expireCachedItems()
        let point = self.point(after: 20, offset: cluster.offset(of: 20, in: self.live))
        var clients: [WireClient] = []
        for session in ["phone", "tablet", "laptop"] {
            let (bob, login) = try cluster.client("bob", session: session, resume: point)
            clients.append(bob)
            #expect(self.resumed(login)?.isReplayed == (session != "laptop"))
        }
        #expect(cluster.replayRefusalCount("tooFrequent") == 1 && cluster.refusalCount(.replays) == 1)
        #expect(
            cluster.state.withLock { $0.replayRequests.count } == 2, "the reader is not asked for the third resume")
        #expect(try clients[0].itemNumbers(upTo: 50) == Array(21...50))
        let (carol, login) = try cluster.client("carol", session: "phone", resume: point)
        #expect(self.resumed(login)?.isReplayed == true)
        #expect(try carol.itemNumbers(upTo: 50) == Array(21...50))
        // The feed continues for all clients. Item 51 is in the cache, so the last three resumes need no reader, and do
        // not count for the rate.
        cluster.publishText(self.live)
        for client in [clients[2], carol, eve] { #expect(try client.itemNumbers(upTo: 51) == [51]) }
        for session in ["watch", "desk", "car"] {
            let recent = self.point(after: 50, offset: cluster.offset(of: 50, in: self.live))
            let (bob, login) = try cluster.client("bob", session: session, resume: recent)
            #expect(self.resumed(login)?.isReplayed == true)
            #expect(try bob.itemNumbers(upTo: 51) == [51])
        }
    }

    @Test func `a gateway that has just started serves clients that were connected to another gateway`() throws {
        let cluster = try FakeCluster()
        cluster.create("room")
        // These items were published before this gateway started.
        for number in Int64(1)...30 { cluster.writeUncached(number, in: self.live) }
        let (bob, login) = try cluster.client(
            "bob", session: "phone", resume: self.point(after: 10, offset: cluster.offset(of: 10, in: self.live)))
        #expect(self.resumed(login)?.isReplayed == true)
        #expect(try bob.itemNumbers(upTo: 30) == Array(11...30))
        // Item 30 is the last item, so eve missed nothing. The gateway knows the last item from bob's replay, so it
        // makes no second replay request.
        let (eve, evesLogin) = try cluster.client(
            "eve", session: "tablet", resume: self.point(after: 30, offset: cluster.offset(of: 30, in: self.live)))
        #expect(self.resumed(evesLogin)?.isReplayed == true)
        // The next item that the test publishes gets number 31.
        cluster.state.withLock { $0.lastNumber[self.live] = 30 }
        cluster.publishText(self.live)
        #expect(try bob.nextItemNumbers() == [31])
        #expect(try eve.nextItemNumbers() == [31])
        #expect(cluster.state.withLock { $0.replayRequests.count } == 1)
    }

    @Test func `a refused replay is reported to the client, and its reason is counted in the metrics`() throws {
        let (cluster, eve) = try self.expiredFeed(of: 1100)
        let refusedPoints: [(ResumePoint, reason: String)] = [
            // The token has no offset.
            (self.point(after: 500, offset: nil), "unknown"),
            // The client misses 1050 items; 1000 are possible.
            (self.point(after: 50, offset: cluster.offset(of: 50, in: self.live)), "tooMany"),
            // The offset belongs to another item.
            (self.point(after: 500, offset: cluster.offset(of: 700, in: self.live)), "gone"),
            // The epoch belongs to an earlier live with the same id.
            (self.point(after: 500, offset: 499, epoch: 9), "otherLive"),
            // The token names item 499, but the position names item 500.
            (
                ResumePoint(
                    live: "room", ticket: Ticket(101), position: FeedPosition(epoch: FakeCluster.epoch, number: 500),
                    token: "10.499.498"), "unknown"
            ),
        ]
        // The feed ends with item 1100; each round publishes one more item.
        for (round, (point, reason)) in refusedPoints.enumerated() {
            let lastNumber = 1100 + Int64(round)
            let (client, login) = try cluster.client("u\(round)", session: "s", resume: point, firstID: 50)
            #expect(self.resumed(login)?.isReplayed == false, "\(reason)")
            #expect(self.resumed(login)?.position == FeedPosition(epoch: FakeCluster.epoch, number: lastNumber))
            #expect(cluster.replayRefusalCount(reason) > 0, "\(reason)")
            cluster.publishText(self.live)
            #expect(try client.nextItemNumbers() == [lastNumber + 1])
        }
        #expect(cluster.metric("gateway_replays_refused_total") == refusedPoints.count)
        try cluster.expectLedgerBalances(eve)
    }

    /// The feed has only five items, but the client says that it has item 1000.
    ///
    /// The client's token is missing, has the offset of another item, or has an offset beyond the partition's end.
    @Test(arguments: [nil, "10.1000.2", "10.1000.900000"] as [String?])
    func `a resume from a position that the feed has not reached is reported as not replayed, and the feed continues`(
        token: String?
    ) throws {
        let cluster = try FakeCluster()
        cluster.create("room")
        let eve = try cluster.viewer("eve", of: "room")
        for _ in 1...5 { cluster.publishText(self.live) }
        #expect(try eve.itemNumbers(upTo: 5) == Array(1...5))
        let position = FeedPosition(epoch: FakeCluster.epoch, number: 1000)
        let point = ResumePoint(live: "room", ticket: Ticket(101), position: position, token: token)
        let (client, login) = try cluster.client("bob", session: "phone", resume: point, firstID: 50)
        guard case .success(.resumed(_, FeedPosition(epoch: FakeCluster.epoch, number: 5), replayed: false)) = login
        else {
            Issue.record("unexpected outcome of the login: \(login)")
            return
        }
        cluster.publishText(self.live)
        #expect(try client.nextItemNumbers() == [6])
        #expect(cluster.metric("gateway_replays_refused_total") == 1)
    }

    @Test func `a resume is not replayed if the replay reader does not answer within 3 s, and no later item is lost`()
        throws
    {
        let (cluster, eve) = try self.expiredFeed(of: 50)
        let (bob, id) = try self.beginUnansweredResume(cluster, after: 20)
        for _ in 51...55 { cluster.publishText(self.live) }
        // This waits for 3 s.
        let resumed = self.resumed(try bob.answer(to: id))
        #expect(resumed?.isReplayed == false)
        #expect(resumed?.position == FeedPosition(epoch: FakeCluster.epoch, number: 50))
        #expect(try bob.itemNumbers(upTo: 55) == Array(51...55))
        cluster.answerReplays()
        cluster.publishText(self.live)
        #expect(try bob.nextItemNumbers() == [56], "the late answer is ignored")
        #expect(cluster.replayRefusalCount("late") == 1)
        try cluster.expectLedgerBalances(eve)
    }

    @Test func `I6 a client that is kicked while its replay is pending gets one reply and no items`() throws {
        let (cluster, eve) = try self.expiredFeed(of: 50)
        let (bob, id) = try self.beginUnansweredResume(cluster, after: 20)
        // The kick's floor, the lowest ticket that is still valid, is 500. Bob's ticket is lower, so it is void.
        let notice = Notice(
            to: UserKey("demo", "bob"), live: "room", at: Timestamp(milliseconds: 5), floor: Ticket(500),
            content: .kickedOut(reason: .byAdmin, by: "anna"))
        cluster.notices.write(notice)
        guard case .failure(let error) = try bob.answer(to: id) else {
            Issue.record("the resume of a kicked client succeeded")
            return
        }
        #expect(error.code == .staleTicket)
        cluster.answerReplays()
        cluster.publishText(self.live)
        #expect(try eve.nextItemNumbers() == [51])
        guard case .frame(.notice, _) = try bob.next() else {
            Issue.record("bob got no notice of the kick")
            return
        }
        #expect(bob.isQuiet(milliseconds: 50), "bob gets neither a second reply nor an item")
        #expect(cluster.metric("gateway_members") == 1, "only eve is in the live")
    }

    @Test func `I1 a resuming client gets the missed items and the live's end, and is then no longer in the live`()
        throws
    {
        let (cluster, eve) = try self.expiredFeed(of: 50)
        let (bob, id) = try self.beginUnansweredResume(cluster, after: 20)
        cluster.publish(self.live, .liveEnded(reason: .endedByHost, statistics: LiveStatistics()))
        #expect(try eve.itemNumbers(upTo: 51) == [51])
        cluster.answerReplays()
        #expect(self.resumed(try bob.answer(to: id))?.isReplayed == true)
        #expect(try bob.itemNumbers(upTo: 51) == Array(21...51))
        guard case .failure(let error) = try bob.call("barrage.sendText", "{\"live\":\"room\",\"text\":\"x\"}") else {
            Issue.record("a message was accepted after the live's end")
            return
        }
        #expect(error.code == .notInRoom)
    }
}
