// SPDX-License-Identifier: Apache-2.0
import Concurrency
import Dispatch
import PlazaModel
import PlazaWire
import Testing

@testable import Gateway

/// Several connections of one session, on one gateway or on two.
@Suite(.serialized, .timeLimit(.minutes(1))) struct SessionTests {
    /// A gateway whose app allows one or several devices, and which shares `notices` with other gateways.
    private static func cluster(_ devices: DevicePolicy, _ notices: NoticeTopic) throws -> FakeCluster {
        try FakeCluster(notices: notices) { settings in
            var policy = AppPolicy()
            policy.devices = devices
            settings.policies = Policies([FakeCluster.app: policy])
        }
    }

    /// Whether a record signs a session off: its user then leaves the live.
    private static func isSignOff(_ record: TopicRecord) -> Bool {
        guard let input = record.audienceInput, case .signOff = input.command else { return false }
        return true
    }

    /// The parameters of `barrage.sendText` in the live room.
    private static let textParams = "{\"live\":\"room\",\"text\":\"x\"}"

    /// Rules: R2.22.
    @Test(arguments: [DevicePolicy.several, .one])
    func `a session that reconnects to another gateway closes its old connection and stays in the live`(
        devices: DevicePolicy
    ) throws {
        let topic = NoticeTopic()
        let firstGateway = try Self.cluster(devices, topic)
        let secondGateway = try Self.cluster(devices, topic)
        firstGateway.create("room")
        secondGateway.create("room")
        let old = try firstGateway.viewer("bob", of: "room", session: "phone")
        let eve = try firstGateway.viewer("eve", of: "room", session: "phone")
        // The ids of a new connection's calls must be above those of the session's earlier calls.
        let (new, _) = try secondGateway.client("bob", session: "phone", firstID: 100)
        #expect(try old.closeCode() == DisconnectCode.replaced.code)
        guard case .success(.joined) = try new.call("live.join", "{\"live\":\"room\"}") else {
            Issue.record("bob could not join on the new connection")
            return
        }
        guard case .success(.sent) = try new.call("barrage.sendText", Self.textParams),
            case .success(.sent) = try eve.call("barrage.sendText", Self.textParams)
        else {
            Issue.record("bob or eve could not send a text")
            return
        }
        #expect(firstGateway.recordCount { Self.isSignOff($0) } == 0, "the session continues and stays in the live")
        // The session then reconnects to the first gateway.
        let (third, _) = try firstGateway.client("bob", session: "phone", firstID: 200)
        #expect(try new.closeCode() == DisconnectCode.replaced.code)
        #expect(try third.getsPong())
    }

    @Test(arguments: [DevicePolicy.several, .one], [false, true])
    func `of two simultaneous connections of a session the one whose sign-in notice is written last stays open`(
        devices: DevicePolicy, isReversed: Bool
    ) throws {
        let topic = NoticeTopic()
        let firstGateway = try Self.cluster(devices, topic)
        let secondGateway = try Self.cluster(devices, topic)
        topic.hold()
        let (firstConnection, _) = try firstGateway.client("bob", session: "phone")
        let (secondConnection, _) = try secondGateway.client("bob", session: "phone")
        #expect(topic.heldNoticeCount == 2)
        // Delivered in reverse, the notice of the first connection is written last.
        topic.deliverHeldNotices(reversed: isReversed)
        let (earlier, later) =
            isReversed ? (secondConnection, firstConnection) : (firstConnection, secondConnection)
        #expect(try earlier.closeCode() == DisconnectCode.replaced.code)
        #expect(try later.getsPong())
        #expect(later.isQuiet(milliseconds: 20), "clients get no sign-in notices")
    }

    @Test func `a connection is not closed by a sign-in notice that was written before its own`() throws {
        let topic = NoticeTopic()
        let firstGateway = try Self.cluster(.several, topic)
        let secondGateway = try Self.cluster(.several, topic)
        topic.hold()
        let (firstConnection, _) = try firstGateway.client("bob", session: "phone")
        let (secondConnection, _) = try secondGateway.client("bob", session: "phone")
        // The third connection signs in before the gateways have read the notices of the first two. Its own notice is
        // the last one.
        firstConnection.cutConnection()
        let (thirdConnection, _) = try firstGateway.client("bob", session: "phone")
        topic.deliverHeldNotices()
        #expect(try secondConnection.closeCode() == DisconnectCode.replaced.code)
        #expect(try thirdConnection.getsPong())
        #expect(thirdConnection.isQuiet(milliseconds: 20), "clients get no sign-in notices")
    }

    @Test func `a session that the gateway names needs no sign-in notice, and can continue on another gateway`()
        throws
    {
        let topic = NoticeTopic()
        let firstGateway = try Self.cluster(.several, topic)
        let secondGateway = try Self.cluster(.several, topic)
        let (old, login) = try firstGateway.client("bob")
        guard case .success(.loggedIn(let session, _, _, _, _)) = login else {
            Issue.record("unexpected outcome of the login: \(login)")
            return
        }
        #expect(
            firstGateway.recordCount { $0.topic == .userNotices } == 0,
            "a session with a fresh name has no older connection that a notice would have to close")
        let (tablet, _) = try firstGateway.client("bob", session: "tablet")
        let (new, _) = try secondGateway.client("bob", session: session.text)
        // The session that this client names may have an older connection on any gateway, so a notice is written.
        #expect(secondGateway.recordCount { $0.topic == .userNotices } == 1)
        #expect(try old.closeCode() == DisconnectCode.replaced.code)
        #expect(try new.getsPong())
        #expect(try tablet.getsPong())
        #expect(tablet.isQuiet(milliseconds: 20), "clients get no sign-in notices")
    }

    @Test func `a sign-in notice that could not be written at the login is written later`() throws {
        let topic = NoticeTopic()
        let firstGateway = try Self.cluster(.several, topic)
        let secondGateway = try Self.cluster(.several, topic)
        let (old, _) = try firstGateway.client("bob", session: "phone")
        secondGateway.state.withLock { $0.sinkRejection = .unavailable }
        let (new, login) = try secondGateway.client("bob", session: "phone")
        guard case .success(.loggedIn) = login else {
            Issue.record("unexpected outcome of the login: \(login)")
            return
        }
        secondGateway.state.withLock { $0.sinkRejection = nil }
        // The gateway tries to write the notice again, but only while its client is active. So the new connection sends
        // pings until the old one receives something. If that never happens, the suite's time limit ends the loop.
        while old.isQuiet(milliseconds: 200) { #expect(try new.getsPong()) }
        #expect(try old.closeCode() == DisconnectCode.replaced.code)
        #expect(try new.getsPong())
    }

    @Test func `sign-in notices are written in the order in which connections replaced each other`() {
        // 200 connections of one session, each on a shard of its own, claim the session at the same time. The last
        // claim keeps the session. A claim's generation is its number in the order of claims. The closure of a claim
        // writes the connection's notice, and returns whether that succeeded.
        let registry = SessionRegistry()
        let noticeWriters = Locked<[Int]>([])
        let generations = Locked<[Int: UInt32]>([:])
        DispatchQueue.concurrentPerform(iterations: 200) { number in
            let claim = registry.claim("s-1", shard: number) {
                noticeWriters.withLock { $0.append(number) }
                return true
            }
            generations.withLock { $0[number] = claim?.generation }
        }
        let order = generations.withLock { entries in entries.sorted { $0.value < $1.value }.map(\.key) }
        #expect(noticeWriters.withLock { $0 } == order, "the notices have the order of the claims")
        #expect(registry.shard(of: "s-1") == order.last)
        #expect(registry.claim("s-1", shard: 500) { false } == nil, "a claim fails if its notice cannot be written")
        #expect(registry.shard(of: "s-1") == order.last, "a failed claim replaces no connection")
        // The 200 connections have the generations 1 to 200, so only generation 200 is current.
        var noticeCount = 0
        registry.writeNoticeIfCurrent("s-1", generation: 199) { noticeCount += 1 }
        #expect(noticeCount == 0, "a replaced connection writes no notice")
        registry.writeNoticeIfCurrent("s-1", generation: 200) { noticeCount += 1 }
        #expect(noticeCount == 1, "the current connection writes its notice")
    }
}
