// SPDX-License-Identifier: Apache-2.0
import KafkaClient
import MachineKit
import Observability
import Testing

@testable import ServiceShell

/// Tests of `BatchSpans`, the spans (steps of a trace) that a service records for its inputs.
///
/// The times of spans and of the tracer's clock are in nanoseconds.
@Suite struct BatchSpansTests {
    /// The trace header of a sampled trace: version, trace id, span id and flags; the flag 01 means sampled.
    private static let sampledHeader = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

    /// An input with this trace header that the broker received at `timestamp`, in milliseconds.
    private static func input(_ offset: Int64, _ header: String?, timestamp: Int64 = 5) -> IncomingRecord {
        IncomingRecord(
            topic: "barrage.inbox", partition: 3, offset: offset, timestamp: Timestamp(milliseconds: timestamp),
            key: nil, value: [],
            headers: header.map { [KafkaHeader(name: "traceparent", text: $0)] } ?? [])
    }

    @Test func `without a tracer there are no spans`() {
        #expect(BatchSpans(.off, machine: "barrage") == nil)
    }

    @Test func `a traced input has a span for its topic, its decision and each effect, each the parent of the next`()
        throws
    {
        // The broker received the input at 5 ms, the machine decided it from 8 ms on, and the tracer shows 9 ms.
        // With `share: 0` the tracer begins no traces itself.
        let tracer = Tracer(share: 0) { 9_000_000 }
        var spans = try #require(BatchSpans(tracer, machine: "barrage"))
        let input = Self.input(7, Self.sampledHeader)
        spans.recordsDecided([input], from: 8_000_000)
        let optionalEffectHeader = spans.effectHeader(of: "room.feed", causedBy: input)
        let effectHeader = try #require(optionalEffectHeader)
        #expect(tracer.takeBatch() == [], "a batch that is not durable has no spans")
        spans.batchCommitted()
        let recorded = tracer.takeBatch()
        #expect(recorded.map(\.name) == ["topic barrage.inbox", "decide barrage", "effect room.feed"])
        #expect(recorded.map(\.start) == [5_000_000, 8_000_000, 9_000_000])
        #expect(recorded.map(\.end) == [8_000_000, 9_000_000, 9_000_000])
        let cause = try #require(TraceContext(Self.sampledHeader))
        #expect(recorded.allSatisfy { $0.context.traceID == cause.traceID })
        #expect(recorded.map(\.parentID) == [cause.spanID, recorded[0].context.spanID, recorded[1].context.spanID])
        #expect(
            TraceContext(parsing: effectHeader) == recorded[2].context,
            "the span of the effect is the parent of the next service's spans")
        spans.batchCommitted()
        #expect(tracer.takeBatch() == [], "each span is recorded once")
    }

    @Test(arguments: [Int64.min, -1, .max])
    func `I16 no timestamp of a record causes a trap`(_ timestamp: Int64) throws {
        var spans = try #require(BatchSpans(Tracer(share: 0) { 9_000_000 }, machine: "barrage"))
        spans.recordsDecided([Self.input(7, Self.sampledHeader, timestamp: timestamp)], from: 8_000_000)
        spans.batchCommitted()
    }

    @Test func `inputs without a sampled trace, and inputs of a batch that is rolled back, have no spans`() throws {
        let tracer = Tracer(share: 1) { 1 }
        var spans = try #require(BatchSpans(tracer, machine: "barrage"))
        let untraced = Self.input(1, nil)
        let unsampled = Self.input(2, String(Self.sampledHeader.dropLast()) + "0")
        spans.recordsDecided([untraced, unsampled], from: 1)
        let headerOfUntraced = spans.effectHeader(of: "room.feed", causedBy: untraced)
        #expect(headerOfUntraced == nil)
        let headerOfUnsampled = spans.effectHeader(of: "room.feed", causedBy: unsampled)
        #expect(headerOfUnsampled == nil)
        // The batch of a traced input is rolled back.
        let traced = Self.input(3, Self.sampledHeader)
        spans.recordsDecided([traced], from: 1)
        spans.batchRolledBack()
        let headerOfTraced = spans.effectHeader(of: "room.feed", causedBy: traced)
        #expect(headerOfTraced == nil)
        spans.batchCommitted()
        #expect(tracer.takeBatch() == [])
    }
}
