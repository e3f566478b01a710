// SPDX-License-Identifier: Apache-2.0
import LoadKit
import Testing

/// Tests that counters of a server that do not add up are found: each message or delivery must have one outcome.
struct LedgerBalanceTests {
    /// The metrics of a fan-out: 100 published = 90 admitted + 3 refused + 7 dropped.
    private static let fanout = """
        barrage_published_total 100
        barrage_admitted_total{class="barrage"} 80
        barrage_admitted_total{class="gift"} 10
        barrage_refused_total{reason="userMuted"} 3
        barrage_dropped_total{class="tip",reason="budget"} 7
        """
    /// The metrics of a gateway: 50 due = 40 delivered + 4 shed + 1 disconnected + 5 owed.
    private static let gateway = """
        gateway_feed_due_total 50
        gateway_feed_delivered_total 40
        gateway_feed_shed_total{class="tip"} 4
        gateway_feed_disconnected_total 1
        gateway_feed_owed 5
        """

    @Test func `I10 counters that add up have no imbalance`() {
        #expect(ServerLedger.Program.fanout.imbalance(of: Self.fanout) == nil)
        #expect(ServerLedger.Program.gateway.imbalance(of: Self.gateway) == nil)
        // A server that has counted nothing yet has no counters.
        #expect(ServerLedger.Program.fanout.imbalance(of: "") == nil)
    }

    @Test func `I10 a message without an outcome, or a due delivery without one, is found`() {
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
