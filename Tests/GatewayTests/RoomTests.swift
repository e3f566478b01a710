// SPDX-License-Identifier: Apache-2.0
import Concurrency
import CoreKit
import Gateway
import GatewayCore
import PlazaModel
import PlazaWire
import Testing

@Suite(.serialized, .timeLimit(.minutes(1))) struct RoomTests {
    private let room = FakeCluster.key("room")

    private func point(_ number: Int64, ticket: Int64 = 101, epoch: Int64 = 10) -> ResumePoint {
        ResumePoint(
            live: "room", ticket: Ticket(ticket), position: FeedPosition(epoch: epoch, number: number))
    }

    @Test func `I7 a client that comes back gets exactly what it missed, then goes on`() throws {
        let cluster = try FakeCluster()
        cluster.create("room")
        let client = try cluster.viewer("bob", of: "room", session: "phone")
        for _ in 1...10 { cluster.text(self.room) }
        #expect(try client.feed(upTo: 10) == Array(1...10))
        client.cut()
        for _ in 11...20 { cluster.text(self.room) }
        let (back, login) = try cluster.client("bob", session: "phone", resume: self.point(10), firstID: 50)
        let position = FeedPosition(epoch: 10, number: 10)
        #expect(login == .success(result: .resumed(ticket: Ticket(102), position: position, replayed: true)))
        for _ in 21...25 { cluster.text(self.room) }
        #expect(try back.feed(upTo: 25) == Array(11...25))
        #expect(
            try back.call("barrage.sendText", "{\"live\":\"room\",\"text\":\"x\"}")
                == .success(result: .sent(position: FeedPosition(epoch: 10, number: 26))))
        #expect(cluster.metric("gateway_replays_total") == 1)
    }

    @Test func `a client that missed nothing, or is ahead of this gateway, gets nothing twice`() throws {
        let cluster = try FakeCluster()
        cluster.create("room")
        let first = try cluster.viewer("eve", of: "room")
        for _ in 1...5 { cluster.text(self.room) }
        #expect(try first.feed(upTo: 5) == Array(1...5))
        let (same, _) = try cluster.client("bob", session: "a", resume: self.point(5), firstID: 50)
        // Another gateway was quicker: the word that nothing is lost comes once that is known here too.
        let ahead = try WireClient(port: cluster.gateway.port, firstID: 50)
        let params = LoginParams(token: FakeCluster.Tokens.token("carl"), session: "b", resume: self.point(7))
        let id = try ahead.begin("login", String(decoding: Wire.encode(params), as: UTF8.self))
        #expect(try same.call("ping") == .success(result: .done))
        #expect(ahead.isQuiet(milliseconds: 300))
        for _ in 6...10 { cluster.text(self.room) }
        #expect(try same.feed(upTo: 10) == Array(6...10))
        guard case .success(.resumed(_, FeedPosition(epoch: 10, number: 7), replayed: true)) = try ahead.answer(to: id)
        else {
            Issue.record("it was not resumed")
            return
        }
        #expect(try ahead.feed(upTo: 10) == Array(8...10))
    }

    @Test func `what cannot be replayed is told, with the place from which the feed goes on`() throws {
        let cluster = try FakeCluster()
        cluster.create("room")
        let first = try cluster.viewer("eve", of: "room")
        for _ in 1...5 { cluster.text(self.room) }
        _ = try first.feed(upTo: 5)
        let (old, login) = try cluster.client("bob", session: "a", resume: self.point(3, epoch: 9), firstID: 50)
        let here = FeedPosition(epoch: 10, number: 5)
        guard case .success(.resumed(_, here, replayed: false)) = login else {
            Issue.record("\(login)")
            return
        }
        cluster.text(self.room)
        #expect(try old.feed() == [6])
        #expect(cluster.metric("gateway_replays_refused_total") == 1)
    }

    @Test func `a resume waits until the partition is read up to its end, and live items wait for the replay`() throws {
        let cluster = try FakeCluster()
        cluster.create("room")
        cluster.state.withLock { $0.loadsAtOnce = false }
        let client = try WireClient(port: cluster.gateway.port, firstID: 50)
        let params = LoginParams(token: FakeCluster.Tokens.token("bob"), session: "a", resume: self.point(2))
        let id = try client.begin("login", String(decoding: Wire.encode(params), as: UTF8.self))
        try cluster.followed()
        for _ in 1...5 { cluster.text(self.room) }
        #expect(client.isQuiet(milliseconds: 30))
        cluster.load(PlazaTopic.partition(of: self.room.text, among: 4))
        for _ in 6...8 { cluster.text(self.room) }
        guard case .success(.resumed(_, _, replayed: true)) = try client.answer(to: id) else {
            Issue.record("not replayed")
            return
        }
        #expect(try client.feed(upTo: 8) == Array(3...8))
    }

    @Test func `a first viewer is let in when the partition is read, and sees nothing of before`() throws {
        let cluster = try FakeCluster()
        cluster.create("room")
        cluster.state.withLock { $0.loadsAtOnce = false }
        let (client, _) = try cluster.client("bob")
        let id = try client.begin("live.join", "{\"live\":\"room\"}")
        try cluster.followed()
        for _ in 1...5 { cluster.text(self.room) }
        cluster.load(PlazaTopic.partition(of: self.room.text, among: 4))
        guard case .success(.joined) = try client.answer(to: id), case .frame(let frame, _) = try client.next()
        else {
            Issue.record("not joined")
            return
        }
        #expect(frame == .feed(live: "room", epoch: 10, items: [], token: "10.5.4"), "where it could resume from")
        cluster.text(self.room)
        #expect(try client.feed() == [6])
    }

    @Test func `a partition that cannot be read keeps nobody out for longer than 2 s`() throws {
        let cluster = try FakeCluster()
        cluster.create("room")
        cluster.state.withLock { $0.loadsAtOnce = false }
        let (client, _) = try cluster.client("bob")
        guard case .success(.joined) = try client.call("live.join", "{\"live\":\"room\"}") else {
            Issue.record("not joined")
            return
        }
    }

    @Test func `a long replay comes as the reader takes it, and live items wait for its end`() throws {
        let cluster = try FakeCluster { settings in
            settings.budget = DeliveryBudget(bytes: 64 << 10)
            settings.sendBufferBytes = 32 << 10
        }
        cluster.create("room")
        let first = try cluster.viewer("eve", of: "room")
        let text = String(repeating: "x", count: 8000)
        for _ in 1...400 {
            cluster.text(self.room, text)
            _ = try first.feed()
        }
        let (back, login) = try cluster.client(
            "bob", session: "phone", resume: self.point(0), firstID: 50, receiveBuffer: 16 << 10)
        guard case .success(.resumed(_, _, replayed: true)) = login else {
            Issue.record("\(login)")
            return
        }
        for _ in 401...410 { cluster.text(self.room, "live") }
        #expect(try back.feed(upTo: 410) == Array(1...410))
    }

    @Test func `a client that goes while it waits to enter leaves nothing behind`() throws {
        let cluster = try FakeCluster()
        cluster.create("room")
        cluster.state.withLock { $0.loadsAtOnce = false }
        let (client, _) = try cluster.client("bob")
        try client.begin("live.join", "{\"live\":\"room\"}")
        try client.begin("live.join", "{\"live\":\"room\"}")
        try cluster.followed()
        let (staying, _) = try cluster.client("eve")
        let first = try staying.begin("live.join", "{\"live\":\"room\"}")
        let second = try staying.begin("live.join", "{\"live\":\"room\"}")
        client.cut()
        cluster.load(PlazaTopic.partition(of: self.room.text, among: 4))
        for id in [first, second] {
            guard case .success(.joined) = try staying.answer(to: id) else {
                Issue.record("not joined")
                return
            }
        }
        cluster.text(self.room)
        #expect(try staying.feed() == [1])
        #expect(staying.isQuiet(milliseconds: 50), "once, though it asked twice")
    }

    @Test func `records that a broker gives again are shown once`() throws {
        let cluster = try FakeCluster()
        cluster.create("room")
        let client = try cluster.viewer("bob", of: "room")
        for _ in 1...3 { cluster.text(self.room) }
        for number in Int64(1)...3 {
            let content = FeedContent.text(sender: UserInfo(userID: "anna"), text: "again", extensionInfo: nil)
            let position = FeedPosition(epoch: 10, number: number)
            cluster.write(
                FeedItem(key: self.room, position: position, at: Timestamp(milliseconds: 1), content: content))
        }
        cluster.text(self.room)
        #expect(try client.feed(upTo: 4) == [1, 2, 3, 4])
    }

    @Test func `I6 a kicked user is out on all its devices, with one notice each, and its ticket is void`() throws {
        let cluster = try FakeCluster()
        // The test numbers the notices itself.
        cluster.notices.hold(true)
        cluster.create("room")
        let phone = try cluster.viewer("bob", of: "room", session: "phone")
        let tablet = try cluster.viewer("bob", of: "room", session: "tablet")
        let other = try cluster.viewer("eve", of: "room")
        let floor = Ticket(200)
        cluster.state.withLock { $0.floors[UserKey("demo", "bob")] = floor }
        let notice = Notice(
            to: UserKey("demo", "bob"), live: "room", at: Timestamp(milliseconds: 5), floor: floor,
            content: .kickedOut(reason: .byAdmin, by: "anna"))
        cluster.gateway.received(notice, partition: 1, offset: 7)
        cluster.gateway.received(notice, partition: 1, offset: 7)
        for device in [phone, tablet] {
            while true {
                guard case .frame(let frame, _) = try device.next() else { break }
                guard case .notice(let id, let told) = frame else { continue }
                #expect(id == "1-7" && told.content == notice.content)
                break
            }
            guard case .failure(let error) = try device.call("barrage.sendText", "{\"live\":\"room\",\"text\":\"x\"}")
            else {
                Issue.record("acts after the kick")
                return
            }
            #expect(error.code == .notInRoom)
        }
        cluster.text(self.room)
        #expect(try other.feed() == [1])
        #expect(phone.isQuiet(milliseconds: 50) && tablet.isQuiet(milliseconds: 10))
        let (back, login) = try cluster.client("bob", session: "phone", resume: self.point(0), firstID: 50)
        guard case .failure(let stale) = login else {
            Issue.record("resumed after the kick")
            return
        }
        #expect(stale.code == .staleTicket)
        guard case .success(.joined) = try back.call("live.join", "{\"live\":\"room\"}") else {
            Issue.record("cannot join anew")
            return
        }
    }

    @Test func `notices that were missed come with the next login, once`() throws {
        let cluster = try FakeCluster()
        // The test numbers the notices itself.
        cluster.notices.hold(true)
        let partition = PlazaTopic.partition(of: UserKey("demo", "bob").text, among: 4)
        func notice(_ offset: Int64) {
            let content = NoticeContent.battleNotStarted(battle: BattleID("b\(offset)"))
            let notice = Notice(
                to: UserKey("demo", "bob"), live: "room", at: Timestamp(milliseconds: offset), content: content)
            cluster.gateway.received(notice, partition: partition, offset: offset)
        }
        notice(1)
        let (first, login) = try cluster.client("bob", session: "phone")
        guard case .success(.loggedIn(_, _, _, let last)) = login else {
            Issue.record("\(login)")
            return
        }
        #expect(last == "\(partition)-1")
        #expect(first.isQuiet(milliseconds: 30), "what was before the login is not told")
        first.cut()
        for offset in Int64(2)...4 { notice(offset) }
        let (back, _) = try cluster.client("bob", session: "phone", notices: last, firstID: 9)
        notice(5)
        for offset in 2...5 {
            guard case .frame(.notice(let id, _), _) = try back.next() else {
                Issue.record("no notice \(offset)")
                return
            }
            #expect(id == "\(partition)-\(offset)")
        }
    }

    @Test func `I1 a live that ends is told once, and then its viewers are out`() throws {
        let cluster = try FakeCluster()
        cluster.create("room")
        let viewers = try (0..<6).map { try cluster.viewer("u\($0)", of: "room") }
        cluster.text(self.room)
        cluster.publish(self.room, .liveEnded(reason: .endedByHost, statistics: LiveStatistics()))
        for viewer in viewers {
            #expect(try viewer.feed(upTo: 2) == [1, 2])
            guard case .failure(let error) = try viewer.call("barrage.sendText", "{\"live\":\"room\",\"text\":\"x\"}")
            else {
                Issue.record("acts after the end")
                return
            }
            #expect(error.code == .notInRoom)
        }
        cluster.create("next")
        guard case .success(.joined) = try viewers[0].call("live.join", "{\"live\":\"next\"}") else {
            Issue.record("cannot join another live after the end")
            return
        }
    }

    @Test func `who enters is told the count that came before it was a viewer`() throws {
        let cluster = try FakeCluster()
        cluster.create("room")
        cluster.gateway.received(
            CountRecord(
                app: "demo", live: "room", epoch: 10, count: 3, totalViewers: 3, at: Timestamp(milliseconds: 1)))
        let client = try cluster.viewer("bob", of: "room")
        while true {
            guard case .frame(.counts(let count), _) = try client.next() else { continue }
            #expect(count.count == 3)
            break
        }
    }

    @Test func `counts come beside the feed, at most one a second`() throws {
        let cluster = try FakeCluster()
        cluster.create("room")
        let client = try cluster.viewer("bob", of: "room")
        for count in 1...20 {
            cluster.gateway.received(
                CountRecord(
                    app: "demo", live: "room", epoch: 10, count: count, totalViewers: count,
                    at: Timestamp(milliseconds: Int64(count))))
        }
        var seen: [Int] = []
        while seen.last != 20 {
            guard case .frame(.counts(let count), _) = try client.next() else { continue }
            seen.append(count.count)
        }
        #expect(seen.count <= 3)
    }

    @Test func `I4 members are told of once a round, and a closed socket once more and then no longer`() throws {
        let cluster = try FakeCluster { $0.lease = Milliseconds(3600) }
        cluster.create("room")
        func beats(_ user: UserID) -> Int {
            cluster.state.withLock { $0.records }.reduce(0) { sum, record in
                guard record.topic == .audienceInbox, let value = record.value,
                    let input = try? Wire.decode(AudienceInput.self, from: value),
                    case .heartbeats(let beats) = input.command
                else { return sum }
                return sum + beats.filter { $0.user == user }.count
            }
        }
        let client = try cluster.viewer("bob", of: "room")
        let staying = try cluster.viewer("eve", of: "room")
        func wait(_ user: UserID, for count: Int) throws {
            _ = try cluster.record { record -> Bool? in
                guard case .audienceInbox = record.topic else { return nil }
                return beats(user) >= count ? true : nil
            }
        }
        try wait("bob", for: 3)
        let beat = try cluster.record { record -> Beat? in
            guard record.topic == .audienceInbox, let value = record.value,
                let input = try? Wire.decode(AudienceInput.self, from: value),
                case .heartbeats(let beats) = input.command
            else { return nil }
            return beats.first { $0.user == "bob" }
        }
        #expect(beat.ticket == Ticket(101))
        #expect(beat.silentFor >= 0 && beat.silentFor < 3600)
        client.cut()
        let before = beats("eve")
        try wait("eve", for: before + 3)
        let gone = beats("bob")
        try wait("eve", for: before + 8)
        #expect(beats("bob") == gone, "silence after the last word")
        _ = try staying.call("ping")
    }

    @Test func `I5 when presence begins anew, all members are asserted with their tickets`() throws {
        let cluster = try FakeCluster()
        cluster.create("room")
        let viewers = try (0..<5).map { try cluster.viewer("u\($0)", of: "room") }
        let partition = PlazaTopic.partition(of: self.room.text, among: 4)
        cluster.gateway.received(PresenceEpochRecord(partition: (partition + 1) % 4, epoch: "x"))
        cluster.gateway.received(PresenceEpochRecord(partition: partition, epoch: "y"))
        var found: Set<UserID> = []
        while found.count < viewers.count {
            let members = try cluster.record { record -> [Presence]? in
                guard record.topic == .audienceInbox, let value = record.value,
                    let input = try? Wire.decode(AudienceInput.self, from: value), input.key == self.room,
                    case .assert(let members) = input.command, !members.allSatisfy({ found.contains($0.user.userID) })
                else { return nil }
                return members
            }
            #expect(members.allSatisfy { $0.ticket > Ticket(100) })
            found.formUnion(members.map(\.user.userID))
        }
        let asserts = { (record: TopicRecord) -> Bool in
            guard record.topic == .audienceInbox, let value = record.value,
                let input = try? Wire.decode(AudienceInput.self, from: value), case .assert = input.command
            else { return false }
            return true
        }
        let told = cluster.count(asserts)
        cluster.gateway.received(PresenceEpochRecord(partition: partition, epoch: "y"))
        #expect(try viewers[0].call("ping") == .success(result: .done))
        #expect(cluster.count(asserts) == told, "the same epoch again")
    }
}
