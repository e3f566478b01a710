// SPDX-License-Identifier: Apache-2.0
package import MachineKit
package import PlazaModel

/// The machine of presence: decides which users are in the lives of one partition.
///
/// Redis holds the leases: one entry for each session in a live, which expires after the session's last sign of life.
/// The machine only plans lease requests and handles their results.
///
/// Each batch takes two phases, so that it costs one round trip to Redis:
/// 1. `plan` turns the inputs of the batch into lease requests, which `LeaseStore` executes in one pipeline.
/// 2. `handle` gets the result of each request, in order, changes rows and emits effects.
///
/// `plan` never depends on what `handle` decides. So after a crash the same inputs produce the same requests, even
/// when they are split into batches differently (docs/decisions/0008).
package struct AudienceMachine: Machine {
    package typealias Input = AudienceEvent
    package typealias Key = AudienceKey
    package typealias Row = AudienceRow

    /// The inbox partition that the machine serves.
    package let partition: Int
    /// The policy of each app: its limits, whether a user may have several devices, and whether it has webhooks.
    package let policies: Policies
    /// How long a new epoch of the leases settles: the time in which gateways assert (list) their sessions.
    ///
    /// A new epoch begins when Redis has lost the leases. The counts must be true again within 15 s (I5 in
    /// docs/RULES.md). The epoch settles sooner, because reconnecting to Redis and publishing the counts take time too.
    package let settling: Milliseconds
    /// The maximum number of leases that expire in one tick; further leases expire in the following ticks.
    package let expiryLimit: Int

    /// A machine for `partition`.
    package init(
        partition: Int, policies: Policies = Policies(), settling: Milliseconds = .seconds(12),
        expiryLimit: Int = 5_000
    ) {
        self.partition = partition
        self.policies = policies
        self.settling = settling
        self.expiryLimit = expiryLimit
    }

    /// The rows of a partition.
    package typealias Rows = Journal<AudienceKey, AudienceRow>

    /// The shortest time between two published counts of a live, and between two reports of its occupancy.
    package static let countInterval = Milliseconds.seconds(1)
    /// The retry delay for clients that are rejected because Redis cannot be reached, in milliseconds.
    static let retryDelayMilliseconds: Int64 = 1_000
    /// The maximum number of users in `LiveRow.kickedWhileStale`; the oldest are removed first.
    static let kickedWhileStaleLimit = 1_000
}

// MARK: - Machine

extension AudienceMachine {
    package func handle(
        _ input: AudienceEvent, in rows: inout Rows, at moment: Moment, into effects: inout [Effect]
    ) {
        switch input {
        case .leasesAnswered(let planned, let result):
            // Rows that fell due before this input are handled first.
            self.handleDue(in: &rows, at: moment, limit: .max, into: &effects)
            self.handleResult(of: planned, result, in: &rows, into: &effects)
        case .leasesUnavailable(let batch, let mayHaveRun):
            self.handleUnavailableLeases(batch, mayHaveRun: mayHaveRun, at: moment, in: &rows, into: &effects)
        case .leasesRecovered: self.handleRecoveredLeases(at: moment, in: &rows, into: &effects)
        case .leaseEpochBegan(let name, let wasEmpty):
            self.handleNewEpoch(name, wasEmpty: wasEmpty, at: moment, in: &rows, into: &effects)
        }
    }

    package func handleDueRow(
        _ key: AudienceKey, in rows: inout Rows, at moment: Moment, into effects: inout [Effect]
    ) {
        switch key {
        case .partition: self.settleEpoch(at: moment, in: &rows, into: &effects)
        case .live(let live):
            self.publishCount(live, at: moment.now, in: &rows, into: &effects)
            self.reportOccupancy(live, at: moment.now, in: &rows, into: &effects)
        case .bans(let live): self.storeBans(rows.bans(live), live, at: moment.now, in: &rows)
        case .calls:
            guard var window = rows.window(key) else { return }
            rows[key] = window.expire(at: moment) ? nil : .calls(row: window)
        // A fence has no due time, so this case is not reached.
        case .fence: rows[key] = nil
        }
    }

    /// Removes a due row whose handling fails every time.
    ///
    /// The partition's row stays, but loses its due time, so the present epoch of the leases never settles. The lives
    /// that run now keep their stale counts until the next epoch; lives that open later are not affected. No new epoch
    /// is begun here, because settling it would fail for the same reason.
    package func removeRow(_ key: AudienceKey, in rows: inout Rows) {
        guard key == .partition else {
            rows[key] = nil
            return
        }
        var partition = rows.partition
        partition.settlesAt = nil
        rows[.partition] = .partition(row: partition)
    }
}

// MARK: - Rows by kind

extension Journal where Key == AudienceKey, Row == AudienceRow {
    /// The partition's row, or a new one.
    package var partition: PartitionRow {
        guard case .partition(let row)? = self[.partition] else { return PartitionRow() }
        return row
    }
    /// The row of a running live.
    package func live(_ key: LiveKey) -> LiveRow? {
        guard case .live(let row)? = self[.live(key)] else { return nil }
        return row
    }
    /// The revocation fence of a live's kicked users.
    package func fence(_ key: LiveKey) -> RevocationFence {
        guard case .fence(let row)? = self[.fence(key)] else { return RevocationFence() }
        return row
    }
    /// The bans of a live.
    package func bans(_ key: LiveKey) -> Bans {
        guard case .bans(let row)? = self[.bans(key)] else { return Bans() }
        return row
    }
    /// The idempotency window of a session's calls.
    package func window(_ key: AudienceKey) -> CallWindow? {
        guard case .calls(let row)? = self[key] else { return nil }
        return row
    }
    /// The keys of the running lives, sorted.
    package var lives: [LiveKey] {
        self.sortedKeys { if case .live = $0 { true } else { false } }
            .compactMap { if case .live(let key) = $0 { key } else { nil } }
    }
}
