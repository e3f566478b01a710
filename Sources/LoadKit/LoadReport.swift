// SPDX-License-Identifier: Apache-2.0
package import Observability

/// What a load run saw.
///
/// Latency is from the moment when a message was due to its receipt by each viewer.
package struct LoadReport: Encodable, Sendable {
    /// Milliseconds.
    package struct Latency: Encodable, Sendable {
        package var p50: Double
        package var p90: Double
        package var p99: Double
        package var p999: Double
        package var max: Double

        private enum CodingKeys: String, CodingKey {
            case p50, p90, p99, max
            case p999 = "p99.9"
        }

        /// The percentiles of a histogram of microseconds.
        package init(_ histogram: Histogram) {
            func milliseconds(_ percent: Double) -> Double { Double(histogram.percentile(percent)) / 1000 }
            self.p50 = milliseconds(50)
            self.p90 = milliseconds(90)
            self.p99 = milliseconds(99)
            self.p999 = milliseconds(99.9)
            self.max = Double(histogram.maximum) / 1000
        }
    }

    package var rooms: Int
    package var viewers: Int
    package var rate: Double
    package var size: Int
    package var seconds: Double
    /// From the moment when a message was due to its receipt by each viewer, in milliseconds.
    package var p50: Double
    package var p90: Double
    package var p99: Double
    package var p999: Double
    package var max: Double
    /// The p99 of each second in milliseconds: tells a slow minute from a slow moment.
    package var p99BySecond: [Double]
    /// From the moment when a message was due to the sender's reply.
    package var acknowledgement: Latency
    /// Feed items that the viewers should have, tips and control messages included.
    package var expected: Int
    package var delivered: Int
    package var missing: Int
    package var repeated: Int
    package var reordered: Int
    /// Messages: published = admitted + refused + dropped + unanswered.
    package var published: Int
    package var admitted: Int
    package var refused: [String: Int]
    package var dropped: Int
    package var unanswered: Int
    /// Messages whose reply named another place than they have in the feed.
    package var misplaced: Int
    package var reconnects: Int
    /// Tips that said of a viewer that it left, while none did.
    package var leaveTips: Int
    /// The longest time in which no viewer of some room got anything while messages were due, in milliseconds.
    package var longestPause: Double
    /// Rooms or viewers that could not be set up.
    package var failures: [String]
    /// The servers' own ledger over the run, as far as all of it is known.
    package var ledger: [String: Double]?
    /// Those of its sums to which something may be missing.
    package var ledgerAtLeast: [String: Double]?
    /// Why the ledger is not wholly known, one sentence each.
    package var ledgerNotes: [String]?

    private enum CodingKeys: String, CodingKey {
        case rooms, viewers, rate, size, seconds, p50, p90, p99, max, p99BySecond, acknowledgement, expected, delivered
        case missing, repeated, reordered, published, admitted, refused, dropped, unanswered, misplaced, reconnects
        case leaveTips, longestPause, failures, ledger, ledgerAtLeast, ledgerNotes
        case p999 = "p99.9"
    }

    /// What to say where messages were sent and none of them came through; nil otherwise.
    package var nothingAdmitted: String? {
        guard self.published > 0, self.admitted == 0 else { return nil }
        let refused = self.refused.sorted { $0.key < $1.key }.map { "\($0.value) refused (\($0.key))" }
        let fates = refused + ["\(self.dropped) dropped", "\(self.unanswered) unanswered"]
        return "None of the \(self.published) messages sent was admitted: \(fates.joined(separator: ", "))."
    }

    /// Nothing acknowledged was lost, repeated or put out of order, something was, and everything could be set up.
    package var isClean: Bool {
        self.missing == 0 && self.repeated == 0 && self.reordered == 0 && self.misplaced == 0 && self.failures.isEmpty
            && self.nothingAdmitted == nil
            && self.published == self.admitted + self.dropped + self.unanswered + self.refused.values.reduce(0, +)
    }
}
