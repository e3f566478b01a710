// SPDX-License-Identifier: Apache-2.0
import ClusterKit
import Concurrency
import HTTPClient
import Observability
import ServiceShell
import TestSupport
import Testing

/// Tests of `SpanExporter`, which sends the spans of traces to a collector.
///
/// A `RecordingReceiver` stands in for the collector: an HTTP server that keeps the requests that it has received.
@Suite(.serialized, .timeLimit(.minutes(1))) struct SpanExporterTests {
    /// A span that is named by its number.
    private static func span(_ number: Int) -> TraceSpan {
        var random = SystemRandomNumberGenerator()
        return TraceSpan(
            "span \(number)", .internal, TraceContext(isSampled: true, using: &random), parentID: nil, start: 1, end: 2)
    }

    private static func makeExporter(_ tracer: Tracer, _ url: String, _ metrics: MetricsRegistry) -> SpanExporter {
        SpanExporter(
            tracer, collector: url, service: "gateway", instance: "gateway-1", log: .none, metrics: metrics)
    }

    /// The number of spans with this fate: `sent`, `failed` or `dropped`.
    private static func spanCount(_ fate: String, _ metrics: MetricsRegistry) -> Int {
        metrics.counter(MetricNames.Traces.spans, help: "", labels: ["fate": fate]).value
    }

    @Test func `a collector's address may be given with or without the path of OTLP`() {
        for address in ["http://c:4318", "http://c:4318/", "http://c:4318/v1/traces", "http://c:4318/v1/traces/"] {
            #expect(SpanExporter.address(address) == "http://c:4318/v1/traces")
        }
    }

    @Test func `an exporter that is stopped has sent all spans`() async throws {
        let collector = try RecordingReceiver { _, _ in .answer(200, "{}") }
        let metrics = MetricsRegistry()
        let tracer = Tracer(share: 1)
        let exporter = Self.makeExporter(tracer, collector.url, metrics)
        // One batch and three spans more.
        let firstCount = Tracer.batchSize + 3
        for number in 1...firstCount { tracer.record(Self.span(number)) }
        await runOnDedicatedThread {
            let thread = DedicatedThread("exporter") { exporter.run() }
            _ = collector.wait { $0.map(\.text).joined().contains("\"span \(firstCount)\"") }
            // This span is sent when the exporter stops.
            tracer.record(Self.span(9999))
            exporter.stop()
            thread.join()
        }
        let text = collector.received.map(\.text).joined()
        #expect(text.contains("\"span 1\"") && text.contains("\"span 9999\""))
        #expect(collector.received.allSatisfy { $0.headers["content-type"] == "application/json" })
        #expect(Self.spanCount("sent", metrics) == firstCount + 1 && Self.spanCount("failed", metrics) == 0)
    }

    @Test func `while a collector does not answer, spans beyond the capacity are dropped and counted`() async throws {
        let collector = try RecordingReceiver { _, _ in .keepSilent }
        let metrics = MetricsRegistry()
        let tracer = Tracer(share: 1, capacity: 10)
        let exporter = Self.makeExporter(tracer, collector.url, metrics)
        // This span is sent, and is not answered.
        tracer.record(Self.span(0))
        await runOnDedicatedThread {
            let thread = DedicatedThread("exporter") { exporter.run() }
            _ = collector.wait { !$0.isEmpty }
            for number in 1...100 { tracer.record(Self.span(number)) }
            collector.stop()
            exporter.stop()
            thread.join()
        }
        // The capacity is 10, so 10 of the 100 further spans wait, and 90 are dropped. When the collector stops, the
        // waiting spans and the first span fail: 10 + 1 = 11.
        #expect(Self.spanCount("dropped", metrics) == 90)
        #expect(Self.spanCount("failed", metrics) == 11 && Self.spanCount("sent", metrics) == 0)
    }

    @Test func `a batch that the collector rejects counts as failed, and the next batch is sent`() async throws {
        let collector = try RecordingReceiver { index, _ in .answer(index == 0 ? 503 : 200, "") }
        let metrics = MetricsRegistry()
        let tracer = Tracer(share: 1)
        let exporter = Self.makeExporter(tracer, collector.url, metrics)
        tracer.record(Self.span(1))
        await runOnDedicatedThread {
            let thread = DedicatedThread("exporter") { exporter.run() }
            _ = collector.wait { $0.count == 1 }
            tracer.record(Self.span(2))
            _ = collector.wait { $0.count == 2 }
            exporter.stop()
            thread.join()
        }
        #expect(Self.spanCount("failed", metrics) == 1 && Self.spanCount("sent", metrics) == 1)
    }

    @Test func `an exporter whose HTTP client hangs counts its spans as failed, continues, and can be stopped`()
        async throws
    {
        let collector = try RecordingReceiver { _, _ in .answer(200, "{}") }
        let metrics = MetricsRegistry()
        let tracer = Tracer(share: 1)
        let client = HTTPClient(maxOpenRequests: 1)
        let exporter = SpanExporter(
            tracer, collector: collector.url, service: "gateway", instance: "gateway-1", log: .none, metrics: metrics,
            client: client, answerTimeout: .milliseconds(200))
        // The client's thread hangs in the completion of this request until the end of the test, so that the client
        // answers no other request.
        let isReleased = ConditionVariable(false)
        let isHanging = ConditionVariable(false)
        client.send(HTTPPost(url: collector.url, headers: [], body: [], timeout: .seconds(5))) { _ in
            isHanging.update { $0 = true }
            _ = isReleased.wait { $0 ? () : nil }
        }
        let hasStopped = await runOnDedicatedThread {
            let thread = DedicatedThread("exporter") { exporter.run() }
            _ = isHanging.wait(timeout: .seconds(10)) { $0 ? () : nil }
            tracer.record(Self.span(1))
            let deadline = ContinuousClock.now + .seconds(10)
            while Self.spanCount("failed", metrics) < 1, ContinuousClock.now < deadline {
                DedicatedThread.sleep(for: .milliseconds(20))
            }
            tracer.record(Self.span(2))
            exporter.stop()
            return thread.join(timeout: .seconds(10))
        }
        isReleased.update { $0 = true }
        #expect(hasStopped)
        #expect(Self.spanCount("failed", metrics) == 2 && Self.spanCount("sent", metrics) == 0)
    }
}
