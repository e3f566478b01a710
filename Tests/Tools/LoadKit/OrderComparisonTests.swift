// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import LoadKit

/// Tests of the comparison of what several viewers of a live receive.
struct OrderComparisonTests {
    /// The comparison of viewers that each receive these messages as the items 1, 2, ….
    private static func comparison(of viewers: [[Int]]) -> OrderComparison {
        var comparison = OrderComparison()
        for sequences in viewers {
            for (index, sequence) in sequences.enumerated() { _ = comparison.record(sequence, at: Int64(index) + 1) }
        }
        return comparison
    }

    @Test func `I7 viewers with the same messages under the same numbers see one order`() {
        let comparison = Self.comparison(of: [[0, 2, 1], [0, 2, 1], [0, 2]])
        #expect(comparison.conflictCount == 0)
        #expect(comparison.comparedCount == 3)
    }

    @Test func `I7 messages that two viewers receive in different orders conflict, although no number is missing`() {
        let comparison = Self.comparison(of: [[0, 1, 2], [0, 2, 1]])
        #expect(comparison.conflictCount == 2)
    }

    @Test func `messages of a single viewer are compared with nothing`() {
        #expect(Self.comparison(of: [[0, 1, 2]]).comparedCount == 0)
    }

    @Test func `a conflict names the message that the first viewer received`() {
        var comparison = OrderComparison()
        #expect(comparison.record(5, at: 7) == nil)
        #expect(comparison.record(5, at: 7) == nil)
        #expect(comparison.record(6, at: 7) == 5)
    }
}
