// SPDX-License-Identifier: Apache-2.0
internal import AudienceCore
internal import Observability

/// The metrics of presence.
struct PresenceMetrics {
    let malformed: Counter
    let epochs: Counter
    let members: Gauge
    let leasesAway: Gauge
    private let joins: Counter
    private let left: Counter
    private let kicked: Counter
    private let expired: Counter

    /// The machine's name in its consumer group, its thread and its metrics.
    static let machine = "audience"

    /// Registers the metrics of a partition in `registry`.
    init(_ registry: MetricsRegistry, partition: Int) {
        typealias Names = MetricNames.Audience
        self.malformed = registry.counter(
            MetricNames.Shell.malformed, help: "Records that could not be read and were skipped.",
            labels: ["machine": Self.machine])
        self.epochs = registry.counter(Names.epochs, help: "Epochs of the leases that were begun.")
        self.members = registry.gauge(
            Names.members, help: "Sessions with a lease, by partition.", labels: ["partition": "\(partition)"])
        self.leasesAway = registry.gauge(
            Names.leasesAway, help: "Whether the leases of a partition cannot be reached: 1 or 0.",
            labels: ["partition": "\(partition)"])
        self.joins = registry.counter(Names.joins, help: "Joins that were carried out.")
        let help = "Users that went out of a live, by reason."
        self.left = registry.counter(Names.leaves, help: help, labels: ["reason": "left"])
        self.kicked = registry.counter(Names.leaves, help: help, labels: ["reason": "kicked"])
        self.expired = registry.counter(Names.leaves, help: help, labels: ["reason": "expired"])
    }

    /// Counts the joins and leaves among the changes.
    func count(_ changes: [LeaseChange]) {
        for change in changes {
            switch change {
            case .joined: self.joins.add()
            case .left(_, true, _): self.left.add()
            case .kicked: self.kicked.add()
            case .expired: self.expired.add()
            case .full, .ticketVoid, .left, .returned, .renamed, .asserted: break
            }
        }
    }
}
