// SPDX-License-Identifier: Apache-2.0
import Concurrency
import Gateway
import GatewayCore
import MachineKit
import PlazaModel
import PlazaWire
import Testing

/// Sign-ins on several devices, token expiry, and displayed names.
@Suite(.serialized, .timeLimit(.minutes(1))) struct DeviceTests {
    /// A gateway whose app allows one or several devices per user; `notices` may be shared with other gateways.
    private static func cluster(_ devices: DevicePolicy, notices: NoticeTopic = NoticeTopic()) throws -> FakeCluster {
        try FakeCluster(notices: notices) { settings in
            var policy = AppPolicy()
            policy.devices = devices
            settings.policies = Policies([FakeCluster.app: policy])
        }
    }

    /// The live, user and ticket of a record that signs a session off, so that its user leaves the live; nil for any
    /// other record.
    private static func signOff(_ record: TopicRecord) -> (live: LiveID, user: UserID, ticket: Ticket)? {
        guard let input = record.audienceInput, case .signOff(_, let user, let ticket) = input.command
        else { return nil }
        return (input.key.live, user, ticket)
    }

    /// The caller of a record that sends a new profile to presence; nil for any other record.
    private static func profileCaller(_ record: TopicRecord) -> Caller? {
        guard let input = record.audienceInput, case .profile(let caller) = input.command else { return nil }
        return caller
    }

    /// The sender of a record that sends a text; nil for any other record.
    private static func textSender(_ record: TopicRecord) -> UserInfo? {
        guard let input = record.barrageInput, case .sendText(_, _, let caller) = input.command else { return nil }
        return caller.user
    }

    /// The code of an error; nil for a success.
    private static func code(_ outcome: Outcome) -> ReplyCode? {
        if case .failure(let error) = outcome { return error.code }
        return nil
    }

    /// Rules: R2.18.
    @Test func `with one device allowed, a login closes the user's older connection and takes it out of its live`()
        throws
    {
        let topic = NoticeTopic()
        let firstGateway = try Self.cluster(.one, notices: topic)
        let secondGateway = try Self.cluster(.one, notices: topic)
        firstGateway.create("room")
        let old = try firstGateway.viewer("bob", of: "room", session: "phone")
        let eve = try firstGateway.viewer("eve", of: "room")
        let (new, _) = try secondGateway.client("bob", session: "tablet")
        #expect(try old.closeCode() == DisconnectCode.kickedOffline.code)
        let signOff = try firstGateway.waitForRecord(Self.signOff)
        #expect(signOff == ("room", "bob", Ticket(101)), "bob joined first, with the fake cluster's first ticket, 101")
        #expect(try new.getsPong())
        #expect(try eve.getsPong(), "another user stays connected")

        let (third, _) = try secondGateway.client("bob", session: "watch")
        #expect(try new.closeCode() == DisconnectCode.kickedOffline.code)
        #expect(try third.getsPong())
        #expect(third.isQuiet(milliseconds: 20), "clients get no sign-in notices")
    }

    /// Rules: R2.19.
    @Test(arguments: [false, true])
    func `of two simultaneous logins the one whose notice is written last stays connected`(isReversed: Bool) throws {
        let topic = NoticeTopic()
        let firstGateway = try Self.cluster(.one, notices: topic)
        let secondGateway = try Self.cluster(.one, notices: topic)
        topic.hold()
        let (firstClient, _) = try firstGateway.client("bob", session: "phone")
        let (secondClient, _) = try secondGateway.client("bob", session: "tablet")
        #expect(topic.heldNoticeCount == 2)
        // Delivered in reverse, the notice of the first client is written last.
        topic.deliverHeldNotices(reversed: isReversed)
        let (earlier, later) = isReversed ? (secondClient, firstClient) : (firstClient, secondClient)
        #expect(try earlier.closeCode() == DisconnectCode.kickedOffline.code)
        #expect(try later.getsPong())
    }

    /// Rules: R2.20.
    @Test func `a session that another device ended while it was disconnected cannot reconnect`() throws {
        let cluster = try Self.cluster(.one)
        let (old, login) = try cluster.client("bob", session: "phone")
        guard case .success(.loggedIn(_, _, _, let lastNoticeID, _)) = login else {
            Issue.record("unexpected outcome of the login: \(login)")
            return
        }
        // The phone reconnects with the id of its last notice. The gateway then checks the later notices. The sign-in
        // notice of the phone's own first login may be among them, but must not end the phone's session.
        old.cutConnection()
        let (reconnected, secondLogin) = try cluster.client("bob", session: "phone", notices: lastNoticeID)
        guard case .success = secondLogin else {
            Issue.record("unexpected outcome of the login: \(secondLogin)")
            return
        }

        // While the phone is disconnected, the tablet logs in and ends the phone's session.
        reconnected.cutConnection()
        let (new, _) = try cluster.client("bob", session: "tablet")
        let (rejected, outcome) = try cluster.client("bob", session: "phone", notices: lastNoticeID)
        #expect(Self.code(outcome) == .signedInElsewhere)
        #expect(try rejected.closeCode() == DisconnectCode.kickedOffline.code)
        #expect(try new.getsPong())

        // A login without the id of a last notice is not a reconnect but a new sign-in, which is allowed.
        let (signedInAgain, _) = try cluster.client("bob", session: "phone")
        #expect(try new.closeCode() == DisconnectCode.kickedOffline.code)
        #expect(try signedInAgain.getsPong())
    }

    @Test func `a sign-in whose notice is lost is written again and takes effect`() throws {
        let cluster = try Self.cluster(.one)
        let (old, _) = try cluster.client("bob", session: "phone")
        // The tablet's sign-in notice is lost.
        cluster.notices.hold()
        let (new, _) = try cluster.client("bob", session: "tablet")
        cluster.notices.discardHeldNotices()
        // The gateway repeats the notice after 6 s, but only for an active client. So the tablet sends pings until the
        // phone receives something. If that never happens, the suite's time limit ends the loop.
        while old.isQuiet(milliseconds: 200) { #expect(try new.getsPong()) }
        #expect(try old.closeCode() == DisconnectCode.kickedOffline.code)
        #expect(try new.getsPong())
    }

    @Test func `with one device allowed, a login is rejected if its notice cannot be written`() throws {
        let cluster = try Self.cluster(.one)
        cluster.state.withLock { $0.sinkRejection = .unavailable }
        let (_, login) = try cluster.client("bob")
        #expect(Self.code(login) == .unavailable)
    }

    /// Rules: R2.21.
    @Test func `with several devices allowed, all connections stay open`() throws {
        let cluster = try Self.cluster(.several)
        let (phone, _) = try cluster.client("bob", session: "phone")
        let (tablet, _) = try cluster.client("bob", session: "tablet")
        #expect(try phone.getsPong())
        #expect(try tablet.getsPong())
        #expect(phone.isQuiet(milliseconds: 20), "the phone gets no notice and no close frame")
    }

    @Test
    func `a device that replaces another in a live stays in the live, and only the replaced one gets a kick notice`()
        throws
    {
        let cluster = try Self.cluster(.several)
        cluster.create("room")
        let old = try cluster.viewer("bob", of: "room", session: "phone")
        let new = try cluster.viewer("bob", of: "room", session: "tablet")
        // The phone joined with ticket 101, the tablet with 102. Presence would write this notice. Its floor, the
        // lowest ticket that is still valid, is 102, so it kicks only the phone.
        cluster.notices.write(
            Notice(
                to: UserKey("demo", "bob"), live: "room", at: Timestamp(milliseconds: 5), floor: Ticket(102),
                content: .kickedOut(reason: .byLoggedOnOtherDevice, by: "bob")))

        while true {
            guard case .frame(let frame, _) = try old.next() else {
                Issue.record("the phone's connection ended before a notice")
                return
            }
            if case .notice(_, let notice) = frame {
                #expect(notice.content == .kickedOut(reason: .byLoggedOnOtherDevice, by: "bob"))
                break
            }
        }
        let textParams = "{\"live\":\"room\",\"text\":\"x\"}"
        #expect(Self.code(try old.call("barrage.sendText", textParams)) == .notInRoom)
        guard case .success(.sent) = try new.call("barrage.sendText", textParams) else {
            Issue.record("the new device is no longer in the live")
            return
        }
        #expect(try new.nextItemNumbers() == [1])
        #expect(new.isQuiet(milliseconds: 20), "the tablet gets no kick notice")
    }

    /// Rules: R2.23.
    @Test func `token expiry removes the client from its live, a lost connection does not`() throws {
        let cluster = try Self.cluster(.several)
        cluster.create("room")
        let eve = try cluster.viewer("eve", of: "room")
        let client = try WireClient(port: cluster.gateway.port)
        // Bob's token expires in 2 s. By then bob has joined, and the test waits for the close.
        let token = FakeCluster.Tokens.token("bob", secondsFromNow: 2)
        _ = try client.call("login", String(decoding: Wire.encode(LoginParams(token: token)), as: UTF8.self))
        guard case .success(.joined(let ticket, _, _, _)) = try client.call("live.join", "{\"live\":\"room\"}") else {
            Issue.record("bob could not join")
            return
        }
        eve.cutConnection()
        #expect(try client.closeCode() == DisconnectCode.tokenExpired.code)
        #expect(try cluster.waitForRecord(Self.signOff) == ("room", "bob", ticket))
        #expect(
            cluster.recordCount { Self.signOff($0) != nil } == 1,
            "only bob is signed off, not eve, whose connection was lost")
    }

    /// Rules: R2.8.
    @Test func `a new name or avatar is used in the next message, and sent to presence if the user is in a live`()
        throws
    {
        let cluster = try Self.cluster(.several)
        cluster.create("room")
        let (client, _) = try cluster.client("bob")
        #expect(try client.call("self.update", "{\"name\":\"Bob\"}") == .success(result: .done))
        #expect(
            cluster.recordCount { $0.topic == .audienceInbox } == 0,
            "presence gets nothing, because the user is in no live")

        guard case .success(.joined) = try client.call("live.join", "{\"live\":\"room\"}") else {
            Issue.record("bob could not join")
            return
        }
        let avatarURL = "https://example.org/b"
        #expect(try client.call("self.update", "{\"avatarURL\":\"\(avatarURL)\"}") == .success(result: .done))
        let publishedProfile = try cluster.waitForRecord { Self.profileCaller($0)?.user }
        let user = UserInfo(userID: "bob", userName: "Bob", avatarURL: avatarURL)
        #expect(publishedProfile == user)

        _ = try client.call("barrage.sendText", "{\"live\":\"room\",\"text\":\"x\"}")
        let sender = try cluster.waitForRecord { Self.textSender($0) }
        #expect(sender == user)
    }

    /// Rules: R2.9.
    @Test func `a profile that is invalid or rejected by presence is not applied`() throws {
        let cluster = try Self.cluster(.several)
        cluster.create("room")
        let client = try cluster.viewer("bob", of: "room")
        // A name has at most 100 bytes, a URL 200.
        let longName = String(repeating: "x", count: 101)
        let longURL = longName + longName
        for params in ["{}", "{\"name\":\"\(longName)\"}", "{\"avatarURL\":\"\(longURL)\"}", "{\"name\":5}"] {
            #expect(Self.code(try client.call("self.update", params)) == .badParameter)
        }

        // This profile is valid, but presence rejects it.
        cluster.state.withLock { $0.answersCalls = false }
        let id = try client.begin("self.update", "{\"name\":\"Bob\"}")
        let caller = try cluster.waitForRecord(Self.profileCaller)
        cluster.reply(caller) { .failure(error: ReplyError(.unavailable, "away", retryAfter: 1000)) }
        #expect(Self.code(try client.answer(to: id)) == .unavailable)
        cluster.state.withLock { $0.answersCalls = true }
        _ = try client.call("barrage.sendText", "{\"live\":\"room\",\"text\":\"x\"}")
        let name = try cluster.waitForRecord { Self.textSender($0)?.userName }
        #expect(name.isEmpty, "the user has no name, as before")
    }

    /// Rules: R2.10.
    @Test func `a client cannot change a name that its token contains, but can set an avatar that the token lacks`()
        throws
    {
        let cluster = try Self.cluster(.several)
        let client = try WireClient(port: cluster.gateway.port)
        let params = LoginParams(token: FakeCluster.Tokens.token("bob", name: "Robert"))
        _ = try client.call("login", String(decoding: Wire.encode(params), as: UTF8.self))
        #expect(Self.code(try client.call("self.update", "{\"name\":\"Bob\"}")) == .noPermission)
        #expect(
            try client.call("self.update", "{\"avatarURL\":\"https://example.org/b\"}") == .success(result: .done))
    }
}
