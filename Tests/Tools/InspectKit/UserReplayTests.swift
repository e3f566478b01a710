// SPDX-License-Identifier: Apache-2.0
import InspectKit
import MachineKit
import PlazaModel
import PlazaWire
import Testing

/// Tests of the lines that `plaza inspect` shows for a user: the user's calls with their answers, and notices.
@Suite struct UserReplayTests {
    private typealias Fixture = InspectFixture
    private static let alice = UserKey("demo", "alice")

    /// Alice's lines in the fixture's window; only those about `live`, unless it is nil.
    private static func lines(_ fixture: Fixture, live: LiveID? = nil) -> [UserReplay.Line] {
        UserReplay.run(Self.alice, live: live, window: Fixture.at(0)...Fixture.now, entries: fixture.entries)
    }

    /// Those of Alice's lines that are calls.
    private static func calls(_ fixture: Fixture, live: LiveID? = nil) -> [UserCall] {
        Self.lines(fixture, live: live).compactMap { if case .call(let call) = $0 { call } else { nil } }
    }

    @Test func `two records of one request are shown as one call with one answer`() throws {
        // Creating a live takes two commands to the directory, `create` and `open`, of the same request.
        var fixture = Fixture()
        let caller = Fixture.caller("alice", 3, ticket: nil)
        let owner = UserInfo(userID: "alice")
        fixture.add(
            .directory(
                DirectoryInput(
                    app: "demo", .create(live: "concert", changes: LiveChanges(), owner: owner, caller: caller))),
            at: Fixture.at(1))
        fixture.add(
            .directory(
                DirectoryInput(
                    app: "demo", .open(live: "concert", changes: LiveChanges(), owner: owner, caller: caller))),
            at: Fixture.at(2))
        fixture.addReply(
            to: caller, .failure(error: ReplyError(.roomExists, "the id is taken")), at: Fixture.at(3))
        let calls = Self.calls(fixture)
        try #require(calls.count == 1)
        #expect(calls[0].steps.map(\.kind) == ["create", "open"] && calls[0].sentCount == 1)
        #expect(calls[0].answer.verdict == .rejected && calls[0].delay == .seconds(2))
        #expect(calls[0].text.contains("rejected: 100003 roomExists, the id is taken after 2000 ms"))
        #expect(calls[0].text.contains("[directory.inbox 0:101, directory.inbox 0:102]"))
        #expect(calls[0].json.members["records"] == ["directory.inbox 0:101", "directory.inbox 0:102"])
    }

    @Test func `a call that was sent twice is shown once, with the number of copies`() {
        var fixture = Fixture()
        let caller = Fixture.caller("alice", 3)
        for second in 1...2 {
            fixture.addCall(.sendText(text: "hello", extensionInfo: nil, caller: caller), at: Fixture.at(Int64(second)))
        }
        fixture.addReply(
            to: caller, .success(result: .sent(position: FeedPosition(epoch: 77, number: 12))), at: Fixture.at(3))
        let calls = Self.calls(fixture)
        #expect(calls.map(\.sentCount) == [2])
        #expect(calls.map(\.answer.position?.number) == [12])
        #expect(calls.first?.text.contains("(sent 2 times)") == true)
    }

    @Test func `the user's notices are shown with the user's calls, and notices to other users are not`() {
        var fixture = Fixture()
        fixture.addCall(.summary(caller: Fixture.caller("alice", 1)), at: Fixture.at(1))
        /// The effect that sends a notice to `user`, and its time.
        func notice(_ user: UserID, _ content: NoticeContent, _ second: Int64) -> (Effect, Timestamp) {
            let notice = Notice(
                to: UserKey("demo", user), live: "concert", at: Fixture.at(second), content: content)
            return (.notice(notice), Fixture.at(second))
        }
        for (effect, time) in [
            notice("alice", .kickedOut(reason: .byAdmin, by: "bob"), 2),
            notice("bob", .kickedOut(reason: .byAdmin, by: "bob"), 3),
            notice("alice", .signedInElsewhere(session: "s", connection: "c", attempt: 1, isOnly: false), 4),
        ] { fixture.add(effect, at: time) }
        let lines = Self.lines(fixture)
        // The call, and the notice that Alice was kicked out. The sign-in notice is for gateways.
        #expect(lines.count == 2)
        #expect(lines.last?.text.hasSuffix("notice  concert  kickedOut  by=\"bob\" reason=\"byAdmin\"") == true)
        #expect(lines.last?.json.members["type"] == "notice")
        #expect(Self.lines(fixture, live: "duet") == [])
    }

    @Test func `calls of another user, and of the user with the same id in another app, are not shown`() {
        var fixture = Fixture()
        fixture.addCall(.summary(caller: Fixture.caller("bob", 1)), at: Fixture.at(1))
        fixture.add(
            .barrage(BarrageInput(LiveKey("shop", "concert"), .summary(caller: Fixture.caller("alice", 1)))),
            at: Fixture.at(1))
        #expect(Self.calls(fixture) == [])
        #expect(UserReplay.sessions(of: Self.alice, in: fixture.entries) == [])
    }

    @Test func `the caller's session is found in the bytes of a reply without decoding the reply`() {
        // The reply's result names another session. The caller's session is `s-alice`.
        let reply = Reply(
            to: Fixture.caller("alice", 1), app: "demo",
            .success(
                result: .loggedIn(session: "other", user: UserInfo(userID: "a"), gateway: "g", notices: "")))
        #expect(ReplySession.find(in: Wire.encode(reply)) == "s-alice")
        #expect(ReplySession.find(in: Array("{}".utf8)) == nil)
        #expect(ReplySession.find(in: Array("\"session\":\"cut".utf8)) == nil)
    }
}
