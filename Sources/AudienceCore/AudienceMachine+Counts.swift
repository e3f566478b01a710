// SPDX-License-Identifier: Apache-2.0
package import CoreKit
package import PlazaModel

// MARK: - Counts, and rows that fall due

extension AudienceMachine {
    /// Lets the rows that are due at `moment` have their turn.
    package func handleDue(in rows: inout Rows, at moment: Moment, into effects: inout [Effect]) {
        while let key = rows.popDue(at: moment.now) {
            switch key {
            case .partition: self.settle(at: moment, in: &rows, into: &effects)
            case .live(let live):
                self.tellCount(live, at: moment.now, in: &rows, into: &effects)
                self.tellOccupancy(live, at: moment.now, in: &rows, into: &effects)
            case .bans(let live): self.keep(rows.bans(live), live, at: moment.now, in: &rows)
            case .calls, .floors: rows[key] = nil
            }
        }
    }

    /// Takes in a live's count, and tells it now or when its second is over.
    func counted(_ key: LiveKey, _ count: Int, at now: Timestamp, in rows: inout Rows, into effects: inout [Effect]) {
        guard var row = rows.live(key) else { return }
        row.count = count
        rows[.live(key)] = .live(row: row)
        self.tellCount(key, at: now, in: &rows, into: &effects)
        self.tellOccupancy(key, at: now, in: &rows, into: &effects)
    }

    /// Tells a count that has changed, unless one was told within the last second: then it falls due.
    ///
    /// The last value is always told. A stale one waits until it is known again.
    private func tellCount(_ key: LiveKey, at now: Timestamp, in rows: inout Rows, into effects: inout [Effect]) {
        guard var row = rows.live(key) else { return }
        row.countDue = nil
        if !row.isStale, row.count != row.toldCount || row.totalViewers != row.toldTotal {
            let next = row.toldAt + Self.countInterval
            if now < next {
                row.countDue = next
            } else {
                self.tellNow(key, &row, at: now, into: &effects)
            }
        }
        rows[.live(key)] = .live(row: row)
    }

    /// Tells the count whatever was told before.
    private func tellNow(_ key: LiveKey, _ row: inout LiveRow, at now: Timestamp, into effects: inout [Effect]) {
        (row.toldCount, row.toldTotal, row.toldAt, row.countDue) = (row.count, row.totalViewers, now, nil)
        effects.append(.count(row.record(key, at: now)))
    }
}

// MARK: - The leases come and go

extension AudienceMachine {
    /// The leases cannot be reached: counts are stale from here on, and expiry pauses.
    ///
    /// - Parameters:
    ///   - steps: the batch that is about to be concluded without them.
    ///   - wereSent: the commands may have been carried out, only nobody knows.
    ///   - rows: the partition's rows.
    ///   - effects: what follows is appended here.
    package func leasesAway(
        _ steps: [AudienceStep], wereSent: Bool, in rows: inout Rows, into effects: inout [Effect]
    ) {
        guard let moment = steps.first?.moment else { return }
        var partition = rows.partition
        if partition.settlesAt != nil {
            // What gateways told so far may be lost; they are asked again.
            partition.settlesAt = nil
            partition.needsEpoch = true
        }
        let changesLeases = steps.contains { step in
            step.verdict == .act && step.command != nil && (step.input?.command.needsLeases ?? false)
        }
        if wereSent || changesLeases { partition.needsEpoch = true }
        let isNew = !partition.isAway
        partition.isAway = true
        rows[.partition] = .partition(row: partition)
        if isNew { self.markStale(at: moment.now, in: &rows, into: &effects) }
    }

    /// The leases are back as they were, and nothing was decided without them.
    package func leasesBack(at moment: Moment, in rows: inout Rows, into effects: inout [Effect]) {
        var partition = rows.partition
        guard partition.isAway else { return }
        partition.isAway = false
        rows[.partition] = .partition(row: partition)
        self.markFresh(at: moment.now, in: &rows, into: &effects)
    }

    /// A new epoch of the leases has begun: they are empty, and gateways are asked to tell who is here (I5).
    ///
    /// - Parameters:
    ///   - name: the epoch's name, new among all that this partition had.
    ///   - wasEmpty: nobody can have been here before, so there is nothing to wait for.
    ///   - moment: of the batch that found it necessary.
    ///   - rows: the partition's rows.
    ///   - effects: what follows is appended here.
    package func epochBegan(
        _ name: String, wasEmpty: Bool, at moment: Moment, in rows: inout Rows, into effects: inout [Effect]
    ) {
        var partition = PartitionRow()
        partition.settlesAt = wasEmpty ? nil : moment.now + self.settling
        rows[.partition] = .partition(row: partition)
        effects.append(.presenceEpoch(PresenceEpochRecord(partition: self.partition, epoch: name)))
        guard !wasEmpty else { return self.markFresh(at: moment.now, in: &rows, into: &effects) }
        self.markStale(at: moment.now, in: &rows, into: &effects)
        for key in rows.lives {
            guard var row = rows.live(key) else { continue }
            row.count = 0
            rows[.live(key)] = .live(row: row)
        }
    }

    /// The epoch has settled: who has not been told by now is not here.
    private func settle(at moment: Moment, in rows: inout Rows, into effects: inout [Effect]) {
        var partition = rows.partition
        partition.settlesAt = nil
        rows[.partition] = .partition(row: partition)
        let stale = rows.lives.filter { rows.live($0)?.isStale == true }
        for key in stale {
            guard var row = rows.live(key) else { continue }
            row.awaitsOwner = true
            rows[.live(key)] = .live(row: row)
        }
        self.markFresh(at: moment.now, in: &rows, into: &effects)
        for key in stale {
            effects.append(.seat(SeatInput(key, .confirmOccupants)))
            effects.append(.connection(ConnectionInput(app: key.app, .confirmOwner(live: key.live))))
            // An assertion names nobody, so whether the owner is here must be asked for.
            if let row = rows.live(key) { effects.append(.audience(AudienceInput(key, .confirm(user: row.owner)))) }
        }
    }

    private func markStale(at now: Timestamp, in rows: inout Rows, into effects: inout [Effect]) {
        for key in rows.lives {
            guard var row = rows.live(key), !row.isStale else { continue }
            row.isStale = true
            row.countDue = nil
            row.toldAt = now
            rows[.live(key)] = .live(row: row)
            // The last count that was told, marked as stale: better than a count of those who were told again so far.
            effects.append(.count(row.record(key, at: now)))
        }
    }

    private func markFresh(at now: Timestamp, in rows: inout Rows, into effects: inout [Effect]) {
        for key in rows.lives {
            guard var row = rows.live(key), row.isStale else { continue }
            row.isStale = false
            row.hasUnwritten = false
            row.kickedWhileStale = []
            self.tellNow(key, &row, at: now, into: &effects)
            rows[.live(key)] = .live(row: row)
            self.tellOccupancy(key, at: now, in: &rows, into: &effects)
        }
    }
}
