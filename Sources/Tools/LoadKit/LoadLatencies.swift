// SPDX-License-Identifier: Apache-2.0
internal import Observability

/// The latencies of a run, in microseconds since the due time of each message.
struct LoadLatencies {
    /// The latencies until each viewer received a message, in all seconds before the current one.
    private(set) var deliveries = Histogram()
    /// The latencies until the sender received the reply.
    private(set) var acknowledgements = Histogram()
    /// The p99 of the deliveries of each ended second, in milliseconds; seconds without a delivery are left out.
    private(set) var p99BySecond: [Double] = []
    /// The latencies until each viewer received a message, in the current second.
    private var currentSecond = Histogram()

    mutating func recordDelivery(_ microseconds: Int64) { self.currentSecond.record(Int(microseconds)) }

    mutating func recordAcknowledgement(_ microseconds: Int64) { self.acknowledgements.record(Int(microseconds)) }

    /// Adds the latencies of the current second to `deliveries` and begins the next second.
    mutating func endSecond() {
        guard self.currentSecond.count > 0 else { return }
        self.p99BySecond.append(LoadReport.Latency(self.currentSecond).p99)
        self.deliveries.merge(self.currentSecond)
        self.currentSecond = Histogram()
    }
}
