// SPDX-License-Identifier: Apache-2.0
import CoreKit
import PlazaModel
import Presence
import TestSupport
import Testing

/// Bans, devices, names and the owner's coming and going, over a real Redis.
@Suite(.timeLimit(.minutes(2))) struct PeopleTests {
    let redis: LiveRedis

    init() throws { self.redis = try LiveRedis() }

    private func partition(devices: DevicePolicy = .several) throws -> Partition {
        var policy = AppPolicy()
        policy.devices = devices
        let partition = try Partition(redis: self.redis.port, policy: policy)
        try partition.run()
        return partition
    }

    private static func codes(_ effects: [Effect]) -> [ReplyCode] {
        Partition.results(effects).compactMap { if case .failure(let error) = $0 { error.code } else { nil } }
    }

    @Test func `where one device is allowed the first one's lease goes, and no late sign of life brings it back`()
        throws
    {
        let partition = try self.partition(devices: .one)
        let old = partition.write(.join(caller: Partition.caller("alice", 1)))
        try partition.run()
        let effects = try partition.send(.join(caller: Partition.caller("alice", 1, session: "s2")))
        #expect(Partition.joinedTips(effects).isEmpty)
        #expect(Partition.leftTips(effects).isEmpty)
        #expect(effects.filter { if case .notice = $0 { true } else { false } }.count == 1)
        let raw = try RawRedis(port: self.redis.port)
        #expect(
            try raw.run("ZRANGE", "{audience.0}:leases:demo/stage-1", "0", "-1") == .list([.text("alice/s2")]))
        #expect(try raw.run("HGET", "{audience.0}:state", "sessions") == .text("1"))
        #expect(try partition.send(.heartbeats(beats: [Partition.beat("alice", old)])).isEmpty)
        try partition.send(
            .assert(members: [
                Presence(session: "s1", user: Partition.user("alice"), ticket: Ticket(old), silentFor: 0)
            ]))
        #expect(try raw.run("ZCARD", "{audience.0}:leases:demo/stage-1") == .integer(1))
        // Its gateway's leave says nothing either, and the new device is still in.
        let signOff = AudienceCommand.signOff(session: "s1", user: "alice", ticket: Ticket(old))
        #expect(try partition.send(signOff).isEmpty)
        #expect(try partition.list(page: 10) == ["alice"])
        // The old one may come back by joining, and takes the place again.
        let back = try partition.send(.join(caller: Partition.caller("alice", 2)))
        #expect(back.filter { if case .notice = $0 { true } else { false } }.count == 1)
        #expect(Partition.joinedTips(back).isEmpty)
        #expect(
            try raw.run("ZRANGE", "{audience.0}:leases:demo/stage-1", "0", "-1") == .list([.text("alice/s1")]))
    }

    @Test func `two devices that join in one batch end with the later one, and the owner is no exception`() throws {
        let partition = try self.partition(devices: .one)
        for name in ["alice", "host"] {
            for session in ["s1", "s2", "s3"] {
                partition.write(.join(caller: Partition.caller(name, 1, session: SessionID(session))))
            }
        }
        let effects = try partition.run()
        #expect(effects.filter { if case .notice = $0 { true } else { false } }.count == 4)
        #expect(Partition.joinedTips(effects) == ["alice"])
        #expect(Partition.occupancies(effects).first == "left not empty")
        let raw = try RawRedis(port: self.redis.port)
        #expect(
            try raw.run("ZRANGE", "{audience.0}:leases:demo/stage-1", "0", "-1")
                == .list([.text("alice/s3"), .text("host/s3")]))
    }

    @Test func `I6 a resume that stands behind its user's kick in one batch leaves no lease`() throws {
        let partition = try self.partition()
        let ticket = partition.write(.join(caller: Partition.caller("alice", 1)))
        try partition.run()
        partition.write(.kick(user: "alice", reason: .byAdmin, caller: Partition.caller("host", 1)))
        partition.write(.join(caller: Partition.caller("alice", 2, ticket: ticket)))
        let effects = try partition.run()
        #expect(Self.codes(effects) == [.staleTicket])
        #expect(Partition.joinedTips(effects).isEmpty)
        let raw = try RawRedis(port: self.redis.port)
        #expect(try raw.run("EXISTS", "{audience.0}:leases:demo/stage-1") == .integer(0))
        #expect(
            Partition.joinedTips(try partition.send(.join(caller: Partition.caller("alice", 3)))) == ["alice"])
    }

    @Test func `I6 nobody resumes by the ticket of another who is in, and after silence one does by its own`() throws {
        let partition = try self.partition()
        let alices = partition.write(.join(caller: Partition.caller("alice", 1)))
        let bobs = partition.write(.join(caller: Partition.caller("bob", 1)))
        try partition.run()
        partition.write(.join(caller: Partition.caller("carl", 1, ticket: alices)))
        partition.write(.join(caller: Partition.caller("bob", 2, ticket: alices)))
        partition.write(.join(caller: Partition.caller("bob", 3, ticket: bobs)))
        let effects = try partition.run()
        #expect(Self.codes(effects) == [.staleTicket, .staleTicket])
        #expect(Partition.results(effects).count == 3)
        #expect(Partition.joinedTips(effects).isEmpty)
        for _ in 1...100 { try partition.tick(seconds: 1) }
        let back = try partition.send(.join(caller: Partition.caller("alice", 2, ticket: alices)))
        #expect(Self.codes(back).isEmpty)
        #expect(Partition.joinedTips(back) == ["alice"])
    }

    @Test func `I6 a banned user is out with all devices, stays out of list and count, and comes in when it is over`()
        throws
    {
        let partition = try self.partition()
        let ticket = partition.write(.join(caller: Partition.caller("alice", 1)))
        partition.write(.join(caller: Partition.caller("alice", 1, session: "s2")))
        partition.write(.join(caller: Partition.caller("bob", 1)))
        try partition.run()
        let until = partition.now + .seconds(60)
        let effects = try partition.send(
            .banned(user: "alice", until: until, caller: Partition.caller("host", 1)))
        #expect(Partition.leftTips(effects) == ["alice"])
        #expect(Partition.gone(effects) == ["alice"])
        #expect(effects.filter { if case .notice = $0 { true } else { false } }.count == 1)
        #expect(try partition.list(page: 10) == ["bob"])
        try partition.send(.heartbeats(beats: [Partition.beat("alice", ticket)]))
        #expect(Self.codes(try partition.send(.join(caller: Partition.caller("alice", 2)))) == [.banned])
        // Redis may lose what it knows: the ban is a row.
        try RawRedis(port: self.redis.port).run("FLUSHALL")
        try partition.replaceOwner()
        try partition.tick(seconds: 1)
        try partition.send(
            .assert(members: [
                Presence(session: "s1", user: Partition.user("alice"), ticket: Ticket(ticket), silentFor: 0)
            ]))
        #expect(Self.codes(try partition.send(.join(caller: Partition.caller("alice", 3)))) == [.banned])
        try partition.tick(seconds: 60)
        #expect(try partition.list(page: 10).isEmpty)
        #expect(
            Partition.joinedTips(try partition.send(.join(caller: Partition.caller("alice", 4)))) == ["alice"])
    }

    @Test func `who joins again under another name has it in list and feed, and who names none keeps its own`() throws {
        let partition = try self.partition()
        func join(_ name: String, _ counter: Int64, _ session: SessionID) throws -> [Effect] {
            var caller = Partition.caller("alice", counter, session: session)
            caller.user = UserInfo(userID: "alice", userName: name)
            return try partition.send(.join(caller: caller))
        }
        func names(_ effects: [Effect]) -> [String] {
            effects.compactMap { effect -> String? in
                guard case .barrage(let input) = effect, case .tell(.userChanged(let user)) = input.command else {
                    return nil
                }
                return user.userName
            }
        }
        func listed(_ counter: Int64) throws -> [String] {
            let asking = Partition.caller("alice", counter, ticket: 100_000)
            let results = Partition.results(try partition.send(.list(cursor: "", count: 10, caller: asking)))
            guard case .success(.audience(let page))? = results.first else { return ["no page: \(results)"] }
            return page.members.map(\.user.userName)
        }
        #expect(names(try join("Alice", 1, "s1")) == [])
        #expect(names(try join("Alice", 2, "s1")) == [], "as before")
        let renamed = try join("Alice B.", 3, "s1")
        #expect(names(renamed) == ["Alice B."])
        #expect(
            renamed.contains(
                .seat(SeatInput(Partition.key, .profile(user: UserInfo(userID: "alice", userName: "Alice B."))))))
        #expect(Partition.joinedTips(renamed).isEmpty)
        #expect(names(try join("", 1, "s2")) == [], "another device, which names nothing")
        #expect(try listed(4) == ["Alice B."])
        #expect(names(try join("Álice C", 2, "s2")) == ["Álice C"])
        #expect(try listed(5) == ["Álice C"])
    }

    @Test func `a mute is announced with the name that the user has in the live`() throws {
        let partition = try self.partition()
        try partition.send(.join(caller: Partition.caller("alice", 1)))
        let effects =
            try partition.send(.announceMute(user: "alice", isDisable: true, until: nil))
            + partition.send(.announceMute(user: "nobody", isDisable: true, until: nil))
        let named = effects.compactMap { effect -> UserInfo? in
            guard case .barrage(let input) = effect, case .tell(.messageDisabled(let user, true, nil)) = input.command
            else { return nil }
            return user
        }
        #expect(named == [Partition.user("alice"), UserInfo(userID: "nobody")])
    }

    @Test func `a new name stands in the list, keeps its place there, and lives on through silence`() throws {
        let partition = try self.partition()
        let ticket = partition.write(.join(caller: Partition.caller("alice", 1)))
        partition.write(.join(caller: Partition.caller("bob", 1)))
        try partition.run()
        var caller = Partition.caller("alice", 2, ticket: ticket)
        caller.user = UserInfo(userID: "alice", userName: "Álice 2", avatarURL: "https://example.org/a b")
        let effects = try partition.send(.profile(caller: caller))
        #expect(effects.contains(.seat(SeatInput(Partition.key, .profile(user: caller.user)))))
        #expect(
            effects.contains(.barrage(BarrageInput(Partition.key, .tell(content: .userChanged(user: caller.user))))))
        let asking = Partition.caller("bob", 2, ticket: ticket + 1)
        let results = Partition.results(try partition.send(.list(cursor: "", count: 10, caller: asking)))
        guard case .success(.audience(let page))? = results.first else {
            return #expect(Bool(false), "no page: \(results)")
        }
        #expect(page.members.map(\.user) == [caller.user, Partition.user("bob")])
        let gone = try partition.tick(seconds: 92)
        #expect(Partition.leftTips(gone).sorted() == ["alice", "bob"])
        caller.user.userName = "Alice 3"
        caller.request.counter = 3
        let silent = try partition.send(.profile(caller: caller))
        #expect(silent.count == 1, "answered, and told to nobody")
        let back = try partition.send(.heartbeats(beats: [Partition.beat("alice", ticket)]))
        #expect(
            back.contains(.barrage(BarrageInput(Partition.key, .tell(content: .audienceJoined(user: caller.user))))))
    }

    @Test func `I5 the directory hears of the owner as it is, through the loss of Redis and its return`() throws {
        let partition = try self.partition()
        let host = partition.write(.join(caller: Partition.caller("host", 1)))
        let alice = partition.write(.join(caller: Partition.caller("alice", 1)))
        try partition.run()
        try partition.tick(seconds: 2)
        #expect(Partition.occupancies(partition.told) == ["present not empty"])
        let raw = try RawRedis(port: self.redis.port)
        func settle(_ members: [(String, Int64)]) throws -> [Effect] {
            try raw.run("FLUSHALL")
            var effects = try partition.tick(seconds: 1)
            let asserted = members.map {
                Presence(session: "s1", user: Partition.user($0.0), ticket: Ticket($0.1), silentFor: 0)
            }
            effects += try partition.send(.assert(members: asserted))
            effects += try partition.tick(seconds: 12)
            for case .audience(let input) in effects { effects += try partition.send(input.command) }
            return effects
        }
        #expect(Partition.occupancies(try settle([("host", host), ("alice", alice)])).isEmpty)
        #expect(Partition.occupancies(try settle([("alice", alice)])) == ["offline not empty"])
        #expect(Partition.occupancies(try settle([("host", host)])) == ["present not empty"])
        #expect(Partition.occupancies(try settle([])) == ["offline empty"])
    }
}
