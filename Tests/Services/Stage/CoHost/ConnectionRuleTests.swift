// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel
import Testing

@testable import StageCore

/// Templates, rate limits, crowded voice lives, members' seats, muting, and owners who leave and return.
struct ConnectionRuleTests {
    /// The service-wide code for each live that a co-host request names; nil where the request was sent.
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

    /// Rules: R8.3.
    @Test func `each result code of a co-host request comes with a service-wide code`() {
        var harness = ConnectionHarness(["arena", "bistro", "cafe", "disco", "expo", "forum"])
        _ = harness.handle(.opened(live: "voice", owner: ConnectionHarness.host("voice"), isVoice: true))
        harness.connect("arena", "bistro")
        harness.connect("cafe", "disco")
        _ = harness.request("cafe", to: "expo")
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
    @Test func `a layout number must fit voice or video lives, and an unknown number stands for the default`() {
        var harness = ConnectionHarness(["arena", "bistro"])
        // 0 means the default, 600. 801 is no template of connections, and 999 is unknown.
        for (requested, resolved) in [(0, 600), (600, 600), (601, 601), (400, 400), (801, 600), (999, 600)] {
            _ = self.request(&harness, "arena", to: "bistro", template: requested)
            #expect(
                harness.accept("bistro", inviter: "arena").reportedConnection("arena")?.templateID == resolved,
                "\(requested)")
            _ = harness.exit("arena")
        }
        // Video lives have the numbers 200 to 999, voice lives 1 to 199.
        for wrong in [2, 50, 199, 1000, -1] {
            #expect(self.request(&harness, "arena", to: "bistro", template: wrong).code == .badParameter, "\(wrong)")
        }
        var voice = ConnectionHarness([])
        for live: LiveID in ["radio", "talk"] {
            _ = voice.handle(.opened(live: live, owner: ConnectionHarness.host(live), isVoice: true))
        }
        #expect(self.request(&voice, "radio", to: "talk", template: 600).code == .badParameter)
        // 50 is no template of connections; the default of voice lives is 2.
        _ = self.request(&voice, "radio", to: "talk", template: 50)
        #expect(voice.accept("talk", inviter: "radio").reportedConnection("radio")?.templateID == 2)
    }

    @Test(arguments: [(400, 2), (601, 7), (600, 9)])
    func `I12 a connection is full when its layout has no free region`(template: Int, capacity: Int) {
        let lives = (0..<10).map { LiveID("l\($0)") }
        var harness = ConnectionHarness(lives)
        // l9 is invited before the connection is full, except with a capacity of 2: then it is full already.
        _ = self.request(&harness, lives[0], to: lives[1], template: template)
        _ = harness.accept(lives[1], inviter: lives[0])
        _ = harness.request(lives[1], to: lives[9])
        for live in lives[2...8].prefix(capacity - 2) {
            #expect(harness.request(lives[0], to: live).coHostCodes == [.sent])
            #expect(harness.accept(live, inviter: lives[0]).code == .success)
        }
        #expect(harness.live(lives[0])?.connection != nil)
        if capacity == 2 {
            #expect(harness.live(lives[9])?.incoming == nil, "a full connection sends no request")
        } else {
            #expect(harness.accept(lives[9], inviter: lives[1]).code == .connectionLimit)
        }
        // Only a connection of nine lives has l8 as a member; the smaller ones are full without it.
        let laterRequest = harness.request(lives[1], to: lives[8])
        #expect(capacity == 9 || laterRequest.coHostCodes == [.full])
        #expect(capacity == 9 || self.reasons(laterRequest) == [.connectionLimit])
    }

    /// Rules: R8.5.
    @Test func `a live may send ten co-host requests at once, then one each second`() {
        var harness = ConnectionHarness(["arena", "bistro"])
        for _ in 0..<10 { #expect(harness.request("arena", to: "nobody").coHostCodes == [.noSuchLive]) }
        let rowBefore = harness.machine.journal[.live(LiveKey("demo", "arena"))]
        let refused = harness.request("arena", to: "bistro")
        #expect(refused.code == .connectionTooFrequent)
        guard case .failure(let error)? = refused.replies.last?.outcome else {
            Issue.record("not refused")
            return
        }
        #expect(error.retryAfter == 1000 && error.message.contains("10"), "the message names the limit")
        let rowAfter = harness.machine.journal[.live(LiveKey("demo", "arena"))]
        #expect(rowAfter == rowBefore, "a rejected call changes nothing")
        #expect(harness.request("bistro", to: "nobody").code == .success, "each live has its own limit")
        _ = harness.advance(milliseconds: 999)
        #expect(harness.request("arena", to: "bistro").code == .connectionTooFrequent)
        _ = harness.advance(milliseconds: 1)
        #expect(harness.request("arena", to: "bistro").coHostCodes == [.sent])
        #expect(harness.request("arena", to: "bistro").code == .connectionTooFrequent)
    }

    /// Ten seats of a live, of which the first `occupied` are taken.
    private func seats(_ live: LiveID, occupied: Int) -> [Seat] {
        (0..<10).map { index in
            let user = SeatUser(user: userInfo(UserID("guest\(index)")), role: .generalUser, live: live)
            return Seat(index: index, occupant: index < occupied ? user : nil)
        }
    }

    /// Rules: R7.14.
    @Test func `a voice live with more than six occupied seats can neither invite, nor be invited, nor accept`() {
        var harness = ConnectionHarness([])
        for live: LiveID in ["radio", "talk"] {
            _ = harness.handle(.opened(live: live, owner: ConnectionHarness.host(live), isVoice: true))
        }
        _ = harness.handle(.seatsChanged(live: "radio", seats: self.seats("radio", occupied: 7)))
        #expect(harness.request("radio", to: "talk").code == .overLimit)
        let requested = harness.request("talk", to: "radio")
        #expect(requested.coHostCodes == [.full] && self.reasons(requested) == [.overLimit])
        _ = harness.handle(.seatsChanged(live: "radio", seats: self.seats("radio", occupied: 6)))
        #expect(harness.request("talk", to: "radio").coHostCodes == [.sent])
        _ = harness.handle(.seatsChanged(live: "radio", seats: self.seats("radio", occupied: 7)))
        #expect(harness.accept("radio", inviter: "talk").code == .overLimit)
        _ = harness.handle(.seatsChanged(live: "radio", seats: self.seats("radio", occupied: 6)))
        _ = harness.handle(.seatsChanged(live: "talk", seats: self.seats("talk", occupied: 8)))
        #expect(harness.accept("radio", inviter: "talk").code == .overLimit, "the inviting live is crowded now")
        _ = harness.handle(.seatsChanged(live: "talk", seats: self.seats("talk", occupied: 0)))
        #expect(harness.accept("radio", inviter: "talk").code == .success)
    }

    @Test func `a video live with any number of occupied seats can connect`() {
        var harness = ConnectionHarness(["arena", "bistro"])
        _ = harness.handle(.seatsChanged(live: "arena", seats: self.seats("arena", occupied: 10)))
        #expect(harness.request("arena", to: "bistro").coHostCodes == [.sent])
        #expect(harness.accept("bistro", inviter: "arena").code == .success)
    }

    /// Rules: R7.12.
    @Test func `members see each other's occupants, and a live gets no report of its own`() {
        var harness = ConnectionHarness(["arena", "bistro", "cafe"])
        harness.connect("arena", "bistro", "cafe")
        let seats = self.seats("bistro", occupied: 3)
        let effects = harness.handle(.seatsChanged(live: "bistro", seats: seats))
        #expect(effects.notifiedLives == ["arena", "cafe"])
        // A live gets no seats of its own, and none of a member that has not reported any.
        #expect(effects.reportedConnection("arena")?.members.map(\.seats) == [nil, Array(seats.prefix(3)), nil])
        #expect(effects.reportedEvents("arena") == [])
        #expect(harness.handle(.seatsChanged(live: "bistro", seats: seats)) == [], "the seats have not changed")
        let guestSatDown = harness.handle(.seatsChanged(live: "cafe", seats: self.seats("cafe", occupied: 1)))
        #expect(guestSatDown.reportedConnection("bistro")?.members.map(\.seats?.count) == [nil, nil, 1])
        let guestStoodUp = harness.handle(.seatsChanged(live: "cafe", seats: self.seats("cafe", occupied: 0)))
        #expect(
            guestStoodUp.reportedConnection("arena")?.members.map(\.seats?.count) == [nil, 3, 0],
            "cafe has no occupants any more, bistro has three")
        _ = harness.exit("bistro")
        #expect(harness.live("bistro")?.seats == nil)
        #expect(
            harness.handle(.seatsChanged(live: "bistro", seats: seats)) == [],
            "the live has no members to notify any more")
        #expect(harness.handle(.seatsChanged(live: "nobody", seats: seats)) == [])
    }

    /// Rules: R8.15.
    @Test func `I16 members see at most fifty seats of a video live, and six of a voice live`() {
        var harness = ConnectionHarness(["arena", "bistro"])
        harness.connect("arena", "bistro")
        let many = (0..<60).map { index in
            Seat(index: index, occupant: SeatUser(user: userInfo("g"), role: .generalUser, live: "arena"))
        }
        #expect(
            harness.handle(.seatsChanged(live: "arena", seats: many)).reportedConnection("bistro")?.members[0].seats?
                .count == 50
        )
        var voice = ConnectionHarness([])
        for live: LiveID in ["radio", "talk"] {
            _ = voice.handle(.opened(live: live, owner: ConnectionHarness.host(live), isVoice: true))
        }
        voice.connect("radio", "talk")
        let shown = voice.handle(.seatsChanged(live: "radio", seats: self.seats("radio", occupied: 2)))
        #expect(shown.reportedConnection("talk")?.members[0].seats == Array(self.seats("radio", occupied: 2).prefix(6)))
    }

    /// Rules: R8.13.
    @Test func `owner and admins can mute a remote host, in their own live only`() {
        var harness = ConnectionHarness(["arena", "bistro", "cafe"])
        harness.connect("arena", "bistro", "cafe")
        _ = harness.handle(.rights(live: "arena", admins: ["adam"]))
        func setMuted(_ isMuted: Bool, _ other: LiveID, by user: UserID) -> [Effect] {
            harness.handle(
                .muteRemote(live: "arena", other: other, isMuted: isMuted, caller: harness.callers.user(user)))
        }
        #expect(setMuted(true, "bistro", by: "gina").code == .needsOwnerOrAdmin)
        let muted = setMuted(true, "bistro", by: "adam")
        #expect(muted.notifiedLives == ["arena"], "the other host is not notified")
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
    @Test func `the live of an owner who was gone and returns is in no connection, and must send new requests`() {
        var harness = ConnectionHarness(["arena", "bistro"])
        harness.connect("arena", "bistro")
        #expect(harness.handle(.userGone(live: "arena", user: "host-arena")).reportedConnection("bistro") == nil)
        #expect(harness.handle(.userBack(live: "arena", user: ConnectionHarness.host("arena"))) == [])
        #expect(harness.live("arena")?.connection == nil)
        #expect(harness.request("bistro", to: "arena").coHostCodes == [.sent])
        #expect(harness.accept("arena", inviter: "bistro").code == .success)
    }

    @Test func `members see a host's new name`() {
        var harness = ConnectionHarness(["arena", "bistro"])
        harness.connect("arena", "bistro")
        let renamed = UserInfo(userID: "host-arena", userName: "Anna the Great")
        let effects = harness.handle(.userBack(live: "arena", user: renamed))
        #expect(effects.notifiedLives == ["arena", "bistro"])
        #expect(effects.reportedConnection("bistro")?.members[0].host == renamed)
        #expect(
            harness.handle(.userBack(live: "arena", user: userInfo("gina"))) == [], "a viewer's name changes nothing")
        let secondRenameEffects = harness.handle(
            .profile(live: "bistro", user: UserInfo(userID: "host-bistro", userName: "Bea")))
        #expect(
            secondRenameEffects.reportedConnection("arena")?.members.map(\.host.userName) == ["Anna the Great", "Bea"])
        #expect(
            harness.handle(.profile(live: "bistro", user: UserInfo(userID: "host-bistro", userName: "Bea"))) == [],
            "a repeated report changes nothing")
        #expect(
            harness.handle(.profile(live: "bistro", user: userInfo("gina"))) == [], "a viewer's name changes nothing")
        // An older report of the seats arrives after the new name. It is ignored, because only presence reports
        // names.
        let seated = SeatUser(user: ConnectionHarness.host("bistro"), role: .owner, live: "bistro")
        let seatEffects = harness.handle(.seatsChanged(live: "bistro", seats: [Seat(index: 0, occupant: seated)]))
        #expect(seatEffects.reportedConnection("arena")?.members[1].host.userName == "Bea")
    }

    /// Rules: R2.15.
    @Test func `a running battle and later battles show a host's new name`() {
        var harness = ConnectionHarness(["arena", "bistro", "cafe"])
        harness.connect("arena", "bistro", "cafe")
        let battle = harness.startBattle("arena", against: "bistro")
        let renamed = UserInfo(userID: "host-bistro", userName: "Bea")
        let effects = harness.handle(.profile(live: "bistro", user: renamed))
        #expect(effects.notifiedLives == ["arena", "bistro", "cafe"])
        for live: LiveID in ["arena", "bistro"] {
            let view = effects.reportedBattle(live)
            #expect(view?.id == battle)
            #expect(view?.sides.map(\.host) == [ConnectionHarness.host("arena"), renamed])
            #expect(effects.reportedEvents(live) == [])
        }
        _ = harness.advance(milliseconds: 60_000)
        _ = harness.startBattle("bistro", against: "cafe")
        #expect(harness.live("bistro")?.owner == renamed)
        let renameEffects = harness.handle(
            .profile(live: "cafe", user: UserInfo(userID: "host-cafe", userName: "Cleo")))
        #expect(renameEffects.reportedBattle("bistro")?.sides.map(\.host.userName) == ["Bea", "Cleo"])
        #expect(
            renameEffects.reportedBattle("arena")?.sides.map(\.host.userName) == ["Bea", "Cleo"],
            "a live outside the battle sees it too")
    }

    /// Rules: R8.21.
    @Test func `an ended live leaves battle and connection; all members are notified, and last its own seat machine`() {
        var harness = ConnectionHarness(["arena", "bistro", "cafe"])
        harness.connect("arena", "bistro", "cafe")
        let battle = harness.startBattle("arena", against: "bistro")
        let effects = harness.handle(.ended(live: "arena", ending: ending()))
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
                == [.seat(SeatInput(LiveKey("demo", "unknown"), .ended(ending: ending())))])
    }

    @Test func `I6 the revocation fence is read only if the live has kicked users, and is removed with the live`() {
        var harness = ConnectionHarness(["arena", "bistro"])
        // The floor is the lowest ticket that is still valid; the fence stores the floors of kicked users.
        let floor = Ticket(Callers.joinTicket.offset + 1)
        _ = harness.handle(.floor(live: "arena", user: "host-arena", ticket: floor))
        #expect(harness.live("arena")?.hasRevocations == true && harness.live("bistro")?.hasRevocations == false)
        #expect(
            harness.handle(.exit(live: "bistro", caller: harness.callers.user("host-bistro", ticket: nil))).code
                == .notInRoom, "without a fence, a caller without a ticket is still rejected")
        _ = harness.handle(.ended(live: "arena", ending: ending()))
        _ = harness.handle(.opened(live: "arena", owner: ConnectionHarness.host("arena"), isVoice: false))
        #expect(harness.request("arena", to: "bistro").coHostCodes == [.sent], "another live of the same name")
    }

    /// Rules: R16.11.
    @Test func `I15 a late retry sends no request, and gets its first outcome while that is recorded`() {
        var harness = ConnectionHarness(["arena", "bistro"])
        var caller = harness.callers.user("host-arena")
        func request(_ caller: Caller) -> ConnectionCommand {
            .request(
                from: "arena", to: ["bistro"], layoutTemplate: 0, timeoutSeconds: 0, extensionInfo: "", caller: caller)
        }
        caller.isLateRetry = true
        #expect(harness.handle(request(caller)).code == .requestForgotten)
        caller.isLateRetry = false
        let firstEffects = harness.handle(request(caller))
        #expect(firstEffects.notices.count == 1)
        let reply = firstEffects.filter { if case .reply = $0 { true } else { false } }
        caller.isLateRetry = true
        #expect(harness.handle(request(caller)) == reply)
        // The outcome is forgotten after a minute, and its counter after five more, both rounded up to 10 s.
        _ = harness.advance(milliseconds: 70_000)
        caller.isLateRetry = false
        #expect(harness.handle(request(caller)).code == .requestForgotten, "the counter is still known")
        #expect(harness.advance(milliseconds: 310_000).notices == [])
        caller.isLateRetry = true
        #expect(harness.handle(request(caller)).code == .requestForgotten)
    }
}
