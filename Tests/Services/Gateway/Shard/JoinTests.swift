// SPDX-License-Identifier: Apache-2.0
import Concurrency
import PlazaModel
import Testing

/// Joins, which wait until the live's feed partition is loaded.
///
/// A partition is loaded when the gateway has read it up to its end.
@Suite(.serialized, .timeLimit(.minutes(1))) struct JoinTests {
    private let live = FakeCluster.key("room")

    /// Rules: R1.2.
    @Test func `the first viewer's join succeeds when the partition is loaded, and brings no earlier items`() throws {
        let cluster = try FakeCluster()
        cluster.create("room")
        cluster.state.withLock { $0.loadsPartitionsAtOnce = false }
        let (client, _) = try cluster.client("bob")
        let id = try client.begin("live.join", "{\"live\":\"room\"}")
        try cluster.waitForFollowedPartition()
        for _ in 1...5 { cluster.publishText(self.live) }
        cluster.markLoaded(PlazaTopic.partition(of: self.live.text, among: FakeCluster.partitionCount))
        guard case .success(.joined) = try client.answer(to: id), case .frame(let frame, _) = try client.next()
        else {
            Issue.record("the join failed, or no frame followed")
            return
        }
        #expect(
            frame == .feed(live: "room", epoch: FakeCluster.epoch, items: [], token: "10.5.4"),
            "the first frame has no items, and the token of item 5 at offset 4, after which the client could resume")
        cluster.publishText(self.live)
        #expect(try client.nextItemNumbers() == [6])
    }

    @Test func `a join succeeds after 2 s even if the partition is never loaded`() throws {
        let cluster = try FakeCluster()
        cluster.create("room")
        cluster.state.withLock { $0.loadsPartitionsAtOnce = false }
        let (client, _) = try cluster.client("bob")
        guard case .success(.joined) = try client.call("live.join", "{\"live\":\"room\"}") else {
            Issue.record("the join failed")
            return
        }
    }

    @Test func `a client that disconnects while its join is pending disturbs no other client`() throws {
        let cluster = try FakeCluster()
        cluster.create("room")
        cluster.state.withLock { $0.loadsPartitionsAtOnce = false }
        // Bob and eve each call `live.join` twice. The joins wait, because the partition is not loaded.
        let (bob, _) = try cluster.client("bob")
        try bob.begin("live.join", "{\"live\":\"room\"}")
        try bob.begin("live.join", "{\"live\":\"room\"}")
        try cluster.waitForFollowedPartition()
        let (eve, _) = try cluster.client("eve")
        let first = try eve.begin("live.join", "{\"live\":\"room\"}")
        let second = try eve.begin("live.join", "{\"live\":\"room\"}")
        bob.cutConnection()
        cluster.markLoaded(PlazaTopic.partition(of: self.live.text, among: FakeCluster.partitionCount))
        for id in [first, second] {
            guard case .success(.joined) = try eve.answer(to: id) else {
                Issue.record("a join of eve failed")
                return
            }
        }
        cluster.publishText(self.live)
        #expect(try eve.nextItemNumbers() == [1])
        #expect(eve.isQuiet(milliseconds: 50), "eve gets the item once, although she called twice")
    }
}
