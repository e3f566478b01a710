// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
package import HTTPClient
package import Observability

/// Sends a tracer's spans to a collector, by OTLP over HTTP in JSON.
///
/// At most one request is in flight. Spans must not accumulate while the collector is unavailable. A batch that the
/// collector does not accept is therefore dropped and counted.
///
/// A process must not end because its spans cannot be sent, so no watchdog checks the exporter. Instead each of its
/// waits has a timeout: even when the client's thread hangs, the exporter continues and counts the spans as failed.
package final class SpanExporter: Sendable {
    private let tracer: Tracer
    private let url: String
    private let service: String
    private let instance: String
    private let log: Log
    private let client: HTTPClient
    /// The longest wait for the client, which ends each request within `timeout` unless its thread hangs.
    private let answerTimeout: Duration
    private let isStopping = Locked(false)
    private let sentSpans: Counter
    /// Counts the spans that the tracer dropped because too many were waiting.
    private let droppedSpans: Counter
    /// Counts the spans that the collector did not accept.
    private let failedSpans: Counter

    /// The longest wait for further spans before an incomplete batch is sent.
    private static let interval: Duration = .seconds(1)
    /// How long a collector may take for a request.
    private static let timeout: Duration = .seconds(5)
    /// How long the stopped client may take to end its thread.
    private static let stopTimeout: Duration = .seconds(1)

    /// Creates an exporter; `run` starts it.
    ///
    /// - Parameters:
    ///   - tracer: the tracer whose spans are sent.
    ///   - collector: the collector's address, with or without the path `/v1/traces`.
    ///   - service: the program's name.
    ///   - instance: the process's name in the cluster.
    ///   - log: gets a line when a request fails.
    ///   - metrics: gets the counters of spans.
    ///   - client: sends the requests, and is run and stopped by the exporter.
    ///   - answerTimeout: the longest wait for the client; longer than the 5 s that a collector may take.
    package init(
        _ tracer: Tracer, collector: String, service: String, instance: String, log: Log, metrics: MetricsRegistry,
        client: HTTPClient = HTTPClient(maxOpenRequests: 1), answerTimeout: Duration = .seconds(10)
    ) {
        self.client = client
        self.answerTimeout = answerTimeout
        self.tracer = tracer
        self.url = Self.address(collector)
        self.service = service
        self.instance = instance
        self.log = log
        func counter(fate: String) -> Counter {
            metrics.counter(MetricNames.Traces.spans, help: "Spans, by what became of them.", labels: ["fate": fate])
        }
        self.sentSpans = counter(fate: "sent")
        self.droppedSpans = counter(fate: "dropped")
        self.failedSpans = counter(fate: "failed")
    }

    /// The address to which requests are sent: the collector's address, with OTLP's path appended if it is missing.
    package static func address(_ collector: String) -> String {
        let base = collector.hasSuffix("/") ? String(collector.dropLast()) : collector
        return base.hasSuffix(OTLPSpans.path) ? base : base + OTLPSpans.path
    }

    /// Sends spans until `stop` is called, then sends the remaining spans and returns.
    ///
    /// If the client's thread hangs, this call returns without waiting for the thread's end.
    package func run() {
        let thread = DedicatedThread("traces-http") { [client] in client.run() }
        while !self.isStopping.withLock({ $0 }) {
            self.tracer.waitForBatch(timeout: Self.interval)
            while self.sendBatch() {}
        }
        while self.sendBatch() {}
        self.client.stop()
        _ = thread.join(timeout: Self.stopTimeout)
    }

    /// Makes `run` return after it has sent the remaining spans.
    package func stop() {
        self.isStopping.withLock { $0 = true }
        self.tracer.wakeUp()
    }

    /// Sends one batch and waits for the collector.
    ///
    /// - Returns: whether the batch was full, in which case further spans may be waiting.
    private func sendBatch() -> Bool {
        self.droppedSpans.add(self.tracer.takeDroppedCount())
        let spans = self.tracer.takeBatch()
        guard !spans.isEmpty else { return false }
        let post = HTTPPost(
            url: self.url, headers: [],
            body: OTLPSpans.body(spans, service: self.service, instance: self.instance), timeout: Self.timeout)
        let response = ConditionVariable<HTTPResult?>(nil)
        self.client.send(post) { result in response.update { $0 = result } }
        switch response.wait(timeout: self.answerTimeout, for: { $0 }) {
        case .answered(let status, _) where (200..<300).contains(status): self.sentSpans.add(spans.count)
        case .answered(let status, _): self.reportFailure(of: spans.count, "status \(status)")
        case .failed(let error): self.reportFailure(of: spans.count, "\(error)")
        // The client's thread hangs. A later result is ignored, because these spans are counted now.
        case nil: self.reportFailure(of: spans.count, "no answer")
        }
        return spans.count == Tracer.batchSize
    }

    /// Counts and logs spans that the collector did not accept.
    private func reportFailure(of count: Int, _ reason: String) {
        self.failedSpans.add(count)
        self.log.info("spans are not taken by the collector", [.reason: .string(reason)])
    }
}
