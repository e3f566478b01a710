// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import HTTPClient
package import Observability

/// Sends a tracer's spans to a collector, by OTLP over HTTP in JSON.
///
/// There is one request at a time. A batch that a collector does not take is dropped and counted: spans are for people,
/// and memory is for viewers.
package final class SpanExporter: Sendable {
    private let tracer: Tracer
    private let url: String
    private let service: String
    private let instance: String
    private let log: Log
    private let client = HTTPClient(limit: 1)
    private let isStopping = Locked(false)
    private let sent: Counter
    private let dropped: Counter
    private let failed: Counter

    /// The longest pause between two requests while there are spans.
    private static let interval: Duration = .seconds(1)
    /// How long a collector may take for a request.
    private static let timeout: Duration = .seconds(5)

    /// - Parameters:
    ///   - tracer: the tracer whose spans are sent.
    ///   - collector: the collector's address, with or without the path `/v1/traces`.
    ///   - service: the program's name.
    ///   - instance: the process's name in the cluster.
    ///   - log: gets a line when a request fails.
    ///   - metrics: gets the counters of spans.
    package init(
        _ tracer: Tracer, collector: String, service: String, instance: String, log: Log, metrics: MetricsRegistry
    ) {
        self.tracer = tracer
        self.url = Self.address(collector)
        self.service = service
        self.instance = instance
        self.log = log
        func counter(_ fate: String) -> Counter {
            metrics.counter(MetricNames.Traces.spans, help: "Spans, by what became of them.", labels: ["fate": fate])
        }
        self.sent = counter("sent")
        self.dropped = counter("dropped")
        self.failed = counter("failed")
    }

    /// The address of requests: a collector's address without a path gets OTLP's.
    package static func address(_ collector: String) -> String {
        let base = collector.hasSuffix("/") ? String(collector.dropLast()) : collector
        return base.hasSuffix(OTLPSpans.path) ? base : base + OTLPSpans.path
    }

    /// Sends spans until `stop`, and then those that are left, in one request each batch.
    package func run() {
        let thread = DedicatedThread("traces-http") { [client] in client.run() }
        while !self.isStopping.withLock({ $0 }) {
            self.tracer.waitForBatch(timeout: Self.interval)
            while self.sendBatch() {}
        }
        while self.sendBatch() {}
        self.client.stop()
        thread.join()
    }

    /// Makes `run` return after at most the timeout of a request.
    package func stop() {
        self.isStopping.withLock { $0 = true }
        self.tracer.wakeUp()
    }

    /// Sends one batch and waits for the collector.
    ///
    /// - Returns: whether a full batch was taken, so that more spans may wait.
    private func sendBatch() -> Bool {
        self.dropped.add(self.tracer.takeDropped())
        let spans = self.tracer.takeBatch()
        guard !spans.isEmpty else { return false }
        let post = HTTPPost(
            url: self.url, headers: [],
            body: OTLPSpans.body(spans, service: self.service, instance: self.instance), timeout: Self.timeout)
        let answer = ConditionVariable<HTTPResult?>(nil)
        self.client.send(post) { result in answer.update { $0 = result } }
        // The client ends each request within its timeout.
        switch answer.wait(for: { $0 }) {
        case .answered(let status, _) where (200..<300).contains(status): self.sent.add(spans.count)
        case .answered(let status, _): self.fail(spans.count, "status \(status)")
        case .failed(let error): self.fail(spans.count, "\(error)")
        case nil: self.fail(spans.count, "no answer")
        }
        return spans.count == Tracer.batch
    }

    private func fail(_ count: Int, _ reason: String) {
        self.failed.add(count)
        self.log.info("spans are not taken by the collector", [.reason: .string(reason)])
    }
}
