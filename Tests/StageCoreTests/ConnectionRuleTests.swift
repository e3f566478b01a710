// SPDX-License-Identifier: Apache-2.0
import CoreKit
import PlazaModel
import StageCore
import Testing

/// Templates, paces, full voice lives, seats of partners, muting, and what becomes of owners who come and go.
struct ConnectionRuleTests {
    private func reasons(_ effects: [Effect]) -> [Int?] {
        guard case .coHost(let codes)? = effects.result else { return [] }
        return codes.map { $0.reason?.code }
    }

    private func ask(_ rig: inout ConnectionRig, _ from: LiveID, _ to: LiveID, template: Int) -> [Effect] {
        rig.call(from) {
            .request(
                from: from, to: [to], layoutTemplate: template, timeoutSeconds: 0, extensionInfo: "", caller: $0)
        }
    }

    @Test func `behind each code of a co-host request stands a code of the whole service`() {
        var rig = ConnectionRig(["a", "b", "c", "d", "e", "f"])
        _ = rig.tell(.opened(live: "voice", owner: ConnectionRig.host("voice"), isVoice: true))
        rig.connect("a", "b")
        rig.connect("c", "d")
        _ = rig.request("c", "e")
        let effects = rig.request("a", "nobody", "voice", "b", "c", "e", "f", "f", "a")
        #expect(self.reasons(effects) == [100004, 100015, 100401, 100403, 100402, nil, 100402, 100002])
    }

    @Test func `I12 a newcomer takes over the connection's id and template, and both are gone with it`() {
        var rig = ConnectionRig(["a", "b", "c"])
        _ = self.ask(&rig, "a", "b", template: 601)
        let first = rig.accept("b", "a").toldConnection("b")
        #expect(first?.templateID == 601)
        _ = self.ask(&rig, "b", "c", template: 600)
        let joined = rig.accept("c", "b")
        #expect(joined.toldLives == ["a", "b", "c"])
        #expect(joined.toldConnection("c")?.templateID == 601)
        #expect(joined.toldConnection("c")?.id == first?.id)
        _ = rig.exit("c")
        #expect(rig.exit("b").toldConnection("a") == nil, "without a connection its own template counts again")
    }

    @Test func `a layout is one for connections of the live's kind, an unknown one is the kind's own`() {
        var rig = ConnectionRig(["a", "b"])
        for (asked, given) in [(0, 600), (600, 600), (601, 601), (400, 400), (801, 600), (999, 600)] {
            _ = self.ask(&rig, "a", "b", template: asked)
            #expect(rig.accept("b", "a").toldConnection("a")?.templateID == given, "\(asked)")
            _ = rig.exit("a")
        }
        for wrong in [2, 50, 199, 1000, -1] {
            #expect(self.ask(&rig, "a", "b", template: wrong).code == 100002, "\(wrong)")
        }
        var voice = ConnectionRig([])
        for live: LiveID in ["u", "v"] {
            _ = voice.tell(.opened(live: live, owner: ConnectionRig.host(live), isVoice: true))
        }
        #expect(self.ask(&voice, "u", "v", template: 600).code == 100002)
        _ = self.ask(&voice, "u", "v", template: 50)
        #expect(voice.accept("v", "u").toldConnection("u")?.templateID == 2)
    }

    @Test(arguments: [(400, 2), (601, 7), (600, 9)])
    func `I12 a connection is full when its layout has no more room`(template: Int, capacity: Int) {
        let lives = (0..<10).map { LiveID("l\($0)") }
        var rig = ConnectionRig(lives)
        // The last one was asked while there was room.
        _ = self.ask(&rig, lives[0], lives[1], template: template)
        _ = rig.accept(lives[1], lives[0])
        _ = rig.request(lives[1], lives[9])
        for live in lives[2...8].prefix(capacity - 2) {
            #expect(rig.request(lives[0], live).liveCodes == [0])
            #expect(rig.accept(live, lives[0]).code == 0)
        }
        #expect(rig.live(lives[0])?.connection != nil)
        if capacity == 2 {
            #expect(rig.live(lives[9])?.incoming == nil, "a full connection does not ask")
        } else {
            #expect(rig.accept(lives[9], lives[1]).code == 100404)
        }
        let late = rig.request(lives[1], "l8")
        #expect(capacity == 9 || late.liveCodes == [4])
        #expect(capacity == 9 || self.reasons(late) == [100404])
    }

    @Test func `a live sends ten co-host requests at once, then one each second`() {
        var rig = ConnectionRig(["a", "b"])
        for _ in 0..<10 { #expect(rig.request("a", "nobody").liveCodes == [1]) }
        let before = rig.rig.journal[.live(LiveKey("demo", "a"))]
        let refused = rig.request("a", "b")
        #expect(refused.code == 100405)
        guard case .failure(let error)? = refused.replies.last?.outcome else {
            Issue.record("not refused")
            return
        }
        #expect(error.retryAfter == 1000 && error.message.contains("10"))
        #expect(rig.rig.journal[.live(LiveKey("demo", "a"))] == before, "a refused call changes nothing")
        #expect(rig.request("b", "nobody").code == 0, "each live has a pace of its own")
        _ = rig.pass(milliseconds: 999)
        #expect(rig.request("a", "b").code == 100405)
        _ = rig.pass(milliseconds: 1)
        #expect(rig.request("a", "b").liveCodes == [0])
        #expect(rig.request("a", "b").code == 100405)
    }

    /// Seats of a voice live, the first `occupied` of ten taken.
    private func seats(_ live: LiveID, occupied: Int) -> [Seat] {
        (0..<10).map { index in
            let user = SeatUser(user: info(UserID("guest\(index)")), role: .generalUser, live: live)
            return Seat(index: index, occupant: index < occupied ? user : nil)
        }
    }

    @Test func `a voice live with more than six occupied seats neither asks, nor is asked, nor accepts`() {
        var rig = ConnectionRig([])
        for live: LiveID in ["u", "v"] {
            _ = rig.tell(.opened(live: live, owner: ConnectionRig.host(live), isVoice: true))
        }
        _ = rig.tell(.seatsChanged(live: "u", seats: self.seats("u", occupied: 7)))
        #expect(rig.request("u", "v").code == 100013)
        let asked = rig.request("v", "u")
        #expect(asked.liveCodes == [4] && self.reasons(asked) == [100013])
        _ = rig.tell(.seatsChanged(live: "u", seats: self.seats("u", occupied: 6)))
        #expect(rig.request("v", "u").liveCodes == [0])
        _ = rig.tell(.seatsChanged(live: "u", seats: self.seats("u", occupied: 7)))
        #expect(rig.accept("u", "v").code == 100013)
        _ = rig.tell(.seatsChanged(live: "u", seats: self.seats("u", occupied: 6)))
        _ = rig.tell(.seatsChanged(live: "v", seats: self.seats("v", occupied: 8)))
        #expect(rig.accept("u", "v").code == 100013, "the one who asks is too full now")
        _ = rig.tell(.seatsChanged(live: "v", seats: self.seats("v", occupied: 0)))
        #expect(rig.accept("u", "v").code == 0)
    }

    @Test func `a video live may have any number on its seats`() {
        var rig = ConnectionRig(["a", "b"])
        _ = rig.tell(.seatsChanged(live: "a", seats: self.seats("a", occupied: 10)))
        #expect(rig.request("a", "b").liveCodes == [0])
        #expect(rig.accept("b", "a").code == 0)
    }

    @Test func `partners see each other's occupants, and a live not its own twice`() {
        var rig = ConnectionRig(["a", "b", "c"])
        rig.connect("a", "b", "c")
        let seats = self.seats("b", occupied: 3)
        let told = rig.tell(.seatsChanged(live: "b", seats: seats))
        #expect(told.toldLives == ["a", "c"])
        #expect(told.toldConnection("a")?.members.map(\.seats) == [nil, Array(seats.prefix(3)), nil])
        #expect(told.toldEvents("a") == [])
        #expect(rig.tell(.seatsChanged(live: "b", seats: seats)) == [], "nothing new")
        let joined = rig.tell(.seatsChanged(live: "c", seats: self.seats("c", occupied: 1)))
        #expect(joined.toldConnection("b")?.members.map(\.seats?.count) == [nil, nil, 1])
        let left = rig.tell(.seatsChanged(live: "c", seats: self.seats("c", occupied: 0)))
        #expect(left.toldConnection("a")?.members.map(\.seats?.count) == [nil, 3, 0], "nobody sits there any more")
        _ = rig.exit("b")
        #expect(rig.live("b")?.seats == nil)
        #expect(rig.tell(.seatsChanged(live: "b", seats: seats)) == [], "nobody looks on any more")
        #expect(rig.tell(.seatsChanged(live: "nobody", seats: seats)) == [])
    }

    @Test func `I16 partners see at most fifty seats of a live, and six of a voice live`() {
        var rig = ConnectionRig(["a", "b"])
        rig.connect("a", "b")
        let many = (0..<60).map { index in
            Seat(index: index, occupant: SeatUser(user: info("g"), role: .generalUser, live: "a"))
        }
        #expect(rig.tell(.seatsChanged(live: "a", seats: many)).toldConnection("b")?.members[0].seats?.count == 50)
        var voice = ConnectionRig([])
        for live: LiveID in ["u", "v"] {
            _ = voice.tell(.opened(live: live, owner: ConnectionRig.host(live), isVoice: true))
        }
        voice.connect("u", "v")
        let shown = voice.tell(.seatsChanged(live: "u", seats: self.seats("u", occupied: 2)))
        #expect(shown.toldConnection("v")?.members[0].seats == Array(self.seats("u", occupied: 2).prefix(6)))
    }

    @Test func `owner and admins mute a remote host in their own live alone`() {
        var rig = ConnectionRig(["a", "b", "c"])
        rig.connect("a", "b", "c")
        _ = rig.tell(.rights(live: "a", admins: ["adam"]))
        func mute(_ user: UserID, _ other: LiveID, _ isMuted: Bool) -> [Effect] {
            rig.tell(.muteRemote(live: "a", other: other, isMuted: isMuted, caller: rig.callers.user(user)))
        }
        #expect(mute("gina", "b", true).code == -2301)
        let muted = mute("adam", "b", true)
        #expect(muted.toldLives == ["a"], "the other host is not told")
        #expect(muted.toldConnection("a")?.mutedLives == ["b"])
        #expect(muted.toldEvents("a") == [.coHostMuted(live: "b", isMuted: true)])
        #expect(mute("host-a", "b", true).seatInputs == [], "muted already")
        #expect(mute("host-a", "c", true).toldConnection("a")?.mutedLives == ["b", "c"])
        #expect(mute("host-a", "b", false).toldConnection("a")?.mutedLives == ["c"])
        #expect(mute("host-a", "a", true).code == 100400)
        #expect(mute("host-a", "nobody", true).code == 100400)
        #expect(rig.exit("c").toldConnection("a")?.mutedLives == [], "who leaves is muted no more")
        _ = rig.tell(.rights(live: "a", admins: []))
        #expect(mute("adam", "b", true).code == -2301)
        _ = rig.exit("a")
        #expect(mute("host-a", "b", true).code == 100400)
    }

    @Test func `an owner who was lost and comes back is in no connection, and partners are asked anew`() {
        var rig = ConnectionRig(["a", "b"])
        rig.connect("a", "b")
        #expect(rig.tell(.userGone(live: "a", user: "host-a")).toldConnection("b") == nil)
        #expect(rig.tell(.userBack(live: "a", user: ConnectionRig.host("a"))) == [])
        #expect(rig.live("a")?.connection == nil)
        #expect(rig.request("b", "a").liveCodes == [0])
        #expect(rig.accept("a", "b").code == 0)
    }

    @Test func `members see how a host is called now`() {
        var rig = ConnectionRig(["a", "b"])
        rig.connect("a", "b")
        let renamed = UserInfo(userID: "host-a", userName: "Anna the Great")
        let told = rig.tell(.userBack(live: "a", user: renamed))
        #expect(told.toldLives == ["a", "b"])
        #expect(told.toldConnection("b")?.members[0].host == renamed)
        #expect(rig.tell(.userBack(live: "a", user: info("gina"))) == [], "a viewer's name is no host's")
        let later = rig.tell(.profile(live: "b", user: UserInfo(userID: "host-b", userName: "Bea")))
        #expect(later.toldConnection("a")?.members.map(\.host.userName) == ["Anna the Great", "Bea"])
        #expect(rig.tell(.profile(live: "b", user: UserInfo(userID: "host-b", userName: "Bea"))) == [], "told again")
        #expect(rig.tell(.profile(live: "b", user: info("gina"))) == [], "a viewer's name is no host's")
        // What the seats said before the new name arrives after it: names come from presence alone.
        let seated = SeatUser(user: ConnectionRig.host("b"), role: .owner, live: "b")
        let seats = rig.tell(.seatsChanged(live: "b", seats: [Seat(index: 0, occupant: seated)]))
        #expect(seats.toldConnection("a")?.members[1].host.userName == "Bea")
    }

    @Test func `those who fight see how a host is called now, and so do later battles`() {
        var rig = ConnectionRig(["a", "b", "c"])
        rig.connect("a", "b", "c")
        let battle = rig.fight("a", "b")
        let renamed = UserInfo(userID: "host-b", userName: "Bea")
        let told = rig.tell(.profile(live: "b", user: renamed))
        #expect(told.toldLives == ["a", "b", "c"])
        for live: LiveID in ["a", "b"] {
            let view = told.toldBattle(live)
            #expect(view?.id == battle)
            #expect(view?.sides.map(\.host) == [ConnectionRig.host("a"), renamed])
            #expect(told.toldEvents(live) == [])
        }
        _ = rig.pass(milliseconds: 60_000)
        _ = rig.fight("b", "c")
        #expect(rig.live("b")?.owner == renamed)
        let moved = rig.tell(.profile(live: "c", user: UserInfo(userID: "host-c", userName: "Cleo")))
        #expect(moved.toldBattle("b")?.sides.map(\.host.userName) == ["Bea", "Cleo"])
        #expect(moved.toldBattle("a")?.sides.map(\.host.userName) == ["Bea", "Cleo"], "who watches sees it too")
    }

    @Test func `the end of a live leaves battle and connection, tells the partners, and only then the seats`() {
        var rig = ConnectionRig(["a", "b", "c"])
        rig.connect("a", "b", "c")
        let battle = rig.fight("a", "b")
        let effects = rig.tell(.ended(live: "a", ending: ending()))
        #expect(effects.toldLives == ["a", "b", "c", "a"])
        #expect(
            effects.toldEvents("b") == [
                .battleUserExited(battle: battle, live: "a"), .coHostLeft(member: rig.member("a")),
            ])
        #expect(
            effects.toldEvents("c") == [
                .battleUserExited(battle: battle, live: "a"), .coHostLeft(member: rig.member("a")),
            ])
        #expect(effects.last == .seat(SeatInput(LiveKey("demo", "a"), .ended(ending: ending()))))
        #expect(
            rig.tell(.ended(live: "unknown", ending: ending()))
                == [.seat(SeatInput(LiveKey("demo", "unknown"), .ended(ending: ending())))])
    }

    @Test func `I6 floors are asked for only where there are some, and go with the live`() {
        var rig = ConnectionRig(["a", "b"])
        _ = rig.tell(.floor(live: "a", user: "host-a", ticket: Ticket(51)))
        #expect(rig.live("a")?.hasFloors == true && rig.live("b")?.hasFloors == false)
        #expect(rig.tell(.exit(live: "b", caller: rig.callers.user("host-b", ticket: nil))).code == -2101)
        _ = rig.tell(.ended(live: "a", ending: ending()))
        _ = rig.tell(.opened(live: "a", owner: ConnectionRig.host("a"), isVoice: false))
        #expect(rig.request("a", "b").liveCodes == [0], "another live of the same name")
    }
}
