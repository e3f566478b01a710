// SPDX-License-Identifier: Apache-2.0
package import AudienceCore
package import CoreKit
package import Observability
package import PlazaModel
internal import PlazaWire
package import ServiceShell

/// Runs presence over one partition: plans a batch, carries its commands out in Redis, concludes it.
///
/// The commands go before the shell's transaction, and what they changed waits in Redis's outbox until that has
/// committed. So a batch whose transaction aborts is planned again, changes nothing a second time, and tells the same.
package final class PresenceProcessor: PartitionProcessor {
    private let machine: AudienceMachine
    private let store: LeaseStore
    private let log: Log
    private let metrics: PresenceMetrics
    private var rows = AudienceMachine.Rows()
    /// As the open batch leaves it, and as it is committed.
    private var bookmark = Bookmark()
    private var committedBookmark = Bookmark()
    package private(set) var causes: [Int] = []

    /// A processor without rows.
    ///
    /// - Parameters:
    ///   - machine: what decides.
    ///   - store: the leases of the same partition.
    ///   - log: takes a line when the leases go away or come back, and for records that cannot be read.
    ///   - metrics: the registry that the processor counts in.
    package init(_ machine: AudienceMachine, store: LeaseStore, log: Log, metrics: MetricsRegistry) {
        self.machine = machine
        self.store = store
        self.log = log
        self.metrics = PresenceMetrics(metrics, partition: machine.partition)
    }

    package func restore(key: String, row: [UInt8]?) {
        guard let rowKey = AudienceKey(text: key) else { return self.refuse(key, "no key of a row") }
        guard let row else { return self.rows.restore(rowKey, nil) }
        do {
            self.rows.restore(rowKey, try Wire.decode(AudienceRow.self, from: row))
        } catch {
            self.refuse(key, "\(error)")
        }
    }

    package func take(generation: Int64, committedMetadata: String, at now: Timestamp) {
        self.committedBookmark = Bookmark(text: committedMetadata)
        self.bookmark = self.committedBookmark
        self.store.take(generation: generation)
    }

    package func process(_ inputs: [InboxInput], effects: inout [Effect]) throws(ProcessorError) {
        self.causes.removeAll(keepingCapacity: true)
        let steps = self.machine.plan(inputs.map(self.decode), in: &self.rows)
        guard let first = steps.first else { return }
        let results: [LeaseResult]
        switch try self.store.carryOut(
            steps, from: self.bookmark, committedID: self.committedBookmark.id,
            needsEpoch: self.rows.partition.needsEpoch)
        {
        case .away(let wereSent, let detail):
            if !self.rows.partition.isAway {
                self.log.warning(
                    "the leases are away",
                    [.partition: .int(self.machine.partition), .detail: .string(detail)])
            }
            self.machine.leasesAway(steps, wereSent: wereSent, in: &self.rows, into: &effects)
            results = steps.map { $0.command == nil ? .nothing : .away }
        case .done(let done, let began, let lastID):
            if let began {
                self.log.info(
                    "a new epoch of the leases begins",
                    [.partition: .int(self.machine.partition), .reason: .string(began)])
                self.metrics.epochs.add()
                self.machine.epochBegan(
                    began, wasEmpty: self.bookmark.epoch.isEmpty && !self.rows.partition.needsEpoch,
                    at: first.moment, in: &self.rows, into: &effects)
                self.bookmark.epoch = began
            } else if self.rows.partition.isAway {
                self.log.info("the leases are back", [.partition: .int(self.machine.partition)])
                self.machine.leasesBack(at: first.moment, in: &self.rows, into: &effects)
            }
            self.bookmark.id = lastID
            self.metrics.members.set(self.store.sessions)
            results = done
        }
        // What the leases' coming or going tells stands beside the first input.
        while self.causes.count < effects.count { self.causes.append(0) }
        for (index, step) in steps.enumerated() {
            self.machine.conclude(step, results[index], in: &self.rows, into: &effects)
            while self.causes.count < effects.count { self.causes.append(index) }
            if case .done(let entries, _) = results[index] { self.metrics.count(entries) }
        }
    }

    /// Reads an input; one that cannot be read lets time pass, like a tick, and must not stop the partition.
    private func decode(_ input: InboxInput) -> (moment: Moment, input: AudienceInput?) {
        self.bookmark.now = max(self.bookmark.now, input.moment.now)
        let moment = Moment(now: self.bookmark.now, offset: input.moment.offset)
        guard case .record(let bytes) = input.payload else { return (moment, nil) }
        do {
            return (moment, try Wire.decode(AudienceInput.self, from: bytes))
        } catch {
            self.refuse("offset \(moment.offset)", "\(error)")
            return (moment, nil)
        }
    }

    package var changes: [(key: String, row: [UInt8]?)] {
        self.rows.changes.map { ($0.key.text, $0.row.map { Wire.encode($0) }) }
    }
    package var offsetMetadata: String { self.bookmark.text }
    package var rowCount: Int { self.rows.count }

    /// A row's time; and while there are leases, or they are away, each second: silence must not pass unseen.
    package var nextDue: Timestamp? {
        let row = self.rows.nextDue
        guard self.store.sessions > 0 || self.rows.partition.isAway else { return row }
        let tick = self.bookmark.now + .seconds(1)
        return row.map { min($0, tick) } ?? tick
    }

    package func committed() {
        self.rows.commit()
        self.committedBookmark = self.bookmark
    }

    package func rolledBack() {
        self.rows.rollback()
        self.bookmark = self.committedBookmark
    }

    private func refuse(_ what: String, _ why: String) {
        self.metrics.malformed.add()
        self.log.warning("a record cannot be read and is skipped", [.path: .string(what), .detail: .string(why)])
    }
}
