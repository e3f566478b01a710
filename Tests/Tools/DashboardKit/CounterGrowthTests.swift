// SPDX-License-Identifier: Apache-2.0
import DashboardKit
import LoadKit
import Testing

/// Tests of how much the counters of a cluster have grown since the dashboard began, across restarts of processes.
///
/// Each `add` is one round of readings of all processes.
@Suite struct CounterGrowthTests {
    /// A reading of a process with these lines of metrics; `startedAt` is its start time in seconds.
    static func reading(_ name: String, startedAt: Int, _ lines: String...) -> ProcessReading {
        let page = (["process_start_time_seconds \(startedAt)"] + lines).joined(separator: "\n")
        return ProcessReading(
            name: name, kind: "gateway", pid: 1, isReady: true, metrics: MetricsTable(MetricsPage(page)))
    }

    @Test func `a metric is summed over all its labels, or for each value of one label`() {
        let page = MetricsPage("a_total{x=\"1\",y=\"two words\"} 3\na_total{x=\"2\",y=\"two words\"} 4\nb 5\n")
        let table = MetricsTable(page)
        #expect(table.sum("a_total") == 7)
        #expect(table.sums("a_total", by: "x") == ["1": 3, "2": 4])
        #expect(table.sums("a_total", by: "y") == ["two words": 7])
        #expect(table.sum("b") == 5)
        #expect(table.sum("c") == 0)
    }

    @Test func `counts from before the dashboard began are ignored`() {
        var growth = CounterGrowth()
        growth.add([Self.reading("one", startedAt: 1, "a_total 100")])
        #expect(growth.totalGrowth(of: "a_total") == 0)
        growth.add([Self.reading("one", startedAt: 1, "a_total 107")])
        #expect(growth.lastRoundGrowth(of: "a_total") == 7)
        growth.add([Self.reading("one", startedAt: 1, "a_total 110")])
        #expect(growth.lastRoundGrowth(of: "a_total") == 3)
        #expect(growth.totalGrowth(of: "a_total") == 10)
    }

    @Test func `a restarted process counts from 0, and the growth of a process that is down stays`() {
        var growth = CounterGrowth()
        growth.add([Self.reading("one", startedAt: 1, "a_total 100"), Self.reading("two", startedAt: 1, "a_total 5")])
        // Process one is down.
        growth.add([
            ProcessReading(name: "one", kind: "gateway", pid: nil, isReady: false),
            Self.reading("two", startedAt: 1, "a_total 6"),
        ])
        #expect(growth.totalGrowth(of: "a_total") == 1)
        // Process one was restarted: it has another start time.
        growth.add([Self.reading("one", startedAt: 2, "a_total 120"), Self.reading("two", startedAt: 1, "a_total 6")])
        // 120 of the restarted process, and 1 of the other.
        #expect(growth.totalGrowth(of: "a_total") == 121)
    }

    @Test func `growth is summed for each combination of labels, and combinations without growth are left out`() {
        var growth = CounterGrowth()
        let zeroCount = "d_total{class=\"gift\",reason=\"late\"} 0"
        growth.add([Self.reading("one", startedAt: 1, "d_total{class=\"barrage\",reason=\"budget\"} 1", zeroCount)])
        growth.add([Self.reading("one", startedAt: 1, "d_total{class=\"barrage\",reason=\"budget\"} 4", zeroCount)])
        #expect(growth.totalGrowth(of: "d_total", by: ["class", "reason"]) == ["barrage budget": 3])
    }
}
