// SPDX-License-Identifier: Apache-2.0
import Observability
import PlazaModel
import PlazaWire
import Testing

@testable import Gateway

/// The trace of a call: its span in the gateway, and the span's context in a header of the record to the machine.
@Suite(.timeLimit(.minutes(1))) struct TracingTests {
    /// Waits for the first record to the fan-out, and returns its trace header; nil if the record has none.
    private static func traceHeader(of cluster: FakeCluster) throws -> [UInt8]? {
        // The outer optional says whether the record was found, the inner one whether it has the header.
        let header = try cluster.waitForRecord { record -> [UInt8]?? in
            guard record.topic == .barrageInbox else { return nil }
            return .some(record.headers.first { $0.name == TraceContext.headerName }?.value)
        }
        return header
    }

    @Test func `the record of a traced call has the context of the call's span, which ends with the reply`() throws {
        // All calls are in the sample.
        let tracer = Tracer(share: 1)
        let cluster = try FakeCluster { $0.tracer = tracer }
        cluster.create("room")
        let client = try cluster.viewer("bob", of: "room", session: "phone")
        _ = try client.call("barrage.sendText", "{\"live\":\"room\",\"text\":\"x\"}", id: 77)
        // The shard answers this ping after it has finished the text's call and its span.
        _ = try client.call("ping", "{}", id: 78)
        let context = try #require(try Self.traceHeader(of: cluster).flatMap { TraceContext(parsing: $0) })
        #expect(context.isSampled)
        let span = try #require(tracer.takeBatch().first { $0.name == "call barrage.sendText" })
        #expect(span.context == context && span.parentID == nil && span.kind == .server && span.failure == nil)
        #expect(span.end >= span.start)
    }

    @Test func `if tracing is off, or a call is not in the sample, the call's record has no trace header`() throws {
        // A tracer with the share 0 has no call in its sample.
        for tracer in [Tracer.off, Tracer(share: 0)] {
            let cluster = try FakeCluster { $0.tracer = tracer }
            cluster.create("room")
            let client = try cluster.viewer("bob", of: "room", session: "phone")
            _ = try client.call("barrage.sendText", "{\"live\":\"room\",\"text\":\"x\"}", id: 77)
            #expect(try Self.traceHeader(of: cluster) == nil)
            #expect(tracer.takeBatch() == [])
        }
    }
}
