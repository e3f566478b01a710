// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import AttackKit

/// Tests of which measurements mean that a cluster withstood an attack.
@Suite struct AttackVerdictTests {
    /// What the honest clients measure without an attack; latencies are in milliseconds.
    private static let baseline: HonestResult = {
        var honest = HonestResult()
        (honest.p50, honest.p99, honest.published, honest.admitted) = (10, 40, 100, 100)
        return honest
    }()

    /// A measurement that passes: 1,000 connections, and a gateway whose memory grew from 100 MB to 110 MB at most.
    private static let passing: AttackMeasurement = {
        var measured = AttackMeasurement()
        measured.honest = baseline
        measured.tally.writes = 10
        measured.tally.maxOpen = 1_000
        let reading = GatewayReading(startTime: 100, residentBytes: 1e8)
        measured.gateways["gateway-1"] = GatewayChange(before: reading, after: reading, maxBytes: 1.1e8)
        measured.http = AnswerCounts(asked: 10, answered: 10)
        measured.partitions = AnswerCounts(asked: 2, answered: 2)
        return measured
    }()

    /// The criteria that the passing measurement fails after a change.
    private static func failures(_ change: (inout AttackMeasurement) -> Void) -> [String] {
        var measured = Self.passing
        change(&measured)
        return AttackVerdict(measured, baseline: Self.baseline).failures
    }

    @Test func `a cluster that withstands an attack passes`() {
        #expect(Self.failures { _ in } == [])
        #expect(Self.failures { $0.honest.p99 = 80 } == [], "twice the baseline is allowed")
        #expect(Self.failures { $0.honest.admitted = 90 } == [], "90 % of the messages suffice")
        #expect(Self.failures { $0.http.answered = 5 } == [], "half of the HTTP requests suffice")
        #expect(Self.failures { $0.http = AnswerCounts() } == [], "without an HTTP address, no request is sent")
        #expect(Self.failures { $0.gateways = [:] } == [], "without metrics, no gateway is checked")
    }

    @Test func `each measurement beyond its limit fails the verdict`() {
        // Words of the failure, and the change that causes it.
        let changes: [(String, (inout AttackMeasurement) -> Void)] = [
            ("sent nothing", { $0.tally.writes = 0 }),
            ("p99 is 81 ms", { $0.honest.p99 = 81 }),
            ("1 acknowledged items", { $0.honest.missing = 1 }),
            ("1 items are repeated", { $0.honest.disordered = 1 }),
            ("Only 89 of 100 honest messages", { $0.honest.admitted = 89 }),
            ("Only 0 of 0 honest messages", { ($0.honest.published, $0.honest.admitted) = (0, 0) }),
            ("lost their connections 1 times", { $0.honest.reconnects = 1 }),
            ("a client was disconnected", { $0.honest.failures = ["a client was disconnected"] }),
            ("does not answer any more", { $0.gateways["gateway-1"]?.after = nil }),
            ("did not answer before", { $0.gateways["gateway-1"]?.before = nil }),
            ("was started again", { $0.gateways["gateway-1"]?.after?.startTime = 101 }),
            // A gateway may grow by 64 MiB, and by 24 KiB for each of the 1000 connections: by 91,684,864 bytes, which
            // are 87.4 MiB.
            ("more than 87 MiB", { $0.gateways["gateway-1"]?.maxBytes = 1e8 + 92_000_000 }),
            ("Only 4 of 10 honest HTTP", { $0.http.answered = 4 }),
            ("Only 1 of 2 partitions", { $0.partitions.answered = 1 }),
            ("Only 0 of 0 partitions", { $0.partitions = AnswerCounts() }),
        ]
        for (words, change) in changes {
            let failures = Self.failures(change)
            #expect(failures.count == 1 && failures.first?.contains(words) == true, "\(words): \(failures)")
        }
    }

    @Test func `a gateway may also grow by the memory that its own limits allow an attack to occupy`() {
        let failuresAfterGrowth = { (mebibytes: Int) in
            Self.failures {
                // 320 MiB, in bytes.
                $0.allowedBytes = 320 << 20
                $0.gateways["gateway-1"]?.maxBytes = 1e8 + Double(mebibytes << 20)
            }
        }
        // The limit is 407.4 MiB: 64 MiB, 24 KiB for each of the 1000 connections (23.4 MiB), and 320 MiB.
        #expect(failuresAfterGrowth(407) == [])
        #expect(failuresAfterGrowth(408).first?.contains("more than 407 MiB") == true)
    }

    @Test func `a p99 of at most 50 ms passes whatever the baseline is`() {
        var fastBaseline = Self.baseline
        fastBaseline.p99 = 3
        var measured = Self.passing
        measured.honest.p99 = 50
        #expect(AttackVerdict(measured, baseline: fastBaseline).isPassed)
        measured.honest.p99 = 51
        #expect(!AttackVerdict(measured, baseline: fastBaseline).isPassed)
    }

    @Test func `a gateway may grow by 532 MiB during an attack with 20,000 connections, and by 64 MiB without any`() {
        // 64 MiB, and 20,000 * 24 KiB, which are 468.75 MiB; `>> 20` rounds down to whole MiB.
        #expect(Int(AttackVerdict.memoryLimit(connections: 20_000)) >> 20 == 532)
        #expect(Int(AttackVerdict.memoryLimit(connections: 0)) >> 20 == 64)
    }

    @Test func `the report's table names each attack, the answers to it and its failures`() {
        var failing = Self.passing
        failing.honest.missing = 3
        failing.tally.answers = ["close 4104": 2, "tooFrequent": 7]
        // The attack `ping-flood` passes, `record` fails, and `numbers-http` was not run.
        var report = AttackReport(baseline: Self.baseline, skipped: ["numbers-http"])
        for (name, measured) in [("ping-flood", Self.passing), ("record", failing)] {
            report.results.append(
                .init(
                    name: name, summary: "", measured: measured,
                    verdict: AttackVerdict(measured, baseline: Self.baseline)))
        }
        #expect(!report.isPassed)
        for words in [
            "refused: 7 × tooFrequent, 2 × close 4104", "FAILED: 3 acknowledged items are missing.", "FAILED: record",
            // `95 → 104` is the gateway's memory in MiB, before the attack and at its maximum. `10/10` means that all
            // 10 HTTP requests were answered.
            "numbers-http did not run", "95 → 104", "10/10",
        ] {
            #expect(report.table.contains(words), "\(words) in \(report.table)")
        }
        // Without the failed attack, the report is passed.
        report.results.removeLast()
        #expect(report.isPassed && report.table.contains("withstood all 1 attacks"))
    }
}
