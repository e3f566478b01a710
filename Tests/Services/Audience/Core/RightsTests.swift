// SPDX-License-Identifier: Apache-2.0
import AudienceCore
import MachineKit
import PlazaModel
import Testing

/// Admins, the limit of viewers, sign-offs, names and announced mutes.
@Suite struct RightsTests {
    /// Rules: R1.5, R4.3.
    @Test func `the list shows the admins that the directory has reported`() {
        var harness = AudienceHarness()
        let caller = AudienceHarness.caller(AudienceHarness.alice, counter: 1, ticket: AudienceHarness.unusedTicket)
        let members = [AudienceHarness.alice, AudienceHarness.bob].map {
            AudienceMember(user: $0, joinedAt: harness.now)
        }
        /// The roles of alice and bob in the list.
        func roles() -> [LiveRole] {
            let result = LeaseResult.page(members: members, next: nil, count: 2)
            for case .reply(let reply) in harness.send(.list(cursor: "", count: 2, caller: caller), redisResult: result)
            {
                if case .success(.audience(let page)) = reply.outcome { return page.members.map(\.role) }
            }
            return []
        }
        #expect(roles() == [.generalUser, .generalUser])
        // `maxMembers` 0 means that the live has no limit of its own.
        #expect(harness.send(.rights(admins: ["bob"], maxMembers: 0)).isEmpty)
        #expect(roles() == [.generalUser, .admin])
        _ = harness.send(.rights(admins: [], maxMembers: 0))
        #expect(roles() == [.generalUser, .generalUser])
    }

    /// Rules: R3.24.
    @Test func `the limit of viewers is the lower of the live's limit and the app's limit`() {
        var harness = AudienceHarness(policies: Policies(["demo": AppPolicy(maxAudience: 9)]))
        /// The limit of viewers in the lease request of a join.
        let requestedLimit = { (harness: inout AudienceHarness) -> Int? in
            guard
                case .join(_, _, _, limit: let limit, _, _)? = harness.plan(
                    .join(caller: AudienceHarness.caller(AudienceHarness.alice, counter: 1))
                ).request
            else { return nil }
            return limit
        }
        #expect(requestedLimit(&harness) == 9)
        _ = harness.send(.rights(admins: [], maxMembers: 3))
        #expect(requestedLimit(&harness) == 3)
        _ = harness.send(.rights(admins: [], maxMembers: 30))
        #expect(requestedLimit(&harness) == 9)
    }

    @Test func `a session that its gateway signs off leaves the live, without a reply`() {
        var harness = AudienceHarness()
        _ = harness.send(
            .join(caller: AudienceHarness.caller(AudienceHarness.alice, counter: 1)),
            redisResult: .changed([.joined(isFirst: true, count: 1)]))
        let ticket = Ticket(harness.offset)
        // The count and the report to the directory were published at the join. Each is published at most once a
        // second, so after 2 s both may be published again.
        harness.now = harness.now + .seconds(2)
        let command = AudienceCommand.signOff(session: "s1", user: "alice", ticket: ticket)
        #expect(
            harness.plan(command).request
                == .leave(live: AudienceHarness.key, owner: "host", user: "alice", session: "s1", ticket: ticket))
        #expect(
            harness.send(command, redisResult: .changed([.left(user: AudienceHarness.alice, isLast: true, count: 0)]))
                == [
                    AudienceHarness.publish(.audienceLeft(user: AudienceHarness.alice)),
                    AudienceHarness.userGone("alice"),
                    harness.countEffect(0, totalViewers: 1),
                    AudienceHarness.occupancyReport(.left, isEmpty: true),
                ])
        // A ban revokes the ticket, so a sign-off with this ticket has no effect any more.
        _ = harness.send(.banned(user: "alice", until: nil, caller: nil))
        #expect(harness.plan(command).request == nil)
    }

    @Test func `a new name is published to seats and viewers once, and rejected while Redis cannot be reached`() {
        var harness = AudienceHarness()
        let renamed = UserInfo(userID: "alice", userName: "Alice B.", avatarURL: "https://example.org/b")
        let caller = AudienceHarness.caller(renamed, counter: 5, ticket: AudienceHarness.unusedTicket)
        #expect(
            harness.plan(.profile(caller: caller)).request
                == .rename(
                    live: AudienceHarness.key, user: renamed, session: "s1",
                    ticket: Ticket(AudienceHarness.unusedTicket)))
        let callerWithoutRedis = AudienceHarness.caller(renamed, counter: 6, ticket: AudienceHarness.unusedTicket)
        #expect(
            AudienceHarness.rejectionCode(
                callerWithoutRedis, harness.sendWithoutRedis(.profile(caller: callerWithoutRedis))) == .unavailable)
        let outsider = AudienceHarness.caller(renamed, counter: 7)
        #expect(AudienceHarness.rejectionCode(outsider, harness.send(.profile(caller: outsider))) == .notInRoom)
        #expect(
            harness.send(.profile(caller: caller), redisResult: .changed([.renamed])) == [
                .seat(SeatInput(AudienceHarness.key, .profile(user: renamed))),
                AudienceHarness.publish(.userChanged(user: renamed)),
                AudienceHarness.reply(caller, .done),
            ])
        #expect(
            harness.send(.profile(caller: caller)) == [AudienceHarness.reply(caller, .done)],
            "expected only the reply, because the call is a repetition")
    }

    /// Rules: R4.22.
    @Test func `a mute is announced with the name that the user has in the live, or else with its id`() {
        var harness = AudienceHarness()
        let until = harness.now + .seconds(60)
        let mute = AudienceCommand.announceMute(user: "alice", isDisable: true, until: until)
        #expect(harness.plan(mute).request == .profile(live: AudienceHarness.key, user: "alice"))
        #expect(
            harness.send(mute, redisResult: .profile(AudienceHarness.alice)) == [
                AudienceHarness.directoryProfile(AudienceHarness.alice),
                AudienceHarness.publish(.messageDisabled(user: AudienceHarness.alice, isDisable: true, until: until)),
            ])
        let endOfMute = AudienceCommand.announceMute(user: "alice", isDisable: false, until: nil)
        let announcementWithoutName = [
            AudienceHarness.publish(.messageDisabled(user: UserInfo(userID: "alice"), isDisable: false, until: nil))
        ]
        #expect(
            harness.send(endOfMute, redisResult: .profile(nil)) == announcementWithoutName,
            "expected the id alone, because the user is not in the live")
        var harnessWithoutRedis = AudienceHarness()
        let effects = harnessWithoutRedis.sendWithoutRedis(endOfMute)
        #expect(
            effects.filter { announcementWithoutName.contains($0) } == announcementWithoutName,
            "expected the id alone, because Redis, which has the name, cannot be reached")
    }

    /// Rules: R2.13.
    @Test func `the owner's new name also reaches the directory and the connections, by a profile change or a join`() {
        var harness = AudienceHarness()
        let renamed = UserInfo(userID: "host", userName: "Host the Great")
        let caller = AudienceHarness.caller(renamed, counter: 5, ticket: AudienceHarness.unusedTicket)
        let effects = harness.send(.profile(caller: caller), redisResult: .changed([.renamed]))
        #expect(
            effects == [
                .seat(SeatInput(AudienceHarness.key, .profile(user: renamed))),
                AudienceHarness.directoryProfile(renamed),
                .connection(ConnectionInput(app: "demo", .profile(live: "stage-1", user: renamed))),
                AudienceHarness.publish(.userChanged(user: renamed)), AudienceHarness.reply(caller, .done),
            ])
        // In a new live the owner joins, with a new name or without a name.
        for (name, isReported) in [("Host again", true), ("", false)] {
            var harness = AudienceHarness()
            let owner = UserInfo(userID: "host", userName: name)
            let effectsOfJoin = harness.send(
                .join(caller: AudienceHarness.caller(owner, counter: 6)),
                redisResult: .changed([.joined(isFirst: true, count: 0)]))
            #expect(
                effectsOfJoin.contains(AudienceHarness.directoryProfile(owner)) == isReported,
                "expected that only a join with a name changes the name in the directory")
        }
    }

    @Test func `a user who joins again under another name is renamed everywhere, without a published join or leave`() {
        var harness = AudienceHarness()
        // alice and the owner resume: they join with the ticket of an earlier join, which must be lower than the offset
        // of the resume. So the offset is raised above the ticket.
        harness.offset = AudienceHarness.unusedTicket + 10
        let renamed = UserInfo(userID: "alice", userName: "Alice B.")
        let caller = AudienceHarness.caller(renamed, counter: 5, ticket: AudienceHarness.unusedTicket)
        let result = LeaseResult.changed([.joined(isFirst: false, count: 0, isRenamed: true)])
        #expect(
            harness.send(.join(caller: caller), redisResult: result) == [
                .seat(SeatInput(AudienceHarness.key, .profile(user: renamed))),
                AudienceHarness.publish(.userChanged(user: renamed)),
                harness.joinReply(to: caller),
            ])
        let owner = AudienceHarness.caller(
            UserInfo(userID: "host", userName: "Host B."), counter: 6, ticket: AudienceHarness.unusedTicket)
        let effects = harness.send(
            .join(caller: owner), redisResult: .changed([.joined(isFirst: false, count: 0, isRenamed: true)]))
        #expect(effects.contains(AudienceHarness.directoryProfile(owner.user)))
        #expect(
            effects.contains(.connection(ConnectionInput(app: "demo", .profile(live: "stage-1", user: owner.user)))))
    }

    @Test func `a new name of a user whose leases have expired is accepted, but not published`() {
        var harness = AudienceHarness()
        let caller = AudienceHarness.caller(
            UserInfo(userID: "alice", userName: "Alice B."), counter: 5, ticket: AudienceHarness.unusedTicket)
        #expect(
            harness.send(.profile(caller: caller), redisResult: .changed([])) == [AudienceHarness.reply(caller, .done)])
    }
}
