// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel
import StageCore
import Testing

struct ConnectionMachineTests {
    /// Rules: R8.7.
    @Test func `a request reaches several lives, and accepting it connects and notifies both lives`() {
        var harness = ConnectionHarness(["a", "b", "c"])
        let inviting = harness.callers.user("host-a")
        let expiry = harness.machine.moment.now + .seconds(10)
        #expect(
            harness.handle(
                .request(
                    from: "a", to: ["b", "c"], layoutTemplate: 0, timeoutSeconds: 0, extensionInfo: "x",
                    caller: inviting)
            ) == [
                harness.notice(
                    to: "b",
                    .coHostRequestReceived(inviter: harness.member("a"), expiresAt: expiry, extensionInfo: "x")),
                harness.notice(
                    to: "c",
                    .coHostRequestReceived(inviter: harness.member("a"), expiresAt: expiry, extensionInfo: "x")),
                .success(
                    .coHost(codes: [LiveCode(live: "b", code: 0), LiveCode(live: "c", code: 0)]), to: inviting,
                    app: "demo"),
            ])
        let answering = harness.callers.user("host-b")
        let effects = harness.handle(.accept(live: "b", inviter: "a", caller: answering))
        let view = ConnectionView(
            id: ConnectionID("c-\(harness.machine.moment.offset)"), members: [harness.member("a"), harness.member("b")])
        let joined = [StageEvent.coHostJoined(member: harness.member("a")), .coHostJoined(member: harness.member("b"))]
        #expect(
            effects == [
                harness.notice(to: "a", .coHostRequestAccepted(invitee: harness.member("b"))),
                harness.seatReport("a", view, nil, joined), harness.seatReport("b", view, nil, joined),
                .success(.done, to: answering, app: "demo"),
            ])
        #expect(harness.live("a")?.outgoing == ["c"])
    }

    /// Rules: R8.8, R8.24.
    @Test func `I13 an unanswered request times out once, with a notice to both sides`() {
        var harness = ConnectionHarness(["a", "b"])
        _ = harness.request("a", "b")
        #expect(harness.advance(milliseconds: 9_999) == [])
        let effects = harness.advance(milliseconds: 1)
        let notice = NoticeContent.coHostRequestTimedOut(
            inviter: "a", invitee: "b", inviterMember: harness.member("a"), inviteeMember: harness.member("b"))
        #expect(effects == [harness.notice(to: "a", notice), harness.notice(to: "b", notice)])
        #expect(harness.accept("b", "a").code == 100400)
        #expect(harness.advance(milliseconds: 60_000) == [])
    }

    /// Rules: R8.6.
    @Test func `I13 a request ends when it is rejected, when it is cancelled, or when either live ends`() {
        var harness = ConnectionHarness(["a", "b"])
        _ = harness.request("a", "b")
        #expect(
            harness.call("b") { .reject(live: "b", inviter: "a", caller: $0) }.first
                == harness.notice(to: "a", .coHostRequestRejected(invitee: harness.member("b"))))
        #expect(harness.call("b") { .reject(live: "b", inviter: "a", caller: $0) }.code == 100400)
        _ = harness.request("a", "b")
        #expect(
            harness.call("a") { .cancelRequest(from: "a", to: ["b", "nobody"], caller: $0) }.first
                == harness.notice(to: "b", harness.coHostRequestCancelled("a", "b")))
        #expect(harness.call("a") { .cancelRequest(from: "a", to: ["b"], caller: $0) }.code == 100400)
        _ = harness.request("a", "b")
        #expect(
            harness.handle(.userGone(live: "b", user: "host-b")) == [
                harness.notice(to: "a", .coHostRequestRejected(invitee: harness.member("b")))
            ])
        _ = harness.request("a", "b")
        #expect(
            harness.handle(.ended(live: "a", ending: ending())) == [
                harness.notice(to: "b", harness.coHostRequestCancelled("a", "b")),
                .seat(SeatInput(LiveKey("demo", "a"), .ended(ending: ending()))),
            ])
        // The end of an unknown live is passed on too (R8.21).
        #expect(
            harness.handle(.ended(live: "a", ending: ending()))
                == [.seat(SeatInput(LiveKey("demo", "a"), .ended(ending: ending())))])
        #expect(harness.request("b", "a").liveCodes == [1])
    }

    /// Rules: R8.1.
    @Test func `a request has a result code for each live that it names`() {
        var harness = ConnectionHarness(["a", "b", "c", "d", "e", "f"])
        _ = harness.handle(.opened(live: "voice", owner: ConnectionHarness.host("voice"), isVoice: true))
        harness.connect("a", "b")
        harness.connect("c", "d")
        _ = harness.request("c", "e")
        #expect(
            harness.request("a", "nobody", "voice", "b", "c", "e", "f", "f", "a").liveCodes
                == [1, 6, 2, 3, 2, 0, 2, -1])
        #expect(
            harness.call("a") {
                .request(from: "a", to: [], layoutTemplate: 0, timeoutSeconds: 0, extensionInfo: "", caller: $0)
            }.code
                == 100002)
        #expect(harness.request("a", "e", timeout: 1801).code == 100002)
    }

    /// Rules: R8.14.
    @Test func `I12 a connection holds nine lives, and a tenth is rejected, even if it was invited before`() {
        let lives = (0..<11).map { LiveID("l\($0)") }
        var harness = ConnectionHarness(lives)
        for live in lives[1...7] {
            #expect(harness.request("l0", live).liveCodes == [0])
            #expect(harness.accept(live, "l0").code == 0)
        }
        #expect(harness.request("l0", "l8").liveCodes == [0])
        #expect(harness.request("l1", "l9").liveCodes == [0])
        let effects = harness.accept("l8", "l0")
        #expect(effects.notifiedLives == Array(lives[0...8]))
        #expect(effects.reportedConnection("l3")?.members.map(\.live) == Array(lives[0...8]))
        #expect(harness.accept("l9", "l1").code == 100404)
        #expect(harness.request("l2", "l10").liveCodes == [4])
    }

    /// Rules: R8.4.
    @Test func `I12 a connected live cannot be invited to another connection`() {
        var harness = ConnectionHarness(["a", "b", "c", "d"])
        _ = harness.request("a", "b")
        _ = harness.request("b", "c")
        _ = harness.accept("c", "b")
        #expect(harness.accept("b", "a").code == 100403)
        #expect(harness.accept("c", "b").code == 100401)
        #expect(harness.accept("d", "a").code == 100400)
        #expect(harness.request("d", "b").liveCodes == [2], "b still has the open request of a")
        #expect(harness.request("d", "c").liveCodes == [3])
    }

    @Test func `I13 when two lives invite each other, one acceptance connects them`() {
        var harness = ConnectionHarness(["a", "b"])
        _ = harness.request("a", "b")
        _ = harness.request("b", "a")
        let effects = harness.accept("a", "b")
        #expect(
            effects.notices.map(\.content) == [
                harness.coHostRequestCancelled("a", "b"), harness.coHostRequestCancelled("a", "b"),
                .coHostRequestAccepted(invitee: harness.member("a")),
            ])
        #expect(harness.live("a")?.outgoing == [] && harness.live("b")?.incoming == nil)
    }

    /// Rules: R8.9.
    @Test func `I12 an exit removes only that live, and the last remaining live is no longer connected`() {
        var harness = ConnectionHarness(["a", "b", "c"])
        harness.connect("a", "b", "c")
        let first = harness.exit("a")
        #expect(first.notifiedLives == ["a", "b", "c"])
        #expect(first.reportedConnection("a") == nil)
        #expect(first.reportedConnection("b")?.members.map(\.live) == ["b", "c"])
        #expect(first.reportedEvents("c") == [.coHostLeft(member: harness.member("a"))])
        #expect(harness.exit("a").code == 100400)
        let leaving = harness.callers.user("host-c")
        let left = [StageEvent.coHostLeft(member: harness.member("c"))]
        #expect(
            harness.handle(.exit(live: "c", caller: leaving)) == [
                harness.seatReport("c", nil, nil, left), harness.seatReport("b", nil, nil, left),
                .success(.done, to: leaving, app: "demo"),
            ])
        #expect(harness.exit("b").code == 100400)
    }

    /// Rules: R8.19.
    @Test func `a live leaves its connection when its owner leaves, but not when other users leave`() {
        var harness = ConnectionHarness(["a", "b"])
        harness.connect("a", "b")
        #expect(harness.handle(.userGone(live: "a", user: "gina")) == [])
        #expect(harness.handle(.userGone(live: "a", user: "host-a")).notifiedLives == ["a", "b"])
        harness.connect("a", "b")
        #expect(harness.handle(.ended(live: "b", ending: ending())).notifiedLives == ["b", "a", "b"])
        #expect(harness.live("b") == nil && harness.live("a")?.connection == nil)
    }

    @Test func `I5 after a restart of presence, the connection machine asks whether the owners are present`() {
        var harness = ConnectionHarness(["a", "b", "c"])
        harness.connect("a", "b")
        #expect(
            harness.handle(.confirmOwner(live: "a")) == [
                .audience(AudienceInput(LiveKey("demo", "a"), .confirm(user: "host-a")))
            ])
        #expect(harness.handle(.confirmOwner(live: "c")) == [])
    }

    @Test func `I15 a repeated request is answered again, but sent only once`() {
        var harness = ConnectionHarness(["a", "b"])
        let caller = harness.callers.user("host-a")
        let command = ConnectionCommand.request(
            from: "a", to: ["b"], layoutTemplate: 0, timeoutSeconds: 0, extensionInfo: "", caller: caller)
        let first = harness.handle(command)
        #expect(harness.handle(command) == [first.last].compactMap { $0 })
        _ = harness.advance(milliseconds: 70_000)
        _ = harness.advance(milliseconds: IdempotencyLimits.floorLifetime.count + 10_000)
        #expect(harness.machine.journal.count == 2, "requests and outcomes are gone, the lives remain")
    }

    @Test func `I6 an owner with a revoked ticket cannot act`() {
        var harness = ConnectionHarness(["a", "b"])
        _ = harness.handle(.floor(live: "a", user: "host-a", ticket: Ticket(51)))
        #expect(harness.request("a", "b").code == ReplyCode.staleTicket.code)
        let rejoined = harness.callers.user("host-a", ticket: Ticket(51))
        #expect(
            harness.handle(
                .request(
                    from: "a", to: ["b"], layoutTemplate: 0, timeoutSeconds: 0, extensionInfo: "", caller: rejoined)
            ).code == 0)
    }

    @Test func `a live that is created again has higher revisions than before`() {
        var harness = ConnectionHarness(["a", "b"])
        harness.connect("a", "b")
        _ = harness.handle(.ended(live: "a", ending: ending()))
        let last = harness.live("b")?.revision ?? 0
        _ = harness.handle(.opened(live: "a", owner: ConnectionHarness.host("a"), isVoice: false))
        #expect(harness.live("a").map { $0.revision > last } == true)
        harness.connect("a", "b")
        #expect(
            harness.handle(.opened(live: "a", owner: ConnectionHarness.host("a"), isVoice: false)) == [],
            "a repeated opening changes nothing")
        #expect(harness.live("a")?.connection != nil)
    }
}
