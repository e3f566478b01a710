// SPDX-License-Identifier: Apache-2.0
import Concurrency
import Gateway
import MachineKit
import PlazaModel
import Testing

/// Notices, which are messages to one user: all connections of the user get them.
@Suite(.serialized, .timeLimit(.minutes(1))) struct NoticeTests {
    private let live = FakeCluster.key("room")

    @Test func `I6 a kick removes all devices of a user, with one notice each, and voids its ticket`() throws {
        let cluster = try FakeCluster()
        // The test delivers notices with offsets of its own, so the gateway's sign-in notices are held back.
        cluster.notices.hold()
        cluster.create("room")
        let phone = try cluster.viewer("bob", of: "room", session: "phone")
        let tablet = try cluster.viewer("bob", of: "room", session: "tablet")
        let eve = try cluster.viewer("eve", of: "room")
        // The floor is the lowest ticket that bob may use after the kick. His joins have the tickets 101 and 102.
        let floor = Ticket(200)
        cluster.state.withLock { $0.floors[UserKey("demo", "bob")] = floor }
        let notice = Notice(
            to: UserKey("demo", "bob"), live: "room", at: Timestamp(milliseconds: 5), floor: floor,
            content: .kickedOut(reason: .byAdmin, by: "anna"))
        // The broker delivers the notice twice, which must make no difference.
        cluster.gateway.received(notice, partition: 1, offset: 7)
        cluster.gateway.received(notice, partition: 1, offset: 7)
        for device in [phone, tablet] {
            while true {
                guard case .frame(let frame, _) = try device.next() else {
                    Issue.record("the connection was closed before the notice")
                    return
                }
                guard case .notice(let id, let received) = frame else { continue }
                #expect(
                    id == "1-7" && received.content == notice.content, "the id is the notice's partition and offset")
                break
            }
            guard case .failure(let error) = try device.call("barrage.sendText", "{\"live\":\"room\",\"text\":\"x\"}")
            else {
                Issue.record("a kicked client could still send a text")
                return
            }
            #expect(error.code == .notInRoom)
        }
        cluster.publishText(self.live)
        #expect(try eve.nextItemNumbers() == [1])
        #expect(
            phone.isQuiet(milliseconds: 50) && tablet.isQuiet(milliseconds: 10),
            "bob's devices get neither a second notice nor the item")
        // This point has the ticket of the phone's join.
        let point = ResumePoint(
            live: "room", ticket: Ticket(101), position: FeedPosition(epoch: FakeCluster.epoch, number: 0))
        // The ids of the new connection's calls must be above those of the session's earlier calls.
        let (reconnected, login) = try cluster.client("bob", session: "phone", resume: point, firstID: 50)
        guard case .failure(let error) = login else {
            Issue.record("a kicked client could resume with its old ticket")
            return
        }
        #expect(error.code == .staleTicket)
        guard case .success(.joined) = try reconnected.call("live.join", "{\"live\":\"room\"}") else {
            Issue.record("bob could not join again after the kick")
            return
        }
    }

    @Test func `a client that reconnects gets the notices that it has missed, each once`() throws {
        let cluster = try FakeCluster()
        // The test delivers notices with offsets of its own, so the gateway's sign-in notices are held back.
        cluster.notices.hold()
        let partition = PlazaTopic.partition(of: UserKey("demo", "bob").text, among: FakeCluster.partitionCount)
        /// Delivers a notice to bob; `offset` is its offset in the partition of bob's notices.
        func deliverNotice(atOffset offset: Int64) {
            let content = NoticeContent.battleNotStarted(battle: BattleID("b\(offset)"))
            let notice = Notice(
                to: UserKey("demo", "bob"), live: "room", at: Timestamp(milliseconds: offset), content: content)
            cluster.gateway.received(notice, partition: partition, offset: offset)
        }
        deliverNotice(atOffset: 1)
        let (first, login) = try cluster.client("bob", session: "phone")
        guard case .success(.loggedIn(_, _, _, let lastNotice, _)) = login else {
            Issue.record("unexpected outcome of the login: \(login)")
            return
        }
        #expect(lastNotice == "\(partition)-1", "the partition and the offset of the last notice")
        #expect(first.isQuiet(milliseconds: 30), "a first login brings no earlier notices")
        first.cutConnection()
        for offset in Int64(2)...4 { deliverNotice(atOffset: offset) }
        // The client says that the notice at offset 1 is its last one. The ids of the new connection's calls must be
        // above those of the session's earlier calls.
        let (reconnected, _) = try cluster.client("bob", session: "phone", notices: lastNotice, firstID: 9)
        deliverNotice(atOffset: 5)
        for offset in 2...5 {
            guard case .frame(.notice(let id, _), _) = try reconnected.next() else {
                Issue.record("the notice at offset \(offset) did not arrive")
                return
            }
            #expect(id == "\(partition)-\(offset)")
        }
    }
}
