// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import ScaleKit

/// Tests of the report of a run that adds and removes instances of a service, and of when the run passes.
struct ScaleReportTests {
    /// A step of 10 s, in which the instances together do `work` units (messages) in `cpuSeconds` of processor time.
    private static func step(
        _ instances: Int, work: Int = 1000, cpuSeconds: Double = 1, _ findings: [ScaleFinding] = []
    ) -> ScaleStep {
        ScaleStep(instances: instances, work: work, seconds: 10, cpuSeconds: cpuSeconds, findings: findings)
    }

    /// The report of a run with the fan-out in these steps.
    private static func report(_ steps: ScaleStep..., changes: [ScaleChange] = []) -> ScaleReport {
        ScaleReport(services: [ServiceScale(.barrage, steps: steps, changes: changes)])
    }

    /// The addition of a second instance, which takes half of the 12 partitions.
    ///
    /// The longest pause of a feed was 150 ms. All viewers were on one gateway, and compared the order of 960 messages.
    private static var change: ScaleChange {
        var change = ScaleChange(from: 1, to: 2)
        change.pauseMilliseconds = 150.4
        change.spreads = [
            PartitionSpread(machine: "barrage", partitions: 12, owned: ["barrage-fanout-1": 6, "barrage-fanout-2": 6])
        ]
        change.moves = [
            PartitionMoves(
                machine: "barrage", newcomer: "barrage-fanout-2", instances: 2, partitions: 12, moved: 6, taken: 6)
        ]
        (change.comparedMessages, change.comparedGateways) = (960, 1)
        return change
    }

    @Test func `a run in which a unit of work costs about the same with more instances passes`() {
        let report = Self.report(
            Self.step(1), Self.step(2, work: 500, cpuSeconds: 0.55), Self.step(4, work: 4000, cpuSeconds: 4.5))
        #expect(report.findings == [] && report.isPassed)
        // The columns after the number of instances are units a second, those of each instance, microseconds of CPU for
        // each unit, and the ratio to one instance.
        #expect(report.table.contains("| barrage-fanout (messages) | 2 | 50 | 25 | 1100 | 1.10 |"))
        #expect(report.text.hasSuffix("Every promise held."))
    }

    @Test func `a run that ended early keeps what it measured, says why it ended, and fails`() {
        var report = Self.report(Self.step(1))
        report.error = "gateway: gateway-2 is not ready"
        #expect(!report.isPassed)
        #expect(report.text.contains("| barrage-fanout (messages) | 1 |"))
        #expect(report.text.contains("FAILED: the run ended early. gateway: gateway-2 is not ready"))
        #expect(report.json.contains("gateway-2 is not ready"))
    }

    @Test func `without a cost of one instance nothing is compared, and the run fails`() {
        let report = Self.report(Self.step(1, cpuSeconds: 0), Self.step(2))
        #expect(report.findings.map(\.promise) == [.cost, .cost])
    }

    @Test func `a run in which a unit of work costs 20 % more with more instances fails`() {
        #expect(
            Self.report(Self.step(1), Self.step(2, cpuSeconds: 1.2)).findings == [
                ScaleFinding(
                    .cost,
                    "barrage-fanout with 2: a unit of work costs 120 % of its cost with one instance, more than 115 %")
            ])
    }

    @Test func `a run with a step with rejected calls or without work fails`() {
        let report = Self.report(
            Self.step(1), Self.step(2, ScaleChange.rejections(["unavailable": 2, "timedOut": 1], of: "calls")),
            Self.step(4, work: 0))
        #expect(
            report.findings.map(\.text) == [
                "barrage-fanout with 2: 1 calls were rejected (timedOut)",
                "barrage-fanout with 2: 2 calls were rejected (unavailable)",
                "barrage-fanout with 4: no unit of work was done",
            ])
        #expect(report.findings.allSatisfy { $0.promise == .answers })
    }

    @Test func `the table shows the partitions, the moves, the pause and the order of each change`() {
        let report = Self.report(Self.step(1), changes: [Self.change])
        // `6/6/7`: six partitions moved, the new instance took six, and seven may move. `0, 0, 0`: no message was lost,
        // repeated or reordered. `960 on 1`: the viewers compared 960 messages on one gateway.
        #expect(
            report.table.contains(
                "| barrage-fanout | 1 → 2 | barrage 6, 6 | barrage 6/6/7 | 150 | 0, 0, 0 | 960 on 1 |"))
    }

    @Test func `the text of a failed run says of each promise whether it held, broke or was not tested`() {
        var change = Self.change
        change.pauseMilliseconds = 501
        let report = Self.report(Self.step(1), changes: [change])
        #expect(!report.isPassed)
        let lines = report.text.split(separator: "\n").map(String.init)
        #expect(lines.contains("held: each instance owns its share of the partitions"))
        #expect(lines.contains("BROKEN: a feed pauses for at most 500 ms while an instance is added"))
        #expect(
            lines.contains(
                "    barrage-fanout with 1 → 2: a feed paused for 501 ms while instances were added, more than 500 ms"))
        // All viewers were on one gateway, so no order was compared between gateways.
        #expect(lines.contains("not tested: viewers of a live on all gateways see one order (I7)"))
        #expect(lines.last == "FAILED: see the promises above.")
    }

    @Test func `the JSON has the changes, the findings with their promises, and whether the run passed`() throws {
        var change = Self.change
        change.lost = 3
        let text = Self.report(Self.step(1), changes: [change]).json
        let json = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
        let report = try #require(json)
        #expect(report["passed"] as? Bool == false)
        let findings = try #require(report["findings"] as? [[String: String]])
        #expect(
            findings == [
                ["promise": "loss", "text": "barrage-fanout with 1 → 2: 3 acknowledged messages were lost"]
            ])
        let service = try #require((report["services"] as? [[String: Any]])?.first)
        #expect(service["service"] as? String == "barrage-fanout")
        let written = try #require((service["changes"] as? [[String: Any]])?.first)
        #expect(written["pauseMilliseconds"] as? Double == 150.4)
        let spread = try #require((written["spreads"] as? [[String: Any]])?.first)
        #expect(spread["owned"] as? [String: Int] == ["barrage-fanout-1": 6, "barrage-fanout-2": 6])
        let moves = try #require((written["moves"] as? [[String: Any]])?.first)
        #expect(moves["moved"] as? Int == 6 && moves["taken"] as? Int == 6 && moves["limit"] as? Int == 7)
    }

    @Test func `a report without a service does not pass`() { #expect(!ScaleReport().isPassed) }

    @Test(
        arguments: [
            ("1 (a) S 1 2 3 4 5 6 7 8 9 10 150 50 0 0", 2.0), ("1 (a b) c) S 1 2 3 4 5 6 7 8 9 10 1 0 0 0", 0.01),
            ("", 0), ("1 (a) S 1", 0),
        ])
    func `processor time is read from a process's stat file`(text: String, seconds: Double) {
        // The 14th and the 15th word are the user's and the system's time, in ticks of 10 ms.
        #expect(CPUReading.seconds(inStat: text) == seconds)
    }
}
