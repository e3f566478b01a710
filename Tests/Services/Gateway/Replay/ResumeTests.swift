// SPDX-License-Identifier: Apache-2.0
import Concurrency
import Gateway
import PlazaModel
import PlazaWire
import Testing

/// Resumes whose missed items are still in the gateway's feed cache.
///
/// A client that lost its connection resumes its live: its login names the last feed item that it has, and the gateway
/// sends the items after it.
@Suite(.serialized, .timeLimit(.minutes(1))) struct ResumeTests {
    private let live = FakeCluster.key("room")

    /// The resume point of a client whose last item is `number`, without a token.
    ///
    /// Ticket 101 is the first one that the fake cluster gives.
    private func point(after number: Int64, epoch: Int64 = FakeCluster.epoch) -> ResumePoint {
        ResumePoint(live: "room", ticket: Ticket(101), position: FeedPosition(epoch: epoch, number: number))
    }

    @Test func `I7 a resuming client gets exactly the missed items, then the new ones`() throws {
        let cluster = try FakeCluster()
        cluster.create("room")
        let client = try cluster.viewer("bob", of: "room", session: "phone")
        for _ in 1...10 { cluster.publishText(self.live) }
        #expect(try client.itemNumbers(upTo: 10) == Array(1...10))
        client.cutConnection()
        for _ in 11...20 { cluster.publishText(self.live) }
        // The ids of the new connection's calls must be above those of the session's earlier calls.
        let (resumed, login) = try cluster.client("bob", session: "phone", resume: self.point(after: 10), firstID: 50)
        let position = FeedPosition(epoch: FakeCluster.epoch, number: 10)
        // A resume is a new join, so bob gets a new ticket, 102; his first join got 101.
        #expect(login == .success(result: .resumed(ticket: Ticket(102), position: position, replayed: true)))
        for _ in 21...25 { cluster.publishText(self.live) }
        #expect(try resumed.itemNumbers(upTo: 25) == Array(11...25))
        #expect(
            try resumed.call("barrage.sendText", "{\"live\":\"room\",\"text\":\"x\"}")
                == .success(result: .sent(position: FeedPosition(epoch: FakeCluster.epoch, number: 26))))
        #expect(cluster.metric("gateway_replays_total") == 1)
    }

    @Test func `a client that missed nothing, or is ahead of this gateway, gets only the items after its position`()
        throws
    {
        let cluster = try FakeCluster()
        cluster.create("room")
        // Because eve is in the live, the gateway follows the live's feed and has items 1 to 5.
        let eve = try cluster.viewer("eve", of: "room")
        for _ in 1...5 { cluster.publishText(self.live) }
        #expect(try eve.itemNumbers(upTo: 5) == Array(1...5))
        let (upToDate, _) = try cluster.client("bob", session: "phone", resume: self.point(after: 5), firstID: 50)
        // Carl got item 7 from another gateway, which has read further. This gateway must not reply to carl before it
        // has read item 7 as well.
        let ahead = try WireClient(port: cluster.gateway.port, firstID: 50)
        let params = LoginParams(
            token: FakeCluster.Tokens.token("carl"), session: "tablet", resume: self.point(after: 7))
        let id = try ahead.begin("login", String(decoding: Wire.encode(params), as: UTF8.self))
        #expect(try upToDate.getsPong())
        #expect(ahead.isQuiet(milliseconds: 300), "carl's login has no reply yet")
        for _ in 6...10 { cluster.publishText(self.live) }
        #expect(try upToDate.itemNumbers(upTo: 10) == Array(6...10))
        guard
            case .success(.resumed(_, FeedPosition(epoch: FakeCluster.epoch, number: 7), replayed: true)) =
                try ahead.answer(to: id)
        else {
            Issue.record("carl's resume is not reported as replayed")
            return
        }
        #expect(try ahead.itemNumbers(upTo: 10) == Array(8...10))
    }

    @Test func `a resume of an earlier live with the same id gets the position after which the present feed continues`()
        throws
    {
        let cluster = try FakeCluster()
        cluster.create("room")
        let eve = try cluster.viewer("eve", of: "room")
        for _ in 1...5 { cluster.publishText(self.live) }
        _ = try eve.itemNumbers(upTo: 5)
        // Bob's resume point has epoch 9; the present live has epoch 10.
        let (bob, login) = try cluster.client(
            "bob", session: "phone", resume: self.point(after: 3, epoch: 9), firstID: 50)
        let currentPosition = FeedPosition(epoch: FakeCluster.epoch, number: 5)
        guard case .success(.resumed(_, currentPosition, replayed: false)) = login else {
            Issue.record("unexpected outcome of the login: \(login)")
            return
        }
        cluster.publishText(self.live)
        #expect(try bob.nextItemNumbers() == [6])
        #expect(cluster.metric("gateway_replays_refused_total") == 1)
    }

    /// Begins a login that resumes after item 2 of a live whose feed partition is not loaded.
    ///
    /// A partition is loaded when the gateway has read it up to its end.
    ///
    /// - Returns: the cluster, which has got the gateway's request to follow the partition; the client; and the id of
    ///   the login.
    private func beginResume() throws -> (cluster: FakeCluster, client: WireClient, login: Int64) {
        let cluster = try FakeCluster()
        cluster.create("room")
        cluster.state.withLock { $0.loadsPartitionsAtOnce = false }
        let client = try WireClient(port: cluster.gateway.port, firstID: 50)
        let params = LoginParams(token: FakeCluster.Tokens.token("bob"), session: "phone", resume: self.point(after: 2))
        let login = try client.begin("login", String(decoding: Wire.encode(params), as: UTF8.self))
        try cluster.waitForFollowedPartition()
        return (cluster, client, login)
    }

    @Test func `a resume waits until the partition is loaded, and new items wait until the replay is sent`() throws {
        let (cluster, client, login) = try self.beginResume()
        for _ in 1...5 { cluster.publishText(self.live) }
        #expect(client.isQuiet(milliseconds: 30), "the login waits until the partition is loaded")
        cluster.markLoaded(PlazaTopic.partition(of: self.live.text, among: FakeCluster.partitionCount))
        for _ in 6...8 { cluster.publishText(self.live) }
        guard case .success(.resumed(_, _, replayed: true)) = try client.answer(to: login) else {
            Issue.record("the resume is not reported as replayed")
            return
        }
        #expect(try client.itemNumbers(upTo: 8) == Array(3...8))
    }

    @Test func `a resume waits for its partition longer than a join does`() throws {
        let (cluster, client, login) = try self.beginResume()
        for _ in 1...3 { cluster.publishText(self.live) }
        #expect(client.isQuiet(milliseconds: 3_000), "a join would have been answered after 2 s")
        cluster.markLoaded(PlazaTopic.partition(of: self.live.text, among: FakeCluster.partitionCount))
        guard case .success(.resumed(_, _, replayed: true)) = try client.answer(to: login) else {
            Issue.record("the resume was refused")
            return
        }
        #expect(try client.itemNumbers(upTo: 3) == [3])
    }

    @Test func `I7 a resume that a later join overtakes is not reported as replayed`() throws {
        let (cluster, client, login) = try self.beginResume()
        for _ in 1...5 { cluster.publishText(self.live) }
        // The join waits for the partition for 2 s, and then succeeds: the client gets the items from the next one on.
        // The resume still waits.
        guard case .success(.joined) = try client.call("live.join", "{\"live\":\"room\"}") else {
            Issue.record("the join failed")
            return
        }
        cluster.markLoaded(PlazaTopic.partition(of: self.live.text, among: FakeCluster.partitionCount))
        guard case .success(.resumed(_, _, replayed: false)) = try client.answer(to: login) else {
            Issue.record("the resume is reported as replayed, although items 3 to 5 were not sent")
            return
        }
    }

    @Test func `a long replay is sent as fast as the client reads, and new items are held back until its end`() throws {
        // The feed has 400 items, which eve has read; the gateway still has them all in its cache.
        let (cluster, eve) = try FakeCluster.makeWithLongFeed(in: self.live, messageBytes: 8000)
        let (resumed, login) = try cluster.client(
            "bob", session: "phone", resume: self.point(after: 0), firstID: 50, receiveBuffer: 16 << 10)
        guard case .success(.resumed(_, _, replayed: true)) = login else {
            Issue.record("unexpected outcome of the login: \(login)")
            return
        }
        for _ in 401...410 { cluster.publishText(self.live, "live") }
        #expect(try resumed.itemNumbers(upTo: 410) == Array(1...410))
        #expect(try eve.itemNumbers(upTo: 410) == Array(401...410))
    }

    // MARK: Clients that lost their connection before their first feed frame

    /// The feed token in the reply to a join.
    private func token(of join: Outcome) throws -> FeedToken {
        guard case .success(.joined(_, FakeCluster.epoch, _, let text?)) = join else {
            throw WireClient.Failure(description: "\(join)")
        }
        return try #require(FeedToken(text: text))
    }

    /// Rules: R15.14.
    @Test
    func `I8 a client that joined a live before its first item resumes with every item, by the token of the join`()
        throws
    {
        let cluster = try FakeCluster()
        cluster.create("room")
        let (client, _) = try cluster.client("bob", session: "phone")
        let token = try self.token(of: try client.call("live.join", "{\"live\":\"room\"}"))
        #expect(token.position == FeedPosition(epoch: FakeCluster.epoch, number: 0))
        client.cutConnection()
        for _ in 1...5 { cluster.publishText(self.live) }
        var point = self.point(after: 0)
        point.token = token.text
        let (resumed, login) = try cluster.client("bob", session: "phone", resume: point, firstID: 50)
        guard case .success(.resumed(_, FeedPosition(epoch: FakeCluster.epoch, number: 0), replayed: true)) = login
        else {
            Issue.record("unexpected outcome of the login: \(login)")
            return
        }
        for _ in 6...7 { cluster.publishText(self.live) }
        #expect(try resumed.itemNumbers(upTo: 7) == Array(1...7))
    }

    /// Rules: R15.14.
    @Test func `I8 a client that joined a quiet live resumes with the first item after its join`() throws {
        let cluster = try FakeCluster()
        cluster.create("room")
        // The gateway does not have these items, as if they were older than its cache.
        for number in Int64(1)...30 { cluster.writeUncached(number, in: self.live) }
        // The next item that the test publishes gets number 31.
        cluster.state.withLock { $0.lastNumber[self.live] = 30 }
        let (client, _) = try cluster.client("bob", session: "phone")
        let token = try self.token(of: try client.call("live.join", "{\"live\":\"room\"}"))
        #expect(token.offset == 30, "the partition has 30 records, with the offsets 0 to 29")
        client.cutConnection()
        for _ in 31...35 { cluster.publishText(self.live) }
        var point = self.point(after: token.position.number)
        point.token = token.text
        let (resumed, login) = try cluster.client("bob", session: "phone", resume: point, firstID: 50)
        guard case .success(.resumed(_, _, replayed: true)) = login else {
            Issue.record("unexpected outcome of the login: \(login)")
            return
        }
        #expect(try resumed.itemNumbers(upTo: 35) == Array(31...35))
    }

    /// Rules: R15.14.
    @Test func `I8 a resume without a position gets the whole feed, or is reported as not replayed if items expired`()
        throws
    {
        let cluster = try FakeCluster()
        cluster.create("room")
        let viewer = try cluster.viewer("eve", of: "room")
        for _ in 1...5 { cluster.publishText(self.live) }
        #expect(try viewer.itemNumbers(upTo: 5) == Array(1...5))
        // Epoch 0 stands for a client that has no position.
        let pointWithoutPosition = self.point(after: 0, epoch: 0)
        let (bob, login) = try cluster.client("bob", session: "phone", resume: pointWithoutPosition, firstID: 50)
        guard case .success(.resumed(_, FeedPosition(epoch: FakeCluster.epoch, number: 0), replayed: true)) = login
        else {
            Issue.record("unexpected outcome of the login: \(login)")
            return
        }
        #expect(try bob.itemNumbers(upTo: 5) == Array(1...5))
        cluster.expireCachedItems()
        let (carl, lateLogin) = try cluster.client("carl", session: "phone", resume: pointWithoutPosition, firstID: 50)
        guard case .success(.resumed(_, FeedPosition(epoch: FakeCluster.epoch, number: 5), replayed: false)) = lateLogin
        else {
            Issue.record("unexpected outcome of the login: \(lateLogin)")
            return
        }
        cluster.publishText(self.live)
        #expect(try carl.nextItemNumbers() == [6])
    }

    // MARK: After the live's end

    /// Ends the live for presence and for the gateway's read model, but writes no end to the feed.
    private func endLive(_ cluster: FakeCluster) {
        cluster.state.withLock { _ = $0.unknownLives.insert(self.live) }
        let info = LiveInfo(liveID: "room", liveOwner: UserInfo(userID: "anna"))
        cluster.gateway.received(
            LiveRecord(app: FakeCluster.app, info: info, epoch: FakeCluster.epoch, revision: 2, ended: .endedByHost))
    }

    /// Rules: R15.15.
    @Test func `I1 a viewer that resumes after the live's end gets the end, once`() throws {
        let cluster = try FakeCluster()
        cluster.create("room")
        let viewer = try cluster.viewer("eve", of: "room")
        for _ in 1...5 { cluster.publishText(self.live) }
        #expect(try viewer.itemNumbers(upTo: 5) == Array(1...5))
        self.endLive(cluster)
        cluster.publish(self.live, .liveEnded(reason: .endedByHost, statistics: LiveStatistics()))
        #expect(try viewer.nextItemNumbers() == [6])
        // Bob missed items 4 and 5 and the end. Of an ended live only the end is replayed, so bob's resume is reported
        // as not replayed. Presence gives no ticket for an ended live, so bob keeps the ticket of his resume point.
        let (bob, login) = try cluster.client("bob", session: "phone", resume: self.point(after: 3), firstID: 50)
        #expect(
            login
                == .success(
                    result: .resumed(
                        ticket: Ticket(101), position: FeedPosition(epoch: FakeCluster.epoch, number: 5),
                        replayed: false)))
        #expect(try bob.nextItemNumbers() == [6])
        // Carl missed only the end, so his resume is reported as replayed.
        let (carl, carlsLogin) = try cluster.client(
            "carl", session: "tablet", resume: self.point(after: 5), firstID: 50)
        guard case .success(.resumed(_, _, replayed: true)) = carlsLogin else {
            Issue.record("unexpected outcome of the login: \(carlsLogin)")
            return
        }
        #expect(try carl.nextItemNumbers() == [6])
        // A client that already has the end, item 6, gets only an error. So does a client that resumes an earlier live
        // with the same id, epoch 9.
        for point in [self.point(after: 6), self.point(after: 3, epoch: 9)] {
            let (_, evesLogin) = try cluster.client("eve", session: "watch", resume: point, firstID: 50)
            guard case .failure(let error) = evesLogin else {
                Issue.record("unexpected outcome of the login: \(evesLogin)")
                return
            }
            #expect(error.code == .noSuchRoomOnEntry)
        }
    }

    /// Rules: R15.15, R15.19.
    @Test
    func `I1 a resume waits for the feed item of the live's end, and fails with the end's reason if that item expired`()
        throws
    {
        let cluster = try FakeCluster()
        cluster.create("room")
        self.endLive(cluster)
        let client = try WireClient(port: cluster.gateway.port, firstID: 50)
        let params = LoginParams(token: FakeCluster.Tokens.token("bob"), session: "phone", resume: self.point(after: 0))
        let id = try client.begin("login", String(decoding: Wire.encode(params), as: UTF8.self))
        try cluster.waitForFollowedPartition()
        #expect(client.isQuiet(milliseconds: 30), "the login waits, because the feed has no end yet")
        cluster.publish(self.live, .liveEnded(reason: .endedByHost, statistics: LiveStatistics()))
        guard case .success(.resumed) = try client.answer(to: id) else {
            Issue.record("the resume failed although the end is in the feed")
            return
        }
        #expect(try client.nextItemNumbers() == [1])
        cluster.expireCachedItems()
        let (_, lateLogin) = try cluster.client("carl", session: "tablet", resume: self.point(after: 0), firstID: 50)
        #expect(
            lateLogin
                == .failure(
                    error: ReplyError(
                        .noSuchRoomOnEntry, "the live has ended: endedByHost", reason: "endedByHost")))
    }

    /// Rules: R15.16.
    @Test func `I15 a leave that is sent again on another connection gets the reply of its first copy`() throws {
        let cluster = try FakeCluster()
        cluster.create("room")
        let client = try cluster.viewer("bob", of: "room", session: "phone")
        #expect(try client.call("live.leave", "{\"live\":\"room\"}", id: 9) == .success(result: .done))
        client.cutConnection()
        let (reconnected, _) = try cluster.client("bob", session: "phone", firstID: 50)
        #expect(try reconnected.call("live.leave", "{\"live\":\"room\"}", id: 9) == .success(result: .done))
        // This leave has a new id, so it is a new call, and bob is not in the live any more.
        guard case .failure(let error) = try reconnected.call("live.leave", "{\"live\":\"room\"}") else {
            Issue.record("bob left the live twice")
            return
        }
        #expect(error.code == .notInRoom)
    }

    /// Rules: R16.11.
    @Test func `I15 a call is forwarded as a late retry if its client states an age above 60 s`() throws {
        let cluster = try FakeCluster()
        cluster.create("room")
        let client = try cluster.viewer("bob", of: "room")
        let params = "{\"live\":\"room\",\"text\":\"hi\"}"
        // The idempotency window is 60 s; the client states the age in milliseconds.
        for (id, age) in [(40, 59_000), (41, 61_000)] {
            try client.send("{\"age\":\(age),\"id\":\(id),\"method\":\"barrage.sendText\",\"params\":\(params)}")
            let caller: Caller = try cluster.waitForRecord { record in
                guard let input = record.barrageInput, case .sendText(_, _, let caller) = input.command,
                    caller.counter == Int64(id)
                else { return nil }
                return caller
            }
            #expect(caller.isLateRetry == (age > 60_000))
        }
    }
}
