// SPDX-License-Identifier: Apache-2.0
import ClusterKit
import MachineKit
import Observability
import Testing

@testable import ChaosKit
@testable import LoadKit

/// Tests of the sequence of rounds of a chaos run, and of the findings of one round.
///
/// In a call of `runRounds`, `run` runs one round. Then `settle` waits until the cluster is ready again, and returns
/// what a check of the cluster finds.
struct ChaosRunnerTests {
    private struct Failure: Error, CustomStringConvertible {
        let description = "no thread left"
    }

    /// Four rounds that kill gateway-1, each after 1 s.
    private static let rounds = (1...4).map {
        ChaosRound(
            number: $0, fault: .kill(["gateway-1"]), delay: .seconds(1),
            limits: RecoveryLimits(of: .kill(["gateway-1"]), in: Self.shape))
    }
    private static let shape = ClusterShape(instances: [.gateway: 2], brokers: 1)

    /// The result of a round in which all promises were kept.
    private static func passedResult(_ round: ChaosRound) -> RoundResult {
        RoundResult(
            seed: 7, only: nil, number: round.number, fault: round.fault.description, kind: round.fault.kind,
            longestPause: 1, admitted: 10, refused: [:], missing: 0, repeated: 0, reordered: 0, falseLeaves: 0,
            battles: 1, requests: 1, findings: [])
    }

    @Test func `a round that cannot run ends the run, and the rounds before it stay in the report`() async throws {
        let report = await ChaosRunner.runRounds(
            Self.rounds, until: .now + .seconds(60), say: { _ in },
            run: { round in
                if round.number == 3 { throw Failure() }
                return Self.passedResult(round)
            }, settle: { () async throws(ChaosRunner.NotReady) -> [String] in [] })
        #expect(report.rounds.map(\.number) == [1, 2])
        #expect(!report.isPassed)
        #expect(
            report.table.contains(
                "FAILED: the run ended early. Round 3, kill -9 gateway-1, could not run: no thread left"))
        #expect(try ChaosReport(json: report.json) == report)
        // The two rounds and the error are appended to the report of an earlier run, which has one round.
        var combined = ChaosReport(rounds: [Self.passedResult(Self.rounds[3])])
        combined.append(report)
        #expect(combined.rounds.count == 3 && combined.error == report.error)
    }

    @Test func `when the cluster is not ready again after a round, the run ends with a finding`() async {
        let report = await ChaosRunner.runRounds(
            Self.rounds, until: .now + .seconds(60), say: { _ in }, run: { Self.passedResult($0) },
            settle: { () async throws(ChaosRunner.NotReady) -> [String] in
                throw ChaosRunner.NotReady(reason: "gateway-1")
            })
        #expect(report.rounds.count == 1)
        #expect(
            report.rounds.first?.findings == ["recovery: the cluster was not ready 60 s after the round: gateway-1"])
    }

    @Test func `what the check after a round finds belongs to that round, and the run continues`() async {
        let report = await ChaosRunner.runRounds(
            Self.rounds.prefix(2), until: .now + .seconds(60), say: { _ in }, run: { Self.passedResult($0) },
            settle: { () async throws(ChaosRunner.NotReady) -> [String] in ["I10: uneven"] })
        #expect(report.rounds.map(\.findings) == [["I10: uneven"], ["I10: uneven"]])
    }

    @Test func `no round begins after the deadline, except the first`() async {
        let report = await ChaosRunner.runRounds(
            Self.rounds, until: .now, say: { _ in }, run: { Self.passedResult($0) },
            settle: { () async throws(ChaosRunner.NotReady) -> [String] in [] })
        #expect(report.rounds.count == 1)
    }

    // MARK: Findings about the load

    /// The findings of the first round after a change of the load's results; without the change, all promises are kept.
    private static func findings(_ change: (inout LoadReport) -> Void) -> [String] {
        var load = Self.load
        change(&load)
        return ChaosRunner.makeResult(Self.rounds[0], Self.plan, load, HistoryFixture.history()).findings
    }

    private static let plan = ChaosPlan(seed: 7, rounds: 1...1, duration: .seconds(60)) { _, _ in "" }

    /// The results of a load that lost nothing: 4 lives * 5 messages a second * 12 s = 240 messages.
    private static let load = LoadReport(
        lives: 4, viewers: 10, rate: 5, size: 200, seconds: 12, p50: 1, p90: 1, p99: 1, p999: 1, max: 1,
        p99BySecond: [], acknowledgement: .init(Histogram()), expected: 100, delivered: 100, missing: 0, repeated: 0,
        reordered: 0, published: 240, admitted: 240, refused: [:], dropped: 0, unanswered: 0, numberMismatches: 0,
        reconnects: 0, unexpectedLeaveTips: 0, longestPauseMilliseconds: 300, failures: [])

    @Test func `each broken promise in the load's results is a finding that names the invariant`() {
        #expect(Self.findings { _ in } == [])
        #expect(Self.findings { $0.missing = 2 } == ["I8: acknowledged messages were lost (2)"])
        #expect(Self.findings { $0.repeated = 1 } == ["I15: messages were received twice (1)"])
        #expect(Self.findings { $0.reordered = 1 } == ["I7: messages were received out of order (1)"])
        #expect(
            Self.findings { $0.numberMismatches = 3 }
                == ["I7: messages came under another number than their reply named (3)"])
        #expect(
            Self.findings { $0.orderConflicts = 4 }
                == ["I7: viewers of a live got different messages under one number (4)"])
        #expect(Self.findings { $0.unexpectedLeaveTips = 1 } == ["I5: viewers were said to have left (1)"])
        #expect(Self.findings { $0.failures = ["a viewer could not join"] } == ["load: a viewer could not join"])
    }

    @Test func `a load of which nothing was admitted is one finding, also when it has more failures than are shown`() {
        let nothingAdmitted = "None of the 240 messages sent was admitted: 0 dropped, 240 unanswered."
        let otherFailures = (1...9).map { "viewer \($0) could not join" }
        for failures in [[], otherFailures] {
            let findings = Self.findings { load in
                load.admitted = 0
                load.unanswered = 240
                load.failures = failures + [nothingAdmitted]
            }
            #expect(findings.count { $0 == "load: \(nothingAdmitted)" } == 1)
        }
    }

    @Test func `the evidence of a finding about the load is only the incident of its kind`() throws {
        // Two messages are missing. There is an incident about missing messages, and another about their order.
        var load = Self.load
        load.missing = 2
        load.incidents = [LoadIncident.Kind.missing, .reordered].map {
            LoadIncident(
                kind: $0, client: "viewer 3", live: HistoryFixture.live,
                text: "gets items 7 to 9 of epoch 1 after item 4 of epoch 1: 2 \($0)",
                at: Timestamp(milliseconds: 1500))
        }
        let result = ChaosRunner.makeResult(Self.rounds[0], Self.plan, load, HistoryFixture.history())
        let evidence = try #require(result.evidence?.first)
        #expect(evidence.finding == "I8: acknowledged messages were lost (2)")
        #expect(
            evidence.lines == [
                "00:00:01.500 viewer 3 in concert gets items 7 to 9 of epoch 1 after item 4 of epoch 1: 2 missing"
            ])
    }

    @Test func `a pause that is longer than the limits of the fault is a finding`() {
        // A feed must continue within 5 s of the kill of one of two gateways, and each viewer within 15 s.
        #expect(Self.findings { $0.longestPauseMilliseconds = 5_000 } == [])
        #expect(
            Self.findings { $0.longestPauseMilliseconds = 5_001 }
                == ["recovery: a feed paused for 5001 ms, more than 5000"])
        #expect(Self.findings { $0.longestViewerPauseMilliseconds = 15_000 } == [])
        #expect(
            Self.findings { $0.longestViewerPauseMilliseconds = 15_001 }
                == ["recovery: a viewer got nothing for 15001 ms, more than 15000"])
    }

    @Test func `the result of a round with a broken promise has the shortest history that shows it`() throws {
        var history = HistoryFixture.history()
        // Eve gets item 2 before item 1.
        history.eveFeed.swapItems(1, 2)
        let report = ChaosReport(rounds: [ChaosRunner.makeResult(Self.rounds[0], Self.plan, Self.load, history)])
        let lines = report.table.split(separator: "\n").map(String.init)
        let finding = try #require(lines.firstIndex(of: "    I7: eve in concert got item 1 again or late, after 2"))
        #expect(
            Array(lines[(finding + 1)...].prefix(2)) == [
                "        01:00:00.002 eve in concert item 2 of epoch 1: gets the text \"two\"",
                "        01:00:00.001 eve in concert item 1 of epoch 1: gets the text \"one\"",
            ])
        #expect(report.rounds[0].evidence?.first?.events.count == 2)
    }
}
