// SPDX-License-Identifier: Apache-2.0
import DashboardKit
import LoadKit
import Testing

/// Tests of the figures that the dashboard computes from readings of the processes' metrics.
///
/// The ledger counts deliveries of feed items to viewers: each due delivery was made (`delivered`), was given up, or
/// will be made (`owed`). The rest is the delivery gap, which must be 0. Times are in milliseconds.
@Suite struct DashboardModelTests {
    /// A reading of a gateway with 12 connections, two partitions, and 3 records of the feeds that it has not read yet.
    private static func gateway(delivered: Int, due: Int, owed: Int) -> ProcessReading {
        CounterGrowthTests.reading(
            "gateway-1", startedAt: 1, "gateway_connections 12", "gateway_feed_delivered_total \(delivered)",
            "gateway_feed_due_total \(due)", "gateway_feed_owed \(owed)",
            "kafka_consumer_lag_messages{reader=\"feeds\"} 3", "shell_partitions{machine=\"barrage\"} 2")
    }

    @Test func `the report of two rounds has rates per second, and no delivery gap`() throws {
        var model = DashboardModel()
        model.addRound([Self.gateway(delivered: 100, due: 110, owed: 10)], at: 0)
        model.addRound([Self.gateway(delivered: 180, due: 190, owed: 10)], at: 2000)
        let report = model.report(from: 0, at: 2100)
        // 180 - 100 = 80 deliveries in 2 s are 40 a second.
        #expect(report.samples.map(\.deliveries) == [0, 40])
        #expect(report.samples.map(\.connections) == [12, 12])
        #expect(report.samples.map(\.lag) == [3, 3])
        // The index of the next sample, for the page's next request.
        #expect(report.next == 2)
        #expect(report.lag == ["feeds": 3])
        #expect(report.ledger.due == 190)
        #expect(report.ledger.deliveryGap == 0)
        #expect(report.processes.first?.partitions == ["barrage": 2])
        #expect(model.report(from: 2, at: 2200).samples == [])
    }

    @Test func `a due delivery that was neither made nor given up nor is owed is a gap`() {
        // The gap is 111 - 100 - 10 = 1. It counts when five readings in a row have it.
        var model = DashboardModel()
        for second in 0..<5 {
            #expect(model.report(from: 0, at: second * 1000).ledger.deliveryGap == 0)
            model.addRound([Self.gateway(delivered: 100, due: 111, owed: 10)], at: second * 1000)
        }
        #expect(model.report(from: 0, at: 5000).ledger.deliveryGap == 1)
    }

    @Test func `a process keeps its figures between rounds, and loses them when the process is down`() {
        var model = DashboardModel()
        var reading = Self.gateway(delivered: 100, due: 110, owed: 10)
        model.addRound([reading], at: 0)
        // Between two rounds, only the states of processes are read.
        reading.metrics = nil
        model.updateStates([reading], at: 100)
        #expect(model.report(from: 0, at: 100).processes.first?.connections == 12)
        (reading.pid, reading.isReady) = (nil, false)
        model.updateStates([reading], at: 200)
        #expect(model.report(from: 0, at: 200).processes.first?.connections == nil)
    }

    @Test func `fifteen minutes of samples are kept`() {
        var model = DashboardModel()
        for second in 0..<1000 { model.addRound([], at: second * 1000) }
        let samples = model.report(from: 0, at: 1_000_000).samples
        #expect(samples.count == DashboardModel.maxSamples)
        // Of the 1000 samples, those from second 100 on are kept.
        #expect(samples.first?.at == 100_000)
    }
}
