// SPDX-License-Identifier: Apache-2.0
import CoreKit
import PlazaModel
import StageCore
import Testing

struct ConnectionMachineTests {
    @Test func `a request reaches several lives, and an acceptance connects and tells both`() {
        var rig = ConnectionRig(["a", "b", "c"])
        let asking = rig.callers.user("host-a")
        let expiry = rig.rig.moment.now + .seconds(10)
        #expect(
            rig.tell(
                .request(
                    from: "a", to: ["b", "c"], layoutTemplate: 0, timeoutSeconds: 0, extensionInfo: "x", caller: asking)
            ) == [
                rig.notice(
                    to: "b",
                    .coHostRequestReceived(inviter: rig.member("a"), expiresAt: expiry, extensionInfo: "x")),
                rig.notice(
                    to: "c",
                    .coHostRequestReceived(inviter: rig.member("a"), expiresAt: expiry, extensionInfo: "x")),
                .success(
                    .coHost(codes: [LiveCode(live: "b", code: 0), LiveCode(live: "c", code: 0)]), to: asking,
                    app: "demo"),
            ])
        let answering = rig.callers.user("host-b")
        let effects = rig.tell(.accept(live: "b", inviter: "a", caller: answering))
        let view = ConnectionView(
            id: ConnectionID("c-\(rig.rig.moment.offset)"), members: [rig.member("a"), rig.member("b")])
        let joined = [StageEvent.coHostJoined(member: rig.member("a")), .coHostJoined(member: rig.member("b"))]
        #expect(
            effects == [
                rig.notice(to: "a", .coHostRequestAccepted(invitee: rig.member("b"))),
                rig.seat("a", view, nil, joined), rig.seat("b", view, nil, joined),
                .success(.done, to: answering, app: "demo"),
            ])
        #expect(rig.live("a")?.outgoing == ["c"])
    }

    @Test func `I13 a request that nobody answers times out once, on both sides`() {
        var rig = ConnectionRig(["a", "b"])
        _ = rig.request("a", "b")
        #expect(rig.pass(milliseconds: 9_999) == [])
        #expect(
            rig.pass(milliseconds: 1) == [
                rig.notice(to: "a", .coHostRequestTimedOut(inviter: "a", invitee: "b")),
                rig.notice(to: "b", .coHostRequestTimedOut(inviter: "a", invitee: "b")),
            ])
        #expect(rig.accept("b", "a").code == 100400)
        #expect(rig.pass(milliseconds: 60_000) == [])
    }

    @Test func `I13 a request ends by a no, by its inviter, or with either live`() {
        var rig = ConnectionRig(["a", "b"])
        _ = rig.request("a", "b")
        #expect(
            rig.call("b") { .reject(live: "b", inviter: "a", caller: $0) }.first
                == rig.notice(to: "a", .coHostRequestRejected(invitee: rig.member("b"))))
        #expect(rig.call("b") { .reject(live: "b", inviter: "a", caller: $0) }.code == 100400)
        _ = rig.request("a", "b")
        #expect(
            rig.call("a") { .cancelRequest(from: "a", to: ["b", "nobody"], caller: $0) }.first
                == rig.notice(to: "b", .coHostRequestCancelled(inviter: rig.member("a"), invitee: "b")))
        #expect(rig.call("a") { .cancelRequest(from: "a", to: ["b"], caller: $0) }.code == 100400)
        _ = rig.request("a", "b")
        #expect(
            rig.tell(.userGone(live: "b", user: "host-b")) == [
                rig.notice(to: "a", .coHostRequestRejected(invitee: rig.member("b")))
            ])
        _ = rig.request("a", "b")
        #expect(
            rig.tell(.ended(live: "a", ending: ending())) == [
                rig.notice(to: "b", .coHostRequestCancelled(inviter: rig.member("a"), invitee: "b")),
                .seat(SeatInput(LiveKey("demo", "a"), .ended(ending: ending()))),
            ])
        // Also a live that is not known passes its end on (reference 19).
        #expect(
            rig.tell(.ended(live: "a", ending: ending()))
                == [.seat(SeatInput(LiveKey("demo", "a"), .ended(ending: ending())))])
        #expect(rig.request("b", "a").liveCodes == [1])
    }

    @Test func `each live that is asked gets its own code`() {
        var rig = ConnectionRig(["a", "b", "c", "d", "e", "f"])
        _ = rig.tell(.opened(live: "voice", owner: ConnectionRig.host("voice"), isVoice: true))
        rig.connect("a", "b")
        rig.connect("c", "d")
        _ = rig.request("c", "e")
        #expect(
            rig.request("a", "nobody", "voice", "b", "c", "e", "f", "f", "a").liveCodes
                == [1, 6, 2, 3, 2, 0, 2, -1])
        #expect(
            rig.call("a") {
                .request(from: "a", to: [], layoutTemplate: 0, timeoutSeconds: 0, extensionInfo: "", caller: $0)
            }.code
                == 100002)
        #expect(rig.request("a", "e", timeout: 1801).code == 100002)
    }

    @Test func `I12 a connection takes nine lives, a tenth is refused, also when it was asked before`() {
        let lives = (0..<11).map { LiveID("l\($0)") }
        var rig = ConnectionRig(lives)
        for live in lives[1...7] {
            #expect(rig.request("l0", live).liveCodes == [0])
            #expect(rig.accept(live, "l0").code == 0)
        }
        #expect(rig.request("l0", "l8").liveCodes == [0])
        #expect(rig.request("l1", "l9").liveCodes == [0])
        let effects = rig.accept("l8", "l0")
        #expect(effects.toldLives == Array(lives[0...8]))
        #expect(effects.toldConnection("l3")?.members.map(\.live) == Array(lives[0...8]))
        #expect(rig.accept("l9", "l1").code == 100404)
        #expect(rig.request("l2", "l10").liveCodes == [4])
    }

    @Test func `I12 a live that is connected cannot be pulled over`() {
        var rig = ConnectionRig(["a", "b", "c", "d"])
        _ = rig.request("a", "b")
        _ = rig.request("b", "c")
        _ = rig.accept("c", "b")
        #expect(rig.accept("b", "a").code == 100403)
        #expect(rig.accept("c", "b").code == 100401)
        #expect(rig.accept("d", "a").code == 100400)
        #expect(rig.request("d", "b").liveCodes == [2], "b still has the open request of a")
        #expect(rig.request("d", "c").liveCodes == [3])
    }

    @Test func `I13 two lives that ask each other need one answer`() {
        var rig = ConnectionRig(["a", "b"])
        _ = rig.request("a", "b")
        _ = rig.request("b", "a")
        let effects = rig.accept("a", "b")
        #expect(
            effects.notices.map(\.content) == [
                .coHostRequestCancelled(inviter: rig.member("a"), invitee: "b"),
                .coHostRequestCancelled(inviter: rig.member("a"), invitee: "b"),
                .coHostRequestAccepted(invitee: rig.member("a")),
            ])
        #expect(rig.live("a")?.outgoing == [] && rig.live("b")?.incoming == nil)
    }

    @Test func `I12 who exits leaves alone, and the last one left is connected no more`() {
        var rig = ConnectionRig(["a", "b", "c"])
        rig.connect("a", "b", "c")
        let first = rig.exit("a")
        #expect(first.toldLives == ["a", "b", "c"])
        #expect(first.toldConnection("a") == nil)
        #expect(first.toldConnection("b")?.members.map(\.live) == ["b", "c"])
        #expect(first.toldEvents("c") == [.coHostLeft(member: rig.member("a"))])
        #expect(rig.exit("a").code == 100400)
        let leaving = rig.callers.user("host-c")
        let left = [StageEvent.coHostLeft(member: rig.member("c"))]
        #expect(
            rig.tell(.exit(live: "c", caller: leaving)) == [
                rig.seat("c", nil, nil, left), rig.seat("b", nil, nil, left),
                .success(.done, to: leaving, app: "demo"),
            ])
        #expect(rig.exit("b").code == 100400)
    }

    @Test func `an owner who is gone leaves the connection, other users do not matter`() {
        var rig = ConnectionRig(["a", "b"])
        rig.connect("a", "b")
        #expect(rig.tell(.userGone(live: "a", user: "gina")) == [])
        #expect(rig.tell(.userGone(live: "a", user: "host-a")).toldLives == ["a", "b"])
        rig.connect("a", "b")
        #expect(rig.tell(.ended(live: "b", ending: ending())).toldLives == ["b", "a", "b"])
        #expect(rig.live("b") == nil && rig.live("a")?.connection == nil)
    }

    @Test func `I5 after a restart of presence the hosts on stage are asked for`() {
        var rig = ConnectionRig(["a", "b", "c"])
        rig.connect("a", "b")
        #expect(
            rig.tell(.confirmOwner(live: "a")) == [
                .audience(AudienceInput(LiveKey("demo", "a"), .confirm(user: "host-a")))
            ])
        #expect(rig.tell(.confirmOwner(live: "c")) == [])
    }

    @Test func `I15 a request that comes again is answered again and sent once`() {
        var rig = ConnectionRig(["a", "b"])
        let caller = rig.callers.user("host-a")
        let command = ConnectionCommand.request(
            from: "a", to: ["b"], layoutTemplate: 0, timeoutSeconds: 0, extensionInfo: "", caller: caller)
        let first = rig.tell(command)
        #expect(rig.tell(command) == [first.last].compactMap { $0 })
        _ = rig.pass(milliseconds: 70_000)
        #expect(rig.rig.journal.count == 2, "requests and outcomes are gone, the lives remain")
    }

    @Test func `I6 an owner below its floor cannot act`() {
        var rig = ConnectionRig(["a", "b"])
        _ = rig.tell(.floor(live: "a", user: "host-a", ticket: Ticket(51)))
        #expect(rig.request("a", "b").code == ReplyCode.staleTicket.code)
        let rejoined = rig.callers.user("host-a", ticket: Ticket(51))
        #expect(
            rig.tell(
                .request(
                    from: "a", to: ["b"], layoutTemplate: 0, timeoutSeconds: 0, extensionInfo: "", caller: rejoined)
            ).code == 0)
    }

    @Test func `a live that is created anew goes on with higher revisions`() {
        var rig = ConnectionRig(["a", "b"])
        rig.connect("a", "b")
        _ = rig.tell(.ended(live: "a", ending: ending()))
        let last = rig.live("b")?.revision ?? 0
        _ = rig.tell(.opened(live: "a", owner: ConnectionRig.host("a"), isVoice: false))
        #expect(rig.live("a").map { $0.revision > last } == true)
        rig.connect("a", "b")
        #expect(
            rig.tell(.opened(live: "a", owner: ConnectionRig.host("a"), isVoice: false)) == [],
            "an opening told twice changes nothing")
        #expect(rig.live("a")?.connection != nil)
    }
}
