// SPDX-License-Identifier: Apache-2.0
import CoreKit
import GatewayCore
import PlazaModel
import Testing

@Suite struct SignInTests {
    private struct Connection {
        let session: SessionID
        var signIn: SignIn
        var ends: [DisconnectCode] = []
        let told: NoticeContent

        init(_ session: SessionID, _ number: UInt64, isOnly: Bool) {
            self.session = session
            self.signIn = SignIn(connection: number, isOnly: isOnly)
            self.told = self.signIn.write(session, at: 0)
        }

        mutating func hear(_ content: NoticeContent) {
            if let code = self.signIn.heard(content, own: self.session) { self.ends.append(code) }
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
    func `where one device is allowed the sign-in that stands last counts, however gateways hear of it`(
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
    func `where several are allowed the connection of a session that stands last counts, and other sessions stay`(
        order: [Int]
    ) {
        var all = [0, 1, 2].map { Connection("phone", $0, isOnly: false) } + [Connection("tablet", 3, isOnly: false)]
        for sender in order + [3] { for index in all.indices { all[index].hear(all[sender].told) } }
        #expect(all.indices.filter { all[$0].ends.isEmpty } == [order[2], 3])
        #expect(all.flatMap(\.ends).allSatisfy { $0 == .replaced })
    }

    @Test func `a connection whose session was named just now ends by the first sign-in that names it`() {
        var fresh = SignIn(connection: 1, isOnly: false)
        #expect(fresh.heard(self.signedIn("other", isOnly: true), own: "a") == nil)
        #expect(fresh.heard(.battleNotStarted(battle: "b"), own: "a") == nil)
        #expect(fresh.heard(self.signedIn("a", isOnly: false), own: "a") == .replaced)
        #expect(!fresh.isDueAgain(lastSign: Timestamp(milliseconds: 0) + SignIn.patience), "nobody need hear of it")
    }

    @Test func `a sign-in that does not come back is written again if its client is heard, and counts from there`() {
        let start = Timestamp(milliseconds: 1000)
        let later = start + SignIn.patience
        var old = SignIn(connection: 1, isOnly: false)
        let first = old.write("a", at: start)
        #expect(!old.isDueAgain(lastSign: later - Milliseconds(1)), "it may have gone on elsewhere")
        #expect(old.isDueAgain(lastSign: later))
        let second = old.write("a", at: later)
        #expect(second != first)
        #expect(!old.isDueAgain(lastSign: later))
        // The first one did come to its place, before another connection's: that one ends by the second.
        var new = Connection("a", 2, isOnly: false)
        for content in [first, new.told, second] {
            #expect(old.heard(content, own: "a") == nil)
            new.hear(content)
        }
        #expect(new.ends == [.replaced])
        #expect(!old.isDueAgain(lastSign: later + SignIn.patience + SignIn.patience))
        #expect(old.heard(first, own: "a") == nil, "its own never ends it")
        #expect(old.heard(self.signedIn("a"), own: "a") == .replaced)
    }

    @Test func `a session that comes back was ended if the last sign-in that it missed is another's`() {
        let other = self.notice(self.signedIn("b"))
        let own = self.notice(self.signedIn("a"))
        let kick = self.notice(.kickedOut(reason: .byAdmin, by: "anna"))
        #expect(!SignIn.wasEnded([], own: "a"))
        #expect(!SignIn.wasEnded([kick], own: "a"))
        #expect(SignIn.wasEnded([own, other, kick], own: "a"))
        #expect(!SignIn.wasEnded([other, own], own: "a"))
        #expect(!SignIn.wasEnded([own, self.notice(self.signedIn("b", isOnly: false))], own: "a"))
    }
}
