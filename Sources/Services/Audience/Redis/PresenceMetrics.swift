// SPDX-License-Identifier: Apache-2.0
internal import AudienceCore
internal import Observability

/// The metrics of presence.
struct PresenceMetrics {
    /// The records that could not be read and were skipped.
    let malformedRecords: Counter
    /// The epochs of the leases that this process has begun.
    let begunEpochs: Counter
    /// The sessions of the partition that have a lease.
    let sessionsWithLease: Gauge
    /// 1 while Redis cannot be reached, otherwise 0.
    private let leasesUnavailable: Gauge
    private let outages: LeaseOutages
    private let partition: Int
    private let joins: Counter
    private let leaves: Counter
    private let kicks: Counter
    private let expiries: Counter

    /// The machine's name in its consumer group, its thread and its metrics.
    static let machine = "audience"

    /// Registers the metrics of a partition in `registry`.
    ///
    /// The partition is in `outages` while its leases cannot be reached; then the service reports itself as degraded.
    init(_ registry: MetricsRegistry, partition: Int, outages: LeaseOutages) {
        self.partition = partition
        self.outages = outages
        typealias Names = MetricNames.Audience
        self.malformedRecords = registry.counter(
            MetricNames.Shell.malformed, help: "Records that could not be read and were skipped.",
            labels: ["machine": Self.machine])
        self.begunEpochs = registry.counter(Names.epochs, help: "Epochs of the leases that were begun.")
        self.sessionsWithLease = registry.gauge(
            Names.members, help: "Sessions with a lease, by partition.", labels: ["partition": "\(partition)"])
        self.leasesUnavailable = registry.gauge(
            Names.leasesAway, help: "Whether the leases of a partition cannot be reached: 1 or 0.",
            labels: ["partition": "\(partition)"])
        self.joins = registry.counter(Names.joins, help: "Joins that were carried out.")
        let help = "Users that went out of a live, by reason."
        self.leaves = registry.counter(Names.leaves, help: help, labels: ["reason": "left"])
        self.kicks = registry.counter(Names.leaves, help: help, labels: ["reason": "kicked"])
        self.expiries = registry.counter(Names.leaves, help: help, labels: ["reason": "expired"])
    }

    /// Records whether the leases of the partition cannot be reached.
    func setLeasesUnavailable(_ areUnavailable: Bool) {
        self.leasesUnavailable.set(areUnavailable ? 1 : 0)
        self.outages.set(areUnavailable, partition: self.partition)
    }

    /// Counts the joins, leaves, kicks and expired leases among the changes.
    func count(_ changes: [LeaseChange]) {
        for change in changes {
            switch change {
            case .joined: self.joins.add()
            // Leaves are counted by user: a leave counts when it ends the user's last session.
            case .left(user: _, isLast: true, count: _): self.leaves.add()
            case .kicked: self.kicks.add()
            case .expired: self.expiries.add()
            case .full, .ticketVoid, .left, .returned, .renamed, .asserted: break
            }
        }
    }
}
