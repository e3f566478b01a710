// SPDX-License-Identifier: Apache-2.0
import CoreKit
import LivePlazaKit
import PlazaModel
import PlazaWire
import Testing

/// How a client comes back into its live, and what it missed.
@Suite struct ClientResumeTests {
    private func resumed(_ number: Int64, epoch: Int64 = 77, replayed: Bool, ticket: Int64 = 9) -> Outcome {
        .success(
            result: .resumed(
                ticket: Ticket(ticket), position: FeedPosition(epoch: epoch, number: number), replayed: replayed))
    }

    @Test func `I7 a client names its place when it comes back, and goes on without a hole`() throws {
        var rig = ClientRig.open()
        rig.join()
        #expect(rig.feed(1...4) == .fresh)
        rig.lose()
        var login = try rig.connect()
        #expect(
            login.params.resume
                == ResumePoint(
                    live: "concert", ticket: Ticket(5), position: FeedPosition(epoch: 77, number: 4), token: "77.4"))
        rig.reply(login.call.id, self.resumed(4, replayed: true))
        #expect(rig.take() == [.event(.resumed("concert", replayed: true))])
        #expect(rig.feed(5...9) == .fresh)
        #expect(rig.core.tracker.missing == 0 && rig.core.tracker.received == 9)
        // The next time with the new ticket.
        rig.lose()
        login = try rig.connect()
        #expect(login.params.resume?.ticket == Ticket(9))
    }

    @Test func `a client that has got nothing yet names where the feed stood when it joined`() throws {
        var rig = ClientRig.open()
        rig.join()
        let scan = try #require(FeedSamples.scan(FeedSamples.empty(at: 30)))
        #expect(rig.core.feedReceived(scan) == .known)
        rig.lose()
        let login = try rig.connect()
        #expect(login.params.resume?.position == FeedPosition(epoch: 77, number: 30))
    }

    @Test func `a client hands the token of its last frame back as it came`() throws {
        var rig = ClientRig.open()
        rig.join()
        #expect(rig.feed(1...4, offset: 4711) == .fresh)
        rig.lose()
        var login = try rig.connect()
        #expect(login.params.resume?.token == "77.4.4711")
        rig.reply(login.call.id, self.resumed(4, replayed: true))
        #expect(rig.feed(3...6, offset: 4720) == .partlyKnown(2))
        rig.lose()
        login = try rig.connect()
        #expect(login.params.resume?.token == "77.6.4720")
        // Where a server goes on after what it could not replay, nothing is known of the record's place.
        rig.reply(login.call.id, self.resumed(9, replayed: false))
        rig.lose()
        #expect(try rig.connect().params.resume?.token == "77.9")
    }

    @Test func `messages of before tell where the feed stands, and are no new items`() throws {
        var rig = ClientRig.open()
        rig.join()
        let scan = try #require(FeedSamples.scan(FeedSamples.history([2, 5, 9], at: "77.11.800")))
        #expect(rig.core.feedReceived(scan) == .history)
        let more = try #require(FeedSamples.scan(FeedSamples.history([10], at: "77.11.800")))
        #expect(rig.core.feedReceived(more) == .history, "a long history comes in several frames")
        #expect(rig.core.tracker.received == 0 && rig.core.tracker.missing == 0)
        #expect(rig.feed(12...13) == .fresh)
        #expect(rig.core.tracker.received == 2 && rig.core.tracker.missing == 0 && rig.core.tracker.repeated == 0)
        #expect(rig.core.tracker.firstNumber == 12)
        rig.lose()
        #expect(try rig.connect().params.resume?.position == FeedPosition(epoch: 77, number: 13))
    }

    @Test func `I7 what cannot be replayed counts as missing`() throws {
        var rig = ClientRig.open()
        rig.join()
        #expect(rig.feed(1...4) == .fresh)
        rig.lose()
        let login = try rig.connect()
        rig.reply(login.call.id, self.resumed(50, replayed: false))
        #expect(rig.take() == [.event(.resumed("concert", replayed: false))])
        #expect(rig.feed(51...52) == .fresh)
        #expect(rig.core.tracker.missing == 46)
        #expect(rig.core.tracker.received == 6)
    }

    @Test func `open calls follow the resume`() throws {
        var rig = ClientRig.open()
        rig.join()
        let id = rig.call("barrage.sendText")
        rig.lose()
        let login = try rig.connect()
        #expect(rig.sent().isEmpty)
        rig.reply(login.call.id, self.resumed(0, replayed: true))
        #expect(rig.sent().map(\.id) == [id])
    }

    @Test(arguments: [
        ReplyError(.staleTicket, "you were put out"), ReplyError(.banned, "for a minute", retryAfter: 60_000),
    ])
    func `a live that cannot be entered again is lost, and the client comes back without it`(
        error: ReplyError
    ) throws {
        var rig = ClientRig.open()
        rig.join()
        rig.lose()
        let login = try rig.connect()
        rig.reply(login.call.id, .failure(error: error))
        #expect(rig.take() == [.event(.lost("concert", error)), .disconnect])
        rig.lose(code: 1000)
        let next = try rig.connect()
        #expect(next.params.resume == nil)
    }

    @Test(arguments: [ReplyCode.unavailable, .timedOut, .overloaded])
    func `a live that cannot be entered now is tried again`(
        code: ReplyCode
    ) throws {
        var rig = ClientRig.open()
        rig.join()
        rig.lose()
        let login = try rig.connect()
        rig.reply(login.call.id, .failure(error: ReplyError(code, "later", retryAfter: 500)))
        #expect(rig.take() == [.disconnect])
        rig.lose(code: 1000)
        let next = try rig.connect()
        #expect(next.params.resume?.live == "concert")
    }

    @Test func `I6 a kicked client does not resume`() throws {
        var rig = ClientRig.open()
        rig.join()
        let other = Notice(
            to: UserKey("", "alice"), live: "other", at: .init(milliseconds: 1), floor: Ticket(6),
            content: .kickedOut(reason: .byAdmin, by: "bob"))
        rig.receive(.notice(id: "3-1", other))
        #expect(rig.core.live == "concert")
        var notice = other
        notice.live = "concert"
        rig.receive(.notice(id: "3-2", notice))
        #expect(rig.core.live == nil)
        rig.lose()
        let login = try rig.connect()
        #expect(login.params.resume == nil)
        #expect(login.params.notices == "3-2")
    }

    @Test func `a notice of before the client's last join puts it out of nothing`() throws {
        var rig = ClientRig.open()
        rig.join(ticket: 9)
        let notice = Notice(
            to: UserKey("", "alice"), live: "concert", at: .init(milliseconds: 1), floor: Ticket(9),
            content: .kickedOut(reason: .byLoggedOnOtherDevice, by: "alice"))
        rig.receive(.notice(id: "3-1", notice))
        #expect(rig.core.live == "concert")
        #expect(rig.take() == [.event(.notice(notice))])
    }

    @Test func `the last notice is named when the client comes back`() throws {
        var rig = ClientRig()
        rig.core.start(into: &rig.actions)
        rig.logIn(notices: "3-17")
        rig.lose()
        var login = try rig.connect()
        #expect(login.params.notices == "3-17")
        let notice = Notice(
            to: UserKey("", "alice"), live: "l", at: .init(milliseconds: 1), content: .battleNotStarted(battle: "b"))
        rig.receive(.notice(id: "3-40", notice))
        // The end that the server names does not take the place of a notice that this client has.
        rig.reply(
            login.call.id,
            .success(result: .loggedIn(session: "phone", user: UserInfo(userID: "a"), gateway: "g", notices: "3-41")))
        rig.lose()
        login = try rig.connect()
        #expect(login.params.notices == "3-40")
    }

    @Test func `leaving forgets the place, and a refused leave does not`() throws {
        var rig = ClientRig.open()
        rig.join()
        #expect(rig.feed(1...2) == .fresh)
        var id = rig.call("live.leave", live: "concert")
        rig.reply(id, .failure(error: ReplyError(.timedOut, "no")))
        #expect(rig.core.live == "concert")
        id = rig.call("live.leave", live: "concert")
        rig.reply(id, .success(result: .done))
        #expect(rig.core.live == nil && rig.core.tracker == FeedTracker())
        rig.lose()
        #expect(try rig.connect().params.resume == nil)
    }

    @Test func `joining again keeps the place; another epoch begins anew`() {
        var rig = ClientRig.open()
        rig.join()
        #expect(rig.feed(1...5) == .fresh)
        rig.join(ticket: 8)
        #expect(rig.core.tracker.received == 5)
        rig.join(ticket: 9, epoch: 78)
        #expect(rig.core.tracker == FeedTracker())
    }
}
