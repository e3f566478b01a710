// SPDX-License-Identifier: Apache-2.0
internal import MachineKit
internal import PlazaModel

// MARK: - Availability of Redis, and epochs of the leases

// A lease is the entry in Redis of a session in a live. An epoch is one life of the leases: when Redis has lost them, a
// new epoch begins without leases. The epoch is settling while gateways assert (list) their sessions. Until the epoch
// has settled, counts are stale (not certain).

extension AudienceMachine {
    /// Handles the loss of Redis: publishes the counts as stale; no lease expires until Redis is back.
    ///
    /// - Parameters:
    ///   - batch: the inputs that will be handled without the leases.
    ///   - mayHaveRun: whether Redis may have executed the requests.
    ///   - moment: the moment of the first input of the batch.
    ///   - rows: the partition's rows.
    ///   - effects: the effects are appended to this array.
    func handleUnavailableLeases(
        _ batch: [PlannedInput], mayHaveRun: Bool, at moment: Moment, in rows: inout Rows, into effects: inout [Effect]
    ) {
        var partition = rows.partition
        if partition.settlesAt != nil {
            // The sessions that gateways have asserted so far may be lost. Another epoch makes the gateways assert
            // them again.
            partition.settlesAt = nil
            partition.needsEpoch = true
        }
        let batchNeedsEpoch = batch.contains { planned in
            planned.decision == .proceed && planned.request != nil
                && planned.input?.command.needsEpochIfDecidedWithoutRedis == true
        }
        // If Redis has executed requests of a batch that is now decided without Redis, the leases may contradict the
        // decisions.
        if mayHaveRun || batchNeedsEpoch { partition.needsEpoch = true }
        let wasAvailable = !partition.isUnavailable
        partition.isUnavailable = true
        rows[.partition] = .partition(row: partition)
        if wasAvailable { self.markStale(at: moment.now, in: &rows, into: &effects) }
    }

    /// Handles the return of Redis when it has the same leases and no change was decided without them.
    func handleRecoveredLeases(at moment: Moment, in rows: inout Rows, into effects: inout [Effect]) {
        var partition = rows.partition
        guard partition.isUnavailable else { return }
        partition.isUnavailable = false
        rows[.partition] = .partition(row: partition)
        self.markCertain(at: moment.now, in: &rows, into: &effects)
    }

    /// Handles the beginning of a new epoch, which has no leases: asks the gateways to assert their sessions (I5 in
    /// docs/RULES.md).
    ///
    /// - Parameters:
    ///   - name: the epoch's name, unique among the epochs of this partition.
    ///   - wasEmpty: whether the partition had no sessions before; if so, the epoch settles at once.
    ///   - moment: the moment of the first input of the batch.
    ///   - rows: the partition's rows.
    ///   - effects: the effects are appended to this array.
    func handleNewEpoch(
        _ name: String, wasEmpty: Bool, at moment: Moment, in rows: inout Rows, into effects: inout [Effect]
    ) {
        // The new row clears `isUnavailable` and `needsEpoch`; only the sum of the standstills is kept.
        var partition = PartitionRow()
        partition.standstill = rows.partition.standstill
        partition.settlesAt = wasEmpty ? nil : moment.now + self.settling
        rows[.partition] = .partition(row: partition)
        effects.append(.presenceEpoch(PresenceEpochRecord(partition: self.partition, epoch: name)))
        guard !wasEmpty else { return self.markCertain(at: moment.now, in: &rows, into: &effects) }
        self.markStale(at: moment.now, in: &rows, into: &effects)
        for key in rows.lives {
            guard var row = rows.live(key) else { continue }
            // The epoch has no leases yet; each assertion raises the count.
            row.count = 0
            rows[.live(key)] = .live(row: row)
        }
    }

    /// Ends the settling of an epoch; from now on, sessions that no gateway has asserted count as gone.
    ///
    /// A command makes the seat and connection machines ask presence whether the users whom they show are still in the
    /// live.
    func settleEpoch(at moment: Moment, in rows: inout Rows, into effects: inout [Effect]) {
        var partition = rows.partition
        partition.settlesAt = nil
        rows[.partition] = .partition(row: partition)
        let staleLives = rows.lives.filter { rows.live($0)?.isStale == true }
        for key in staleLives {
            guard var row = rows.live(key) else { continue }
            row.isOwnerUnconfirmed = true
            rows[.live(key)] = .live(row: row)
        }
        self.markCertain(at: moment.now, in: &rows, into: &effects)
        for key in staleLives {
            effects.append(.seat(SeatInput(key, .confirmOccupants)))
            effects.append(.connection(ConnectionInput(app: key.app, .confirmOwner(live: key.live))))
            // An assertion changes only the count, not the owner's presence. So presence sends itself the command
            // `confirm`, which checks whether the owner is in the live.
            if let row = rows.live(key) { effects.append(.audience(AudienceInput(key, .confirm(user: row.owner)))) }
        }
    }

    /// Marks the leases of all lives as uncertain, and publishes the counts as stale.
    private func markStale(at now: Timestamp, in rows: inout Rows, into effects: inout [Effect]) {
        for key in rows.lives {
            guard var row = rows.live(key), !row.isStale else { continue }
            row.isStale = true
            row.countDue = nil
            row.publishedAt = now
            rows[.live(key)] = .live(row: row)
            // The stale record repeats the last published count, because the number of users asserted so far would be
            // too low.
            effects.append(.count(row.countRecord(key, at: now)))
        }
    }

    /// Marks the leases of all lives as certain again, and publishes the counts.
    private func markCertain(at now: Timestamp, in rows: inout Rows, into effects: inout [Effect]) {
        for key in rows.lives {
            guard var row = rows.live(key), row.isStale else { continue }
            row.isStale = false
            row.hasUnrecordedJoins = false
            row.kickedWhileStale = []
            self.publishCountNow(key, &row, at: now, into: &effects)
            rows[.live(key)] = .live(row: row)
            self.reportOccupancy(key, at: now, in: &rows, into: &effects)
        }
    }
}
