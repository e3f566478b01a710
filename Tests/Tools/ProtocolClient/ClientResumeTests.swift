// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel
import PlazaWire
import ProtocolClient
import Testing

/// How a client resumes its live after a reconnect.
///
/// In these tests the live is `concert`, whose feed has the epoch 77. `harness.join()` gets the ticket 5.
@Suite struct ClientResumeTests {
    /// The outcome of a login that resumes the live at the feed's item `number`.
    ///
    /// `replayed`: whether the server sends the items that the client has missed.
    private func resumed(at number: Int64, epoch: Int64 = 77, replayed: Bool, ticket: Int64 = 9) -> Outcome {
        .success(
            result: .resumed(
                ticket: Ticket(ticket), position: FeedPosition(epoch: epoch, number: number), replayed: replayed))
    }

    @Test func `I7 a client sends its position when it resumes, and continues without a gap`() throws {
        var harness = ClientHarness.loggedIn()
        harness.join()
        #expect(harness.receiveFeed(1...4) == .fresh)
        harness.loseConnection()
        var login = try harness.connect()
        #expect(
            login.params.resume
                == ResumePoint(
                    live: "concert", ticket: Ticket(5), position: FeedPosition(epoch: 77, number: 4), token: "77.4"))
        harness.reply(login.call.id, self.resumed(at: 4, replayed: true))
        #expect(harness.takeActions() == [.event(.resumed("concert", replayed: true))])
        #expect(harness.receiveFeed(5...9) == .fresh)
        #expect(harness.core.tracker.missing == 0 && harness.core.tracker.received == 9)
        // The next resume uses the ticket of the previous resume, which is 9.
        harness.loseConnection()
        login = try harness.connect()
        #expect(login.params.resume?.ticket == Ticket(9))
    }

    @Test func `a client that has received no item resumes at the position of the feed at its join`() throws {
        var harness = ClientHarness.loggedIn()
        harness.join()
        let scan = try #require(FeedSamples.scan(FeedSamples.empty(at: 30)))
        #expect(harness.core.feedReceived(scan) == .known)
        harness.loseConnection()
        let login = try harness.connect()
        #expect(login.params.resume?.position == FeedPosition(epoch: 77, number: 30))
    }

    @Test func `a client returns the token of its last frame unchanged`() throws {
        var harness = ClientHarness.loggedIn()
        harness.join()
        #expect(harness.receiveFeed(1...4, offset: 4711) == .fresh)
        harness.loseConnection()
        var login = try harness.connect()
        // A token consists of the epoch, the last item's number, and the offset of the item's record.
        #expect(login.params.resume?.token == "77.4.4711")
        harness.reply(login.call.id, self.resumed(at: 4, replayed: true))
        // Two of the items, 3 and 4, are known.
        #expect(harness.receiveFeed(3...6, offset: 4720) == .partlyKnown(2))
        harness.loseConnection()
        login = try harness.connect()
        #expect(login.params.resume?.token == "77.6.4720")
        // A resume without a replay tells the client the position, item 9, but not the offset of the item's record. So
        // the client's token has no offset.
        harness.reply(login.call.id, self.resumed(at: 9, replayed: false))
        harness.loseConnection()
        #expect(try harness.connect().params.resume?.token == "77.9")
    }

    /// Rules: R5.16.
    @Test func `history sets the position of the feed and is not counted as new items`() throws {
        var harness = ClientHarness.loggedIn()
        harness.join()
        // History is messages from before the join. The feed is at item 11. Not every item of the feed is a message, so
        // the numbers in history have gaps.
        let scan = try #require(FeedSamples.scan(FeedSamples.history([2, 5, 9], at: "77.11.800")))
        #expect(harness.core.feedReceived(scan) == .history)
        // A long history comes in several frames.
        let secondFrame = try #require(FeedSamples.scan(FeedSamples.history([10], at: "77.11.800")))
        #expect(harness.core.feedReceived(secondFrame) == .history)
        #expect(harness.core.tracker.received == 0 && harness.core.tracker.missing == 0)
        #expect(harness.receiveFeed(12...13) == .fresh)
        #expect(
            harness.core.tracker.received == 2 && harness.core.tracker.missing == 0
                && harness.core.tracker.repeated == 0)
        #expect(harness.core.tracker.firstNumber == 12)
        harness.loseConnection()
        #expect(try harness.connect().params.resume?.position == FeedPosition(epoch: 77, number: 13))
    }

    @Test func `I7 items that cannot be replayed count as missing`() throws {
        var harness = ClientHarness.loggedIn()
        harness.join()
        #expect(harness.receiveFeed(1...4) == .fresh)
        harness.loseConnection()
        let login = try harness.connect()
        harness.reply(login.call.id, self.resumed(at: 50, replayed: false))
        #expect(harness.takeActions() == [.event(.resumed("concert", replayed: false))])
        #expect(harness.receiveFeed(51...52) == .fresh)
        // The items 5 to 50 are missing.
        #expect(harness.core.tracker.missing == 46)
        // The items 1 to 4, 51 and 52.
        #expect(harness.core.tracker.received == 6)
    }

    @Test func `a call without a reply is sent again only after the live is resumed`() throws {
        var harness = ClientHarness.loggedIn()
        harness.join()
        let id = harness.call("barrage.sendText")
        harness.loseConnection()
        let login = try harness.connect()
        #expect(harness.takeSentCalls().isEmpty)
        harness.reply(login.call.id, self.resumed(at: 0, replayed: true))
        #expect(harness.takeSentCalls().map(\.id) == [id])
    }

    /// Rules: R3.34.
    @Test(arguments: [
        ReplyError(.staleTicket, "you were put out"), ReplyError(.banned, "for a minute", retryAfter: 60_000),
    ])
    func `a client that may not resume its live leaves the live and reconnects without it`(
        error: ReplyError
    ) throws {
        var harness = ClientHarness.loggedIn()
        harness.join()
        harness.loseConnection()
        let login = try harness.connect()
        harness.reply(login.call.id, .failure(error: error))
        #expect(harness.takeActions() == [.event(.resumeFailed("concert", error)), .disconnect])
        harness.loseConnection(code: 1000)
        let nextLogin = try harness.connect()
        #expect(nextLogin.params.resume == nil)
    }

    @Test(arguments: [ReplyCode.unavailable, .timedOut, .overloaded, .tooFrequent])
    func `a resume that fails for a temporary reason is tried again`(
        code: ReplyCode
    ) throws {
        var harness = ClientHarness.loggedIn()
        harness.join()
        harness.loseConnection()
        let login = try harness.connect()
        harness.reply(login.call.id, .failure(error: ReplyError(code, "later", retryAfter: 500)))
        #expect(harness.takeActions() == [.disconnect])
        harness.loseConnection(code: 1000)
        let nextLogin = try harness.connect()
        #expect(nextLogin.params.resume?.live == "concert")
    }

    /// Rules: R1.16.
    @Test func `I6 a client that was kicked out of its live does not resume this live`() throws {
        var harness = ClientHarness.loggedIn()
        harness.join()
        // A frame to a client does not name the app, so the app of the user key is empty. The floor is the lowest
        // ticket that is still valid: the notice makes the client's ticket 5 invalid, but only in its own live.
        let noticeOfOtherLive = Notice(
            to: UserKey("", "alice"), live: "other", at: .init(milliseconds: 1), floor: Ticket(6),
            content: .kickedOut(reason: .byAdmin, by: "bob"))
        harness.receive(.notice(id: "3-1", noticeOfOtherLive))
        #expect(harness.core.live == "concert")
        var notice = noticeOfOtherLive
        notice.live = "concert"
        harness.receive(.notice(id: "3-2", notice))
        #expect(harness.core.live == nil)
        harness.loseConnection()
        let login = try harness.connect()
        #expect(login.params.resume == nil)
        #expect(login.params.notices == "3-2")
    }

    @Test func `a notice older than a client's last join does not remove the client from the live`() throws {
        var harness = ClientHarness.loggedIn()
        harness.join(ticket: 9)
        // The floor is the lowest ticket that is still valid, so the client's ticket 9 is valid.
        let notice = Notice(
            to: UserKey("", "alice"), live: "concert", at: .init(milliseconds: 1), floor: Ticket(9),
            content: .kickedOut(reason: .byLoggedOnOtherDevice, by: "alice"))
        harness.receive(.notice(id: "3-1", notice))
        #expect(harness.core.live == "concert")
        #expect(harness.takeActions() == [.event(.notice(notice))])
    }

    @Test func `a client sends the id of its last notice when it resumes`() throws {
        var harness = ClientHarness()
        harness.core.start(into: &harness.actions)
        // The id of a notice is its partition and offset in the topic of notices.
        harness.logIn(notices: "3-17")
        harness.loseConnection()
        var login = try harness.connect()
        #expect(login.params.notices == "3-17")
        let notice = Notice(
            to: UserKey("", "alice"), live: "concert", at: .init(milliseconds: 1),
            content: .battleNotStarted(battle: "b"))
        harness.receive(.notice(id: "3-40", notice))
        // The reply to a login names the user's last notice, "3-41". The client has received "3-40" last and keeps this
        // id, because it would otherwise never get the notice "3-41".
        harness.reply(
            login.call.id,
            .success(result: .loggedIn(session: "phone", user: UserInfo(userID: "a"), gateway: "g", notices: "3-41")))
        harness.loseConnection()
        login = try harness.connect()
        #expect(login.params.notices == "3-40")
    }

    @Test func `a client forgets its position when it has left the live, but not when the leave has failed`() throws {
        var harness = ClientHarness.loggedIn()
        harness.join()
        #expect(harness.receiveFeed(1...2) == .fresh)
        var id = harness.call("live.leave", live: "concert")
        harness.reply(id, .failure(error: ReplyError(.timedOut, "no")))
        #expect(harness.core.live == "concert")
        id = harness.call("live.leave", live: "concert")
        harness.reply(id, .success(result: .done))
        #expect(harness.core.live == nil && harness.core.tracker == FeedOrderTracker())
        harness.loseConnection()
        #expect(try harness.connect().params.resume == nil)
    }

    @Test func `a second join in the same epoch keeps the position, and a join in another epoch resets it`() {
        var harness = ClientHarness.loggedIn()
        harness.join()
        #expect(harness.receiveFeed(1...5) == .fresh)
        harness.join(ticket: 8)
        #expect(harness.core.tracker.received == 5)
        harness.join(ticket: 9, epoch: 78)
        #expect(harness.core.tracker == FeedOrderTracker())
    }
}
