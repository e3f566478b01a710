// SPDX-License-Identifier: Apache-2.0
package import AudienceCore
package import MachineKit
package import Observability
package import PlazaModel
internal import PlazaWire
package import ServiceShell

/// The processor of presence for one partition; it plans a batch, executes its lease requests in Redis, and handles the
/// results.
///
/// The shell, the run loop of the instance, commits each batch in a Kafka transaction. Redis executes the requests
/// before the transaction. If the transaction aborts, the batch is processed again. To make this safe, the changes stay
/// in Redis's outbox until the transaction has committed, and Redis executes the request of each offset once. So
/// processing the batch again changes nothing in Redis and emits the same effects.
package final class PresenceProcessor: PartitionProcessor {
    private let machine: AudienceMachine
    private let store: LeaseStore
    private let log: Log
    private let metrics: PresenceMetrics
    private var rows = AudienceMachine.Rows()
    /// The keys of the rows whose last restored version could not be read.
    private var unreadableKeys: Set<String> = []
    /// The position in the outbox (changes that Redis holds until they are published) after the last processed batch,
    /// which may not be committed yet.
    private var cursor = OutboxCursor()
    /// The position in the outbox that was last committed.
    private var committedCursor = OutboxCursor()
    /// For each effect of the last batch, the index of the input that caused it.
    package private(set) var causeIndexes: [Int] = []

    /// A processor without rows.
    ///
    /// - Parameters:
    ///   - machine: the machine that plans batches and handles results.
    ///   - store: the leases of the partition.
    ///   - log: gets a line when Redis is lost or reachable again, and for each malformed record.
    ///   - metrics: the registry of the processor's metrics.
    ///   - outages: records whether the leases of the partition are unavailable.
    package init(
        _ machine: AudienceMachine, store: LeaseStore, log: Log, metrics: MetricsRegistry,
        outages: LeaseOutages = LeaseOutages()
    ) {
        self.machine = machine
        self.store = store
        self.log = log
        self.metrics = PresenceMetrics(metrics, partition: machine.partition, outages: outages)
    }

    // A processor is destroyed when its process no longer owns the partition. From then on the metrics of the new owner
    // say how many sessions there are, and whether Redis can be reached.
    deinit {
        self.metrics.setLeasesUnavailable(false)
        self.metrics.sessionsWithLease.set(0)
    }

    package func restore(key: String, row: [UInt8]?) {
        // A later version of an unreadable row, or its removal, replaces it.
        self.unreadableKeys.remove(key)
        guard let rowKey = AudienceKey(text: key) else {
            // A record without a row removes its key, so no row is lost if the record is skipped.
            if row != nil { self.unreadableKeys.insert(key) }
            return self.skip(key, "no key of a row")
        }
        guard let row else { return self.rows.restore(rowKey, nil) }
        do {
            self.rows.restore(rowKey, try Wire.decode(AudienceRow.self, from: row))
        } catch {
            self.unreadableKeys.insert(key)
            self.skip(key, "\(error)")
        }
    }

    package func acquired(generation: Int64, committedMetadata: String, at now: Timestamp) {
        self.committedCursor = OutboxCursor(text: committedMetadata)
        self.cursor = self.committedCursor
        self.store.acquired(generation: generation)
    }

    @discardableResult
    package func process(_ inputs: [InboxInput], effects: inout [Effect]) throws(ProcessorError) -> Int {
        self.causeIndexes.removeAll(keepingCapacity: true)
        // If there are lives but no committed epoch, the committed metadata is lost, because an operator has reset the
        // offset. This is checked before `plan`, which adds the lives that this batch opens.
        let hadLivesWithoutEpoch = self.cursor.epoch.isEmpty && !self.rows.lives.isEmpty
        let batch = self.machine.plan(inputs.map(self.decode), in: &self.rows)
        guard let first = batch.first else { return inputs.count }
        let results: [LeaseResult]
        switch try self.store.execute(
            batch, from: self.cursor, committedID: self.committedCursor.id,
            needsEpoch: self.rows.partition.needsEpoch, lives: { self.rows.lives })
        {
        case .unavailable(let mayHaveRun, let detail):
            // Logged once: `handle` sets `isUnavailable` until Redis is back.
            if !self.rows.partition.isUnavailable {
                self.log.warning(
                    "the leases are away",
                    [.partition: .int(self.machine.partition), .detail: .string(detail)])
            }
            self.metrics.setLeasesUnavailable(true)
            self.handle(.leasesUnavailable(batch: batch, mayHaveRun: mayHaveRun), at: first.moment, &effects)
            results = batch.map { $0.request == nil ? .nothing : .unavailable }
        case .done(let leaseResults, let newEpoch, let lastID):
            self.handleReachedLeases(newEpoch, hadLivesWithoutEpoch: hadLivesWithoutEpoch, at: first.moment, &effects)
            self.cursor.id = lastID
            self.metrics.sessionsWithLease.set(self.store.sessionCount)
            self.metrics.setLeasesUnavailable(false)
            results = leaseResults
        }
        // The effects of a changed availability are attributed to the first input.
        while self.causeIndexes.count < effects.count { self.causeIndexes.append(0) }
        for (index, planned) in batch.enumerated() {
            self.handle(.leasesAnswered(planned, results[index]), at: planned.moment, &effects)
            while self.causeIndexes.count < effects.count { self.causeIndexes.append(index) }
            self.metrics.count(results[index].changes)
        }
        return inputs.count
    }

    /// Handles a new epoch, or the return of Redis, after Redis has executed a batch.
    ///
    /// - Parameters:
    ///   - newEpoch: the name of the new epoch; nil if the epoch continues.
    ///   - hadLivesWithoutEpoch: whether there were lives before the batch, although no epoch was committed.
    ///   - moment: the moment of the batch's first input.
    ///   - effects: the effects are appended to this array.
    private func handleReachedLeases(
        _ newEpoch: String?, hadLivesWithoutEpoch: Bool, at moment: Moment, _ effects: inout [Effect]
    ) {
        if let newEpoch {
            self.log.info(
                "a new epoch of the leases begins",
                [.partition: .int(self.machine.partition), .epoch: .string(newEpoch)])
            self.metrics.begunEpochs.add()
            // If the partition had no sessions before, no gateway needs to assert (list) its sessions. The partition
            // had none if no epoch was committed, no earlier input required a new epoch, and there were no lives.
            let wasEmpty = self.cursor.epoch.isEmpty && !self.rows.partition.needsEpoch && !hadLivesWithoutEpoch
            self.handle(.leaseEpochBegan(name: newEpoch, wasEmpty: wasEmpty), at: moment, &effects)
            self.cursor.epoch = newEpoch
        } else if self.rows.partition.isUnavailable {
            self.log.info("the leases are back", [.partition: .int(self.machine.partition)])
            self.handle(.leasesRecovered, at: moment, &effects)
        }
    }

    private func handle(_ event: AudienceEvent, at moment: Moment, _ effects: inout [Effect]) {
        self.machine.handle(event, in: &self.rows, at: moment, into: &effects)
    }

    // MARK: Due rows

    // Each of the next three methods finds, handles or removes one due row, as if a tick (an empty record that advances
    // time) preceded `input`. No method sends a request that changes leases: Redis executes only one such request for
    // each offset, and this offset belongs to the request of the input.

    package func dueRowKey(before input: InboxInput) -> String? {
        self.rows.dueKey(at: max(self.cursor.latestTime, input.moment.now))?.text
    }

    package func processNextDue(
        before input: InboxInput, effects: inout [Effect]
    ) throws(ProcessorError) -> Bool {
        let moment = self.advance(to: input)
        // There is only one input, whose index is 0.
        defer { self.causeIndexes = Array(repeating: 0, count: effects.count) }
        // When an epoch settles, the counts are marked as certain, and viewers without a lease count as gone. This
        // would be wrong if Redis has lost the epoch since the last input. So in this case the epoch does not settle:
        // `leasesUnavailable` makes another epoch begin first.
        if let settlesAt = self.rows.partition.settlesAt, settlesAt <= moment.now,
            !(try self.store.reopen(expectingEpochOf: self.cursor))
        {
            self.handle(.leasesUnavailable(batch: [], mayHaveRun: false), at: moment, &effects)
            return true
        }
        return self.machine.handleDue(in: &self.rows, at: moment, limit: 1, into: &effects) > 0
    }

    package func removeNextDue(before input: InboxInput) -> (key: String, row: [UInt8])? {
        let moment = self.advance(to: input)
        guard let key = self.rows.popDue(at: moment.now), let row = self.rows[key] else { return nil }
        self.machine.removeRow(key, in: &self.rows)
        return (key.text, Wire.encode(row))
    }

    // MARK: Inputs

    /// Advances the partition's time to an input, and adds the pause before the input to the standstill if it was long.
    ///
    /// The standstill is the sum of the times in which the partition had no owner or no input.
    ///
    /// - Returns: the moment of the input.
    private func advance(to input: InboxInput) -> Moment {
        let gap = Moment.standstill(from: self.cursor.latestTime, to: input.moment.now)
        self.cursor.latestTime = max(self.cursor.latestTime, input.moment.now)
        if gap > Milliseconds(0) {
            var partition = self.rows.partition
            partition.standstill = (partition.standstill ?? Milliseconds(0)) + gap
            self.rows[.partition] = .partition(row: partition)
        }
        return Moment(
            now: self.cursor.latestTime, offset: input.moment.offset,
            standstill: self.rows.partition.standstill ?? Milliseconds(0))
    }

    /// Decodes an input, and advances the partition's time and standstill to the input.
    ///
    /// A malformed input must not stop the partition, so it is handled as a tick.
    private func decode(_ input: InboxInput) -> (moment: Moment, input: AudienceInput?) {
        let moment = self.advance(to: input)
        guard case .record(let bytes) = input.payload else { return (moment, nil) }
        do {
            return (moment, try Wire.decode(AudienceInput.self, from: bytes))
        } catch {
            self.skip("offset \(moment.offset)", "\(error)")
            return (moment, nil)
        }
    }

    package var changes: [(key: String, row: [UInt8]?)] {
        self.rows.changes.map { ($0.key.text, $0.row.map { Wire.encode($0) }) }
    }
    package var offsetMetadata: String { self.cursor.text }
    package var rowCount: Int { self.rows.count }
    package var unreadableRowCount: Int { self.unreadableKeys.count }

    /// When the partition needs the next tick.
    ///
    /// Leases expire at ticks, and a tick finds out whether Redis is back. So while there are leases or Redis cannot be
    /// reached, the next tick is at most one second after the last input.
    package var nextDue: Timestamp? {
        let nextDueRow = self.rows.nextDue
        guard self.store.sessionCount > 0 || self.rows.partition.isUnavailable else { return nextDueRow }
        let nextTick = self.cursor.latestTime + .seconds(1)
        return nextDueRow.map { min($0, nextTick) } ?? nextTick
    }

    package func committed() {
        self.rows.commit()
        self.committedCursor = self.cursor
    }

    package func rolledBack() {
        self.rows.rollback()
        self.cursor = self.committedCursor
    }

    /// Counts and logs a record that cannot be read; `record` says which one.
    private func skip(_ record: String, _ reason: String) {
        self.metrics.malformedRecords.add()
        self.log.warning(
            "a record cannot be read and is skipped", [.record: .string(record), .detail: .string(reason)])
    }
}
