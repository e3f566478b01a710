// SPDX-License-Identifier: Apache-2.0
package import Observability

/// The results of a load run.
///
/// The latency of a message is the time from when it was due until a viewer received it; each viewer counts.
package struct LoadReport: Encodable, Sendable {
    /// Percentiles of latencies in milliseconds.
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

    package var lives: Int
    /// The number of viewers of each live.
    package var viewers: Int
    /// The number of messages a second in each live.
    package var rate: Double
    /// The size of a message's text in bytes.
    package var size: Int
    /// The time during which messages were sent.
    package var seconds: Double
    /// The percentiles of the latency, in milliseconds.
    package var p50: Double
    package var p90: Double
    package var p99: Double
    package var p999: Double
    package var max: Double
    /// The p99 of the latency in each second with a delivery, in milliseconds.
    ///
    /// The values show whether a high p99 of the whole run comes from one slow second or from all of them.
    package var p99BySecond: [Double]
    /// The time from when a message was due until its sender received the reply.
    package var acknowledgement: Latency
    /// The number of feed items that the viewers should have received: messages, tips (items that say that a user
    /// joined or left) and control messages.
    ///
    /// `expected`, `delivered`, `missing`, `repeated` and `reordered` are sums over all viewers.
    package var expected: Int
    package var delivered: Int
    package var missing: Int
    package var repeated: Int
    package var reordered: Int
    /// The number of messages sent, which is admitted + refused + dropped + unanswered.
    package var published: Int
    package var admitted: Int
    /// The number of rejected messages by the name of the reply code.
    package var refused: [String: Int]
    /// The number of messages that the feed budget dropped.
    package var dropped: Int
    package var unanswered: Int
    /// The number of messages that a viewer received under another feed number than the one in the sender's reply.
    package var numberMismatches: Int
    package var reconnects: Int
    /// The number of feed frames in which the first viewer of a live received a leave tip, the item that says that a
    /// viewer left.
    ///
    /// No viewer leaves during a run, so each leave tip is wrong.
    package var unexpectedLeaveTips: Int
    /// The longest time in which no viewer of a live received anything although messages were due, in milliseconds.
    ///
    /// A feed that stops permanently counts as a pause until the end of the sending.
    package var longestPauseMilliseconds: Double
    /// The faults other than lost messages, one sentence each: a failed login, a failed join, or a lost live.
    package var failures: [String]
    /// The first incidents behind each of the counts above; not part of the JSON.
    package var incidents: [LoadIncident] = []
    /// The longest time in which any one viewer received nothing although messages were due; not part of the JSON.
    ///
    /// A pause of one gateway shows here. `longestPauseMilliseconds` hides it, because the viewers on other gateways
    /// still receive the feed.
    package var longestViewerPauseMilliseconds = 0.0
    /// How often two viewers of a live received different messages under one number (I7); not part of the JSON.
    package var orderConflicts = 0
    /// The number of messages that were compared between at least two viewers; not part of the JSON.
    package var comparedMessages = 0
    /// The number of gateways whose feeds were compared in each live, the lowest of all lives; not part of the JSON.
    package var comparedGateways = 0
    /// How much each of the servers' own counters has grown in the run, summed over the processes.
    ///
    /// Counters in `ledgerAtLeast` are left out.
    package var ledger: [String: Double]?
    /// The sums that are only lower bounds, because some counts may be missing.
    package var ledgerAtLeast: [String: Double]?
    /// Why sums are only lower bounds, one sentence each.
    package var ledgerNotes: [String]?

    private enum CodingKeys: String, CodingKey {
        case viewers, rate, size, seconds, p50, p90, p99, max, p99BySecond, acknowledgement, expected, delivered
        case missing, repeated, reordered, published, admitted, refused, dropped, unanswered, reconnects
        case failures, ledger, ledgerAtLeast, ledgerNotes
        case lives = "rooms"
        case p999 = "p99.9"
        case numberMismatches = "misplaced"
        case unexpectedLeaveTips = "leaveTips"
        case longestPauseMilliseconds = "longestPause"
    }

    /// The failure to report when messages were sent and none was admitted; nil otherwise.
    package var nothingAdmittedFailure: String? {
        guard self.published > 0, self.admitted == 0 else { return nil }
        let refused = self.refused.sorted { $0.key < $1.key }.map { "\($0.value) refused (\($0.key))" }
        let outcomes = refused + ["\(self.dropped) dropped", "\(self.unanswered) unanswered"]
        return "None of the \(self.published) messages sent was admitted: \(outcomes.joined(separator: ", "))."
    }

    /// Whether messages were admitted, none was lost, repeated or reordered, all are counted, and there are no
    /// failures.
    package var isClean: Bool {
        self.missing == 0 && self.repeated == 0 && self.reordered == 0 && self.numberMismatches == 0
            && self.orderConflicts == 0 && self.failures.isEmpty && self.nothingAdmittedFailure == nil
            && self.published == self.admitted + self.dropped + self.unanswered + self.refused.values.reduce(0, +)
    }
}
