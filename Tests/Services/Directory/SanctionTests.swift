// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel
import Testing

@testable import DirectoryCore

/// Bans and mutes.
@Suite struct SanctionTests {
    private func ban(
        _ users: [UserID], _ seconds: Int64 = 600, _ reason: String = "", by caller: Caller
    ) -> DirectoryCommand {
        .ban(live: live, users: users, durationSeconds: seconds, reason: reason, caller: caller)
    }

    private func mute(_ users: [UserID], _ seconds: Int64, by caller: Caller) -> DirectoryCommand {
        .mute(live: live, users: users, durationSeconds: seconds, caller: caller)
    }

    private func doneReply(_ caller: Caller, _ directory: DirectoryHarness) -> Effect {
        .success(
            .done, to: caller, app: app,
            required: RequiredRevision(.rooms, live, revision: directory.liveRow?.revision ?? 0))
    }

    private func muteAnnouncement(_ user: UserID, isMuted: Bool, until: Timestamp?) -> Effect {
        let command = AudienceCommand.announceMute(user: user, isDisable: isMuted, until: until)
        return .audience(AudienceInput(key, command))
    }

    private func page(_ effects: [Effect]) -> SanctionPage? {
        if case .sanctions(let page)? = results(effects).first { page } else { nil }
    }

    /// Rules: R1.19.
    @Test func `I6 a ban is sent to presence with its expiry, listed, and removed when it expires`() {
        var directory = DirectoryHarness.running()
        let caller = user("alice", 2)
        let until = directory.now + .seconds(600)
        #expect(
            directory.send(self.ban(["carl", "bob"], 600, "spam", by: caller)) == [
                .audience(AudienceInput(key, .banned(user: "carl", until: until, caller: caller))),
                .audience(AudienceInput(key, .banned(user: "bob", until: until, caller: caller))),
                self.doneReply(caller, directory),
            ])
        let items = ["bob", "carl"].map { Sanction(user: $0, until: until, reason: "spam", by: "alice") }
        let list = directory.send(.bans(live: live, offset: 0, count: 100, caller: user("alice", 3)))
        #expect(self.page(list) == SanctionPage(items: items, nextOffset: 0, at: directory.now))
        directory.expectInvariants()
        #expect(directory.advance(.seconds(599)) == [])
        #expect(directory.rows[.bans(key)] != nil)
        #expect(directory.advance(.seconds(1)) == [], "presence ends the ban by itself")
        #expect(directory.rows[.bans(key)] == nil)
    }

    @Test func `a permanent ban stays until it is lifted, and lifting it twice is no error`() {
        var directory = DirectoryHarness.running()
        _ = directory.send(self.ban(["bob"], -1, by: user("alice", 2)))
        #expect(directory.advance(.seconds(100_000_000)) == [])
        let caller = user("alice", 3)
        #expect(
            directory.send(.unban(live: live, users: ["bob", "carl"], caller: caller)) == [
                .audience(AudienceInput(key, .unbanned(user: "bob"))), self.doneReply(caller, directory),
            ])
        #expect(
            directory.send(.unban(live: live, users: ["bob"], caller: user("alice", 4)))
                == [self.doneReply(user("alice", 4), directory)])
        #expect(directory.rows[.bans(key)] == nil)
    }

    /// Rules: R4.17, R13.23.
    @Test func `a mute and its end are sent to the fan-out and published to all viewers`() {
        var directory = DirectoryHarness.running()
        let caller = user("alice", 2)
        let until = directory.now + .seconds(30)
        #expect(
            directory.send(self.mute(["bob"], 30, by: caller)) == [
                .barrage(BarrageInput(key, .muted(user: "bob", until: until))),
                self.muteAnnouncement("bob", isMuted: true, until: until), self.doneReply(caller, directory),
            ])
        _ = directory.send(self.mute(["carl"], -1, by: user("alice", 3)))
        // Everybody in the live can list the mutes.
        let list = directory.send(.mutes(live: live, offset: 0, count: 100, caller: user("dora", 1)))
        #expect(self.page(list)?.items.map(\.user) == ["bob", "carl"])
        #expect(self.page(list)?.items.map(\.until) == [until, nil])
        directory.expectInvariants()
        #expect(
            directory.advance(.seconds(30)) == [
                .barrage(BarrageInput(key, .unmuted(user: "bob"))),
                self.muteAnnouncement("bob", isMuted: false, until: nil),
            ])
        let unmute = user("alice", 4)
        #expect(
            directory.send(self.mute(["bob", "carl"], 0, by: unmute)) == [
                .barrage(BarrageInput(key, .unmuted(user: "carl"))),
                self.muteAnnouncement("carl", isMuted: false, until: nil),
                self.doneReply(unmute, directory),
            ], "bob's mute has already ended")
        #expect(directory.rows[.mutes(key)] == nil)
    }

    /// Rules: R4.22, R4.23.
    @Test func `a list of mutes shows the names that presence announced, and the caller's own mute`() {
        var directory = DirectoryHarness.running()
        _ = directory.send(self.mute(["bob", "carl"], 60, by: user("alice", 2)))
        let bob = UserInfo(userID: "bob", userName: "Bob")
        #expect(directory.send(.profile(live: live, user: bob)) == [])
        #expect(directory.send(.profile(live: live, user: UserInfo(userID: "dora", userName: "Dora"))) == [])
        func mutes(_ offset: Int, _ count: Int, _ caller: Caller) -> SanctionPage? {
            self.page(directory.send(.mutes(live: live, offset: offset, count: count, caller: caller)))
        }
        #expect(mutes(0, 100, user("dora", 1))?.items.map(\.userInfo) == [bob, nil])
        #expect(mutes(0, 100, user("dora", 2))?.own == nil)
        #expect(mutes(1, 1, user("bob", 1))?.own?.userInfo == bob, "bob's own mute, although the page has another one")
        // A new mute keeps the name.
        _ = directory.send(self.mute(["bob"], -1, by: user("alice", 3)))
        #expect(mutes(0, 1, user("bob", 2))?.own == Sanction(user: "bob", until: nil, by: "alice", userInfo: bob))
        #expect(mutes(0, 1, server(1))?.own == nil)
        let bans = directory.send(.bans(live: live, offset: 0, count: 1, caller: user("alice", 4)))
        #expect(self.page(bans)?.own == nil)
        directory.expectInvariants()
    }

    /// Rules: R4.19, R13.22.
    @Test func `a list is returned in pages, sorted by user`() {
        var directory = DirectoryHarness.running()
        for group in 0..<12 {
            let users = (0..<20).map { UserID("u\(1000 + group * 20 + $0)") }
            _ = directory.send(self.ban(users.reversed(), by: user("alice", Int64(2 + group))))
        }
        var listed: [UserID] = []
        var offset = 0
        repeat {
            let list = directory.send(.bans(live: live, offset: offset, count: 100, caller: server(1)))
            guard let page = self.page(list) else { return #expect(Bool(false), "no page") }
            listed += page.items.map(\.user)
            offset = page.nextOffset
        } while offset > 0
        #expect(listed == (0..<240).map { UserID("u\(1000 + $0)") })
        let beyondEnd = directory.send(.bans(live: live, offset: 240, count: 1, caller: server(2)))
        #expect(self.page(beyondEnd) == SanctionPage(items: [], nextOffset: 0, at: directory.now))
        directory.expectInvariants()
    }

    /// Rules: R13.21, R17.4.
    @Test func `a call over a limit changes nothing, and the error contains the limit`() {
        var directory = DirectoryHarness.running()
        let before = directory.rows.sortedKeys.filter { if case .liveCalls = $0 { false } else { true } }
        let many = (0..<21).map { UserID("u\($0)") }
        let cases: [(DirectoryCommand, ReplyCode)] = [
            (self.ban(many, by: server(1)), .badParameter), (self.ban([], by: server(2)), .badParameter),
            (self.ban(["bob"], 0, by: server(3)), .badParameter), (self.ban(["bob"], -2, by: server(4)), .badParameter),
            (self.ban(["bob"], 315_360_001, by: server(5)), .badParameter),
            (self.ban(["bob"], 1, String(repeating: "r", count: 201), by: server(6)), .badParameter),
            (self.ban(["bob"], 1, "two\nlines", by: server(13)), .badParameter),
            (self.ban(["bob"], 1, "\u{1}", by: server(14)), .badParameter),
            (self.ban(["bob"], 1, String(repeating: "\"", count: 101), by: server(15)), .badParameter),
            (self.mute(many, 1, by: server(7)), .badParameter), (self.mute(["bob"], -2, by: server(8)), .badParameter),
            (.unban(live: live, users: [], caller: server(9)), .badParameter),
            (.bans(live: live, offset: 0, count: 101, caller: server(10)), .badParameter),
            (.mutes(live: live, offset: -1, count: 1, caller: server(11)), .badParameter),
            (.bans(live: "none", offset: 0, count: 1, caller: server(12)), .noSuchRoom),
        ]
        for (command, code) in cases {
            let effects = directory.send(command)
            #expect(codes(effects) == [code], "\(command)")
            #expect(effects.count == 1)
        }
        #expect(directory.rows.sortedKeys.filter { if case .liveCalls = $0 { false } else { true } } == before)
        #expect(results(directory.send(self.ban(Array(many.dropLast()), 315_360_000, by: server(20)))) == [.done])
    }

    /// Rules: R17.2.
    @Test func `I16 a live has at most a thousand bans, and a further ban is rejected`() {
        var directory = DirectoryHarness.running()
        for group in 0..<50 {
            let users = (0..<20).map { UserID("u\(group * 20 + $0)") }
            #expect(results(directory.send(self.ban(users, -1, by: server(Int64(group))))) == [.done])
        }
        let before = directory.rows[.bans(key)]
        let effects = directory.send(self.ban(["one-more"], by: server(100)))
        #expect(codes(effects) == [.overLimit])
        #expect(effects.count == 1)
        #expect(directory.rows[.bans(key)] == before)
        #expect(results(directory.send(self.ban(["u5"], 60, by: server(101)))) == [.done], "u5 is banned already")
        directory.expectInvariants()
    }

    @Test func `I15 a repeated ban neither extends the ban nor restores a lifted one`() {
        var directory = DirectoryHarness.running()
        let caller = user("alice", 2)
        let first = directory.send(self.ban(["bob"], 60, by: caller))
        _ = directory.send(.unban(live: live, users: ["bob"], caller: user("alice", 3)))
        _ = directory.advance(.seconds(30))
        #expect(directory.send(self.ban(["bob"], 60, by: caller)) == first.suffix(1))
        #expect(directory.rows[.bans(key)] == nil)
    }

    @Test func `bans and mutes end with their live`() {
        var directory = DirectoryHarness.running()
        _ = directory.send(self.ban(["bob"], -1, by: user("alice", 2)))
        _ = directory.send(self.mute(["carl"], 60, by: user("alice", 3)))
        _ = directory.sendWithFollowUps(.end(live: live, caller: user("alice", 4)))
        #expect(directory.rows[.bans(key)] == nil && directory.rows[.mutes(key)] == nil)
        #expect(directory.advance(.seconds(60)) == [])
        directory.expectInvariants()
    }

    /// Rules: R4.12.
    @Test func `a call that bans or mutes the owner, or as an admin another admin, is rejected as a whole`() {
        var directory = DirectoryHarness.running()
        directory.makeAdmin("bob", counter: 2)
        directory.makeAdmin("carl", counter: 3)
        for (index, target) in ["alice", "carl"].enumerated() {
            let users: [UserID] = ["dora", UserID(target)]
            #expect(codes(directory.send(self.ban(users, by: user("bob", Int64(10 + index))))) == [.noPermission])
            #expect(codes(directory.send(self.mute(users, 60, by: user("bob", Int64(20 + index))))) == [.noPermission])
        }
        #expect(codes(directory.send(self.ban(["alice"], by: server(1)))) == [.noPermission])
        #expect(directory.rows[.bans(key)] == nil && directory.rows[.mutes(key)] == nil)
        #expect(results(directory.send(self.mute(["carl"], 60, by: user("alice", 10)))) == [.done])
        #expect(results(directory.send(self.ban(["dora"], by: user("bob", 30)))) == [.done])
        #expect(codes(directory.send(self.ban(["bob"], by: user("dora", 1)))) == [.needsOwnerOrAdmin])
        #expect(
            codes(directory.send(.bans(live: live, offset: 0, count: 1, caller: user("dora", 2))))
                == [.needsOwnerOrAdmin])
        #expect(
            codes(directory.send(.mutes(live: live, offset: 0, count: 1, caller: user("dora", 3, ticket: nil))))
                == [.notInRoom])
        directory.expectInvariants()
    }
}
