// SPDX-License-Identifier: Apache-2.0
import LoadKit
import Testing

/// Tests of the reader of Prometheus's text format.
@Suite struct MetricsPageTests {
    @Test func `samples are read with their labels, and other lines are skipped`() {
        let page = MetricsPage("# TYPE a counter\na{b=\"c d\"} 5\nx 1.5e3\nbroken\nword y\n")
        #expect(page.values == ["a{b=\"c d\"}": 5, "x": 1500])
    }
}
