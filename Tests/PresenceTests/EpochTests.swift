// SPDX-License-Identifier: Apache-2.0
import CoreKit
import Foundation
import PlazaModel
import Presence
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1))) struct EpochTests {
    let redis: LiveRedis
    let partition: Partition

    init() throws {
        self.redis = try LiveRedis()
        self.partition = try Partition(redis: self.redis.port)
        try self.partition.run()
    }

    @Test func `the first owner begins an epoch, its successors go on with it`() throws {
        #expect(Partition.epochs(self.partition.told).count == 1)
        try self.partition.replaceOwner()
        #expect(Partition.epochs(try self.partition.run()).isEmpty)
    }

    @Test func `I5 after FLUSHALL viewers are asserted, and list and count are the truth within 15 s`() throws {
        let tickets = try self.joinThree()
        try RawRedis(port: self.redis.port).run("FLUSHALL")
        let began = try self.partition.tick(seconds: 1)
        #expect(Partition.epochs(began).count == 1)
        #expect(Partition.counts(began).map(\.stale) == [true])
        #expect(Partition.counts(began).map(\.count) == [3])
        try self.settles(tickets)
    }

    @Test func `I5 after a restart without its data the same holds`() throws {
        let tickets = try self.joinThree()
        self.redis.kill()
        #expect(Partition.counts(try self.partition.tick(seconds: 3)).map(\.stale) == [true])
        try self.redis.restart()
        #expect(Partition.epochs(try self.partition.tick(seconds: 1)).count == 1)
        try self.settles(tickets)
    }

    @Test func `I5 a restart with its data begins a new epoch too, for nobody knows how old it is`() throws {
        let data = FileManager.default.temporaryDirectory.appending(path: "presence-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: data, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: data) }
        let redis = try LiveRedis(
            arguments: ["--dir", data.path, "--appendonly", "yes", "--appendfsync", "always"])
        let partition = try Partition(redis: redis.port)
        try partition.send(.join(caller: Partition.caller("alice", 1)))
        redis.kill()
        try partition.tick(seconds: 2)
        try redis.restart()
        let effects = try partition.tick(seconds: 1)
        #expect(Partition.epochs(effects).count == 1)
        #expect(Partition.leftTips(partition.told).isEmpty)
    }

    @Test func `I5 what was decided while Redis was away makes a new epoch, silence alone does not`() throws {
        let link = CutLink(RedisLeaseLink.eager(port: self.redis.port))
        try self.partition.replaceOwner(link: link)
        let tickets = try self.joinThree()
        link.isCut = true
        let away = try self.partition.tick(seconds: 120)
        #expect(Partition.counts(away).map(\.stale) == [true])
        link.isCut = false
        let back = try self.partition.tick(seconds: 1)
        #expect(Partition.epochs(back).isEmpty)
        #expect(Partition.counts(back).map(\.stale) == [false])
        // The two minutes of nobody's knowing are added to all leases.
        #expect(Partition.leftTips(try self.partition.tick(seconds: 30)).isEmpty)

        link.isCut = true
        let joined = try self.partition.send(.join(caller: Partition.caller("dora", 1)))
        guard case .success(.joined(_, _, false))? = Partition.results(joined).first else {
            return #expect(Bool(false), "not unconfirmed: \(joined)")
        }
        #expect(Partition.joinedTips(joined) == ["dora"])
        link.isCut = false
        #expect(Partition.epochs(try self.partition.tick(seconds: 1)).count == 1)
        try self.settles(tickets)
    }

    @Test func `I5 a batch that broke off half-way counts as decided without Redis`() throws {
        let link = CutLink(RedisLeaseLink.eager(port: self.redis.port))
        try self.partition.replaceOwner(link: link)
        let tickets = try self.joinThree()
        link.breaksNext = true
        try self.partition.tick(seconds: 1)
        #expect(Partition.epochs(try self.partition.tick(seconds: 1)).count == 1)
        try self.settles(tickets)
    }

    @Test func `I5 an epoch whose transaction aborts is begun again under another name`() throws {
        try self.joinThree()
        try RawRedis(port: self.redis.port).run("FLUSHALL")
        self.partition.write(nil, after: .seconds(1))
        let first = Partition.epochs(try self.partition.process())
        self.partition.rollback()
        let second = Partition.epochs(try self.partition.process())
        self.partition.commit()
        #expect(first.count == 1)
        #expect(second.count == 1)
        #expect(first != second)
        #expect(Partition.epochs(try self.partition.tick(seconds: 1)).isEmpty)
    }

    @Test func `a cluster that begins anew beside an old Redis starts from nothing`() throws {
        try self.joinThree()
        try self.partition.tick(seconds: 200)
        let fresh = try Partition(redis: self.redis.port)
        try fresh.run()
        #expect(Partition.joinedTips(try fresh.send(.join(caller: Partition.caller("alice", 1)))) == ["alice"])
        #expect(try fresh.list(page: 10) == ["alice"])
    }

    @Test func `I5 who is not asserted is gone when the epoch has settled`() throws {
        let tickets = try self.joinThree()
        try RawRedis(port: self.redis.port).run("FLUSHALL")
        try self.partition.tick(seconds: 1)
        try self.partition.send(.assert(members: [self.member("alice", tickets)]))
        let settled = try self.partition.tick(seconds: 12)
        #expect(Partition.counts(settled).map(\.count) == [1])
        #expect(Partition.gone(try self.partition.send(.confirm(user: "bob"))) == ["bob"])
        #expect(Partition.gone(try self.partition.send(.confirm(user: "alice"))).isEmpty)
    }

    // MARK: Steps

    @discardableResult
    private func joinThree() throws -> [String: Int64] {
        var tickets: [String: Int64] = [:]
        for name in ["alice", "bob", "carol"] {
            tickets[name] = self.partition.write(.join(caller: Partition.caller(name, 1)))
        }
        try self.partition.run()
        try self.partition.tick(seconds: 2)
        return tickets
    }

    private func member(_ name: String, _ tickets: [String: Int64]) -> Presence {
        Presence(session: "s1", user: Partition.user(name), ticket: Ticket(tickets[name] ?? 0), silentFor: 100)
    }

    /// The gateway of three viewers tells them again; all is the truth then, and nobody was told as left.
    private func settles(_ tickets: [String: Int64]) throws {
        let names = tickets.keys.sorted()
        try self.partition.send(.heartbeats(beats: [Partition.beat("bob", tickets["bob"] ?? 0)]))
        let asserted = try self.partition.send(.assert(members: names.map { self.member($0, tickets) }))
        #expect(asserted.isEmpty)
        #expect(try self.partition.list(page: 2).sorted() == names)
        let settled = try self.partition.tick(seconds: 12)
        #expect(Partition.counts(settled).map(\.count) == [names.count])
        #expect(Partition.counts(settled).map(\.stale) == [false])
        #expect(settled.contains(.seat(SeatInput(Partition.key, .confirmOccupants))))
        #expect(Partition.leftTips(self.partition.told).isEmpty)
        #expect(Partition.gone(self.partition.told).isEmpty)
        let tips = Partition.joinedTips(self.partition.told)
        #expect(tips.count == Set(tips).count)
    }
}

/// A link that a test cuts, or breaks after the next pipeline was carried out.
final class CutLink: LeaseLink {
    var isCut = false
    var breaksNext = false
    private let link: any LeaseLink

    init(_ link: any LeaseLink) { self.link = link }

    func connect() throws(LeaseLinkError) -> LeaseLinkIdentity {
        if self.isCut { throw .unreachable("cut") }
        return try self.link.connect()
    }

    func run(_ calls: [ScriptCall], key: String) throws(LeaseLinkError) -> [LeaseReply] {
        if self.isCut { throw .unreachable("cut") }
        let replies = try self.link.run(calls, key: key)
        if self.breaksNext {
            self.breaksNext = false
            throw .broken("cut after sending")
        }
        return replies
    }
}
