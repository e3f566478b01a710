// SPDX-License-Identifier: Apache-2.0
import ScaleKit
import Testing

/// Tests of the report of a run that adds instances of a service, and of when the run passes.
struct ScaleReportTests {
    /// A step of 10 s; `cpu` is in seconds and `pause` in milliseconds.
    private static func step(
        _ instances: Int, work: Int = 1000, cpu: Double = 1, pause: Double = 0, _ findings: [String] = []
    ) -> ScaleStep {
        ScaleStep(
            instances: instances, work: work, seconds: 10, cpuSeconds: cpu, pauseMilliseconds: pause,
            findings: findings)
    }

    private static func report(_ steps: ScaleStep...) -> ScaleReport {
        ScaleReport(services: [ServiceScale(service: "barrage-fanout", unit: "messages", steps: steps)])
    }

    @Test func `equal cost per unit of work passes, whatever the throughput is`() {
        let report = Self.report(Self.step(1), Self.step(2, work: 500, cpu: 0.55), Self.step(4, work: 4000, cpu: 4.5))
        #expect(report.findings == [] && report.isPassed)
        // The columns behind the number of instances are units a second, microseconds of CPU for each unit, the ratio
        // to one instance, and the pause in milliseconds.
        #expect(report.table.contains("| barrage-fanout (messages) | 2 | 50 | 1100 | 1.10 | 0 |"))
    }

    @Test func `a unit of work that costs more with more instances fails`() {
        #expect(
            Self.report(Self.step(1), Self.step(2, cpu: 1.2)).findings == [
                "barrage-fanout with 2: a unit of work costs 120 % of its cost with one instance, more than 115 %"
            ])
    }

    @Test func `a pause of a feed, a broken promise and a standstill fail`() {
        let report = Self.report(
            Self.step(1), Self.step(2, pause: 501), Self.step(4, work: 0, ["3 messages were lost"]))
        #expect(
            report.findings == [
                "barrage-fanout with 2: a feed paused for 501 ms while instances were added, more than 500 ms",
                "barrage-fanout with 4: 3 messages were lost", "barrage-fanout with 4: no unit of work was done",
            ])
        #expect(report.table.contains("FAILED:"))
    }

    @Test func `a report without a service does not pass`() { #expect(!ScaleReport().isPassed) }

    @Test(
        arguments: [
            ("1 (a) S 1 2 3 4 5 6 7 8 9 10 150 50 0 0", 2.0), ("1 (a b) c) S 1 2 3 4 5 6 7 8 9 10 1 0 0 0", 0.01),
            ("", 0), ("1 (a) S 1", 0),
        ])
    func `processor time is read from a process's stat file`(text: String, seconds: Double) {
        // The 14th and the 15th word are the user's and the system's time, in ticks of 10 ms.
        #expect(CPUMeter.seconds(inStat: text) == seconds)
    }
}
