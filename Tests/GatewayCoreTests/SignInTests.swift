// SPDX-License-Identifier: Apache-2.0
import CoreKit
import GatewayCore
import PlazaModel
import Testing

@Suite struct SignInTests {
    private func notice(_ content: NoticeContent) -> Notice {
        Notice(to: UserKey("demo", "bob"), live: "", at: Timestamp(milliseconds: 0), content: content)
    }

    @Test func `the sign-in that stands last counts, however gateways hear of it`() {
        // Each order of three sign-ins, as every one of three connections hears it.
        let sessions: [SessionID] = ["a", "b", "c"]
        for first in sessions {
            for second in sessions where second != first {
                for third in sessions where third != first && third != second {
                    var standing: [SessionID] = []
                    for own in sessions {
                        var signIn = SignIn()
                        signIn.written(at: Timestamp(milliseconds: 0))
                        var isOver = false
                        for session in [first, second, third] { isOver = signIn.heard(session, own: own) || isOver }
                        if !isOver { standing.append(own) }
                    }
                    #expect(standing == [third])
                }
            }
        }
    }

    @Test func `one's own sign-in that comes again ends nobody`() {
        var signIn = SignIn()
        let heard = ["a", "a", "b"].map { signIn.heard($0, own: "a") }
        #expect(heard == [false, false, true])
    }

    @Test func `a sign-in that does not come back is written again, and none where several are allowed`() {
        let start = Timestamp(milliseconds: 1000)
        let later = start + SignIn.patience
        var signIn = SignIn()
        #expect(!signIn.isDueAgain(at: later))
        signIn.written(at: start)
        #expect(!signIn.isDueAgain(at: later - Milliseconds(1)))
        #expect(signIn.isDueAgain(at: later))
        _ = signIn.heard("b", own: "a")
        #expect(signIn.isDueAgain(at: later))
        _ = signIn.heard("a", own: "a")
        #expect(!signIn.isDueAgain(at: later))
    }

    @Test func `a session that comes back was ended if the last sign-in that it missed is another's`() {
        let other = self.notice(.signedInElsewhere(session: "b"))
        let own = self.notice(.signedInElsewhere(session: "a"))
        let kick = self.notice(.kickedOut(reason: .byAdmin, by: "anna"))
        #expect(!SignIn.wasEnded([], own: "a"))
        #expect(!SignIn.wasEnded([kick], own: "a"))
        #expect(SignIn.wasEnded([own, other, kick], own: "a"))
        #expect(!SignIn.wasEnded([other, own], own: "a"))
    }
}
