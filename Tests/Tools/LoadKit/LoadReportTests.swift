// SPDX-License-Identifier: Apache-2.0
import Foundation
import Observability
import Testing

@testable import LoadKit

/// Tests of the report of a load run, and of which results make a report unclean (that is, make the run fail).
@Suite struct LoadReportTests {
    @Test func `the JSON of a report is one object with a member for each figure`() throws {
        var report = Self.report
        report.ledger = ["barrage_admitted_total": 4]
        let json = try JSONSerialization.jsonObject(with: JSONEncoder().encode(report)) as? [String: Any]
        let object = try #require(json)
        for (name, value) in ["p50": 1.5, "p90": 2, "p99": 3, "p99.9": 4, "max": 5] {
            #expect(object[name] as? Double == value, "\(name)")
        }
        for (name, value) in ["expected": 40, "delivered": 39, "missing": 1, "repeated": 2, "reordered": 3] {
            #expect(object[name] as? Int == value, "\(name)")
        }
        #expect(object["ledger"] as? [String: Double] == ["barrage_admitted_total": 4])
        #expect((object["acknowledgement"] as? [String: Double])?["p99.9"] == 0)
    }

    @Test func `a report with missing, repeated, reordered or wrongly numbered items is not clean`() {
        var report = Self.report
        #expect(!report.isClean)
        (report.missing, report.repeated, report.reordered) = (0, 0, 0)
        #expect(report.isClean)
        for faultCount in [\LoadReport.missing, \.repeated, \.reordered, \.numberMismatches, \.orderConflicts] {
            var faulty = report
            faulty[keyPath: faultCount] = 1
            #expect(!faulty.isClean, "\(faultCount)")
        }
    }

    @Test func `a report without admitted messages is not clean, and says what happened to the messages`() throws {
        // Of four messages, three were rejected and one had no reply.
        var report = Self.report
        (report.missing, report.repeated, report.reordered) = (0, 0, 0)
        (report.admitted, report.refused, report.unanswered) = (0, ["rateLimited": 3], 1)
        #expect(!report.isClean)
        let failure = try #require(report.nothingAdmittedFailure)
        for words in ["None of the 4 messages", "3 refused (rateLimited)", "0 dropped", "1 unanswered"] {
            #expect(failure.contains(words), "\(words)")
        }
        // If no message was sent at all, it is no failure that none was admitted.
        report.published = 0
        #expect(report.nothingAdmittedFailure == nil)
    }

    /// The report of a run in which one item was missing, two were received twice, and three in the wrong order.
    private static let report = LoadReport(
        lives: 1, viewers: 10, rate: 4, size: 200, seconds: 1, p50: 1.5, p90: 2, p99: 3, p999: 4, max: 5,
        p99BySecond: [3], acknowledgement: LoadReport.Latency(Histogram()), expected: 40, delivered: 39, missing: 1,
        repeated: 2, reordered: 3, published: 4, admitted: 4, refused: [:], dropped: 0, unanswered: 0,
        numberMismatches: 0, reconnects: 0, unexpectedLeaveTips: 0, longestPauseMilliseconds: 0, failures: [])
}
