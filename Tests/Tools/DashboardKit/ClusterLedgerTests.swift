// SPDX-License-Identifier: Apache-2.0
import DashboardKit
import LoadKit
import Testing

/// Tests of the ledgers when processes end and restart: the end of a process neither causes a gap nor hides one.
///
/// Each process has one reading a second. Times are in milliseconds.
@Suite struct ClusterLedgerTests {
    /// A reading of a fan-out that has refused one message, dropped one, lost `lost`, and admitted all others.
    ///
    /// A negative `lost` means that messages were counted twice.
    /// `startedAt` is the start time of the process in seconds. `readAt` is when its metrics were read; nil for the
    /// time of the round.
    private static func fanout(
        _ name: String = "barrage-fanout-1", pid: Int32, published: Int, lost: Int = 0, startedAt: Int = 1,
        readAt: Int? = nil
    ) -> ProcessReading {
        let page = """
            process_start_time_seconds \(startedAt)
            barrage_published_total \(published)
            barrage_admitted_total{class="barrage"} \(published - lost - 2)
            barrage_refused_total{reason="muted"} 1
            barrage_dropped_total{class="barrage",reason="budget"} 1
            shell_dead_letters_total{machine="barrage"} 1
            """
        return ProcessReading(
            name: name, kind: "barrage-fanout", pid: pid, isReady: true, metrics: MetricsTable(MetricsPage(page)),
            metricsReadAt: readAt)
    }

    /// A reading of a gateway that has delivered all but `owed` due items.
    private static func gateway(pid: Int32, due: Int, owed: Int, startedAt: Int = 1) -> ProcessReading {
        let page = """
            process_start_time_seconds \(startedAt)
            gateway_feed_due_total \(due)
            gateway_feed_delivered_total \(due - owed)
            gateway_feed_owed \(owed)
            """
        return ProcessReading(
            name: "gateway-1", kind: "gateway", pid: pid, isReady: true, metrics: MetricsTable(MetricsPage(page)))
    }

    /// A reading of a process that has ended and was not started again yet.
    private static func down(_ name: String = "barrage-fanout-1", kind: String = "barrage-fanout") -> ProcessReading {
        ProcessReading(name: name, kind: kind, pid: nil, isReady: false)
    }

    /// The ledger after these rounds, one a second.
    private static func ledger(_ rounds: [[ProcessReading]]) -> DashboardReport.Ledger {
        var model = DashboardModel()
        for (second, readings) in rounds.enumerated() { model.addRound(readings, at: second * 1000) }
        return model.report(from: 0, at: rounds.count * 1000).ledger
    }

    @Test func `the counts of a killed process stay while it is down and when its successor counts from 0`() {
        let before = [[Self.fanout(pid: 7, published: 100)], [Self.fanout(pid: 7, published: 110)], [Self.down()]]
        let whileDown = Self.ledger(before)
        #expect(whileDown.published == 110)
        #expect(whileDown.admitted == 108)
        let after = Self.ledger(before + [[Self.fanout(pid: 8, published: 30, startedAt: 3)]])
        // 110 of the process that was killed, and 30 of its successor.
        #expect(after.published == 140)
        #expect(after.admitted == 136)
        #expect(after.refused == 2)
        #expect(after.dropped == 2)
        #expect(after.feedGap == 0)
        #expect(after.undecided == 0)
        #expect(after.ends == 1)
    }

    @Test func `the counts of a successor are added even if they are higher than those of the killed process`() {
        // No round shows that the process was down.
        let rounds = [[Self.fanout(pid: 7, published: 10)], [Self.fanout(pid: 8, published: 50, startedAt: 2)]]
        let ledger = Self.ledger(rounds + rounds.suffix(1))
        #expect(ledger.published == 60)
        #expect(ledger.ends == 1)
    }

    @Test func `a successor whose metrics are read before the cluster's state names it means one end, not two`() {
        let ledger = Self.ledger([
            [Self.fanout(pid: 7, published: 10)],
            // The state still has process 7, but process 8 answers.
            [Self.fanout(pid: 7, published: 5, startedAt: 2)], [Self.fanout(pid: 8, published: 6, startedAt: 2)],
        ])
        #expect(ledger.published == 16)
        #expect(ledger.ends == 1)
    }

    @Test func `the end of a process that the cluster's state has never named is counted too`() {
        var unnamed = Self.fanout(pid: 8, published: 5, startedAt: 2)
        unnamed.pid = nil
        let ledger = Self.ledger([
            [Self.fanout(pid: 7, published: 10)], [unnamed], [Self.fanout(pid: 9, published: 6, startedAt: 3)],
            [Self.fanout(pid: 9, published: 7, startedAt: 3)], [Self.down()],
        ])
        #expect(ledger.published == 22)
        #expect(ledger.ends == 3)
    }

    @Test func `the counts of several processes that are killed several times stay`() {
        var rounds: [[ProcessReading]] = []
        for run in 1...3 {
            let other = Self.fanout("barrage-fanout-2", pid: Int32(run + 20), published: 7, startedAt: run)
            rounds.append([Self.fanout(pid: Int32(run), published: 10 * run, startedAt: run), other])
            rounds.append([Self.down(), other])
        }
        let ledger = Self.ledger(rounds)
        // 10 + 20 + 30 and three times 7.
        #expect(ledger.published == 81)
        #expect(ledger.feedGap == 0)
        // Three runs of barrage-fanout-1 have ended, and two of barrage-fanout-2.
        #expect(ledger.ends == 5)
    }

    @Test func `a gap in the ledger of a killed process stays`() {
        var rounds = (0..<5).map { [Self.fanout(pid: 7, published: 100 + $0, lost: 3)] }
        #expect(Self.ledger(rounds).feedGap == 3)
        rounds += [[Self.down()]] + (0..<6).map { [Self.fanout(pid: 8, published: 10 + $0, startedAt: 9)] }
        let ledger = Self.ledger(rounds)
        #expect(ledger.feedGap == 3)
        #expect(ledger.undecided == 0)
        #expect(ledger.uneven == ["barrage-fanout-1": 3])
    }

    @Test func `a message lost by one process and a message counted twice by another do not cancel each other out`() {
        let rounds = (0..<5).map { round in
            [
                Self.fanout(pid: 7, published: 100 + round, lost: 2),
                Self.fanout("barrage-fanout-2", pid: 8, published: 100 + round, lost: -2),
            ]
        }
        let ledger = Self.ledger(rounds)
        #expect(ledger.published - ledger.admitted - ledger.refused - ledger.dropped == 0)
        #expect(ledger.feedGap == 4)
        #expect(ledger.uneven == ["barrage-fanout-1": 2, "barrage-fanout-2": 2])
    }

    @Test func `counts that were read in the middle of a change are not a gap`() {
        // A gap counts only when five readings in a row have it. Here the fourth of six readings has none. Below, all
        // readings have it, but there are only four.
        var rounds = (0..<6).map { [Self.fanout(pid: 7, published: 100 + 10 * $0, lost: $0 == 3 ? 0 : 5)] }
        #expect(Self.ledger(rounds).feedGap == 0)
        rounds = (0..<4).map { [Self.fanout(pid: 7, published: 100 + $0, lost: 5)] }
        #expect(Self.ledger(rounds).feedGap == 0)
        #expect(Self.ledger(rounds).undecided == 0)
    }

    @Test func `a difference in the last reading before an end counts as undecided, not as a gap`() {
        let rounds = [
            [Self.fanout(pid: 7, published: 100)], [Self.fanout(pid: 7, published: 110, lost: 4)], [Self.down()],
        ]
        for laterRounds in [[], [[Self.fanout(pid: 8, published: 1, startedAt: 3)]]] {
            let ledger = Self.ledger(rounds + laterRounds)
            #expect(ledger.feedGap == 0)
            #expect(ledger.undecided == 4)
        }
    }

    @Test func `what a killed gateway owed counts as disconnected, because its connections have ended`() {
        let rounds = [[Self.gateway(pid: 7, due: 50, owed: 20)], [Self.down("gateway-1", kind: "gateway")]]
        #expect(Self.ledger(rounds.dropLast()).owed == 20)
        for laterRounds in [[], [[Self.gateway(pid: 8, due: 9, owed: 1, startedAt: 3)]]] {
            let ledger = Self.ledger(rounds + laterRounds)
            // After the kill, nothing is owed; later only the successor owes something: one item.
            #expect(ledger.owed == Double(laterRounds.count))
            #expect(ledger.disconnected == 20)
            #expect(ledger.due == ledger.delivered + ledger.disconnected + ledger.owed)
            #expect(ledger.deliveryGap == 0)
            #expect(ledger.undecided == 0)
        }
    }

    /// Rules: R13.36.
    @Test func `a process that the dashboard kills is counted up to the reading just before the kill`() throws {
        var model = DashboardModel()
        model.addRound([Self.fanout(pid: 7, published: 100, readAt: 0)], at: 10)
        let lastMetrics = try #require(Self.fanout(pid: 7, published: 140).metrics)
        model.processKilled("barrage-fanout-1", pid: 7, lastMetrics: (lastMetrics, at: 900), at: 905)
        // This round began before the kill and ends after it. So its counts are older, and it names the killed process.
        model.addRound([Self.fanout(pid: 7, published: 120, readAt: 890)], at: 1000)
        let ledger = model.report(from: 0, at: 1000).ledger
        #expect(ledger.published == 140)
        #expect(ledger.ends == 1)
        #expect(ledger.unseenMilliseconds == 5)
        model.addRound([Self.down()], at: 2000)
        model.addRound([Self.fanout(pid: 8, published: 1, startedAt: 3)], at: 3000)
        #expect(model.report(from: 0, at: 3000).ledger.ends == 1)
        #expect(model.report(from: 0, at: 3000).ledger.unseenMilliseconds == 5)
    }

    @Test func `the unseen time of a process lasts from its last reading until its end is noticed`() {
        var model = DashboardModel()
        model.addRound([Self.fanout(pid: 7, published: 100, readAt: 300)], at: 400)
        model.updateStates([Self.down()], at: 1000)
        #expect(model.report(from: 0, at: 1000).ledger.unseenMilliseconds == 700)
        // A successor ends before its metrics were read. Its unseen time, 1900 - 1000, begins with the first end.
        var unread = Self.fanout(pid: 8, published: 0)
        unread.metrics = nil
        model.updateStates([unread], at: 1500)
        model.updateStates([Self.down()], at: 1900)
        let ledger = model.report(from: 0, at: 1900).ledger
        #expect(ledger.ends == 2)
        #expect(ledger.unseenMilliseconds == 1600)
    }

    @Test func `neither a restart of a process without a ledger nor an unreadable state counts as an end`() {
        var model = DashboardModel()
        let redis = { (pid: Int32?) in ProcessReading(name: "redis", kind: "redis", pid: pid, isReady: true) }
        model.addRound([redis(1), Self.gateway(pid: 7, due: 5, owed: 2)], at: 0)
        // A round without readings means that the cluster's state could not be read.
        model.addRound([], at: 1000)
        model.addRound([redis(2), Self.gateway(pid: 7, due: 5, owed: 2)], at: 2000)
        let ledger = model.report(from: 0, at: 2000).ledger
        #expect(ledger.ends == 0)
        #expect(ledger.owed == 2)
        // The gateway was removed from the cluster.
        model.addRound([redis(2)], at: 3000)
        #expect(model.report(from: 0, at: 3000).ledger.ends == 1)
        #expect(model.report(from: 0, at: 3000).ledger.disconnected == 2)
    }

    @Test func `dead letters of a killed process stay, in the report and in the chart`() {
        var model = DashboardModel()
        model.addRound([Self.fanout(pid: 7, published: 10)], at: 0)
        model.addRound([Self.down()], at: 1000)
        model.addRound([Self.fanout(pid: 8, published: 10, startedAt: 3)], at: 2000)
        let report = model.report(from: 0, at: 2000)
        #expect(report.deadLetters == 2)
        #expect(report.samples.map(\.deadLetters) == [1, 1, 2])
    }
}
