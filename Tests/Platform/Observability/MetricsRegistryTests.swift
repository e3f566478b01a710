// SPDX-License-Identifier: Apache-2.0
import ChildProcess
import Foundation
import Observability
import TestSupport
import Testing

/// Tests of counters, gauges and timings, and of the text in which Prometheus reads them.
@Suite struct MetricsRegistryTests {
    /// The path of Prometheus's tool; nil if it is not installed.
    static let promtool = ["/usr/bin/promtool", "/usr/local/bin/promtool"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    @Test func `a request with the same name and labels, in any order, returns the same instrument`() {
        let registry = MetricsRegistry()
        let first = registry.counter("a_calls_total", help: "x", labels: ["method": "join", "app": "demo"])
        let second = registry.counter("a_calls_total", help: "x", labels: ["app": "demo", "method": "join"])
        #expect(first === second)
        #expect(first !== registry.counter("a_calls_total", help: "x", labels: ["method": "leave", "app": "demo"]))
    }

    @Test func `I16 the number of series is limited, and label values beyond the limit share one series`() {
        let registry = MetricsRegistry(seriesLimit: 3)
        for index in 0..<100 { registry.counter("a_total", help: "x", labels: ["user": "u\(index)"]).add() }
        let samples = registry.snapshot()[0].samples
        // Three values have a series each, and the other 97 values share the series `other`.
        #expect(samples.count == 4)
        #expect(samples.first { $0.labels.pairs[0].value == "other" }?.value == .number(97))
    }

    @Test func `the exported text has the Prometheus format`() {
        let registry = MetricsRegistry()
        registry.counter("b_total", help: "Two\nlines \\ here.", labels: ["why": "a \"quoted\"\nword"]).add(3)
        registry.gauge("a_depth", help: "Depth.").set(-2)
        registry.observe("c_ratio", help: "Ratio.") { 0.5 }
        #expect(
            PrometheusText.render(registry) == """
                # HELP a_depth Depth.
                # TYPE a_depth gauge
                a_depth -2
                # HELP b_total Two\\nlines \\\\ here.
                # TYPE b_total counter
                b_total{why="a \\"quoted\\"\\nword"} 3
                # HELP c_ratio Ratio.
                # TYPE c_ratio gauge
                c_ratio 0.5

                """)
    }

    @Test func `a timing is exported as cumulative buckets with sum and count`() {
        let registry = MetricsRegistry()
        let timing = registry.timing("a_seconds", help: "x")
        timing.record(microseconds: 150)
        timing.record(milliseconds: 30)
        timing.record(milliseconds: 600_000)

        // The values are 0.00015 s, 0.03 s and 600 s; each bucket counts all values up to its bound `le`.
        let text = PrometheusText.render(registry)
        #expect(text.contains("a_seconds_bucket{le=\"0.0001\"} 0\n"))
        #expect(text.contains("a_seconds_bucket{le=\"0.0002\"} 1\n"))
        #expect(text.contains("a_seconds_bucket{le=\"0.05\"} 2\n"))
        #expect(text.contains("a_seconds_bucket{le=\"50\"} 2\n"))
        #expect(text.contains("a_seconds_bucket{le=\"+Inf\"} 3\n"))
        #expect(text.contains("a_seconds_sum 600.03015\n"))
        #expect(text.contains("a_seconds_count 3\n"))
        // The median is 30,000 µs; a percentile may be wrong by one percent.
        #expect(abs(timing.histogram.percentile(50) - 30_000) <= 300)
    }

    @Test(arguments: [Int.max, Int.max / 1_000 + 1, 1 << 62])
    func `a time too long for a number of microseconds counts as the highest value`(milliseconds: Int) {
        let timing = Timing()
        timing.record(milliseconds: milliseconds)
        #expect(timing.histogram.maximum == Histogram.highestValue)
    }

    @Test func `instruments count every record of many threads`() {
        let registry = MetricsRegistry()
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
            let timing = registry.timing("a_seconds", help: "x")
            let counter = registry.counter("a_total", help: "x")
            for value in 0..<1_000 {
                timing.record(microseconds: value)
                counter.add()
            }
        }
        #expect(registry.counter("a_total", help: "x").value == 8_000)
        #expect(registry.timing("a_seconds", help: "x").histogram.count == 8_000)
    }

    @Test func `a malformed name traps, and so does a name that is used for two kinds of instruments`() async {
        await #expect(processExitsWith: .failure) { _ = MetricsRegistry().gauge("Bad-Name", help: "x") }
        await #expect(processExitsWith: .failure) {
            let registry = MetricsRegistry()
            _ = registry.gauge("a", help: "x")
            _ = registry.counter("a", help: "x")
        }
    }

    @Test(.enabled(if: promtool != nil, "install Debian's prometheus"), .timeLimit(.minutes(1)))
    func `promtool accepts the exported text`() throws {
        let registry = MetricsRegistry()
        registry.addProcessMetrics()
        registry.counter(MetricNames.Gateway.calls, help: "Calls.", labels: ["method": "a\"b\\c\nd"]).add(5)
        registry.timing(MetricNames.Shell.batch, help: "Time of a batch.").record(milliseconds: 12)
        registry.gauge(MetricNames.Redis.connected, help: "Connections that stand.").set(9)
        let text = PrometheusText.render(registry)
        #expect(text.contains("\nprocess_cpu_seconds_total "))
        let (end, output) = try Self.checkMetrics(text)
        #expect(end == .exited(0) && output.isEmpty, "\(output)\n\(text)")
        let textWithoutHelp = "# TYPE a counter\na 1\n"
        #expect(try Self.checkMetrics(textWithoutHelp).end != .exited(0), "promtool must reject a text with an error")
    }

    /// Runs `promtool check metrics` over a text.
    static func checkMetrics(_ text: String) throws -> (end: ProcessEnd, output: String) {
        try TestProcess.run([Self.promtool ?? "", "check", "metrics"], input: text, errors: .output)
    }
}
