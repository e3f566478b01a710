// SPDX-License-Identifier: Apache-2.0
import Concurrency
import CoreKit
import Gateway
import GatewayCore
import PlazaModel
import PlazaWire
import Testing

/// Sign-ins on several devices, ends of tokens, and how a user is shown.
@Suite(.serialized, .timeLimit(.minutes(1))) struct DeviceTests {
    private static func cluster(_ devices: DevicePolicy, notices: NoticeTopic = NoticeTopic()) throws -> FakeCluster {
        try FakeCluster(notices: notices) { settings in
            var policy = AppPolicy()
            policy.devices = devices
            settings.policies = Policies([FakeCluster.app: policy])
        }
    }

    private static func signOff(_ record: TopicRecord) -> (live: LiveID, user: UserID, ticket: Ticket)? {
        guard record.topic == .audienceInbox, let value = record.value,
            let input = try? Wire.decode(AudienceInput.self, from: value),
            case .signOff(_, let user, let ticket) = input.command
        else { return nil }
        return (input.key.live, user, ticket)
    }

    private static func code(_ outcome: Outcome) -> ReplyCode? {
        if case .failure(let error) = outcome { return error.code }
        return nil
    }

    @Test func `where one device is allowed a login ends the older one, which leaves its live, on every gateway`()
        throws
    {
        let topic = NoticeTopic()
        let first = try Self.cluster(.one, notices: topic)
        let second = try Self.cluster(.one, notices: topic)
        first.create("room")
        let old = try first.viewer("bob", of: "room", session: "phone")
        let other = try first.viewer("eve", of: "room")
        let (new, _) = try second.client("bob", session: "tablet")
        #expect(try old.closeCode() == DisconnectCode.kickedOffline.code)
        let left = try first.record(Self.signOff)
        #expect(left == ("room", "bob", Ticket(101)))
        #expect(try new.call("ping") == .success(result: .done))
        #expect(try other.call("ping") == .success(result: .done))
        let (third, _) = try second.client("bob", session: "watch")
        #expect(try new.closeCode() == DisconnectCode.kickedOffline.code)
        #expect(try third.call("ping") == .success(result: .done))
        #expect(third.isQuiet(milliseconds: 20), "no client hears of what gateways tell each other")
    }

    @Test(arguments: [false, true])
    func `of two logins at once the one whose notice stands last goes on`(reversed: Bool) throws {
        let topic = NoticeTopic()
        let first = try Self.cluster(.one, notices: topic)
        let second = try Self.cluster(.one, notices: topic)
        topic.hold(true)
        let (a, _) = try first.client("bob", session: "a")
        let (b, _) = try second.client("bob", session: "b")
        #expect(topic.heldCount == 2)
        topic.hold(false, reversed: reversed)
        #expect(try (reversed ? b : a).closeCode() == DisconnectCode.kickedOffline.code)
        #expect(try (reversed ? a : b).call("ping") == .success(result: .done))
    }

    @Test func `a session that was ended while it was away does not take the place back by reconnecting`() throws {
        let cluster = try Self.cluster(.one)
        let (old, login) = try cluster.client("bob", session: "phone")
        guard case .success(.loggedIn(_, _, _, let notices)) = login else { return #expect(Bool(false), "\(login)") }
        // It hears of its own sign-in before it loses its connection, or not; it names what it has.
        old.cut()
        let (same, again) = try cluster.client("bob", session: "phone", notices: notices)
        guard case .success = again else { return #expect(Bool(false), "\(again)") }
        same.cut()
        let (new, _) = try cluster.client("bob", session: "tablet")
        let (refused, outcome) = try cluster.client("bob", session: "phone", notices: notices)
        #expect(Self.code(outcome) == .signedInElsewhere)
        #expect(try refused.closeCode() == DisconnectCode.kickedOffline.code)
        #expect(try new.call("ping") == .success(result: .done))
        // One that begins anew does.
        let (anew, _) = try cluster.client("bob", session: "phone")
        #expect(try new.closeCode() == DisconnectCode.kickedOffline.code)
        #expect(try anew.call("ping") == .success(result: .done))
    }

    @Test func `a sign-in whose notice is lost is written again, and counts`() throws {
        let cluster = try Self.cluster(.one)
        let (old, _) = try cluster.client("bob", session: "phone")
        cluster.notices.hold(true)
        let (new, _) = try cluster.client("bob", session: "tablet")
        cluster.notices.loseHeld()
        cluster.notices.hold(false)
        while old.isQuiet(milliseconds: 200) { #expect(try new.call("ping") == .success(result: .done)) }
        #expect(try old.closeCode() == DisconnectCode.kickedOffline.code)
        #expect(try new.call("ping") == .success(result: .done))
    }

    @Test func `nobody logs in where one device is allowed while the others cannot be told`() throws {
        let cluster = try Self.cluster(.one)
        cluster.state.withLock { $0.refusal = .unavailable }
        let (_, login) = try cluster.client("bob")
        #expect(Self.code(login) == .unavailable)
    }

    @Test func `where several devices are allowed all stay`() throws {
        let cluster = try Self.cluster(.several)
        let (phone, _) = try cluster.client("bob", session: "phone")
        let (tablet, _) = try cluster.client("bob", session: "tablet")
        #expect(try phone.call("ping") == .success(result: .done))
        #expect(try tablet.call("ping") == .success(result: .done))
        #expect(phone.isQuiet(milliseconds: 20))
    }

    @Test func `the device for whose sake another is out of a live stays in it, and does not hear of it`() throws {
        let cluster = try Self.cluster(.several)
        cluster.create("room")
        let old = try cluster.viewer("bob", of: "room", session: "phone")
        let new = try cluster.viewer("bob", of: "room", session: "tablet")
        cluster.notices.write(
            Notice(
                to: UserKey("demo", "bob"), live: "room", at: Timestamp(milliseconds: 5), floor: Ticket(102),
                content: .kickedOut(reason: .byLoggedOnOtherDevice, by: "bob")))
        while true {
            guard case .frame(let frame, _) = try old.next() else { return #expect(Bool(false), "no notice") }
            if case .notice(_, let notice) = frame {
                #expect(notice.content == .kickedOut(reason: .byLoggedOnOtherDevice, by: "bob"))
                break
            }
        }
        let text = "{\"live\":\"room\",\"text\":\"x\"}"
        #expect(Self.code(try old.call("barrage.sendText", text)) == .notInRoom)
        guard case .success(.sent) = try new.call("barrage.sendText", text) else {
            return #expect(Bool(false), "the new device is out too")
        }
        #expect(try new.feed() == [1])
        #expect(new.isQuiet(milliseconds: 20))
    }

    @Test func `the end of a token ends the stay in the live, a lost connection does not`() throws {
        let cluster = try Self.cluster(.several)
        cluster.create("room")
        let lost = try cluster.viewer("eve", of: "room")
        let client = try WireClient(port: cluster.gateway.port)
        let token = FakeCluster.Tokens.token("bob", secondsFromNow: 2)
        _ = try client.call("login", String(decoding: Wire.encode(LoginParams(token: token)), as: UTF8.self))
        guard case .success(.joined(let ticket, _, _)) = try client.call("live.join", "{\"live\":\"room\"}") else {
            return #expect(Bool(false), "not joined")
        }
        lost.cut()
        #expect(try client.closeCode() == DisconnectCode.tokenExpired.code)
        #expect(try cluster.record(Self.signOff) == ("room", "bob", ticket))
        #expect(cluster.count { Self.signOff($0) != nil } == 1)
    }

    @Test func `a new name goes with the next message, and through presence while the user is in a live`() throws {
        let cluster = try Self.cluster(.several)
        cluster.create("room")
        let (client, _) = try cluster.client("bob")
        #expect(try client.call("self.update", "{\"name\":\"Bob\"}") == .success(result: .done))
        #expect(cluster.count { $0.topic == .audienceInbox } == 0)
        guard case .success(.joined) = try client.call("live.join", "{\"live\":\"room\"}") else {
            return #expect(Bool(false), "not joined")
        }
        let picture = "https://example.org/b"
        #expect(try client.call("self.update", "{\"avatarURL\":\"\(picture)\"}") == .success(result: .done))
        let told = try cluster.record { record -> UserInfo? in
            guard record.topic == .audienceInbox, let value = record.value,
                let input = try? Wire.decode(AudienceInput.self, from: value),
                case .profile(let caller) = input.command
            else { return nil }
            return caller.user
        }
        let user = UserInfo(userID: "bob", userName: "Bob", avatarURL: picture)
        #expect(told == user)
        _ = try client.call("barrage.sendText", "{\"live\":\"room\",\"text\":\"x\"}")
        let sender = try cluster.record { record -> UserInfo? in
            guard record.topic == .barrageInbox, let value = record.value,
                let input = try? Wire.decode(BarrageInput.self, from: value),
                case .sendText(_, _, let caller) = input.command
            else { return nil }
            return caller.user
        }
        #expect(sender == user)
    }

    @Test func `a name that is refused or too long changes nothing`() throws {
        let cluster = try Self.cluster(.several)
        cluster.create("room")
        let client = try cluster.viewer("bob", of: "room")
        let long = String(repeating: "x", count: 101)
        for params in ["{}", "{\"name\":\"\(long)\"}", "{\"avatarURL\":\"\(long)\(long)\"}", "{\"name\":5}"] {
            #expect(Self.code(try client.call("self.update", params)) == .badParameter)
        }
        cluster.state.withLock { $0.answers = false }
        let id = try client.begin("self.update", "{\"name\":\"Bob\"}")
        let caller = try cluster.record { record -> Caller? in
            guard record.topic == .audienceInbox, let value = record.value,
                let input = try? Wire.decode(AudienceInput.self, from: value),
                case .profile(let caller) = input.command
            else { return nil }
            return caller
        }
        cluster.reply(caller) { .failure(error: ReplyError(.unavailable, "away", retryAfter: 1000)) }
        #expect(Self.code(try client.answer(to: id)) == .unavailable)
        cluster.state.withLock { $0.answers = true }
        _ = try client.call("barrage.sendText", "{\"live\":\"room\",\"text\":\"x\"}")
        let name = try cluster.record { record -> String? in
            guard record.topic == .barrageInbox, let value = record.value,
                let input = try? Wire.decode(BarrageInput.self, from: value),
                case .sendText(_, _, let caller) = input.command
            else { return nil }
            return caller.user.userName
        }
        #expect(name.isEmpty)
    }

    @Test func `a user whose token says how it is shown is shown so`() throws {
        let cluster = try Self.cluster(.several)
        let client = try WireClient(port: cluster.gateway.port)
        let params = LoginParams(token: FakeCluster.Tokens.token("bob", name: "Robert"))
        _ = try client.call("login", String(decoding: Wire.encode(params), as: UTF8.self))
        #expect(Self.code(try client.call("self.update", "{\"name\":\"Bob\"}")) == .noPermission)
        #expect(
            try client.call("self.update", "{\"avatarURL\":\"https://example.org/b\"}") == .success(result: .done))
    }
}
