// SPDX-License-Identifier: Apache-2.0
import Concurrency
import GatewayCore
import MachineKit
import PlazaModel
import PlazaWire
import Testing
import Tokens

@testable import Gateway

/// Calls with the id of a call that is still open.
///
/// One reply answers a call and its repetition, so the repetition does not count for a rate. But a client may also give
/// the id of an open call to another call, or to a read that the gateway answers from memory.
@Suite(.serialized, .timeLimit(.minutes(1))) struct RepeatedIDTests {
    private static let liveParams = #"{"live":"room"}"#
    private static let kickParams = #"{"live":"room","user":"carol"}"#

    /// Rules: R12.8.
    @Test func `a read with the id of an open call counts, because it gets an answer of its own`() throws {
        let cluster = try FakeCluster { $0.admission.reads = RateLimit(3, per: .seconds(60)) }
        cluster.create("room")
        let client = try cluster.viewer("bob", of: "room")
        cluster.state.withLock { $0.answersCalls = false }
        // Two open calls: a kick, which was forwarded, and a summary, a shared read that waits for its answer. The
        // summary counts as the first of three reads.
        let kick = try client.begin("audience.kick", Self.kickParams)
        let summary = try client.begin("live.summary", Self.liveParams)
        for id in [kick, summary] { #expect(try client.call("gift.list", id: id).error == nil) }
        // At three reads a minute, the next read is admitted after 60 s / 3 = 20 s, less the time of the calls so far.
        for (method, id) in [("gift.list", kick), ("live.get", summary)] {
            let rejection = try client.call(method, Self.liveParams, id: id).error
            #expect(rejection?.code == .tooFrequent && (5_000...20_000).contains(rejection?.retryAfter ?? 0))
        }
        #expect(cluster.refusalCount(.reads) == 2)
        // A repetition of the open read gets no reply of its own, so it is neither counted nor rejected.
        try client.begin("live.summary", Self.liveParams, id: summary)
        #expect(try client.getsPong())
        #expect(cluster.refusalCount(.reads) == 2)
    }

    /// Rules: R12.14.
    @Test func `a read of an app's server with the id of an open call counts as a call and as a read`() throws {
        let cluster = try FakeCluster {
            $0.admission.serverReads = RateLimit(3, per: .seconds(60))
            $0.admission.serverCalls = RateLimit(10, per: .seconds(600))
        }
        cluster.create("room")
        let (server, _) = try cluster.client("shop", role: .server)
        cluster.state.withLock { $0.answersCalls = false }
        let id = try server.begin("live.end", Self.liveParams)
        for _ in 0..<3 { #expect(try server.call("gift.list", id: id).error == nil) }
        #expect(try server.call("gift.list", id: id).error?.code == .tooFrequent)
        #expect(cluster.refusalCount(.serverReads) == 1)
        // Five calls have counted: the end of the live, and four reads. Repetitions of the end do not count.
        for _ in 0..<5 { try server.begin("live.end", Self.liveParams, id: id) }
        for _ in 0..<5 { #expect(try server.call("ping").error == nil) }
        #expect(try server.call("ping").error?.code == .tooFrequent)
    }

    /// Rules: R12.8.
    @Test func `another call with the id of a waiting read is not forwarded, and the read still gets its answer`()
        throws
    {
        let cluster = try FakeCluster()
        cluster.create("room")
        let client = try cluster.viewer("bob", of: "room")
        cluster.state.withLock { $0.answersCalls = false }
        let id = try client.begin("live.summary", Self.liveParams)
        for _ in 0..<5 { try client.begin("audience.kick", Self.kickParams, id: id) }
        #expect(try client.getsPong())
        #expect(cluster.recordCount { $0.topic == .directoryInbox } == 0)
        // A kick with an id of its own is forwarded.
        try client.begin("audience.kick", Self.kickParams)
        #expect(try client.getsPong())
        #expect(cluster.recordCount { $0.topic == .directoryInbox } == 1)
        cluster.answer(try cluster.waitForRecord { $0.topic == .barrageInbox ? $0 : nil })
        #expect(try client.answer(to: id) == .success(result: FakeCluster.summaryResult))
    }
}
