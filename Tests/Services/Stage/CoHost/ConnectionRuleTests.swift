// SPDX-License-Identifier: Apache-2.0
import MachineKit
import MachineTestSupport
import PlazaModel
import Testing

@testable import StageCore

/// Templates, rate limits, crowded voice lives, muting, owners who leave and return, and late retries.
///
/// A voice live is crowded when more than six of its seats are occupied.
struct ConnectionRuleTests {
    /// The reply code for each live that a co-host request names; nil for a live to which the request was sent.
    private func reasons(_ effects: [Effect]) -> [ReplyCode?] {
        guard case .coHost(let codes)? = effects.result else { return [] }
        return codes.map { $0.reason }
    }

    /// Sends a co-host request of the owner of `from`, for a connection with this layout template.
    private func request(
        _ harness: inout ConnectionHarness, _ from: LiveID, to: LiveID, template: Int
    ) -> [Effect] {
        harness.call(from) {
            .request(
                from: from, to: [to], layoutTemplate: template, timeoutSeconds: 0, extensionInfo: "", caller: $0)
        }
    }

    /// A harness in which only the voice lives `radio` and `talk` are open.
    private func harnessWithTwoVoiceLives() -> ConnectionHarness {
        var harness = ConnectionHarness([])
        for live: LiveID in ["radio", "talk"] {
            _ = harness.handle(.opened(live: live, owner: ConnectionHarness.host(live), isVoice: true))
        }
        return harness
    }

    /// Rules: R8.3.
    @Test func `each result code of a co-host request, except sent, comes with the reply code of the reason`() {
        var harness = ConnectionHarness(["arena", "bistro", "cafe", "disco", "expo", "forum"])
        _ = harness.handle(.opened(live: "voice", owner: ConnectionHarness.host("voice"), isVoice: true))
        harness.connect("arena", "bistro")
        harness.connect("cafe", "disco")
        _ = harness.request("cafe", to: "expo")
        // arena is connected with bistro, and cafe with disco. expo has an open request, and forum is named twice.
        let effects = harness.request(
            "arena", to: "nobody", "voice", "bistro", "cafe", "expo", "forum", "forum", "arena")
        #expect(
            self.reasons(effects) == [
                .noSuchRoom, .wrongRoomKind, .alreadyConnected, .connectedElsewhere, .connectionPending, nil,
                .connectionPending, .badParameter,
            ])
    }

    /// Rules: R8.16.
    @Test func `I12 a live that joins gets the connection's id and template, and loses both when it leaves`() {
        var harness = ConnectionHarness(["arena", "bistro", "cafe"])
        _ = self.request(&harness, "arena", to: "bistro", template: 601)
        let newConnection = harness.accept("bistro", inviter: "arena").reportedConnection("bistro")
        #expect(newConnection?.templateID == 601)
        // The connection keeps the template 601; the 600 of the later request has no effect.
        _ = self.request(&harness, "bistro", to: "cafe", template: 600)
        let joined = harness.accept("cafe", inviter: "bistro")
        #expect(joined.notifiedLives == ["arena", "bistro", "cafe"])
        #expect(joined.reportedConnection("cafe")?.templateID == 601)
        #expect(joined.reportedConnection("cafe")?.id == newConnection?.id)
        _ = harness.exit("cafe")
        #expect(
            harness.exit("bistro").reportedConnection("arena") == nil,
            "arena is in no connection any more, so its own template applies again")
    }

    /// Rules: R8.17.
    @Test func `a layout number must fit the kind of the lives, and an unknown number stands for the default`() {
        var harness = ConnectionHarness(["arena", "bistro"])
        // 0 means the default, 600. 801 is not a template of connections, and 999 is unknown.
        for (requested, resolved) in [(0, 600), (600, 600), (601, 601), (400, 400), (801, 600), (999, 600)] {
            _ = self.request(&harness, "arena", to: "bistro", template: requested)
            #expect(
                harness.accept("bistro", inviter: "arena").reportedConnection("arena")?.templateID == resolved,
                "\(requested)")
            // Without the exit, the next request would join the connection and could not choose a template.
            _ = harness.exit("arena")
        }
        // Video lives have the numbers 200 to 999, voice lives 1 to 199.
        for wrong in [2, 50, 199, 1000, -1] {
            #expect(self.request(&harness, "arena", to: "bistro", template: wrong).code == .badParameter, "\(wrong)")
        }
        var voice = self.harnessWithTwoVoiceLives()
        #expect(self.request(&voice, "radio", to: "talk", template: 600).code == .badParameter)
        // 50 is not a template of connections; the default of voice lives is 2.
        _ = self.request(&voice, "radio", to: "talk", template: 50)
        #expect(voice.accept("talk", inviter: "radio").reportedConnection("radio")?.templateID == 2)
    }

    @Test(arguments: [(400, 2), (601, 7), (600, 9)])
    func `I12 a connection with as many lives as its template has space for is full`(template: Int, capacity: Int) {
        let lives = (0..<11).map { LiveID("l\($0)") }
        var harness = ConnectionHarness(lives)
        // l0 and l1 connect. With a capacity of 2 the connection is full now, so l1 cannot invite l9.
        _ = self.request(&harness, lives[0], to: lives[1], template: template)
        _ = harness.accept(lives[1], inviter: lives[0])
        let expectedCode: CoHostCode = capacity == 2 ? .full : .sent
        #expect(harness.request(lives[1], to: lives[9]).coHostCodes == [expectedCode])
        for live in lives[2...8].prefix(capacity - 2) {
            #expect(harness.request(lives[0], to: live).coHostCodes == [.sent])
            #expect(harness.accept(live, inviter: lives[0]).code == .success)
        }
        #expect(harness.live(lives[0])?.connection != nil)
        if capacity == 2 {
            #expect(harness.live(lives[9])?.incoming == nil, "a full connection sends no request")
        } else {
            #expect(
                harness.accept(lives[9], inviter: lives[1]).code == .connectionLimit,
                "l9 was invited before the connection was full")
        }
        let laterRequest = harness.request(lives[1], to: lives[10])
        #expect(laterRequest.coHostCodes == [.full])
        #expect(self.reasons(laterRequest) == [.connectionLimit])
    }

    /// Rules: R8.5.
    @Test func `a live may send ten co-host requests at once, then one each second`() {
        var harness = ConnectionHarness(["arena", "bistro"])
        for _ in 0..<10 { #expect(harness.request("arena", to: "nobody").coHostCodes == [.noSuchLive]) }
        let rowBefore = harness.machine.rows[.live(LiveKey("demo", "arena"))]
        let eleventhRequest = harness.request("arena", to: "bistro")
        #expect(eleventhRequest.code == .connectionTooFrequent)
        guard case .failure(let error)? = eleventhRequest.replies.last?.outcome else {
            Issue.record("the eleventh request is not rejected")
            return
        }
        #expect(error.retryAfter == 1000, "a live may send its next request after 1000 ms")
        #expect(error.message.contains("10"), "the message names the limit")
        let rowAfter = harness.machine.rows[.live(LiveKey("demo", "arena"))]
        #expect(rowAfter == rowBefore, "a rejected call changes nothing")
        #expect(harness.request("bistro", to: "nobody").code == .success, "each live has its own limit")
        _ = harness.advance(milliseconds: 999)
        #expect(harness.request("arena", to: "bistro").code == .connectionTooFrequent)
        _ = harness.advance(milliseconds: 1)
        #expect(harness.request("arena", to: "bistro").coHostCodes == [.sent])
        #expect(harness.request("arena", to: "bistro").code == .connectionTooFrequent)
    }

    /// Rules: R7.14.
    @Test func `a voice live with more than six occupied seats can neither invite, nor be invited, nor accept`() {
        var harness = self.harnessWithTwoVoiceLives()
        _ = harness.handle(.seatsChanged(live: "radio", seats: ConnectionHarness.seats("radio", occupied: 7)))
        #expect(harness.request("radio", to: "talk").code == .overLimit)
        let requested = harness.request("talk", to: "radio")
        #expect(requested.coHostCodes == [.full] && self.reasons(requested) == [.overLimit])
        _ = harness.handle(.seatsChanged(live: "radio", seats: ConnectionHarness.seats("radio", occupied: 6)))
        #expect(harness.request("talk", to: "radio").coHostCodes == [.sent])
        _ = harness.handle(.seatsChanged(live: "radio", seats: ConnectionHarness.seats("radio", occupied: 7)))
        #expect(harness.accept("radio", inviter: "talk").code == .overLimit, "the invited live is crowded now")
        _ = harness.handle(.seatsChanged(live: "radio", seats: ConnectionHarness.seats("radio", occupied: 6)))
        _ = harness.handle(.seatsChanged(live: "talk", seats: ConnectionHarness.seats("talk", occupied: 8)))
        #expect(harness.accept("radio", inviter: "talk").code == .overLimit, "the inviting live is crowded now")
        _ = harness.handle(.seatsChanged(live: "talk", seats: ConnectionHarness.seats("talk", occupied: 0)))
        #expect(harness.accept("radio", inviter: "talk").code == .success)
    }

    @Test func `a video live with any number of occupied seats can connect`() {
        var harness = ConnectionHarness(["arena", "bistro"])
        _ = harness.handle(.seatsChanged(live: "arena", seats: ConnectionHarness.seats("arena", occupied: 10)))
        #expect(harness.request("arena", to: "bistro").coHostCodes == [.sent])
        #expect(harness.accept("bistro", inviter: "arena").code == .success)
    }

    /// Rules: R8.13.
    @Test func `owner and admins can mute a connected live's host, for the viewers of their own live only`() {
        var harness = ConnectionHarness(["arena", "bistro", "cafe"])
        harness.connect("arena", "bistro", "cafe")
        _ = harness.handle(.rights(live: "arena", admins: ["adam"]))
        /// Mutes the host of `other` in arena, or ends the mute.
        func setMuted(_ isMuted: Bool, _ other: LiveID, by user: UserID) -> [Effect] {
            harness.handle(
                .muteRemote(live: "arena", other: other, isMuted: isMuted, caller: harness.callers.user(user)))
        }
        #expect(setMuted(true, "bistro", by: "gina").code == .needsOwnerOrAdmin)
        let muted = setMuted(true, "bistro", by: "adam")
        #expect(muted.notifiedLives == ["arena"], "the muted host is not notified")
        #expect(muted.reportedConnection("arena")?.mutedLives == ["bistro"])
        #expect(muted.reportedEvents("arena") == [.coHostMuted(live: "bistro", isMuted: true)])
        #expect(setMuted(true, "bistro", by: "host-arena").seatInputs == [], "the host is muted already")
        #expect(setMuted(true, "cafe", by: "host-arena").reportedConnection("arena")?.mutedLives == ["bistro", "cafe"])
        #expect(setMuted(false, "bistro", by: "host-arena").reportedConnection("arena")?.mutedLives == ["cafe"])
        #expect(setMuted(true, "arena", by: "host-arena").code == .noSuchConnection)
        #expect(setMuted(true, "nobody", by: "host-arena").code == .noSuchConnection)
        #expect(
            harness.exit("cafe").reportedConnection("arena")?.mutedLives == [], "a live that leaves is no longer muted")
        _ = harness.handle(.rights(live: "arena", admins: []))
        #expect(setMuted(true, "bistro", by: "adam").code == .needsOwnerOrAdmin)
        _ = harness.exit("arena")
        #expect(setMuted(true, "bistro", by: "host-arena").code == .noSuchConnection)
    }

    /// Rules: R8.20.
    @Test func `when an owner leaves and returns, its live is not in a connection, and can be invited again`() {
        var harness = ConnectionHarness(["arena", "bistro"])
        harness.connect("arena", "bistro")
        #expect(harness.handle(.userGone(live: "arena", user: "host-arena")).reportedConnection("bistro") == nil)
        #expect(harness.handle(.userBack(live: "arena", user: ConnectionHarness.host("arena"))) == [])
        #expect(harness.live("arena")?.connection == nil)
        #expect(harness.request("bistro", to: "arena").coHostCodes == [.sent])
        #expect(harness.accept("arena", inviter: "bistro").code == .success)
    }

    /// Rules: R8.21.
    @Test func `an ended live leaves its battle and its connection, and its seat machine is notified last`() {
        var harness = ConnectionHarness(["arena", "bistro", "cafe"])
        harness.connect("arena", "bistro", "cafe")
        let battle = harness.startBattle("arena", against: "bistro")
        let effects = harness.handle(.ended(live: "arena", ending: ending()))
        // arena gets the report that it has left, and last the end of the live.
        #expect(effects.notifiedLives == ["arena", "bistro", "cafe", "arena"])
        #expect(
            effects.reportedEvents("bistro") == [
                .battleUserExited(battle: battle, live: "arena"), .coHostLeft(member: harness.member("arena")),
            ])
        #expect(
            effects.reportedEvents("cafe") == [
                .battleUserExited(battle: battle, live: "arena"), .coHostLeft(member: harness.member("arena")),
            ])
        #expect(effects.last == .seat(SeatInput(LiveKey("demo", "arena"), .ended(ending: ending()))))
        #expect(
            harness.handle(.ended(live: "unknown", ending: ending()))
                == [.seat(SeatInput(LiveKey("demo", "unknown"), .ended(ending: ending())))],
            "the end of an unknown live is passed on too")
    }

    @Test func `I6 a live has a revocation fence only after a kick, and the fence is removed with the live`() {
        var harness = ConnectionHarness(["arena", "bistro"])
        // After a kick, presence reports the user's floor, its lowest valid ticket. The fence stores the floors.
        let floor = Ticket(Callers.joinTicket.offset + 1)
        _ = harness.handle(.floor(live: "arena", user: "host-arena", ticket: floor))
        #expect(harness.live("arena")?.hasRevocations == true && harness.live("bistro")?.hasRevocations == false)
        #expect(
            harness.handle(.exit(live: "bistro", caller: harness.callers.user("host-bistro", ticket: nil))).code
                == .notInRoom, "bistro has no fence, but a caller without a ticket has not joined the live")
        _ = harness.handle(.ended(live: "arena", ending: ending()))
        _ = harness.handle(.opened(live: "arena", owner: ConnectionHarness.host("arena"), isVoice: false))
        #expect(
            harness.request("arena", to: "bistro").coHostCodes == [.sent],
            "the fence of the ended live does not apply to the new live with its id")
    }

    /// Rules: R16.11.
    @Test func `I15 a late retry sends no request, and gets its first outcome while that is recorded`() {
        var harness = ConnectionHarness(["arena", "bistro"])
        var caller = harness.callers.user("host-arena")
        func request(_ caller: Caller) -> ConnectionCommand {
            .coHostRequest(from: "arena", to: ["bistro"], caller: caller)
        }
        caller.isLateRetry = true
        #expect(harness.handle(request(caller)).code == .requestForgotten)
        caller.isLateRetry = false
        let firstEffects = harness.handle(request(caller))
        #expect(firstEffects.notices.count == 1)
        let firstReply = firstEffects.filter { if case .reply = $0 { true } else { false } }
        caller.isLateRetry = true
        #expect(harness.handle(request(caller)) == firstReply)
        // The outcome is forgotten after 60 s, and the counter of the call 300 s later. Each time is rounded up to a
        // multiple of 10 s.
        _ = harness.advance(milliseconds: 70_000)
        caller.isLateRetry = false
        #expect(
            harness.handle(request(caller)).code == .requestForgotten,
            "the stored counter shows that the machine has decided the call before")
        #expect(harness.advance(milliseconds: 310_000).notices == [])
        caller.isLateRetry = true
        #expect(
            harness.handle(request(caller)).code == .requestForgotten,
            "the counter is forgotten too, but the call is marked as a late retry")
    }
}
