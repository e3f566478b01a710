// SPDX-License-Identifier: Apache-2.0
import Concurrency
import Dispatch
import PlazaModel
import PlazaWire
import Testing

@testable import Gateway

/// Several connections of one session, on one gateway or on two.
@Suite(.serialized, .timeLimit(.minutes(1))) struct SessionTests {
    private static func cluster(_ devices: DevicePolicy, _ notices: NoticeTopic) throws -> FakeCluster {
        try FakeCluster(notices: notices) { settings in
            var policy = AppPolicy()
            policy.devices = devices
            settings.policies = Policies([FakeCluster.app: policy])
        }
    }

    private static func isSignOff(_ record: TopicRecord) -> Bool {
        guard record.topic == .audienceInbox, let value = record.value,
            let input = try? Wire.decode(AudienceInput.self, from: value), case .signOff = input.command
        else { return false }
        return true
    }

    private static let text = "{\"live\":\"room\",\"text\":\"x\"}"

    /// Rules: R2.22.
    @Test(arguments: [DevicePolicy.several, .one])
    func `a second connection with the same session ends the first on another gateway too, and takes its place`(
        devices: DevicePolicy
    ) throws {
        let topic = NoticeTopic()
        let first = try Self.cluster(devices, topic)
        let second = try Self.cluster(devices, topic)
        first.create("room")
        second.create("room")
        let old = try first.viewer("bob", of: "room", session: "phone")
        let eve = try first.viewer("eve", of: "room", session: "phone")
        let (new, _) = try second.client("bob", session: "phone", firstID: 100)
        #expect(try old.closeCode() == DisconnectCode.replaced.code)
        guard case .success(.joined) = try new.call("live.join", "{\"live\":\"room\"}") else {
            return #expect(Bool(false), "not joined")
        }
        guard case .success(.sent) = try new.call("barrage.sendText", Self.text),
            case .success(.sent) = try eve.call("barrage.sendText", Self.text)
        else { return #expect(Bool(false), "not sent") }
        #expect(first.count { Self.isSignOff($0) } == 0, "the session goes on, and keeps its place")
        // The client then reconnects to the first gateway.
        let (third, _) = try first.client("bob", session: "phone", firstID: 200)
        #expect(try new.closeCode() == DisconnectCode.replaced.code)
        #expect(try third.answersPing())
    }

    @Test(arguments: [DevicePolicy.several, .one], [false, true])
    func `of two connections of a session at once the one whose notice stands last goes on`(
        devices: DevicePolicy, reversed: Bool
    ) throws {
        let topic = NoticeTopic()
        let first = try Self.cluster(devices, topic)
        let second = try Self.cluster(devices, topic)
        topic.hold(true)
        let (a, _) = try first.client("bob", session: "phone")
        let (b, _) = try second.client("bob", session: "phone")
        #expect(topic.heldCount == 2)
        topic.hold(false, reversed: reversed)
        #expect(try (reversed ? b : a).closeCode() == DisconnectCode.replaced.code)
        #expect(try (reversed ? a : b).answersPing())
        #expect((reversed ? a : b).isQuiet(milliseconds: 20))
    }

    @Test func `a connection is not closed by a sign-in notice before its own, even if both are read late`() throws {
        let topic = NoticeTopic()
        let first = try Self.cluster(.several, topic)
        let second = try Self.cluster(.several, topic)
        topic.hold(true)
        let (a, _) = try first.client("bob", session: "phone")
        let (b, _) = try second.client("bob", session: "phone")
        a.cut()
        let (c, _) = try first.client("bob", session: "phone")
        topic.hold(false)
        #expect(try b.closeCode() == DisconnectCode.replaced.code)
        #expect(try c.answersPing())
        #expect(c.isQuiet(milliseconds: 20))
    }

    @Test func `a session named by the gateway needs no notice, and can continue on another gateway`() throws {
        let topic = NoticeTopic()
        let first = try Self.cluster(.several, topic)
        let second = try Self.cluster(.several, topic)
        let (old, login) = try first.client("bob")
        guard case .success(.loggedIn(let session, _, _, _, _)) = login else { return #expect(Bool(false), "\(login)") }
        #expect(first.count { $0.topic == .userNotices } == 0)
        let (tablet, _) = try first.client("bob", session: "tablet")
        let (new, _) = try second.client("bob", session: session.text)
        #expect(second.count { $0.topic == .userNotices } == 1)
        #expect(try old.closeCode() == DisconnectCode.replaced.code)
        #expect(try new.answersPing())
        #expect(try tablet.answersPing())
        #expect(tablet.isQuiet(milliseconds: 20), "no client hears of what gateways tell each other")
    }

    @Test func `a sign-in notice that could not be written at the login is written later`() throws {
        let topic = NoticeTopic()
        let first = try Self.cluster(.several, topic)
        let second = try Self.cluster(.several, topic)
        let (old, _) = try first.client("bob", session: "phone")
        second.state.withLock { $0.rejection = .unavailable }
        let (new, login) = try second.client("bob", session: "phone")
        guard case .success(.loggedIn) = login else { return #expect(Bool(false), "\(login)") }
        second.state.withLock { $0.rejection = nil }
        while old.isQuiet(milliseconds: 200) { #expect(try new.answersPing()) }
        #expect(try old.closeCode() == DisconnectCode.replaced.code)
        #expect(try new.answersPing())
    }

    @Test func `sign-in notices are written in the order in which connections replaced each other`() {
        let registry = SessionRegistry()
        let told = Locked<[Int]>([])
        let generations = Locked<[Int: UInt32]>([:])
        DispatchQueue.concurrentPerform(iterations: 200) { number in
            let claim = registry.claim("s-1", shard: number) {
                told.withLock { $0.append(number) }
                return true
            }
            generations.withLock { $0[number] = claim?.generation }
        }
        let order = generations.withLock { found in found.sorted { $0.value < $1.value }.map(\.key) }
        #expect(told.withLock { $0 } == order)
        #expect(registry.shard(of: "s-1") == order.last)
        #expect(registry.claim("s-1", shard: 500) { false } == nil)
        #expect(registry.shard(of: "s-1") == order.last, "one that cannot be told replaces nobody")
        var isTold = 0
        registry.publishIfCurrent("s-1", generation: 199) { isTold += 1 }
        #expect(isTold == 0, "a replaced one is silent")
        registry.publishIfCurrent("s-1", generation: 200) { isTold += 1 }
        #expect(isTold == 1)
    }
}
