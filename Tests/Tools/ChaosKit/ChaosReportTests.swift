// SPDX-License-Identifier: Apache-2.0
import ClusterKit
import Testing

@testable import ChaosKit

/// Tests of the report of a chaos run: the results of its rounds (one fault each), as tables and as JSON.
struct ChaosReportTests {
    /// A round whose load had 10 admitted messages; `pause` is the longest pause of a feed, in milliseconds.
    ///
    /// The run with the seed 8 had the option `--only redis`. Each finding counts as one lost message.
    private static func round(
        _ number: Int, seed: UInt64, kind: String, pause: Double, findings: [String] = []
    ) -> RoundResult {
        RoundResult(
            seed: seed, only: seed == 8 ? "redis" : nil, number: number, fault: "\(kind) now", kind: kind,
            longestPause: pause, admitted: 10, refused: [:], missing: findings.count, repeated: 0, reordered: 0,
            falseLeaves: 0, battles: 1, requests: 2, findings: findings)
    }

    @Test func `a report of several runs has one row for each kind of fault`() throws {
        var report = ChaosReport(rounds: [
            Self.round(1, seed: 7, kind: "kill redis", pause: 300), Self.round(2, seed: 7, kind: "FLUSHALL", pause: 5),
        ])
        (report.rounds[0].refused, report.rounds[0].longestViewerPause) = (["unavailable": 4, "no answer": 3], 800)
        report.rounds[0].longestAnswer = 700
        report.rounds += [
            Self.round(3, seed: 8, kind: "kill redis", pause: 100, findings: ["I8: lost"]),
            Self.round(4, seed: 8, kind: "kill redis", pause: 200),
        ]
        #expect(try ChaosReport(json: report.json) == report)
        // The columns: fault, times, messages, refused, lost, repeated, false leaves, battles, requests, the pause of
        // the feeds in milliseconds (p50, p99, maximum), the longest pause of a viewer, the longest waits for an answer
        // (p50, maximum), and the verdict.
        #expect(
            report.markdown.split(separator: "\n").suffix(2) == [
                "| FLUSHALL | 1 | 10 | 0 | 0 | 0 | 0 | 1 | 2 | 5 | 5 | 5 | – | – | – | held |",
                "| kill redis | 3 | 30 | 7 | 1 | 0 | 0 | 3 | 6 | 200 | 300 | 300 | 800 | 700 | 700 | BROKEN in 1 |",
            ])
        #expect(!report.isPassed)
    }

    @Test func `a fault of the only broker and a fault of one of several brokers have separate rows`() {
        var report = ChaosReport(rounds: (1...2).map { Self.round($0, seed: 7, kind: "kill broker", pause: 1) })
        (report.rounds[0].brokers, report.rounds[1].brokers) = (1, 3)
        // The part of each row before its second cell, the number of rounds, which is 1.
        let faults = report.markdown.split(separator: "\n").dropFirst(2).map { $0.prefix { $0 != "1" } }
        #expect(faults == ["| kill broker | ", "| kill broker (one of 3) | "])
    }

    @Test func `the report says how to run a broken round again, and whether the machine was too busy`() throws {
        var report = ChaosReport(rounds: [
            Self.round(3, seed: 8, kind: "kill redis", pause: 100, findings: ["I8: lost"])
        ])
        #expect(report.table.contains("again: plaza chaos --seed 8 --only 'redis' --round 3"))
        // The round ran with three brokers and two instances of each service.
        (report.rounds[0].brokers, report.rounds[0].instances) = (3, 2)
        #expect(report.table.contains("again: plaza chaos --seed 8 --only 'redis' --round 3 --brokers 3 --instances 2"))
        #expect(try ChaosReport(json: report.json) == report)
        #expect(!report.table.contains("short of processor time"))
        // The lag is in milliseconds.
        report.rounds[0].machineLag = 1_500
        #expect(report.table.contains("short of processor time: it woke this process 1500 ms late"))
    }

    @Test func `a round whose fault was not injected is named, and counts neither as held nor as broken`() {
        var report = ChaosReport(rounds: [Self.round(1, seed: 7, kind: "kill redis", pause: 300)])
        report.rounds[0].invalid = "the load could not begin"
        #expect(!report.isPassed)
        #expect(report.table.contains("round 1, kill redis now: not counted, the load could not begin"))
        #expect(report.table.contains("no fault was injected"))
        #expect(report.markdown.split(separator: "\n").count == 2, "the table must have only its two header lines")
        report.rounds.append(Self.round(2, seed: 7, kind: "kill redis", pause: 100))
        #expect(report.isPassed)
        #expect(report.table.contains("All promises held in 1 rounds"))
        #expect(report.markdown.contains("| kill redis | 1 | 10 |"))
        // A finding in a round whose fault was not injected makes the run fail all the same.
        #expect(report.rounds[0].verdict == "not counted: the load could not begin")
        report.rounds[0].findings = ["I8: lost"]
        #expect(!report.isPassed)
        #expect(report.rounds[0].verdict == "not counted: the load could not begin; BROKEN: I8: lost")
    }

    @Test func `a run in which too many rounds had no fault fails`() {
        var report = ChaosReport(rounds: (1...10).map { Self.round($0, seed: 7, kind: "FLUSHALL", pause: 1) })
        for index in 0..<2 { report.rounds[index].invalid = "it could not be injected" }
        #expect(report.isPassed)
        report.rounds[2].invalid = "it could not be injected"
        #expect(!report.isPassed)
        #expect(report.table.contains("FAILED: too many rounds had no fault."))
    }

    @Test func `the report names the kinds of faults that no round had`() throws {
        var report = ChaosReport(rounds: [Self.round(1, seed: 7, kind: "FLUSHALL", pause: 1)])
        report.kinds = ["FLUSHALL", "kill redis"]
        var later = ChaosReport(rounds: [Self.round(1, seed: 8, kind: "kill broker", pause: 1)])
        later.kinds = ["FLUSHALL", "kill broker", "rolling restart of gateway"]
        #expect(report.table.contains("not injected: kill redis\n"))
        report.append(later)
        #expect(report.table.contains("not injected: kill redis, rolling restart of gateway\n"))
        #expect(try ChaosReport(json: report.json) == report)
    }

    @Test func `the report says about a broken round on the in-memory broker that the broker may repeat effects`() {
        let note = "the broker in memory does not write exactly once"
        var round = Self.round(3, seed: 8, kind: "freeze room-directory", pause: 100, findings: ["I15: repeated"])
        round.setReplay(ClusterOptions(runDirectory: "run"), clockLibrary: nil)
        #expect(ChaosReport(rounds: [round]).table.contains(note))
        round.kafkaHome = "/kafka"
        #expect(!ChaosReport(rounds: [round]).table.contains(note))
    }
}
