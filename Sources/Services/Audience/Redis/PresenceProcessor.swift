// SPDX-License-Identifier: Apache-2.0
package import AudienceCore
package import MachineKit
package import Observability
package import PlazaModel
internal import PlazaWire
package import ServiceShell

/// Runs presence for one partition: plans a batch, executes its lease requests in Redis, and handles the results.
///
/// The requests are executed before the shell's transaction, which may abort; then the batch is processed again. To
/// make this safe, the changes stay in Redis's outbox until the transaction has committed, and Redis executes each
/// offset once. So the second attempt changes nothing in Redis and emits the same effects.
package final class PresenceProcessor: PartitionProcessor {
    private let machine: AudienceMachine
    private let store: LeaseStore
    private let log: Log
    private let metrics: PresenceMetrics
    private var rows = AudienceMachine.Rows()
    /// The position in the outbox after the open batch.
    private var cursor = OutboxCursor()
    /// The position in the outbox that was last committed.
    private var committedCursor = OutboxCursor()
    package private(set) var causes: [Int] = []

    /// A processor without rows.
    ///
    /// - Parameters:
    ///   - machine: the machine that plans batches and handles results.
    ///   - store: the leases of the partition.
    ///   - log: gets a line when Redis is lost or reachable again, and for each malformed record.
    ///   - metrics: the registry of the processor's metrics.
    package init(_ machine: AudienceMachine, store: LeaseStore, log: Log, metrics: MetricsRegistry) {
        self.machine = machine
        self.store = store
        self.log = log
        self.metrics = PresenceMetrics(metrics, partition: machine.partition)
    }

    // Another process owns the partition now, or will; its own metric says whether it reaches the leases.
    deinit { self.metrics.leasesAway.set(0) }

    package func restore(key: String, row: [UInt8]?) {
        guard let rowKey = AudienceKey(text: key) else { return self.skip(key, "no key of a row") }
        guard let row else { return self.rows.restore(rowKey, nil) }
        do {
            self.rows.restore(rowKey, try Wire.decode(AudienceRow.self, from: row))
        } catch {
            self.skip(key, "\(error)")
        }
    }

    package func acquired(generation: Int64, committedMetadata: String, at now: Timestamp) {
        self.committedCursor = OutboxCursor(text: committedMetadata)
        self.cursor = self.committedCursor
        self.store.acquired(generation: generation)
    }

    package func process(_ inputs: [InboxInput], effects: inout [Effect]) throws(ProcessorError) {
        self.causes.removeAll(keepingCapacity: true)
        let batch = self.machine.plan(inputs.map(self.decode), in: &self.rows)
        guard let first = batch.first else { return }
        let results: [LeaseResult]
        switch try self.store.execute(
            batch, from: self.cursor, committedID: self.committedCursor.id,
            needsEpoch: self.rows.partition.needsEpoch, lives: { self.rows.lives })
        {
        case .unavailable(let mayHaveRun, let detail):
            if !self.rows.partition.isUnavailable {
                self.log.warning(
                    "the leases are away",
                    [.partition: .int(self.machine.partition), .detail: .string(detail)])
            }
            self.metrics.leasesAway.set(1)
            self.handle(.leasesUnavailable(batch: batch, mayHaveRun: mayHaveRun), at: first.moment, &effects)
            results = batch.map { $0.request == nil ? .nothing : .unavailable }
        case .done(let done, let newEpoch, let lastID):
            self.leasesReached(newEpoch, at: first.moment, &effects)
            self.cursor.id = lastID
            self.metrics.members.set(self.store.sessions)
            self.metrics.leasesAway.set(0)
            results = done
        }
        // The effects so far are attributed to the first input.
        while self.causes.count < effects.count { self.causes.append(0) }
        for (index, planned) in batch.enumerated() {
            self.handle(.leasesAnswered(planned, results[index]), at: planned.moment, &effects)
            while self.causes.count < effects.count { self.causes.append(index) }
            self.metrics.count(results[index].changes)
        }
    }

    /// Handles a new epoch, or the return of Redis, after Redis has executed a batch.
    private func leasesReached(_ newEpoch: String?, at moment: Moment, _ effects: inout [Effect]) {
        if let newEpoch {
            self.log.info(
                "a new epoch of the leases begins",
                [.partition: .int(self.machine.partition), .reason: .string(newEpoch)])
            self.metrics.epochs.add()
            let wasEmpty = self.cursor.epoch.isEmpty && !self.rows.partition.needsEpoch
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

    /// Decodes an input.
    ///
    /// A malformed input must not stop the partition, so it is handled as a tick.
    private func decode(_ input: InboxInput) -> (moment: Moment, input: AudienceInput?) {
        let gap = Moment.standstill(from: self.cursor.now, to: input.moment.now)
        self.cursor.now = max(self.cursor.now, input.moment.now)
        if gap > Milliseconds(0) {
            var partition = self.rows.partition
            partition.standstill = (partition.standstill ?? Milliseconds(0)) + gap
            self.rows[.partition] = .partition(row: partition)
        }
        let moment = Moment(
            now: self.cursor.now, offset: input.moment.offset,
            standstill: self.rows.partition.standstill ?? Milliseconds(0))
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

    /// When the partition needs the next tick.
    ///
    /// Leases expire at ticks. So while there are leases or Redis cannot be reached, it is at most one second from
    /// now.
    package var nextDue: Timestamp? {
        let row = self.rows.nextDue
        guard self.store.sessions > 0 || self.rows.partition.isUnavailable else { return row }
        let tick = self.cursor.now + .seconds(1)
        return row.map { min($0, tick) } ?? tick
    }

    package func committed() {
        self.rows.commit()
        self.committedCursor = self.cursor
    }

    package func rolledBack() {
        self.rows.rollback()
        self.cursor = self.committedCursor
    }

    private func skip(_ what: String, _ why: String) {
        self.metrics.malformed.add()
        self.log.warning("a record cannot be read and is skipped", [.path: .string(what), .detail: .string(why)])
    }
}
