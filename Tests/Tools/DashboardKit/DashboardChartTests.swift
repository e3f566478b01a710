// SPDX-License-Identifier: Apache-2.0
import DashboardKit
import LoadKit
import Testing

/// Tests of the charts' samples of drops, replays and gaps, and of the owners of partitions.
@Suite struct DashboardChartTests {
    /// A reading of one process that has the counters of a gateway and of a fan-out.
    ///
    /// As a gateway it has shed `tips` tips, done `replays` replays, and refused `gone` replays. As a fan-out it has
    /// dropped `tips` tips and `barrages` messages.
    private static func reading(tips: Int, barrages: Int, replays: Int, gone: Int) -> ProcessReading {
        CounterGrowthTests.reading(
            "gateway-1", startedAt: 1, "gateway_feed_shed_total{class=\"tip\"} \(tips)",
            "gateway_feed_shed_total{class=\"gift\"} 0",
            "barrage_dropped_total{class=\"barrage\",reason=\"budget\"} \(barrages)",
            "barrage_dropped_total{class=\"tip\",reason=\"share\"} \(tips)", "gateway_replays_total \(replays)",
            "gateway_replays_refused_total{reason=\"gone\"} \(gone)")
    }

    @Test func `samples have drops per second by class and by reason, and replays done and refused per second`() {
        var model = DashboardModel()
        model.addRound([Self.reading(tips: 5, barrages: 7, replays: 1, gone: 1)], at: 0)
        model.addRound([Self.reading(tips: 9, barrages: 27, replays: 7, gone: 5)], at: 2000)
        let samples = model.report(from: 0, at: 2000).samples
        // In 2 s, the gateway sheds 4 tips. Items are shed only for slow readers, so that is their reason. The fan-out
        // drops 4 tips for their share and 20 messages for the budget.
        #expect(samples.map(\.dropsByClass) == [[:], ["tip": 4, "barrage": 10]])
        #expect(samples.map(\.dropsByReason) == [[:], ["slowReader": 2, "share": 2, "budget": 10]])
        #expect(samples.map(\.replays) == [0, 3])
        #expect(samples.map(\.replaysRefused) == [0, 2])
    }

    @Test func `samples have the gaps of both ledgers`() {
        var model = DashboardModel()
        for second in 0..<6 {
            let reading = CounterGrowthTests.reading(
                "gateway-1", startedAt: 1, "barrage_published_total \(second + 3)", "barrage_admitted_total \(second)",
                "gateway_feed_due_total \(second + 2)", "gateway_feed_delivered_total \(second)")
            model.addRound([reading], at: second * 1000)
        }
        // A gap counts as real when five readings in a row have it.
        let samples = model.report(from: 0, at: 6000).samples
        #expect(samples.map(\.feedGap) == [0, 0, 0, 0, 3, 3])
        #expect(samples.map(\.deliveryGap) == [0, 0, 0, 0, 2, 2])
    }

    /// A fan-out that owns the partitions `owned`, and has lost the partitions `lost`.
    private static func fanout(_ number: Int, pid: Int32, owned: [Int], lost: [Int] = []) -> ProcessReading {
        let lines = owned.map { ($0, 1) } + lost.map { ($0, 0) }
        let text = lines.map { "shell_owned_partition{machine=\"barrage\",partition=\"\($0.0)\"} \($0.1)\n" }.joined()
        let page = MetricsPage(
            "\(text)shell_partitions{machine=\"barrage\"} \(owned.count)\n"
                + "shell_owned_partition{machine=\"other\",partition=\"other\"} 1\n")
        return ProcessReading(
            name: "barrage-fanout-\(number)", kind: "barrage-fanout", pid: pid, isReady: true,
            metrics: MetricsTable(page))
    }

    @Test func `the report has the owners of each partition, and an empty list if nobody owns the partition`() {
        var model = DashboardModel()
        model.addRound(
            [Self.fanout(1, pid: 7, owned: [0, 2], lost: [1]), Self.fanout(2, pid: 8, owned: [1])], partitionCount: 4,
            at: 0)
        let owners = model.report(from: 0, at: 0).owners
        #expect(
            owners == [
                .init(
                    machine: "barrage", service: "barrage-fanout",
                    partitions: [["barrage-fanout-1"], ["barrage-fanout-2"], ["barrage-fanout-1"], []])
            ])
    }

    @Test func `a killed process owns nothing, and two processes may claim the same partition`() {
        var model = DashboardModel()
        model.addRound([Self.fanout(1, pid: 7, owned: [0, 1])], at: 0)
        // The only process of the machine is down: the row of the machine stays, without owners.
        model.updateStates(
            [ProcessReading(name: "barrage-fanout-1", kind: "barrage-fanout", pid: nil, isReady: false)], at: 100)
        #expect(
            model.report(from: 0, at: 100).owners
                == [.init(machine: "barrage", service: "barrage-fanout", partitions: [[], []])])
        model.addRound([Self.fanout(2, pid: 9, owned: [0, 1]), Self.fanout(1, pid: 8, owned: [1])], at: 1000)
        #expect(
            model.report(from: 0, at: 1000).owners.first?.partitions
                == [["barrage-fanout-2"], ["barrage-fanout-1", "barrage-fanout-2"]])
    }

    @Test func `a process keeps its figures between rounds while it runs, even when it is not ready`() {
        var model = DashboardModel()
        var reading = Self.fanout(1, pid: 7, owned: [0])
        model.addRound([reading], at: 0)
        reading.metrics = nil
        reading.isReady = false
        model.updateStates([reading], at: 100)
        #expect(model.report(from: 0, at: 100).owners.first?.partitions == [["barrage-fanout-1"]])
        // The successor of the process has another process id, and its metrics are not read yet.
        reading.pid = 8
        reading.isReady = true
        model.updateStates([reading], at: 200)
        #expect(model.report(from: 0, at: 200).owners.first?.partitions == [[]])
        #expect(model.report(from: 0, at: 200).processes.first?.partitions == [:])
    }
}
