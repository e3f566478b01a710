// SPDX-License-Identifier: Apache-2.0
import Concurrency
import PlazaModel
import Testing

/// Joins, and how long they wait until the feed partition is loaded: until the gateway has read it up to its end.
@Suite(.serialized, .timeLimit(.minutes(1))) struct JoinTests {
    private let room = FakeCluster.key("room")

    /// Rules: R1.2.
    @Test func `the first viewer joins when the partition is loaded, and gets no earlier items`() throws {
        let cluster = try FakeCluster()
        cluster.create("room")
        cluster.state.withLock { $0.loadsPartitionsAtOnce = false }
        let (client, _) = try cluster.client("bob")
        let id = try client.begin("live.join", "{\"live\":\"room\"}")
        try cluster.waitForFollowedPartition()
        for _ in 1...5 { cluster.publishText(self.room) }
        cluster.markLoaded(PlazaTopic.partition(of: self.room.text, among: FakeCluster.partitionCount))
        guard case .success(.joined) = try client.answer(to: id), case .frame(let frame, _) = try client.next()
        else {
            Issue.record("not joined")
            return
        }
        #expect(
            frame == .feed(live: "room", epoch: FakeCluster.epoch, items: [], token: "10.5.4"),
            "the token of item 5 at offset 4, after which the client could resume")
        cluster.publishText(self.room)
        #expect(try client.feed() == [6])
    }

    @Test func `a join succeeds even if the partition is never loaded`() throws {
        let cluster = try FakeCluster()
        cluster.create("room")
        cluster.state.withLock { $0.loadsPartitionsAtOnce = false }
        let (client, _) = try cluster.client("bob")
        // The gateway waits 2 s for the partition.
        guard case .success(.joined) = try client.call("live.join", "{\"live\":\"room\"}") else {
            Issue.record("not joined")
            return
        }
    }

    @Test func `a client that disconnects while its join is pending disturbs no other client`() throws {
        let cluster = try FakeCluster()
        cluster.create("room")
        cluster.state.withLock { $0.loadsPartitionsAtOnce = false }
        // Each of the two clients calls twice.
        let (leaving, _) = try cluster.client("bob")
        try leaving.begin("live.join", "{\"live\":\"room\"}")
        try leaving.begin("live.join", "{\"live\":\"room\"}")
        try cluster.waitForFollowedPartition()
        let (staying, _) = try cluster.client("eve")
        let first = try staying.begin("live.join", "{\"live\":\"room\"}")
        let second = try staying.begin("live.join", "{\"live\":\"room\"}")
        leaving.cut()
        cluster.markLoaded(PlazaTopic.partition(of: self.room.text, among: FakeCluster.partitionCount))
        for id in [first, second] {
            guard case .success(.joined) = try staying.answer(to: id) else {
                Issue.record("not joined")
                return
            }
        }
        cluster.publishText(self.room)
        #expect(try staying.feed() == [1])
        #expect(staying.isQuiet(milliseconds: 50), "eve called twice, but has joined once and gets each item once")
    }
}
