// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import LoadKit

/// Tests of the servers' own counts of messages during a load run, across restarts and missed readings.
@Suite struct ServerLedgerTests {
    /// The counter of admitted barrages, with its label.
    private static let admitted = #"barrage_admitted_total{class="barrage"}"#

    /// The metrics page of a process of barrage-fanout that has admitted `count` barrages.
    ///
    /// `start`: the start time of the process; a page with another start time comes from a restarted process.
    private static func fanout(_ count: Int, start: Int = 100) -> String {
        """
        # TYPE barrage_admitted_total counter
        \(self.admitted) \(count)
        # TYPE process_start_time_seconds gauge
        process_start_time_seconds \(start)

        """
    }

    /// The ledger's totals after readings of one process; a nil page is a reading that the process did not answer.
    private static func totals(_ pages: [String?]) -> ServerLedger.Totals {
        var ledger = ServerLedger()
        for page in pages { ledger.addRound([("barrage-fanout-1", .fanout, page)]) }
        return ledger.totals
    }

    @Test func `the counts of the first reading are subtracted`() {
        // 5700 - 5000 = 700
        let totals = Self.totals([Self.fanout(5000), Self.fanout(5400), Self.fanout(5700)])
        #expect(totals == ServerLedger.Totals(exact: [Self.admitted: 700]))
    }

    @Test func `after a restart, the sums of the process are lower bounds with a note`() {
        let totals = Self.totals([Self.fanout(5000), Self.fanout(5400), nil, Self.fanout(50, start: 107)])
        #expect(totals.exact.isEmpty)
        // 400 before the restart, and at least 50 after it.
        #expect(totals.atLeast == [Self.admitted: 450])
        #expect(totals.notes.count == 1)
        #expect(totals.notes.first?.contains("barrage-fanout-1 was started again") == true)
    }

    @Test func `a restart is detected even when the new process has counted more than the old one`() {
        let totals = Self.totals([Self.fanout(10), Self.fanout(20), Self.fanout(30, start: 107)])
        // 20 - 10 before the restart, and at least 30 after it.
        #expect(totals.exact.isEmpty && totals.atLeast == [Self.admitted: 40])
    }

    @Test func `a decreased counter means a restart even without a start time`() {
        let page = { (count: Int) in "\(Self.admitted) \(count)\n" }
        let totals = Self.totals([page(10), page(20), page(3)])
        // 20 - 10 before the restart, and at least 3 after it.
        #expect(totals.exact.isEmpty && totals.atLeast == [Self.admitted: 13])
    }

    @Test func `a missed reading between two others loses nothing`() {
        let totals = Self.totals([Self.fanout(10), nil, Self.fanout(20)])
        #expect(totals == ServerLedger.Totals(exact: [Self.admitted: 10]))
    }

    @Test func `a note names a process that is unreachable at the beginning, at the end or always`() {
        let atEnd = Self.totals([Self.fanout(10), Self.fanout(20), nil])
        #expect(atEnd.atLeast == [Self.admitted: 10] && atEnd.exact.isEmpty)
        #expect(atEnd.notes.first?.contains("did not answer at the end") == true)
        // It is unknown how many of the first page's 10 belong to the run, so only the growth after this page is sure.
        let atFirst = Self.totals([nil, Self.fanout(10), Self.fanout(20)])
        #expect(atFirst.atLeast == [Self.admitted: 10] && atFirst.exact.isEmpty)
        #expect(atFirst.notes.first?.contains("did not answer at first") == true)
        let never = Self.totals([nil, nil])
        #expect(never.exact.isEmpty && never.atLeast.isEmpty)
        #expect(never.notes.first?.contains("barrage-fanout-1 never answered") == true)
    }

    @Test func `after a gateway's restart, gateways' counters are lower bounds and their gauges are left out`() {
        // Of these two gauges, the ledger contains `gateway_feed_owed` but not `gateway_feed_partitions`.
        let gateway = { (delivered: Int, start: Int) in
            """
            gateway_feed_delivered_total \(delivered)
            gateway_feed_owed \(delivered / 2)
            gateway_feed_partitions \(delivered)
            process_start_time_seconds \(start)
            """
        }
        var ledger = ServerLedger()
        for delivered in [10, 20] {
            ledger.addRound([
                ("barrage-fanout-1", .fanout, Self.fanout(delivered)),
                ("gateway-1", .gateway, gateway(delivered, 1)),
                ("gateway-2", .gateway, gateway(delivered, 1)),
            ])
        }
        // The fan-out admitted 20 - 10. Each of the two gateways delivered 20 - 10, and owes 10 - 5 more.
        #expect(
            ledger.totals.exact == [
                Self.admitted: 10, "gateway_feed_delivered_total": 20, "gateway_feed_owed": 10,
            ])
        // The process gateway-1 was restarted: its start time is 2.
        ledger.addRound([
            ("barrage-fanout-1", .fanout, Self.fanout(30)), ("gateway-1", .gateway, gateway(4, 2)),
            ("gateway-2", .gateway, gateway(30, 1)),
        ])
        #expect(ledger.totals.exact == [Self.admitted: 20], "the fan-out's counter stays exact")
        // gateway-1: 10 before its restart and at least 4 after it; gateway-2: 30 - 10.
        #expect(ledger.totals.atLeast == ["gateway_feed_delivered_total": 34])
        #expect(ledger.totals.notes.count == 1)
    }

    @Test func `without processes to read, a note says that gateways given by --gateway are not asked`() {
        let totals = ServerLedger().totals
        #expect(totals.exact.isEmpty && totals.atLeast.isEmpty)
        #expect(totals.notes.first?.contains("--gateway") == true)
    }
}
