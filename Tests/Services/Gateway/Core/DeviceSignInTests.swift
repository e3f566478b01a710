// SPDX-License-Identifier: Apache-2.0
import GatewayCore
import MachineKit
import PlazaModel
import Testing

@Suite struct SignInTests {
    private struct Connection {
        let session: SessionID
        var signIn: DeviceSignIn
        var ends: [DisconnectCode] = []
        let told: NoticeContent

        init(_ session: SessionID, _ number: UInt64, isOnly: Bool) {
            self.session = session
            self.signIn = DeviceSignIn(connection: number, isOnly: isOnly)
            self.told = self.signIn.makeNotice(for: session, at: 0)
        }

        mutating func hear(_ content: NoticeContent) {
            if let code = self.signIn.noticeReceived(content, ownSession: self.session) { self.ends.append(code) }
        }
    }

    private static let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]]

    private func notice(_ content: NoticeContent) -> Notice {
        Notice(to: UserKey("demo", "bob"), live: "", at: 0, content: content)
    }

    private func signedIn(_ session: SessionID, isOnly: Bool = true) -> NoticeContent {
        .signedInElsewhere(session: session, connection: "x", attempt: 1, isOnly: isOnly)
    }

    @Test(arguments: Self.orders, [["a", "b", "c"], ["a", "a", "a"], ["a", "a", "b"]] as [[SessionID]])
    func `with one device allowed only the last sign-in stays, in any order of the notices`(
        order: [Int], sessions: [SessionID]
    ) {
        var all = sessions.enumerated().map { Connection($1, UInt64($0), isOnly: true) }
        for sender in order { for index in all.indices { all[index].hear(all[sender].told) } }
        #expect(all.indices.filter { all[$0].ends.isEmpty } == [order[2]])
        for connection in all {
            guard let code = connection.ends.first else { continue }
            let next = order[order.firstIndex { all[$0].told == connection.told }! + 1]
            #expect(code == (all[next].session == connection.session ? .replaced : .kickedOffline))
        }
    }

    @Test(arguments: Self.orders)
    func `with several devices allowed only the last connection of each session stays`(
        order: [Int]
    ) {
        var all = [0, 1, 2].map { Connection("phone", $0, isOnly: false) } + [Connection("tablet", 3, isOnly: false)]
        for sender in order + [3] { for index in all.indices { all[index].hear(all[sender].told) } }
        #expect(all.indices.filter { all[$0].ends.isEmpty } == [order[2], 3])
        #expect(all.flatMap(\.ends).allSatisfy { $0 == .replaced })
    }

    @Test func `a connection with a fresh session name is closed by the first other sign-in to that session`() {
        var fresh = DeviceSignIn(connection: 1, isOnly: false)
        #expect(fresh.noticeReceived(self.signedIn("other", isOnly: true), ownSession: "a") == nil)
        #expect(fresh.noticeReceived(.battleNotStarted(battle: "b"), ownSession: "a") == nil)
        #expect(fresh.noticeReceived(self.signedIn("a", isOnly: false), ownSession: "a") == .replaced)
        #expect(
            !fresh.mustRepeatNotice(lastReceived: MonotonicTime(milliseconds: 0) + DeviceSignIn.timeout),
            "nobody need hear of it"
        )
    }

    @Test func `an unconfirmed sign-in is written again if its client is active, and counts from that position`() {
        let start = MonotonicTime(milliseconds: 1000)
        let later = start + DeviceSignIn.timeout
        var old = DeviceSignIn(connection: 1, isOnly: false)
        let first = old.makeNotice(for: "a", at: start)
        #expect(!old.mustRepeatNotice(lastReceived: later - Milliseconds(1)), "it may have gone on elsewhere")
        #expect(old.mustRepeatNotice(lastReceived: later))
        let second = old.makeNotice(for: "a", at: later)
        #expect(second != first)
        #expect(!old.mustRepeatNotice(lastReceived: later))
        // The first attempt was appended after all, before another connection's sign-in. The second attempt closes that
        // connection.
        var new = Connection("a", 2, isOnly: false)
        for content in [first, new.told, second] {
            #expect(old.noticeReceived(content, ownSession: "a") == nil)
            new.hear(content)
        }
        #expect(new.ends == [.replaced])
        #expect(!old.mustRepeatNotice(lastReceived: later + DeviceSignIn.timeout + DeviceSignIn.timeout))
        #expect(old.noticeReceived(first, ownSession: "a") == nil, "its own never ends it")
        #expect(old.noticeReceived(self.signedIn("a"), ownSession: "a") == .replaced)
    }

    @Test func `a session was ended if the last sign-in that it missed belongs to another session`() {
        let other = self.notice(self.signedIn("b"))
        let own = self.notice(self.signedIn("a"))
        let kick = self.notice(.kickedOut(reason: .byAdmin, by: "anna"))
        #expect(!DeviceSignIn.wasEnded([], ownSession: "a"))
        #expect(!DeviceSignIn.wasEnded([kick], ownSession: "a"))
        #expect(DeviceSignIn.wasEnded([own, other, kick], ownSession: "a"))
        #expect(!DeviceSignIn.wasEnded([other, own], ownSession: "a"))
        #expect(!DeviceSignIn.wasEnded([own, self.notice(self.signedIn("b", isOnly: false))], ownSession: "a"))
    }
}
