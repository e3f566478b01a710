// SPDX-License-Identifier: Apache-2.0
import MachineKit
import MachineTestSupport
import PlazaModel
import Testing

@testable import StageCore

/// Co-host requests, and how connections of lives begin, grow and end.
struct ConnectionMachineTests {
    /// Rules: R8.7.
    @Test func `a request is sent to several lives; a live that accepts is connected, and both lives are notified`() {
        var harness = ConnectionHarness(["arena", "bistro", "cafe"])
        let inviter = harness.callers.user("host-arena")
        // A time-out of 0 means the default of 10 s.
        let expiry = harness.machine.moment.now + .seconds(10)
        #expect(
            harness.handle(
                .coHostRequest(from: "arena", to: ["bistro", "cafe"], extensionInfo: "x", caller: inviter)
            ) == [
                harness.notice(
                    to: "bistro",
                    .coHostRequestReceived(inviter: harness.member("arena"), expiresAt: expiry, extensionInfo: "x")),
                harness.notice(
                    to: "cafe",
                    .coHostRequestReceived(inviter: harness.member("arena"), expiresAt: expiry, extensionInfo: "x")),
                .success(
                    // The code 0 means that the request was sent.
                    .coHost(codes: [LiveCode(live: "bistro", code: 0), LiveCode(live: "cafe", code: 0)]), to: inviter,
                    app: "demo"),
            ])

        let invitee = harness.callers.user("host-bistro")
        let effects = harness.handle(.accept(live: "bistro", inviter: "arena", caller: invitee))
        // A connection is named after the offset of the acceptance that began it.
        let view = ConnectionView(
            id: ConnectionID("c-\(harness.machine.moment.offset)"),
            members: [harness.member("arena"), harness.member("bistro")])
        let joined = [
            StageEvent.coHostJoined(member: harness.member("arena")), .coHostJoined(member: harness.member("bistro")),
        ]
        #expect(
            effects == [
                harness.notice(to: "arena", .coHostRequestAccepted(invitee: harness.member("bistro"))),
                harness.seatReport("arena", connection: view, events: joined),
                harness.seatReport("bistro", connection: view, events: joined),
                .success(.done, to: invitee, app: "demo"),
            ])
        #expect(harness.live("arena")?.outgoing == ["cafe"], "the request to cafe stays open")
    }

    /// Rules: R8.8, R8.24.
    @Test func `I13 an unanswered request times out once, with a notice to both sides`() {
        var harness = ConnectionHarness(["arena", "bistro"])
        _ = harness.request("arena", to: "bistro")
        #expect(harness.advance(milliseconds: 9_999) == [])
        let effects = harness.advance(milliseconds: 1)
        let notice = NoticeContent.coHostRequestTimedOut(
            inviter: "arena", invitee: "bistro", inviterMember: harness.member("arena"),
            inviteeMember: harness.member("bistro"))
        #expect(effects == [harness.notice(to: "arena", notice), harness.notice(to: "bistro", notice)])
        #expect(harness.accept("bistro", inviter: "arena").code == .noSuchConnection)
        #expect(harness.advance(milliseconds: 60_000) == [], "the request does not time out again")
    }

    /// Rules: R8.6.
    @Test func `I13 a request ends when it is rejected or cancelled, when an owner leaves, and when a live ends`() {
        var harness = ConnectionHarness(["arena", "bistro"])
        _ = harness.request("arena", to: "bistro")
        #expect(
            harness.call("bistro") { .reject(live: "bistro", inviter: "arena", caller: $0) }.first
                == harness.notice(to: "arena", .coHostRequestRejected(invitee: harness.member("bistro"))))
        #expect(
            harness.call("bistro") { .reject(live: "bistro", inviter: "arena", caller: $0) }.code == .noSuchConnection)
        _ = harness.request("arena", to: "bistro")
        #expect(
            harness.call("arena") { .cancelRequest(from: "arena", to: ["bistro", "nobody"], caller: $0) }.first
                == harness.notice(to: "bistro", harness.coHostRequestCancelled("arena", "bistro")))
        #expect(
            harness.call("arena") { .cancelRequest(from: "arena", to: ["bistro"], caller: $0) }.code
                == .noSuchConnection)
        _ = harness.request("arena", to: "bistro")
        #expect(
            harness.handle(.userGone(live: "bistro", user: "host-bistro")) == [
                harness.notice(to: "arena", .coHostRequestRejected(invitee: harness.member("bistro")))
            ])
        _ = harness.request("arena", to: "bistro")
        #expect(
            harness.handle(.ended(live: "arena", ending: ending())) == [
                harness.notice(to: "bistro", harness.coHostRequestCancelled("arena", "bistro")),
                .seat(SeatInput(LiveKey("demo", "arena"), .ended(ending: ending()))),
            ])
        // The end of a live that is unknown, because it has ended already, is passed on too (R8.21).
        #expect(
            harness.handle(.ended(live: "arena", ending: ending()))
                == [.seat(SeatInput(LiveKey("demo", "arena"), .ended(ending: ending())))])
        #expect(harness.request("bistro", to: "arena").coHostCodes == [.noSuchLive])
    }

    /// Rules: R8.1.
    @Test func `a request has a result code for each live that it names`() {
        var harness = ConnectionHarness(["arena", "bistro", "cafe", "disco", "expo", "forum"])
        _ = harness.handle(.opened(live: "voice", owner: ConnectionHarness.host("voice"), isVoice: true))
        harness.connect("arena", "bistro")
        harness.connect("cafe", "disco")
        _ = harness.request("cafe", to: "expo")
        // arena is connected with bistro, and cafe with disco. expo has an open request, and forum is named twice.
        #expect(
            harness.request("arena", to: "nobody", "voice", "bistro", "cafe", "expo", "forum", "forum", "arena")
                .coHostCodes
                == [
                    .noSuchLive, .kindsDiffer, .alreadyInvited, .connectedElsewhere, .alreadyInvited, .sent,
                    .alreadyInvited, .isInviter,
                ])

        // Clients know the results by these numbers; 5 is not used.
        let codes: [CoHostCode] = [
            .isInviter, .sent, .noSuchLive, .alreadyInvited, .connectedElsewhere, .full, .kindsDiffer,
        ]
        #expect(codes.map(\.rawValue) == [-1, 0, 1, 2, 3, 4, 6])
        #expect(
            harness.call("arena") { .coHostRequest(from: "arena", to: [], caller: $0) }.code == .badParameter,
            "a request names at least one live")
        #expect(
            harness.request("arena", to: "expo", timeoutSeconds: 1801).code == .badParameter, "the maximum is 1800 s")
    }

    /// Rules: R8.14.
    @Test func `I12 a connection holds nine lives, and a tenth is rejected, even if it was invited before`() {
        let lives = (0..<11).map { LiveID("l\($0)") }
        var harness = ConnectionHarness(lives)
        // The eight lives l0 to l7 connect. Then l8, the ninth, and l9, the tenth, are both invited.
        for live in lives[1...7] {
            #expect(harness.request("l0", to: live).coHostCodes == [.sent])
            #expect(harness.accept(live, inviter: "l0").code == .success)
        }
        #expect(harness.request("l0", to: "l8").coHostCodes == [.sent])
        #expect(harness.request("l1", to: "l9").coHostCodes == [.sent])
        let effects = harness.accept("l8", inviter: "l0")
        #expect(effects.notifiedLives == Array(lives[0...8]))
        #expect(effects.reportedConnection("l3")?.members.map(\.live) == Array(lives[0...8]))
        #expect(harness.accept("l9", inviter: "l1").code == .connectionLimit)
        #expect(harness.request("l2", to: "l10").coHostCodes == [.full])
    }

    /// Rules: R8.4.
    @Test func `I12 a connected live can neither accept a request of another connection nor be invited to it`() {
        var harness = ConnectionHarness(["arena", "bistro", "cafe", "disco"])
        // arena invites bistro. Before bistro answers, it connects with cafe.
        _ = harness.request("arena", to: "bistro")
        _ = harness.request("bistro", to: "cafe")
        _ = harness.accept("cafe", inviter: "bistro")
        #expect(harness.accept("bistro", inviter: "arena").code == .connectedElsewhere)
        #expect(harness.accept("cafe", inviter: "bistro").code == .alreadyConnected)
        #expect(harness.accept("disco", inviter: "arena").code == .noSuchConnection)
        #expect(
            harness.request("disco", to: "bistro").coHostCodes == [.alreadyInvited],
            "bistro still has the open request of arena")
        #expect(harness.request("disco", to: "cafe").coHostCodes == [.connectedElsewhere])
    }

    @Test func `I13 when two lives invite each other, one acceptance connects them`() {
        var harness = ConnectionHarness(["arena", "bistro"])
        _ = harness.request("arena", to: "bistro")
        _ = harness.request("bistro", to: "arena")
        let effects = harness.accept("arena", inviter: "bistro")
        // The request of arena to bistro is cancelled, with a notice to each of the two owners.
        #expect(
            effects.notices.map(\.content) == [
                harness.coHostRequestCancelled("arena", "bistro"), harness.coHostRequestCancelled("arena", "bistro"),
                .coHostRequestAccepted(invitee: harness.member("arena")),
            ])
        #expect(harness.live("arena")?.outgoing == [] && harness.live("bistro")?.incoming == nil)
    }

    /// Rules: R8.9.
    @Test func `I12 an exit removes only the live that exits, but the connection ends when one live remains`() {
        var harness = ConnectionHarness(["arena", "bistro", "cafe"])
        harness.connect("arena", "bistro", "cafe")
        let firstExit = harness.exit("arena")
        #expect(firstExit.notifiedLives == ["arena", "bistro", "cafe"])
        #expect(firstExit.reportedConnection("arena") == nil)
        #expect(firstExit.reportedConnection("bistro")?.members.map(\.live) == ["bistro", "cafe"])
        #expect(firstExit.reportedEvents("cafe") == [.coHostLeft(member: harness.member("arena"))])
        #expect(harness.exit("arena").code == .noSuchConnection)
        let exitingHost = harness.callers.user("host-cafe")
        let left = [StageEvent.coHostLeft(member: harness.member("cafe"))]
        #expect(
            harness.handle(.exit(live: "cafe", caller: exitingHost)) == [
                harness.seatReport("cafe", connection: nil, events: left),
                harness.seatReport("bistro", connection: nil, events: left),
                .success(.done, to: exitingHost, app: "demo"),
            ])
        #expect(harness.exit("bistro").code == .noSuchConnection)
    }

    /// Rules: R8.19.
    @Test func `a live leaves its connection when its owner leaves or the live ends, but not when a viewer leaves`() {
        var harness = ConnectionHarness(["arena", "bistro"])
        harness.connect("arena", "bistro")
        #expect(harness.handle(.userGone(live: "arena", user: "gina")) == [])
        #expect(harness.handle(.userGone(live: "arena", user: "host-arena")).notifiedLives == ["arena", "bistro"])
        harness.connect("arena", "bistro")
        // The end of the connection is reported to both lives; then bistro's seat machine gets the end of bistro.
        #expect(
            harness.handle(.ended(live: "bistro", ending: ending())).notifiedLives == ["bistro", "arena", "bistro"])
        #expect(harness.live("bistro") == nil && harness.live("arena")?.connection == nil)
    }

    /// A presence epoch begins when presence (the machine that knows who is in a live) has lost its data in Redis.
    @Test func `I5 in a new presence epoch, the connection machine asks about the owner of a connected live`() {
        var harness = ConnectionHarness(["arena", "bistro", "cafe"])
        harness.connect("arena", "bistro")
        #expect(
            harness.handle(.confirmOwner(live: "arena")) == [
                .audience(AudienceInput(LiveKey("demo", "arena"), .confirm(user: "host-arena")))
            ])
        #expect(harness.handle(.confirmOwner(live: "cafe")) == [], "cafe is in no connection")
    }

    @Test func `I15 a repeated request is answered again, but sent only once`() {
        var harness = ConnectionHarness(["arena", "bistro"])
        let caller = harness.callers.user("host-arena")
        let command = ConnectionCommand.coHostRequest(from: "arena", to: ["bistro"], caller: caller)
        let firstEffects = harness.handle(command)
        let firstReply = Array(firstEffects.suffix(1))
        #expect(harness.handle(command) == firstReply, "the reply is the only effect of the repeated call")
        // An outcome is forgotten after 60 s, and the counter of its call `droppedCounterLifetime` later. Each time is
        // rounded up to a multiple of 10 s.
        _ = harness.advance(milliseconds: 70_000)
        _ = harness.advance(milliseconds: IdempotencyLimits.droppedCounterLifetime.count + 10_000)
        #expect(harness.machine.rows.count == 2, "only the rows of the two lives remain")
    }

    @Test func `I6 an owner with a revoked ticket cannot act, and can again with a new ticket`() {
        var harness = ConnectionHarness(["arena", "bistro"])
        // The floor is the lowest ticket that is still valid. The owner's ticket is one lower, so it is revoked.
        let floor = Ticket(Callers.joinTicket.offset + 1)
        _ = harness.handle(.floor(live: "arena", user: "host-arena", ticket: floor))
        #expect(harness.request("arena", to: "bistro").code == .staleTicket)
        let ownerWithNewTicket = harness.callers.user("host-arena", ticket: floor)
        #expect(
            harness.handle(.coHostRequest(from: "arena", to: ["bistro"], caller: ownerWithNewTicket)).code == .success)
    }

    @Test func `a live that is created again has higher revisions than before`() {
        var harness = ConnectionHarness(["arena", "bistro"])
        harness.connect("arena", "bistro")
        _ = harness.handle(.ended(live: "arena", ending: ending()))
        // Both lives got their last report when arena ended, so bistro's revision is the last one of arena too.
        let lastRevision = harness.live("bistro")?.revision ?? 0
        _ = harness.handle(.opened(live: "arena", owner: ConnectionHarness.host("arena"), isVoice: false))
        #expect(harness.live("arena").map { $0.revision > lastRevision } == true)
        harness.connect("arena", "bistro")
        #expect(
            harness.handle(.opened(live: "arena", owner: ConnectionHarness.host("arena"), isVoice: false)) == [],
            "a repeated opening changes nothing")
        #expect(harness.live("arena")?.connection != nil)
    }
}
