// SPDX-License-Identifier: Apache-2.0
import GatewayCore
import MachineKit
import PlazaModel
import Testing

/// The connections of a user that a sign-in closes.
///
/// Each sign-in appends a notice to a topic. Each connection reads all notices of its user in the topic's order, also
/// its own. If an app allows one device, a sign-in ends the user's other sessions. Otherwise a sign-in closes only
/// older connections of its own session.
@Suite struct DeviceSignInTests {
    /// A connection with its sign-in, and the codes with which notices have closed the connection.
    ///
    /// A closed connection still reads notices here, so it may have several codes. The first one counts.
    private struct Connection {
        let session: SessionID
        var signIn: DeviceSignIn
        var disconnectCodes: [DisconnectCode] = []
        let notice: NoticeContent

        init(_ session: SessionID, number: UInt64, endsOtherSessions: Bool) {
            self.session = session
            self.signIn = DeviceSignIn(connection: number, endsOtherSessions: endsOtherSessions)
            self.notice = self.signIn.makeNotice(for: session, at: 0)
        }

        mutating func receive(_ content: NoticeContent) {
            if let code = self.signIn.noticeReceived(content, ownSession: self.session) {
                self.disconnectCodes.append(code)
            }
        }
    }

    /// All orders in which the notices of three connections may be appended.
    private static let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]]

    private func notice(_ content: NoticeContent) -> Notice {
        Notice(to: UserKey("demo", "bob"), live: "", at: 0, content: content)
    }

    /// The notice of another connection's sign-in.
    private func signedIn(_ session: SessionID, endsOtherSessions: Bool = true) -> NoticeContent {
        .signedInElsewhere(session: session, connection: "x", attempt: 1, isOnly: endsOtherSessions)
    }

    @Test(
        arguments: Self.orders,
        [["phone", "tablet", "watch"], ["phone", "phone", "phone"], ["phone", "phone", "tablet"]] as [[SessionID]])
    func `with one device allowed only the connection whose notice is last stays open, in any order of the notices`(
        order: [Int], sessions: [SessionID]
    ) {
        var connections = sessions.enumerated().map { Connection($1, number: UInt64($0), endsOtherSessions: true) }
        let last = order[2]
        for sender in order {
            for index in connections.indices { connections[index].receive(connections[sender].notice) }
        }
        #expect(connections.indices.filter { connections[$0].disconnectCodes.isEmpty } == [last])
        for connection in connections {
            guard let code = connection.disconnectCodes.first else { continue }
            // A connection is closed by the notice that comes after its own notice. The code is `replaced` if the two
            // connections have the same session.
            let position = order.firstIndex { connections[$0].notice == connection.notice }!
            let next = connections[order[position + 1]]
            #expect(code == (next.session == connection.session ? .replaced : .kickedOffline))
        }
    }

    @Test(arguments: Self.orders)
    func `with several devices allowed only the last connection of each session stays open`(
        order: [Int]
    ) {
        // Connections 0 to 2 belong to the phone's session, connection 3 to the tablet's session.
        var connections =
            [0, 1, 2].map { Connection("phone", number: $0, endsOtherSessions: false) }
            + [Connection("tablet", number: 3, endsOtherSessions: false)]
        let lastOfPhone = order[2]
        let tablet = 3
        for sender in order + [tablet] {
            for index in connections.indices { connections[index].receive(connections[sender].notice) }
        }
        #expect(connections.indices.filter { connections[$0].disconnectCodes.isEmpty } == [lastOfPhone, tablet])
        #expect(connections.flatMap(\.disconnectCodes).allSatisfy { $0 == .replaced })
    }

    @Test func `a connection with a fresh session name is closed by the first other sign-in to that session`() {
        // The gateway has just made the session's name, so no earlier connection can have this name. Therefore no
        // sign-in notice was written for this connection.
        var fresh = DeviceSignIn(connection: 1, endsOtherSessions: false)
        #expect(fresh.noticeReceived(self.signedIn("other", endsOtherSessions: true), ownSession: "phone") == nil)
        #expect(fresh.noticeReceived(.battleNotStarted(battle: "b-1"), ownSession: "phone") == nil)
        #expect(
            fresh.noticeReceived(self.signedIn("phone", endsOtherSessions: false), ownSession: "phone") == .replaced)
        #expect(
            !fresh.mustRepeatNotice(lastReceived: MonotonicTime(milliseconds: 0) + DeviceSignIn.timeout),
            "a connection that wrote no notice need not repeat one"
        )
    }

    @Test func `a sign-in notice that does not arrive is written again if its client is active, and then counts`() {
        let start = MonotonicTime(milliseconds: 1000)
        // If the notice has not arrived by then, and the client is active, the notice is written again.
        let later = start + DeviceSignIn.timeout
        var old = DeviceSignIn(connection: 1, endsOtherSessions: false)
        let firstNotice = old.makeNotice(for: "phone", at: start)
        #expect(
            !old.mustRepeatNotice(lastReceived: later - Milliseconds(1)),
            "a silent client may have continued on another connection")
        #expect(old.mustRepeatNotice(lastReceived: later))
        let secondNotice = old.makeNotice(for: "phone", at: later)
        #expect(secondNotice != firstNotice)
        #expect(!old.mustRepeatNotice(lastReceived: later), "the time of the second notice begins now")

        // Now both notices of the old connection are in the topic, the first before and the second after the notice of
        // a new connection. So the old connection's second notice closes the new connection.
        var new = Connection("phone", number: 2, endsOtherSessions: false)
        for content in [firstNotice, new.notice, secondNotice] {
            #expect(old.noticeReceived(content, ownSession: "phone") == nil)
            new.receive(content)
        }
        #expect(new.disconnectCodes == [.replaced])
        #expect(
            !old.mustRepeatNotice(lastReceived: later + DeviceSignIn.timeout + DeviceSignIn.timeout),
            "the notice has arrived, so it is not written again")
        #expect(
            old.noticeReceived(firstNotice, ownSession: "phone") == nil, "a connection's own notice never closes it")
        #expect(old.noticeReceived(self.signedIn("phone"), ownSession: "phone") == .replaced)
    }

    @Test func `a session was ended if the last sign-in that it missed is of another session and ends all others`() {
        let otherSignIn = self.notice(self.signedIn("tablet"))
        let ownSignIn = self.notice(self.signedIn("phone"))
        let kick = self.notice(.kickedOut(reason: .byAdmin, by: "anna"))
        #expect(!DeviceSignIn.wasSessionEnded(by: [], ownSession: "phone"))
        #expect(!DeviceSignIn.wasSessionEnded(by: [kick], ownSession: "phone"))
        #expect(DeviceSignIn.wasSessionEnded(by: [ownSignIn, otherSignIn, kick], ownSession: "phone"))
        #expect(!DeviceSignIn.wasSessionEnded(by: [otherSignIn, ownSignIn], ownSession: "phone"))
        let harmlessSignIn = self.notice(self.signedIn("tablet", endsOtherSessions: false))
        #expect(!DeviceSignIn.wasSessionEnded(by: [ownSignIn, harmlessSignIn], ownSession: "phone"))
    }
}
