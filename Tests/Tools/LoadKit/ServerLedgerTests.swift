// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import LoadKit

/// Tests of the servers' own counts of messages during a load run, across restarts and missed readings.
@Suite struct ServerLedgerTests {
    private static let admitted = #"barrage_admitted_total{class="barrage"}"#

    /// The metrics of a fan-out with this count; `start` is the start time of the process.
    private static func fanout(_ count: Int, start: Int = 100) -> String {
        """
        # TYPE barrage_admitted_total counter
        \(self.admitted) \(count)
        # TYPE process_start_time_seconds gauge
        process_start_time_seconds \(start)

        """
    }

    /// The totals after readings of one fan-out; nil is a reading that the process did not answer.
    private static func ledger(_ pages: [String?]) -> ServerLedger.Totals {
        var ledger = ServerLedger()
        for page in pages { ledger.addRound([("barrage-fanout-1", .fanout, page)]) }
        return ledger.totals
    }

    @Test func `counts from before the run are subtracted`() {
        let totals = Self.ledger([Self.fanout(5000), Self.fanout(5400), Self.fanout(5700)])
        #expect(totals == ServerLedger.Totals(exact: [Self.admitted: 700]))
    }

    @Test func `the sums of a restarted process are lower bounds with a note`() {
        let totals = Self.ledger([Self.fanout(5000), Self.fanout(5400), nil, Self.fanout(50, start: 107)])
        #expect(totals.exact.isEmpty)
        // 400 before the restart, and at least 50 after it.
        #expect(totals.atLeast == [Self.admitted: 450])
        #expect(totals.notes.count == 1)
        #expect(totals.notes.first?.contains("barrage-fanout-1 was started again") == true)
    }

    @Test func `a restart is detected even when the new process has counted more than the old one`() {
        let totals = Self.ledger([Self.fanout(10), Self.fanout(20), Self.fanout(30, start: 107)])
        // 20 - 10 before the restart, and at least 30 after it.
        #expect(totals.exact.isEmpty && totals.atLeast == [Self.admitted: 40])
    }

    @Test func `a decreased counter is a restart even without a start time`() {
        let page = { (count: Int) in "\(Self.admitted) \(count)\n" }
        let totals = Self.ledger([page(10), page(20), page(3)])
        // 20 - 10 before the restart, and at least 3 after it.
        #expect(totals.exact.isEmpty && totals.atLeast == [Self.admitted: 13])
    }

    @Test func `a missed reading between two others loses nothing`() {
        let totals = Self.ledger([Self.fanout(10), nil, Self.fanout(20)])
        #expect(totals == ServerLedger.Totals(exact: [Self.admitted: 10]))
    }

    @Test func `a note names a process that is unreachable at the beginning, at the end or always`() {
        let atEnd = Self.ledger([Self.fanout(10), Self.fanout(20), nil])
        #expect(atEnd.atLeast == [Self.admitted: 10] && atEnd.exact.isEmpty)
        #expect(atEnd.notes.first?.contains("did not answer at the end") == true)
        // The first reading may contain counts from before the run.
        let atFirst = Self.ledger([nil, Self.fanout(10), Self.fanout(20)])
        #expect(atFirst.atLeast == [Self.admitted: 10] && atFirst.exact.isEmpty)
        #expect(atFirst.notes.first?.contains("did not answer at first") == true)
        let never = Self.ledger([nil, nil])
        #expect(never.exact.isEmpty && never.atLeast.isEmpty)
        #expect(never.notes.first?.contains("barrage-fanout-1 never answered") == true)
    }

    @Test
    func
        `a restart makes the sums of its own program lower bounds, without its gauges, and leaves those of others exact`()
    {
        // `gateway_feed_partitions` is not a figure of the ledger.
        let gateway = { (delivered: Int, start: Int) in
            """
            gateway_feed_delivered_total \(delivered)
            gateway_feed_owed \(delivered / 2)
            gateway_feed_partitions \(delivered)
            process_start_time_seconds \(start)
            """
        }
        var ledger = ServerLedger()
        for (delivered, start) in [(10, 1), (20, 1)] {
            ledger.addRound([
                ("barrage-fanout-1", .fanout, Self.fanout(delivered)),
                ("gateway-1", .gateway, gateway(delivered, start)),
                ("gateway-2", .gateway, gateway(delivered, start)),
            ])
        }
        // Each count has grown from 10 to 20, or from 5 to 10; there are two gateways.
        #expect(
            ledger.totals.exact == [
                Self.admitted: 10, "gateway_feed_delivered_total": 20, "gateway_feed_owed": 10,
            ])
        ledger.addRound([
            ("barrage-fanout-1", .fanout, Self.fanout(30)), ("gateway-1", .gateway, gateway(4, 2)),
            ("gateway-2", .gateway, gateway(30, 1)),
        ])
        #expect(ledger.totals.exact == [Self.admitted: 20])
        // gateway-1: 10 before its restart and at least 4 after it; gateway-2: 20.
        #expect(ledger.totals.atLeast == ["gateway_feed_delivered_total": 34])
        #expect(ledger.totals.notes.count == 1)
    }

    @Test func `without processes to read, a note says that the ledger is unknown`() {
        let totals = ServerLedger().totals
        #expect(totals.exact.isEmpty && totals.atLeast.isEmpty)
        #expect(totals.notes.first?.contains("--gateway") == true)
    }
}
