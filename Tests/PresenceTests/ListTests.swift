// SPDX-License-Identifier: Apache-2.0
import CoreKit
import PlazaModel
import Presence
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1))) struct ListTests {
    let redis: LiveRedis
    let partition: Partition

    init() throws {
        self.redis = try LiveRedis()
        self.partition = try Partition(redis: self.redis.port)
        try self.partition.run()
    }

    @Test func `pages of the list give every viewer once, in the order of joining, without the owner`() throws {
        for index in 0..<25 { self.partition.write(.join(caller: Partition.caller("u\(index)", 1))) }
        self.partition.write(.join(caller: Partition.caller("host", 1)))
        // A second device changes nobody's place.
        self.partition.write(.join(caller: Partition.caller("u3", 1, session: "s2")))
        try self.partition.run()
        #expect(try self.partition.list(page: 4) == (0..<25).map { "u\($0)" })
        #expect(try self.partition.list(page: 25) == (0..<25).map { "u\($0)" })
        #expect(try self.partition.list(page: 24) == (0..<25).map { "u\($0)" })
    }

    @Test func `a page shows names, avatars and times of joining as they were given`() throws {
        var user = Partition.user("alice")
        user.userName = "Álice 5 の\n"
        user.avatarURL = "https://example.org/a b"
        let caller = Caller(
            user: user, role: .user, request: RequestID(session: "s1", counter: 1), replyTo: "gateway-1")
        try self.partition.send(.join(caller: caller))
        let asking = Partition.caller("alice", 2, ticket: 5)
        let results = Partition.results(try self.partition.send(.list(cursor: "", count: 10, caller: asking)))
        guard case .success(.audience(let page))? = results.first else {
            return #expect(Bool(false), "no page: \(results)")
        }
        #expect(page.members.map(\.user) == [user])
        #expect(page.members.first?.joinedAt.milliseconds ?? 0 > 1_700_000_000_000)
        #expect(page.count == 1)
    }

    @Test func `a full live takes a second device of one who is in, the owner, and nobody else`() throws {
        let link = RedisLeaseLink.eager(port: self.redis.port)
        func join(_ offset: Int64, _ user: String, _ session: String) throws -> LeaseReply {
            let arguments = [
                "1", "e", "\(offset)", "1000", "90000", "a/l", "host", user, session, "0 ", "1", "", "0",
            ]
            return try link.run([ScriptCall(.join, arguments)], key: "{audience.5}")[0]
        }
        _ = try link.connect()
        _ = try link.run([ScriptCall(.begin, ["1", "e", "0", "1000", "1"])], key: "{audience.5}")
        for (offset, who) in [("alice", "s1"), ("alice", "s2"), ("host", "s1"), ("bob", "s1")].enumerated() {
            #expect(try join(Int64(offset), who.0, who.1) == .integer(1))
        }
        let raw = try RawRedis(port: self.redis.port)
        let entries = "\(try raw.run("XRANGE", "{audience.5}:outbox", "-", "+"))"
        #expect(entries.components(of: "joined") == 3)
        #expect(entries.components(of: "full") == 1)
    }

    @Test func `a user's oldest session gives way to the one that is too many`() throws {
        var tickets: [Int64] = []
        for index in 0..<25 {
            tickets.append(
                self.partition.write(.join(caller: Partition.caller("alice", 1, session: SessionID("s\(index)")))))
        }
        let effects = try self.partition.run()
        #expect(Partition.joinedTips(effects) == ["alice"])
        let raw = try RawRedis(port: self.redis.port)
        #expect(try raw.run("ZCARD", "{audience.0}:leases:demo/stage-1") == .integer(20))
        #expect(try raw.run("HGET", "{audience.0}:state", "sessions") == .text("20"))
        for index in 5..<24 {
            self.partition.write(
                .leave(
                    caller: Partition.caller("alice", 2, ticket: tickets[index], session: SessionID("s\(index)"))))
        }
        #expect(Partition.leftTips(try self.partition.run()).isEmpty)
        let last = try self.partition.send(
            .leave(caller: Partition.caller("alice", 2, ticket: tickets[24], session: "s24")))
        #expect(Partition.leftTips(last) == ["alice"])
        #expect(try raw.run("EXISTS", "{audience.0}:members:demo/stage-1") == .integer(0))
    }

    @Test func `an ended live leaves no key behind`() throws {
        for index in 0..<5 { self.partition.write(.join(caller: Partition.caller("u\(index)", 1))) }
        try self.partition.send(.ended(epoch: 7, ending: Partition.ending))
        try self.partition.send(nil)
        let raw = try RawRedis(port: self.redis.port)
        guard case .list(let keys) = try raw.run("KEYS", "*") else { return #expect(Bool(false), "no keys") }
        let names = keys.compactMap { if case .text(let text) = $0 { text } else { nil } }
        #expect(names.sorted() == ["{audience.0}:outbox", "{audience.0}:state"])
        #expect(try raw.run("XLEN", "{audience.0}:outbox") == .integer(0))
        #expect(try raw.run("HGET", "{audience.0}:state", "sessions") == .text("0"))
    }

    @Test func `I6 a kick takes all devices of a user`() throws {
        self.partition.write(.join(caller: Partition.caller("alice", 1)))
        self.partition.write(.join(caller: Partition.caller("alice", 1, session: "s2")))
        try self.partition.run()
        let effects = try self.partition.send(
            .kick(user: "alice", reason: .byAdmin, caller: Partition.caller("host", 1)))
        #expect(Partition.leftTips(effects) == ["alice"])
        #expect(effects.filter { if case .notice = $0 { true } else { false } }.count == 1)
        #expect(try self.partition.list(page: 10).isEmpty)
    }
}

extension String {
    /// How often `part` occurs.
    fileprivate func components(of part: String) -> Int {
        var count = 0
        var rest = self[...]
        while let range = rest.firstRange(of: part) {
            count += 1
            rest = rest[range.upperBound...]
        }
        return count
    }
}
