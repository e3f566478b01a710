// SPDX-License-Identifier: Apache-2.0
import MachineKit
import MachineTestSupport
import PlazaModel
import Testing

@testable import DirectoryCore

/// Bans and mutes in a live that alice owns, which she created with her call 1.
///
/// Presence is the machine that knows who is in a live; the fan-out is the machine that writes the feed.
@Suite struct SanctionTests {
    /// A ban; -1 seconds stand for a ban without end.
    private func ban(
        _ users: [UserID], seconds: Int64 = 600, reason: String = "", by caller: Caller
    ) -> DirectoryCommand {
        .ban(live: live, users: users, durationSeconds: seconds, reason: reason, caller: caller)
    }

    /// A mute; -1 seconds stand for a mute without end, 0 seconds end the users' mutes.
    private func mute(_ users: [UserID], seconds: Int64, by caller: Caller) -> DirectoryCommand {
        .mute(live: live, users: users, durationSeconds: seconds, caller: caller)
    }

    /// The reply to a call that succeeded: its required revision is the current revision of the live.
    private func doneReply(_ caller: Caller, _ directory: DirectoryHarness) -> Effect {
        .success(
            .done, to: caller, app: app,
            required: RequiredRevision(.rooms, live, revision: directory.liveRow?.revision ?? 0))
    }

    /// The command by which presence publishes a mute or its end to the viewers.
    private func muteAnnouncement(_ user: UserID, isMuted: Bool, until: Timestamp?) -> Effect {
        let command = AudienceCommand.announceMute(user: user, isDisable: isMuted, until: until)
        return .audience(AudienceInput(key, command))
    }

    /// The page in the reply to a list call.
    private func page(_ effects: [Effect]) -> SanctionPage? {
        if case .sanctions(let page)? = results(effects).first { page } else { nil }
    }

    /// Rules: R1.19.
    @Test func `I6 a ban is sent to presence with its expiry, listed, and removed when it expires`() {
        var directory = DirectoryHarness.withLive()
        let caller = user("alice", call: 2)
        let until = directory.now + .seconds(600)
        #expect(
            directory.send(self.ban(["carl", "bob"], seconds: 600, reason: "spam", by: caller)) == [
                .audience(AudienceInput(key, .banned(user: "carl", until: until, caller: caller))),
                .audience(AudienceInput(key, .banned(user: "bob", until: until, caller: caller))),
                self.doneReply(caller, directory),
            ])
        let items = ["bob", "carl"].map { Sanction(user: $0, until: until, reason: "spam", by: "alice") }
        let list = directory.send(.bans(live: live, offset: 0, count: 100, caller: user("alice", call: 3)))
        #expect(self.page(list) == SanctionPage(items: items, nextOffset: 0, at: directory.now))
        directory.expectInvariants()
        #expect(directory.advance(.seconds(599)) == [])
        #expect(directory.rows[.bans(key)] != nil)
        // When the ban expires, the directory sends nothing: presence knows the expiry and ends the ban by itself.
        #expect(directory.advance(.seconds(1)) == [])
        #expect(directory.rows[.bans(key)] == nil)
    }

    @Test func `a ban without end stays until it is lifted, and lifting a ban that does not exist is not an error`() {
        var directory = DirectoryHarness.withLive()
        _ = directory.send(self.ban(["bob"], seconds: -1, by: user("alice", call: 2)))
        #expect(directory.advance(.seconds(100_000_000)) == [])
        let caller = user("alice", call: 3)
        #expect(
            directory.send(.unban(live: live, users: ["bob", "carl"], caller: caller)) == [
                .audience(AudienceInput(key, .unbanned(user: "bob"))), self.doneReply(caller, directory),
            ])
        #expect(
            directory.send(.unban(live: live, users: ["bob"], caller: user("alice", call: 4)))
                == [self.doneReply(user("alice", call: 4), directory)])
        #expect(directory.rows[.bans(key)] == nil)
    }

    /// Rules: R4.17, R13.23.
    @Test func `a mute and its end are sent to the fan-out, and to presence, which publishes them to all viewers`() {
        var directory = DirectoryHarness.withLive()
        let caller = user("alice", call: 2)
        let until = directory.now + .seconds(30)
        #expect(
            directory.send(self.mute(["bob"], seconds: 30, by: caller)) == [
                .barrage(BarrageInput(key, .muted(user: "bob", until: until))),
                self.muteAnnouncement("bob", isMuted: true, until: until), self.doneReply(caller, directory),
            ])
        _ = directory.send(self.mute(["carl"], seconds: -1, by: user("alice", call: 3)))
        // Everybody in the live can list the mutes.
        let list = directory.send(.mutes(live: live, offset: 0, count: 100, caller: user("dora", call: 1)))
        #expect(self.page(list)?.items.map(\.user) == ["bob", "carl"])
        #expect(self.page(list)?.items.map(\.until) == [until, nil])
        directory.expectInvariants()
        #expect(
            directory.advance(.seconds(30)) == [
                .barrage(BarrageInput(key, .unmuted(user: "bob"))),
                self.muteAnnouncement("bob", isMuted: false, until: nil),
            ])
        let unmuter = user("alice", call: 4)
        // alice ends both mutes; bob's has already ended.
        #expect(
            directory.send(self.mute(["bob", "carl"], seconds: 0, by: unmuter)) == [
                .barrage(BarrageInput(key, .unmuted(user: "carl"))),
                self.muteAnnouncement("carl", isMuted: false, until: nil),
                self.doneReply(unmuter, directory),
            ])
        #expect(directory.rows[.mutes(key)] == nil)
    }

    /// Rules: R4.22, R4.23.
    @Test func `a list of mutes shows the profiles that presence has reported, and the caller's own mute`() {
        var directory = DirectoryHarness.withLive()
        _ = directory.send(self.mute(["bob", "carl"], seconds: 60, by: user("alice", call: 2)))
        // Presence reports the profiles of bob and dora. bob and carl are muted, dora is not.
        let bob = UserInfo(userID: "bob", userName: "Bob")
        #expect(directory.send(.profile(live: live, user: bob)) == [])
        #expect(directory.send(.profile(live: live, user: UserInfo(userID: "dora", userName: "Dora"))) == [])
        /// A page of the list of mutes.
        func mutes(offset: Int, count: Int, for caller: Caller) -> SanctionPage? {
            self.page(directory.send(.mutes(live: live, offset: offset, count: count, caller: caller)))
        }
        #expect(
            mutes(offset: 0, count: 100, for: user("dora", call: 1))?.items.map(\.userInfo) == [bob, nil],
            "expected no profile of carl, because presence has not reported it")
        #expect(mutes(offset: 0, count: 100, for: user("dora", call: 2))?.own == nil)
        #expect(
            mutes(offset: 1, count: 1, for: user("bob", call: 1))?.own?.userInfo == bob,
            "expected bob's own mute, although the page has only carl's")
        // bob is muted again, without an end; his profile stays.
        _ = directory.send(self.mute(["bob"], seconds: -1, by: user("alice", call: 3)))
        #expect(
            mutes(offset: 0, count: 1, for: user("bob", call: 2))?.own
                == Sanction(user: "bob", until: nil, by: "alice", userInfo: bob))
        // The app's server is never muted, and a list of bans does not show the caller's own ban.
        #expect(mutes(offset: 0, count: 1, for: server(call: 1))?.own == nil)
        let bans = directory.send(.bans(live: live, offset: 0, count: 1, caller: user("alice", call: 4)))
        #expect(self.page(bans)?.own == nil)
        directory.expectInvariants()
    }

    /// Rules: R4.19, R13.22.
    @Test func `a list of bans is returned in pages, sorted by user`() {
        var directory = DirectoryHarness.withLive()
        // 12 calls, each with 20 users in reverse order. The ids u1000 to u1239 sort like their numbers.
        for group in 0..<12 {
            let users = (0..<20).map { UserID("u\(1000 + group * 20 + $0)") }
            _ = directory.send(self.ban(users.reversed(), by: user("alice", call: Int64(2 + group))))
        }
        var listed: [UserID] = []
        var offset = 0
        repeat {
            let list = directory.send(.bans(live: live, offset: offset, count: 100, caller: server(call: 1)))
            guard let page = self.page(list) else {
                Issue.record("no page")
                return
            }
            listed += page.items.map(\.user)
            // 0 means that there is no next page.
            offset = page.nextOffset
        } while offset > 0
        #expect(listed == (0..<240).map { UserID("u\(1000 + $0)") })
        let beyondEnd = directory.send(.bans(live: live, offset: 240, count: 1, caller: server(call: 2)))
        #expect(self.page(beyondEnd) == SanctionPage(items: [], nextOffset: 0, at: directory.now))
        directory.expectInvariants()
    }

    /// Rules: R13.21, R17.4.
    @Test func `a call with a parameter out of range, or for an unknown live, is rejected and changes nothing`() {
        var directory = DirectoryHarness.withLive()
        // The keys of all rows but the idempotency windows: a window stores the outcome of each rejected call.
        func keysWithoutWindows() -> [DirectoryKey] {
            directory.rows.sortedKeys.filter { if case .liveCalls = $0 { false } else { true } }
        }
        let keysBefore = keysWithoutWindows()
        let twentyOneUsers = (0..<21).map { UserID("u\($0)") }
        // A call names 1 to 20 users, a page has at most 100 entries. A ban lasts 1 s to ten years (315,360,000 s) or
        // has no end (-1); a mute may also have 0 s. A reason has no control characters, and at most 200 bytes as JSON,
        // where each quotation mark has two.
        let cases: [(command: DirectoryCommand, code: ReplyCode)] = [
            (self.ban(twentyOneUsers, by: server(call: 1)), .badParameter),
            (self.ban([], by: server(call: 2)), .badParameter),
            (self.ban(["bob"], seconds: 0, by: server(call: 3)), .badParameter),
            (self.ban(["bob"], seconds: -2, by: server(call: 4)), .badParameter),
            (self.ban(["bob"], seconds: 315_360_001, by: server(call: 5)), .badParameter),
            (
                self.ban(["bob"], seconds: 1, reason: String(repeating: "r", count: 201), by: server(call: 6)),
                .badParameter
            ),
            (
                self.ban(["bob"], seconds: 1, reason: String(repeating: "\"", count: 101), by: server(call: 7)),
                .badParameter
            ),
            (self.ban(["bob"], seconds: 1, reason: "two\nlines", by: server(call: 8)), .badParameter),
            (self.ban(["bob"], seconds: 1, reason: "\u{1}", by: server(call: 9)), .badParameter),
            (self.mute(twentyOneUsers, seconds: 1, by: server(call: 10)), .badParameter),
            (self.mute(["bob"], seconds: -2, by: server(call: 11)), .badParameter),
            (.unban(live: live, users: [], caller: server(call: 12)), .badParameter),
            (.bans(live: live, offset: 0, count: 101, caller: server(call: 13)), .badParameter),
            (.mutes(live: live, offset: -1, count: 1, caller: server(call: 14)), .badParameter),
            (.bans(live: "none", offset: 0, count: 1, caller: server(call: 15)), .noSuchRoom),
        ]
        for (command, code) in cases {
            let effects = directory.send(command)
            #expect(codes(effects) == [code], "\(command)")
            #expect(effects.count == 1, "expected the rejection alone")
        }
        #expect(keysWithoutWindows() == keysBefore)
        // A ban of twenty users for ten years is exactly at both limits.
        #expect(
            results(directory.send(self.ban(twentyOneUsers.dropLast(), seconds: 315_360_000, by: server(call: 20))))
                == [.done])
    }

    /// Rules: R17.2.
    @Test func `I16 a live has at most a thousand bans, and a further ban is rejected`() {
        var directory = DirectoryHarness.withLive()
        // 50 calls with 20 users each reach the limit: 50 * 20 = 1,000.
        for group in 0..<50 {
            let users = (0..<20).map { UserID("u\(group * 20 + $0)") }
            #expect(results(directory.send(self.ban(users, seconds: -1, by: server(call: Int64(group))))) == [.done])
        }
        let before = directory.rows[.bans(key)]
        let effects = directory.send(self.ban(["one-more"], by: server(call: 100)))
        #expect(codes(effects) == [.overLimit])
        #expect(effects.count == 1, "expected the rejection alone")
        #expect(directory.rows[.bans(key)] == before)
        #expect(
            results(directory.send(self.ban(["u5"], seconds: 60, by: server(call: 101)))) == [.done],
            "expected success, because u5 is banned already and no ban is added")
        directory.expectInvariants()
    }

    @Test func `I15 a repeated ban neither extends the ban nor restores a lifted one`() {
        var directory = DirectoryHarness.withLive()
        let caller = user("alice", call: 2)
        let first = directory.send(self.ban(["bob"], seconds: 60, by: caller))
        _ = directory.send(.unban(live: live, users: ["bob"], caller: user("alice", call: 3)))
        _ = directory.advance(.seconds(30))
        // The last effect of the first call is its reply.
        #expect(directory.send(self.ban(["bob"], seconds: 60, by: caller)) == first.suffix(1))
        #expect(directory.rows[.bans(key)] == nil)
    }

    @Test func `bans and mutes end with their live`() {
        var directory = DirectoryHarness.withLive()
        _ = directory.send(self.ban(["bob"], seconds: -1, by: user("alice", call: 2)))
        _ = directory.send(self.mute(["carl"], seconds: 60, by: user("alice", call: 3)))
        _ = directory.sendWithFollowUps(.end(live: live, caller: user("alice", call: 4)))
        #expect(directory.rows[.bans(key)] == nil && directory.rows[.mutes(key)] == nil)
        #expect(directory.advance(.seconds(60)) == [])
        directory.expectInvariants()
    }

    /// Nobody may ban or mute the owner, and an admin may not ban or mute another admin.
    ///
    /// Rules: R4.12.
    @Test func `a ban or mute of a protected user is rejected for all users that the call names`() {
        var directory = DirectoryHarness.withLive()
        // bob and carl are admins, dora is a viewer.
        directory.makeAdmin("bob", call: 2)
        directory.makeAdmin("carl", call: 3)
        // Each call of bob names dora, whom he may ban and mute, and a user whom he may neither ban nor mute.
        let protectedUsers: [UserID] = ["alice", "carl"]
        for (index, protectedUser) in protectedUsers.enumerated() {
            let users: [UserID] = ["dora", protectedUser]
            #expect(codes(directory.send(self.ban(users, by: user("bob", call: Int64(10 + index))))) == [.noPermission])
            #expect(
                codes(directory.send(self.mute(users, seconds: 60, by: user("bob", call: Int64(20 + index))))) == [
                    .noPermission
                ])
        }
        #expect(codes(directory.send(self.ban(["alice"], by: server(call: 1)))) == [.noPermission])
        #expect(directory.rows[.bans(key)] == nil && directory.rows[.mutes(key)] == nil)
        // The owner may mute an admin, and an admin may ban a viewer.
        #expect(results(directory.send(self.mute(["carl"], seconds: 60, by: user("alice", call: 10)))) == [.done])
        #expect(results(directory.send(self.ban(["dora"], by: user("bob", call: 30)))) == [.done])
        directory.expectInvariants()
    }

    @Test func `a viewer can neither ban nor list bans, and a user outside the live cannot list mutes`() {
        var directory = DirectoryHarness.withLive()
        directory.makeAdmin("bob", call: 2)
        // dora is a viewer. Her last call has no ticket, so she makes it from outside the live.
        #expect(codes(directory.send(self.ban(["bob"], by: user("dora", call: 1)))) == [.needsOwnerOrAdmin])
        #expect(
            codes(directory.send(.bans(live: live, offset: 0, count: 1, caller: user("dora", call: 2))))
                == [.needsOwnerOrAdmin])
        #expect(
            codes(directory.send(.mutes(live: live, offset: 0, count: 1, caller: user("dora", call: 3, ticket: nil))))
                == [.notInRoom])
        directory.expectInvariants()
    }
}
