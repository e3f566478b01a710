// SPDX-License-Identifier: Apache-2.0
import LoadKit
import Testing

/// Tests of the check that a server's own counters add up (I10 of docs/RULES.md).
///
/// The total on one side of the equation must be the sum of the outcomes on the other side. A counter with several
/// labels counts with the sum of its samples.
struct LedgerBalanceTests {
    /// The metrics of a fan-out (`barrage-fanout`), which has an outcome for each published message.
    ///
    /// 100 published = 90 admitted (80 barrages and 10 gifts) + 3 refused by a rule + 7 dropped by the feed budget.
    private static let fanout = """
        barrage_published_total 100
        barrage_admitted_total{class="barrage"} 80
        barrage_admitted_total{class="gift"} 10
        barrage_refused_total{reason="userMuted"} 3
        barrage_dropped_total{class="tip",reason="budget"} 7
        """
    /// The metrics of a gateway, which has an outcome for each delivery of an item that is due to a viewer.
    ///
    /// 50 due = 40 delivered + 4 shed (left out for a slow reader) + 1 disconnected (its viewer was cut off before) + 5
    /// owed (still to be sent).
    private static let gateway = """
        gateway_feed_due_total 50
        gateway_feed_delivered_total 40
        gateway_feed_shed_total{class="tip"} 4
        gateway_feed_disconnected_total 1
        gateway_feed_owed 5
        """

    @Test func `I10 counters whose outcomes add up to the total have no imbalance`() {
        #expect(ServerLedger.Program.fanout.imbalance(of: Self.fanout) == nil)
        #expect(ServerLedger.Program.gateway.imbalance(of: Self.gateway) == nil)
        // A server that has counted nothing yet exports no counter: 0 = 0.
        #expect(ServerLedger.Program.fanout.imbalance(of: "") == nil)
    }

    @Test func `I10 a published message without an outcome, or a due delivery without one, is found`() {
        // One barrage less is admitted: 79 + 10 = 89.
        #expect(
            ServerLedger.Program.fanout.imbalance(of: Self.fanout.replacing("} 80", with: "} 79"))
                == "barrage_published_total 100 is not barrage_admitted_total 89 + barrage_refused_total 3 "
                + "+ barrage_dropped_total 7")
        #expect(
            ServerLedger.Program.gateway.imbalance(of: Self.gateway.replacing("owed 5", with: "owed 4"))
                == "gateway_feed_due_total 50 is not gateway_feed_delivered_total 40 + gateway_feed_shed_total 4 "
                + "+ gateway_feed_disconnected_total 1 + gateway_feed_owed 4")
    }
}
