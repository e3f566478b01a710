// SPDX-License-Identifier: Apache-2.0
package import LoadKit

/// What the honest clients saw in one run.
///
/// Honest clients use the cluster normally. A run is made without an attack, as the baseline, and during each attack.
package struct HonestResult: Equatable, Sendable {
    /// The median time from when a message was due until a viewer received it, in milliseconds.
    package var p50 = 0.0
    /// The 99th percentile of the time from when a message was due until a viewer received it, in milliseconds.
    package var p99 = 0.0
    /// Messages sent.
    package var published = 0
    /// Messages that the cluster admitted, as the reply to the sender says.
    package var admitted = 0
    /// Items that a viewer should have received and did not; an item that two viewers miss counts twice.
    package var missing = 0
    /// Items that were repeated, reordered or misplaced.
    ///
    /// The number of a misplaced item differs from the number in the reply to the sender.
    package var disordered = 0
    /// How often a client lost its connection.
    package var reconnects = 0
    /// Other failures, one sentence each.
    package var failures: [String] = []

    package init() {}

    /// Takes from a load report what the verdict needs.
    package init(_ report: LoadReport) {
        self.p50 = report.p50
        self.p99 = report.p99
        self.published = report.published
        self.admitted = report.admitted
        self.missing = report.missing
        self.disordered = report.repeated + report.reordered + report.numberMismatches
        self.reconnects = report.reconnects
        self.failures = report.failures
    }
}

/// The metrics of a gateway's process at one reading.
package struct GatewayReading: Equatable, Sendable {
    /// When the process started, in seconds since 1970; a restarted process has a different start time.
    package var startTime: Double
    /// Resident memory in bytes.
    package var residentBytes: Double

    package init(startTime: Double, residentBytes: Double) {
        self.startTime = startTime
        self.residentBytes = residentBytes
    }
}

/// The measurements of one gateway during an attack.
package struct GatewayChange: Equatable, Sendable {
    /// The reading before the attack; nil if the gateway did not answer.
    package var before: GatewayReading?
    /// The last reading; nil if the gateway did not answer.
    package var after: GatewayReading?
    /// The maximum resident memory of all readings, in bytes.
    package var maxBytes: Double

    package init(before: GatewayReading?, after: GatewayReading?, maxBytes: Double) {
        self.before = before
        self.after = after
        self.maxBytes = maxBytes
    }
}

/// The number of requests sent, and how many of them were answered.
package struct AnswerCounts: Equatable, Sendable {
    package var asked = 0
    package var answered = 0

    package init(asked: Int = 0, answered: Int = 0) {
        self.asked = asked
        self.answered = answered
    }
}

/// Everything that was measured during one attack.
package struct AttackMeasurement: Equatable, Sendable {
    package var tally = AttackTally()
    /// How much more memory than usual a gateway may take during this attack (`Attack.allowedBytes`).
    package var allowedBytes = 0
    package var honest = HonestResult()
    /// The gateways by name; empty if their metrics cannot be read.
    package var gateways: [String: GatewayChange] = [:]
    /// The requests of an honest HTTP client during the attack.
    package var http = AnswerCounts()
    /// The partitions of the directory in which a live was to be created and ended after the attack, one live in each;
    /// a partition counts as answered if both calls succeeded.
    package var partitions = AnswerCounts()

    package init() {}
}
