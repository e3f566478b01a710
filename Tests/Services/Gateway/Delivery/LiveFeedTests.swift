// SPDX-License-Identifier: Apache-2.0
import Gateway
import MachineKit
import PlazaModel
import Testing

/// The feed that viewers get: repeated records, the live's end, and viewer counts.
@Suite(.serialized, .timeLimit(.minutes(1))) struct LiveFeedTests {
    private let live = FakeCluster.key("room")

    @Test func `an item whose record the broker delivers twice is sent to viewers once`() throws {
        let cluster = try FakeCluster()
        cluster.create("room")
        let client = try cluster.viewer("bob", of: "room")
        for _ in 1...3 { cluster.publishText(self.live) }
        // The records of items 1 to 3 come a second time.
        for number in Int64(1)...3 {
            let content = FeedContent.text(sender: UserInfo(userID: "anna"), text: "again", extensionInfo: nil)
            let position = FeedPosition(epoch: FakeCluster.epoch, number: number)
            cluster.write(
                FeedItem(key: self.live, position: position, at: Timestamp(milliseconds: 1), content: content))
        }
        cluster.publishText(self.live)
        #expect(try client.itemNumbers(upTo: 4) == [1, 2, 3, 4])
    }

    @Test func `I1 the end of a live is sent once to each viewer, and the viewers are then not in a live`() throws {
        let cluster = try FakeCluster()
        cluster.create("room")
        let viewers = try (0..<6).map { try cluster.viewer("u\($0)", of: "room") }
        cluster.publishText(self.live)
        cluster.publish(self.live, .liveEnded(reason: .endedByHost, statistics: LiveStatistics()))
        for viewer in viewers {
            #expect(try viewer.itemNumbers(upTo: 2) == [1, 2])
            guard case .failure(let error) = try viewer.call("barrage.sendText", "{\"live\":\"room\",\"text\":\"x\"}")
            else {
                Issue.record("a text was accepted after the live's end")
                return
            }
            #expect(error.code == .notInRoom)
        }
        cluster.create("next")
        guard case .success(.joined) = try viewers[0].call("live.join", "{\"live\":\"next\"}") else {
            Issue.record("a viewer could not join another live after the end of the first one")
            return
        }
    }

    @Test func `a client that joins gets the latest viewer count that the gateway has received before the join`() throws
    {
        let cluster = try FakeCluster()
        cluster.create("room")
        cluster.gateway.received(
            CountRecord(
                app: "demo", live: "room", epoch: FakeCluster.epoch, count: 3, totalViewers: 3,
                at: Timestamp(milliseconds: 1)))
        let client = try cluster.viewer("bob", of: "room")
        // Other frames may precede the count; the suite's time limit ends the loop.
        while true {
            guard case .frame(.counts(let count), _) = try client.next() else { continue }
            #expect(count.count == 3)
            break
        }
    }

    @Test func `of 20 viewer counts at once, a client gets at most three, and always the last one`() throws {
        let cluster = try FakeCluster()
        cluster.create("room")
        let client = try cluster.viewer("bob", of: "room")
        for count in 1...20 {
            cluster.gateway.received(
                CountRecord(
                    app: "demo", live: "room", epoch: FakeCluster.epoch, count: count, totalViewers: count,
                    at: Timestamp(milliseconds: Int64(count))))
        }
        var receivedCounts: [Int] = []
        while receivedCounts.last != 20 {
            guard case .frame(.counts(let count), _) = try client.next() else { continue }
            receivedCounts.append(count.count)
        }
        #expect(
            receivedCounts.count <= 3,
            "the client gets one count at once and the last one a second later; a third comes only on a slow machine")
    }
}
