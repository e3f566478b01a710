// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel
import RedisClient
import TestSupport
import Testing

/// Bans, devices, names and the owner's presence, on a real Redis.
@Suite(.timeLimit(.minutes(2))) struct MembershipScriptTests {
    let redis: RealRedis
    /// The key of the live's leases, whose members are `user/session`.
    private static let leasesKey = "{audience.0}:leases:\(PartitionHarness.key.text)"

    init() throws { self.redis = try RealRedis() }

    /// A new partition of an app with this policy for a user's devices.
    private func partition(devices: DevicePolicy = .several) throws -> PartitionHarness {
        var policy = AppPolicy()
        policy.devices = devices
        let partition = try PartitionHarness(redisPort: self.redis.port, policy: policy)
        try partition.processAndCommit()
        return partition
    }

    /// The codes of the rejected calls.
    private static func rejectionCodes(_ effects: [Effect]) -> [ReplyCode] {
        PartitionHarness.outcomes(effects).compactMap { if case .failure(let error) = $0 { error.code } else { nil } }
    }

    /// Rules: R3.33.
    @Test
    func `where one device is allowed, a second device removes the first one's lease, which no heartbeat restores`()
        throws
    {
        let partition = try self.partition(devices: .one)
        let firstTicket = partition.write(.join(caller: PartitionHarness.caller("alice", counter: 1)))
        try partition.processAndCommit()
        let effects = try partition.send(.join(caller: PartitionHarness.caller("alice", counter: 1, session: "s2")))
        #expect(PartitionHarness.joinedUsers(effects).isEmpty)
        #expect(PartitionHarness.leftUsers(effects).isEmpty)
        #expect(PartitionHarness.notices(effects).count == 1)
        let plainRedis = try PlainRedisClient(port: self.redis.port)
        #expect(try plainRedis.run("ZRANGE", Self.leasesKey, "0", "-1") == .array([.text("alice/s2")]))
        // The scripts keep the number of sessions with a lease in the field `sessions`.
        #expect(try plainRedis.run("HGET", "{audience.0}:state", "sessions") == .text("1"))
        // A late heartbeat and an assertion of the first device restore nothing.
        #expect(
            try partition.send(.heartbeats(beats: [PartitionHarness.heartbeat("alice", ticket: firstTicket)])).isEmpty)
        try partition.send(
            .assert(members: [
                MemberSession(
                    session: "s1", user: PartitionHarness.user("alice"), ticket: Ticket(firstTicket), silentFor: 0)
            ]))
        #expect(try plainRedis.run("ZCARD", Self.leasesKey) == .integer(1))
        // The first device's gateway signs it off: nothing is published, and the second device stays in the live.
        let signOff = AudienceCommand.signOff(session: "s1", user: "alice", ticket: Ticket(firstTicket))
        #expect(try partition.send(signOff).isEmpty)
        #expect(try partition.listUserIDs(pageSize: 10) == ["alice"])
        // The first device may join again; then it replaces the second device.
        let rejoined = try partition.send(.join(caller: PartitionHarness.caller("alice", counter: 2)))
        #expect(PartitionHarness.notices(rejoined).count == 1)
        #expect(PartitionHarness.joinedUsers(rejoined).isEmpty)
        #expect(try plainRedis.run("ZRANGE", Self.leasesKey, "0", "-1") == .array([.text("alice/s1")]))
    }

    @Test func `of three devices that join in one batch only the last one stays, even for the owner`() throws {
        let partition = try self.partition(devices: .one)
        for name in ["alice", "host"] {
            for session in ["s1", "s2", "s3"] {
                partition.write(.join(caller: PartitionHarness.caller(name, counter: 1, session: SessionID(session))))
            }
        }
        let effects = try partition.processAndCommit()
        // For each user, the second device replaces the first, and the third replaces the second.
        #expect(PartitionHarness.notices(effects).count == 4, "expected 2 notices for each of 2 users")
        #expect(PartitionHarness.joinedUsers(effects) == ["alice"], "expected that the owner's join is not published")
        // alice joins before the owner, so the first report says that the owner is away (`left`) and the live is not
        // empty.
        #expect(PartitionHarness.occupancyReports(effects).first == "left not empty")
        let plainRedis = try PlainRedisClient(port: self.redis.port)
        #expect(
            try plainRedis.run("ZRANGE", Self.leasesKey, "0", "-1") == .array([.text("alice/s3"), .text("host/s3")]))
    }

    @Test func `I6 a kick and a later resume of the same user in one batch leave no lease`() throws {
        let partition = try self.partition()
        let ticket = partition.write(.join(caller: PartitionHarness.caller("alice", counter: 1)))
        try partition.processAndCommit()
        partition.write(.kick(user: "alice", reason: .byAdmin, caller: PartitionHarness.caller("host", counter: 1)))
        partition.write(.join(caller: PartitionHarness.caller("alice", counter: 2, ticket: ticket)))
        let effects = try partition.processAndCommit()
        #expect(Self.rejectionCodes(effects) == [.staleTicket])
        #expect(PartitionHarness.joinedUsers(effects).isEmpty)
        let plainRedis = try PlainRedisClient(port: self.redis.port)
        #expect(try plainRedis.run("EXISTS", Self.leasesKey) == .integer(0))
        let rejoinEffects = try partition.send(.join(caller: PartitionHarness.caller("alice", counter: 3)))
        #expect(
            PartitionHarness.joinedUsers(rejoinEffects) == ["alice"],
            "expected that alice can join anew, without a ticket")
    }

    @Test func `I6 a resume with another user's ticket is rejected, and one's own ticket is valid even after expiry`()
        throws
    {
        let partition = try self.partition()
        let aliceTicket = partition.write(.join(caller: PartitionHarness.caller("alice", counter: 1)))
        let bobTicket = partition.write(.join(caller: PartitionHarness.caller("bob", counter: 1)))
        try partition.processAndCommit()
        // carl and bob resume with alice's ticket, then bob with his own.
        partition.write(.join(caller: PartitionHarness.caller("carl", counter: 1, ticket: aliceTicket)))
        partition.write(.join(caller: PartitionHarness.caller("bob", counter: 2, ticket: aliceTicket)))
        partition.write(.join(caller: PartitionHarness.caller("bob", counter: 3, ticket: bobTicket)))
        let effects = try partition.processAndCommit()
        #expect(Self.rejectionCodes(effects) == [.staleTicket, .staleTicket])
        #expect(PartitionHarness.outcomes(effects).count == 3, "expected two rejections and a success")
        #expect(PartitionHarness.joinedUsers(effects).isEmpty)
        // After 100 s all leases have expired.
        try partition.tick(seconds: 100)
        let resumed = try partition.send(
            .join(caller: PartitionHarness.caller("alice", counter: 2, ticket: aliceTicket)))
        #expect(Self.rejectionCodes(resumed).isEmpty)
        #expect(PartitionHarness.joinedUsers(resumed) == ["alice"])
    }

    /// Rules: R4.11.
    @Test func `I6 a banned user is removed with all devices, is not listed or counted, and can join after the ban`()
        throws
    {
        let partition = try self.partition()
        let ticket = partition.write(.join(caller: PartitionHarness.caller("alice", counter: 1)))
        partition.write(.join(caller: PartitionHarness.caller("alice", counter: 1, session: "s2")))
        partition.write(.join(caller: PartitionHarness.caller("bob", counter: 1)))
        try partition.processAndCommit()
        let until = partition.now + .seconds(60)
        let effects = try partition.send(
            .banned(user: "alice", until: until, caller: PartitionHarness.caller("host", counter: 1)))
        #expect(PartitionHarness.leftUsers(effects) == ["alice"])
        #expect(PartitionHarness.usersGone(effects) == ["alice"])
        #expect(PartitionHarness.notices(effects).count == 1)
        #expect(try partition.listUserIDs(pageSize: 10) == ["bob"])
        try partition.send(.heartbeats(beats: [PartitionHarness.heartbeat("alice", ticket: ticket)]))
        #expect(
            Self.rejectionCodes(try partition.send(.join(caller: PartitionHarness.caller("alice", counter: 2)))) == [
                .banned
            ])
        // Redis loses everything. The ban stays, because presence keeps bans in its rows in Kafka, not in Redis.
        try PlainRedisClient(port: self.redis.port).run("FLUSHALL")
        try partition.replaceOwner()
        try partition.tick(seconds: 1)
        try partition.send(
            .assert(members: [
                MemberSession(session: "s1", user: PartitionHarness.user("alice"), ticket: Ticket(ticket), silentFor: 0)
            ]))
        #expect(
            Self.rejectionCodes(try partition.send(.join(caller: PartitionHarness.caller("alice", counter: 3)))) == [
                .banned
            ])
        // The ban ends 60 s after it began. The loss of the data began a new epoch, which settles after 12 s. By then
        // no gateway has asserted bob's session, so bob counts as gone.
        try partition.tick(seconds: 60)
        #expect(try partition.listUserIDs(pageSize: 10).isEmpty)
        let joinEffects = try partition.send(.join(caller: PartitionHarness.caller("alice", counter: 4)))
        #expect(PartitionHarness.joinedUsers(joinEffects) == ["alice"])
    }

    /// Rules: R2.14.
    @Test func `a join with a new name changes the name in list and feed, and a join without a name keeps the old one`()
        throws
    {
        let partition = try self.partition()
        /// Lets alice join under this name.
        func join(as name: String, counter: Int64, session: SessionID) throws -> [Effect] {
            var caller = PartitionHarness.caller("alice", counter: counter, session: session)
            caller.user = UserInfo(userID: "alice", userName: name)
            return try partition.send(.join(caller: caller))
        }
        /// The names in the published changes of users.
        func publishedNames(_ effects: [Effect]) -> [String] {
            effects.compactMap { effect -> String? in
                guard case .barrage(let input) = effect, case .publish(.userChanged(let user)) = input.command else {
                    return nil
                }
                return user.userName
            }
        }
        /// The names in the list of viewers.
        func listedNames(counter: Int64) throws -> [String] {
            // A list needs any ticket above the offset of the live's opening. 100,000 is above it.
            let listCaller = PartitionHarness.caller("alice", counter: counter, ticket: 100_000)
            let effects = try partition.send(.list(cursor: "", count: 10, caller: listCaller))
            let outcomes = PartitionHarness.outcomes(effects)
            guard case .success(.audience(let page))? = outcomes.first else { return ["no page: \(outcomes)"] }
            return page.members.map(\.user.userName)
        }
        #expect(publishedNames(try join(as: "Alice", counter: 1, session: "s1")) == [])
        #expect(
            publishedNames(try join(as: "Alice", counter: 2, session: "s1")) == [], "expected no change of the name")
        let renamed = try join(as: "Alice B.", counter: 3, session: "s1")
        #expect(publishedNames(renamed) == ["Alice B."])
        #expect(
            renamed.contains(
                .seat(SeatInput(PartitionHarness.key, .profile(user: UserInfo(userID: "alice", userName: "Alice B.")))))
        )
        #expect(PartitionHarness.joinedUsers(renamed).isEmpty)
        #expect(
            publishedNames(try join(as: "", counter: 1, session: "s2")) == [],
            "expected that a join without a name keeps the old one")
        #expect(try listedNames(counter: 4) == ["Alice B."])
        #expect(publishedNames(try join(as: "Álice C", counter: 2, session: "s2")) == ["Álice C"])
        #expect(try listedNames(counter: 5) == ["Álice C"])
    }

    @Test func `a mute is announced with the name that the user has in the live, or else with the id alone`() throws {
        let partition = try self.partition()
        try partition.send(.join(caller: PartitionHarness.caller("alice", counter: 1)))
        let effects =
            try partition.send(.announceMute(user: "alice", isDisable: true, until: nil))
            + partition.send(.announceMute(user: "nobody", isDisable: true, until: nil))
        let announcedUsers = effects.compactMap { effect -> UserInfo? in
            guard case .barrage(let input) = effect,
                case .publish(.messageDisabled(let user, true, nil)) = input.command
            else { return nil }
            return user
        }
        #expect(announcedUsers == [PartitionHarness.user("alice"), UserInfo(userID: "nobody")])
    }

    /// Rules: R2.11.
    @Test func `a new name appears in the list at the same position, and is kept after the lease expires`() throws {
        let partition = try self.partition()
        let ticket = partition.write(.join(caller: PartitionHarness.caller("alice", counter: 1)))
        let bobTicket = partition.write(.join(caller: PartitionHarness.caller("bob", counter: 1)))
        try partition.processAndCommit()
        var caller = PartitionHarness.caller("alice", counter: 2, ticket: ticket)
        caller.user = UserInfo(userID: "alice", userName: "Álice 2", avatarURL: "https://example.org/a b")
        let effects = try partition.send(.profile(caller: caller))
        #expect(effects.contains(.seat(SeatInput(PartitionHarness.key, .profile(user: caller.user)))))
        #expect(
            effects.contains(
                .barrage(BarrageInput(PartitionHarness.key, .publish(content: .userChanged(user: caller.user))))))
        let listCaller = PartitionHarness.caller("bob", counter: 2, ticket: bobTicket)
        let outcomes = PartitionHarness.outcomes(try partition.send(.list(cursor: "", count: 10, caller: listCaller)))
        guard case .success(.audience(let page))? = outcomes.first else {
            Issue.record("no page: \(outcomes)")
            return
        }
        #expect(page.members.map(\.user) == [caller.user, PartitionHarness.user("bob")])
        // A lease lasts 90 s, and presence notices at most 2 s later that it has expired: 90 + 2 = 92 s.
        let expiryEffects = try partition.tick(seconds: 92)
        #expect(PartitionHarness.leftUsers(expiryEffects).sorted() == ["alice", "bob"])
        caller.user.userName = "Alice 3"
        caller.request.counter = 3
        let profileEffects = try partition.send(.profile(caller: caller))
        #expect(
            profileEffects.count == 1, "expected the reply alone, because alice's lease has expired")
        let returned = try partition.send(.heartbeats(beats: [PartitionHarness.heartbeat("alice", ticket: ticket)]))
        #expect(
            returned.contains(
                .barrage(
                    BarrageInput(
                        PartitionHarness.key,
                        .publish(content: .audienceJoined(user: caller.user, continuesVisit: true))))))
    }

    /// Rules: R3.63.
    @Test func `I5 the owner's true presence is reported to the directory, before, during and after a loss of Redis`()
        throws
    {
        let partition = try self.partition()
        let hostTicket = partition.write(.join(caller: PartitionHarness.caller("host", counter: 1)))
        let aliceTicket = partition.write(.join(caller: PartitionHarness.caller("alice", counter: 1)))
        try partition.processAndCommit()
        try partition.tick(seconds: 2)
        #expect(PartitionHarness.occupancyReports(partition.published) == ["present not empty"])
        let plainRedis = try PlainRedisClient(port: self.redis.port)
        /// Empties Redis, lets gateways assert `members`, and waits 12 s until the new epoch has settled.
        ///
        /// - Returns: all effects since Redis was emptied.
        func loseLeasesAndSettle(asserting members: [(user: String, ticket: Int64)]) throws -> [Effect] {
            try plainRedis.run("FLUSHALL")
            var effects = try partition.tick(seconds: 1)
            let asserted = members.map {
                MemberSession(
                    session: "s1", user: PartitionHarness.user($0.user), ticket: Ticket($0.ticket), silentFor: 0)
            }
            effects += try partition.send(.assert(members: asserted))
            effects += try partition.tick(seconds: 12)
            // When an epoch has settled, presence sends itself a command to check whether the owner is still present.
            // The harness does not deliver this command, so it is sent here.
            for case .audience(let input) in effects { effects += try partition.send(input.command) }
            return effects
        }
        #expect(
            PartitionHarness.occupancyReports(
                try loseLeasesAndSettle(asserting: [("host", hostTicket), ("alice", aliceTicket)])
            ).isEmpty, "expected no report, because nothing has changed")
        #expect(
            PartitionHarness.occupancyReports(try loseLeasesAndSettle(asserting: [("alice", aliceTicket)])) == [
                "offline not empty"
            ])
        #expect(
            PartitionHarness.occupancyReports(try loseLeasesAndSettle(asserting: [("host", hostTicket)])) == [
                "present not empty"
            ])
        #expect(PartitionHarness.occupancyReports(try loseLeasesAndSettle(asserting: [])) == ["offline empty"])
    }
}
