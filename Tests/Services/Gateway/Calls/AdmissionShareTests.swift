// SPDX-License-Identifier: Apache-2.0
import Concurrency
import GatewayCore
import MachineKit
import PlazaModel
import PlazaWire
import Testing
import Tokens

@testable import Gateway

/// The shares of a gateway's connections and calls that one user, the servers of one app, and one app may take.
///
/// `retryAfter` is in milliseconds. A client whose connection exceeds a limit gets 5 s as the time to retry.
@Suite(.serialized, .timeLimit(.minutes(1))) struct AdmissionShareTests {
    /// The parameters of calls about the live room, which no caller of these tests has joined.
    private static let liveParams = "{\"live\":\"room\"}"

    /// Calls `live.leave` until the gateway rejects a call as overloaded; `served` counts the calls before that one.
    ///
    /// The gateway forwards each of these calls, and presence rejects them, because the caller has not joined the live.
    /// `served` depends on the machine's speed, because the gateway admits further calls while time passes.
    private func leaveUntilOverloaded(_ client: WireClient) throws -> (served: Int, rejection: ReplyError) {
        for served in 0..<1000 {
            if let error = try client.call("live.leave", Self.liveParams).error, error.code == .overloaded {
                return (served, error)
            }
        }
        throw WireClient.Failure(description: "the gateway forwarded 1000 calls without a rejection")
    }

    /// Rules: R12.6.
    @Test func `an app gets at most its share of the connections`() throws {
        let cluster = try FakeCluster { $0.admission.connectionsPerApp = 2 }
        let clients = try (0..<2).map { try cluster.client("u\($0)").client }
        let (third, outcome) = try cluster.client("u2")
        #expect(outcome.error?.code == .overloaded && outcome.error?.retryAfter == 5000)
        #expect(try third.closeCode() == DisconnectCode.overloaded.code)
        let clientOfOtherApp = try WireClient(port: cluster.gateway.port)
        let token = FakeCluster.Tokens.token("bob", app: "other")
        let params = String(decoding: Wire.encode(LoginParams(token: token)), as: UTF8.self)
        #expect(try clientOfOtherApp.call("login", params).error == nil)
        #expect(try clients[0].getsPong(), "the app's earlier connections stay open")
    }

    /// Rules: R12.13.
    @Test func `an app whose calls exceed its share is rejected, and other apps are served`() throws {
        let cluster = try FakeCluster { $0.admission.callsPerApp = 3 }
        cluster.create("room")
        // The caller is an app's server, because a server's calls count only for the app's share. A user's calls would
        // count for the user's share, too.
        let (shop, _) = try cluster.client("shop", role: .server)
        let (served, rejection) = try self.leaveUntilOverloaded(shop)
        // At three calls a second, the next call is admitted after 1000 ms / 3, rounded up to 334 ms.
        #expect(served >= 3 && (1...400).contains(rejection.retryAfter ?? 0))
        #expect(cluster.refusalCount(.callsPerApp) == 1)
        let clientOfOtherApp = try WireClient(port: cluster.gateway.port)
        let token = FakeCluster.Tokens.token("bob", app: "other")
        let params = String(decoding: Wire.encode(LoginParams(token: token)), as: UTF8.self)
        _ = try clientOfOtherApp.call("login", params)
        #expect(try clientOfOtherApp.call("live.create", "{\"live\":\"hall\"}").error?.code != .overloaded)
    }

    /// Rules: R12.21.
    @Test func `an app has at most its limit of lives, and an owner may create its running live again`() throws {
        let cluster = try FakeCluster { $0.admission.livesPerApp = 2 }
        for live in ["one", "two"] { cluster.create(live) }
        let (server, _) = try cluster.client("shop", role: .server)
        let rejection = try server.call("live.create", #"{"live":"three","owner":"eve"}"#).error
        #expect(rejection?.code == .overloaded && rejection?.retryAfter == 5000)
        let (eve, _) = try cluster.client("eve")
        for params in [#"{"live":"three"}"#, #"{"live":"three","join":true}"#] {
            #expect(try eve.call("live.create", params).error?.code == .overloaded)
        }
        #expect(cluster.refusalCount(.livesPerApp) == 3)
        // Anna owns the lives of the fake cluster.
        let (anna, _) = try cluster.client("anna")
        #expect(try anna.call("live.create", #"{"live":"one"}"#).error == nil)

        let clientOfOtherApp = try WireClient(port: cluster.gateway.port)
        let token = FakeCluster.Tokens.token("bob", app: "other")
        _ = try clientOfOtherApp.call("login", String(decoding: Wire.encode(LoginParams(token: token)), as: UTF8.self))
        #expect(try clientOfOtherApp.call("live.create", #"{"live":"hall"}"#).error?.code != .overloaded)
        #expect(cluster.refusalCount(.livesPerApp) == 3, "another app has its own limit")
    }

    /// Rules: R12.14.
    @Test func `a server's ban of more users than the rate's bucket holds is admitted if the bucket is full`() throws {
        let cluster = try FakeCluster { $0.admission.serverCalls = RateLimit(5, per: .seconds(60)) }
        cluster.create("room")
        let (shop, _) = try cluster.client("shop", role: .server)
        // The bucket of the rate has room for five calls. The ban would count as 20 calls, one for each user, so it
        // counts as the whole bucket.
        let users = (0..<20).map { "\"u\($0)\"" }.joined(separator: ",")
        let ban = "{\"live\":\"room\",\"users\":[\(users)],\"duration\":60}"
        #expect(try shop.call("live.ban", ban) == .success(result: .done), "the full bucket admits the ban")
        #expect(try shop.call("live.ban", ban).error?.code == .tooFrequent, "the first ban has emptied the bucket")
    }

    /// Rules: R12.15.
    @Test func `I16 a user's calls on all its connections share a limit, and other users are served`() throws {
        let cluster = try FakeCluster { $0.admission.callsPerUser = 4 }
        cluster.create("room")
        let clients = try (0..<3).map { _ in try cluster.client("bob").client }
        let (eve, _) = try cluster.client("eve")
        let start = MonotonicClock.now.milliseconds
        for client in clients { _ = try client.call("live.leave", Self.liveParams) }
        let (served, rejection) = try self.leaveUntilOverloaded(clients[0])
        // A user with a limit of four calls a second may make four calls at once, then one call every 250 ms.
        let maxCalls = 4 + (MonotonicClock.now.milliseconds - start) / 250
        #expect(served >= 1 && clients.count + served <= maxCalls && (1...250).contains(rejection.retryAfter ?? 0))
        #expect(try clients[0].getsPong(), "a ping does not count, because it is not forwarded")
        #expect(
            try eve.call("live.leave", Self.liveParams).error?.code == .notInRoom,
            "eve's leave is forwarded, and presence rejects it")
        #expect(cluster.refusalCount(.callsPerUser) == 1)
        #expect(
            cluster.recordCount { $0.topic == .audienceInbox } == clients.count + served + 1,
            "presence gets the admitted calls of bob, and one of eve")
    }

    /// Rules: R12.18.
    @Test func `I16 reads that have used their share of the time are rejected, and other calls are answered`() throws {
        let cluster = try FakeCluster {
            $0.admission.readPercent = 1
            $0.admission.reads = RateLimit(1_000_000)
            $0.admission.frames = RateLimit(1_000_000)
        }
        cluster.create("room")
        let (client, _) = try cluster.client("bob")
        let viewer = try cluster.viewer("eve", of: "room")
        var rejection: ReplyError?
        // Reads may use 0.5 ms at once, and then 1 percent of the time: 10 µs of each millisecond. In a debug build a
        // single read uses more than 10 µs.
        for _ in 0..<10_000 where rejection == nil { rejection = try client.call("live.list", "{}").error }
        #expect(rejection?.code == .overloaded && (rejection?.retryAfter ?? 0) >= 250)
        #expect(cluster.refusalCount(.readTime) == 1)
        for _ in 0..<50 {
            #expect(try viewer.call("live.get", Self.liveParams).error == nil, "eve reads the live that she is in")
        }
        // Bob is not in the live, so his reads of the live are rejected like his reads of the list. A fast machine may
        // answer some of these reads first.
        rejection = nil
        for _ in 0..<10_000 where rejection == nil { rejection = try client.call("live.get", Self.liveParams).error }
        #expect(rejection?.code == .overloaded, "bob is not in the live")
        #expect(try client.getsPong())
        #expect(
            try client.call("live.leave", Self.liveParams).error?.code == .notInRoom,
            "presence decides about the leave, which is not a read")
        let retryAt = MonotonicClock.now.milliseconds + (rejection?.retryAfter ?? 0)
        while MonotonicClock.now.milliseconds < retryAt { _ = try client.getsPong() }
        #expect(try client.call("live.list", "{}").error == nil, "after the time to retry a read is answered")
    }

    /// Rules: R12.24.
    @Test func `I16 the reads of a client that does not take its answers are rejected, and other clients are served`()
        throws
    {
        let cluster = try FakeCluster {
            $0.admission.reads = RateLimit(1_000_000)
            $0.admission.frames = RateLimit(1_000_000)
            $0.admission.readPercent = 100
            $0.sendBufferBytes = 32 << 10
        }
        cluster.create("room")
        let slow = try cluster.viewer("slow", of: "room", receiveBuffer: 8 << 10)
        let quick = try cluster.viewer("quick", of: "room")
        var readCount = 0
        while cluster.refusalCount(.unreadAnswers) == 0, readCount < 10_000 {
            try slow.begin("live.list")
            readCount += 1
            #expect(try quick.call("live.list").error == nil)
        }
        #expect(cluster.refusalCount(.unreadAnswers) > 0)
        #expect(cluster.refusalCount(.outputOfConnection) == 0 && cluster.refusalCount(.outputOfAll) == 0)
        slow.cutConnection()
    }

    /// Rules: R12.14.
    @Test func `I16 the servers of an app share limits of connections, logins, calls and reads`() throws {
        let cluster = try FakeCluster {
            $0.admission.serverConnections = 2
            $0.admission.serverLogins = RateLimit(5, per: .seconds(60))
            $0.admission.serverCalls = RateLimit(7, per: .seconds(700))
            $0.admission.serverReads = RateLimit(42, per: .seconds(60))
        }
        cluster.create("room")
        let (shop, _) = try cluster.client("shop", role: .server)
        let (jobs, _) = try cluster.client("jobs", role: .server)
        let (third, login) = try cluster.client("third", role: .server)
        #expect(login.error?.code == .overLimit && login.error?.retryAfter == 5000)
        #expect(try third.closeCode() == DisconnectCode.tooManyConnections.code)
        #expect(cluster.refusalCount(.serverConnections) == 1)
        // A list counts as 20 reads, so two lists and two other reads reach the limit of 42.
        for server in [shop, jobs] { #expect(try server.call("live.list").error == nil) }
        for _ in 0..<2 { #expect(try shop.call("live.get", Self.liveParams).error == nil) }
        let read = try jobs.call("live.get", Self.liveParams).error
        // At 42 reads a minute the next one is admitted after at most 60 s / 42 = 1.43 s.
        #expect(read?.code == .tooFrequent && (1...2_000).contains(read?.retryAfter ?? 0))
        #expect(cluster.refusalCount(.serverReads) == 1)
        #expect(try shop.getsPong())
        // The servers may make seven calls, and have made six: two lists, three `live.get` (the rejected one counts,
        // too) and a ping. The ban counts as three calls, one for each user that it names. The gateway counts one call
        // when it receives the ban, and then rejects the ban, because the other two exceed the limit.
        let ban = #"{"live":"room","users":["carol","dora","emil"],"duration":9}"#
        let rejectedBan = try shop.call("live.ban", ban).error
        // At seven calls in 700 s, one more is admitted every 100 s. So a repeated ban, which needs three, is admitted
        // after 300 s, less the time that this test has taken.
        #expect(rejectedBan?.code == .tooFrequent && (200_001...300_000).contains(rejectedBan?.retryAfter ?? 0))
        #expect(try jobs.getsPong() == false, "the servers have made all seven calls")
        #expect(cluster.refusalCount(.serverCalls) == 2, "the ban and the second ping were rejected")

        // The servers have made three logins, those of shop, jobs and third, so two more reach the limit of five.
        let token = FakeCluster.Tokens.token("shop", role: .server)
        let loginParams = String(decoding: Wire.encode(LoginParams(token: token)), as: UTF8.self)
        for _ in 0..<2 { #expect(try shop.call("login", loginParams).error == nil) }
        #expect(try shop.call("login", loginParams).error?.code == .tooFrequent)
        #expect(cluster.refusalCount(.serverLogins) == 1)
        let (bob, _) = try cluster.client("bob")
        #expect(try bob.call("gift.list").error == nil, "users have limits of their own")
    }
}
