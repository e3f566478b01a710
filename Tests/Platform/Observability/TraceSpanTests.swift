// SPDX-License-Identifier: Apache-2.0
import Foundation
import Observability
import Testing

/// Tests of the JSON in which a collector receives spans (steps of traces), and of which traces are recorded.
@Suite struct TraceSpanTests {
    private static func context() throws -> TraceContext {
        try #require(TraceContext("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"))
    }

    private static func span(_ name: String = "call x", end: Int64 = 2, failure: String? = nil) throws -> TraceSpan {
        TraceSpan(
            name, .server, try Self.context(), parentID: 0xAB, start: 1, end: end,
            attributes: [TraceSpan.Attribute("rpc.method", .text("a\"b")), TraceSpan.Attribute("n", .integer(7))],
            failure: failure)
    }

    @Test func `the body for a collector has the form of OTLP's JSON`() throws {
        let body = OTLPSpans.body(
            [try Self.span(failure: "roomMuted")], service: "gateway", instance: "gateway-1")
        #expect(
            String(decoding: body, as: UTF8.self)
                == #"{"resourceSpans":[{"resource":{"attributes":["#
                + #"{"key":"service.name","value":{"stringValue":"gateway"}},"#
                + #"{"key":"service.instance.id","value":{"stringValue":"gateway-1"}}]},"#
                + #""scopeSpans":[{"scope":{"name":"liveplaza"},"spans":["#
                + #"{"traceId":"0af7651916cd43dd8448eb211c80319c","spanId":"b7ad6b7169203331","#
                + #""parentSpanId":"00000000000000ab","name":"call x","kind":2,"#
                + #""startTimeUnixNano":"1","endTimeUnixNano":"2","#
                + #""attributes":[{"key":"rpc.method","value":{"stringValue":"a\"b"}},"#
                + #"{"key":"n","value":{"intValue":"7"}}],"#
                + #""status":{"code":2,"message":"roomMuted"}}]}]}]}"#)
    }

    @Test func `several spans are valid JSON, and a span with an early end ends at its start`() throws {
        let spanWithEarlyEnd = try Self.span("a\n\u{1}", end: -5)
        #expect(spanWithEarlyEnd.end == spanWithEarlyEnd.start)
        let body = OTLPSpans.body([spanWithEarlyEnd, try Self.span()], service: "s", instance: "i")
        #expect(try JSONSerialization.jsonObject(with: Data(body)) is [String: Any])
    }

    @Test func `a full buffer drops new spans and counts them`() throws {
        var buffer = SpanBuffer(capacity: 2)
        for number in 1...5 { buffer.append(try Self.span("\(number)")) }
        #expect(buffer.count == 2 && buffer.takeDroppedCount() == 3)
        #expect(buffer.takeDroppedCount() == 0, "each dropped span is counted once")
        #expect(buffer.take(max: 1).map(\.name) == ["1"])
        buffer.append(try Self.span("6"))
        #expect(buffer.take(max: 9).map(\.name) == ["2", "6"])
    }

    @Test func `a tracer that is off neither begins nor continues a trace`() throws {
        #expect(!Tracer.off.isOn && Tracer.off.startTrace() == nil)
        #expect(Tracer.off.sampledContext(from: try Self.context().bytes) == nil)
    }

    @Test func `a tracer begins the given share of traces, and always continues a sampled one`() throws {
        let noTraces = Tracer(share: 0)
        let allTraces = Tracer(share: 1)
        let halfOfTraces = Tracer(share: 0.5)
        #expect((0..<100).allSatisfy { _ in noTraces.startTrace() == nil })
        #expect((0..<100).allSatisfy { _ in allTraces.startTrace()?.isSampled == true })
        let begunCount = (0..<1000).filter { _ in halfOfTraces.startTrace() != nil }.count
        #expect((300...700).contains(begunCount))

        #expect(noTraces.sampledContext(from: try Self.context().bytes) == (try Self.context()))
        let unsampledHeader = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00"
        #expect(noTraces.sampledContext(from: Array(unsampledHeader.utf8)) == nil)
        #expect(noTraces.sampledContext(from: nil) == nil && noTraces.sampledContext(from: Array("wrong".utf8)) == nil)
    }

    @Test func `a tracer stores spans up to its capacity until they are taken`() throws {
        let tracer = Tracer(share: 1, capacity: 3)
        for number in 1...4 { tracer.record(try Self.span("\(number)")) }
        #expect(tracer.takeBatch().map(\.name) == ["1", "2", "3"] && tracer.takeDroppedCount() == 1)
        #expect(tracer.takeBatch() == [])
    }
}
