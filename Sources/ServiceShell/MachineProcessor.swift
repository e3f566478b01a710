// SPDX-License-Identifier: Apache-2.0
package import CoreKit
package import Observability
package import PlazaModel
internal import PlazaWire

/// Runs a pure machine over one partition: decodes inputs and rows, keeps the journal, lets due rows fall due.
package final class MachineProcessor<M: Machine>: PartitionProcessor
where M.Effect == PlazaModel.Effect, M.Input: Decodable, M.Row: Codable {
    private var machine: M
    private let log: Log
    private let malformed: Counter
    private let observe: ((M.Row?, M.Row?) -> Void)?
    private let refresh: ((inout M) -> Void)?
    private var journal = Journal<M.Key, M.Row>()
    /// The latest time seen, committed beside the offset so that a new owner's time does not go back either.
    private var now = Timestamp.distantPast
    private var committedNow = Timestamp.distantPast
    package private(set) var causes: [Int] = []

    /// A processor without rows.
    ///
    /// - Parameters:
    ///   - machine: what decides.
    ///   - log: takes a line for each record that cannot be read.
    ///   - malformed: counts them.
    ///   - observe: told of each row that a committed batch changed, as it was and as it is: for metrics.
    ///   - refresh: gives the machine the tables that it reads, as they are when a batch begins.
    package init(
        _ machine: M, log: Log, malformed: Counter, observe: ((M.Row?, M.Row?) -> Void)? = nil,
        refresh: ((inout M) -> Void)? = nil
    ) {
        self.refresh = refresh
        self.observe = observe
        self.machine = machine
        self.log = log
        self.malformed = malformed
    }

    /// The processor of the partition that `context` names.
    package convenience init(
        _ machine: M, _ context: ProcessorContext, observe: ((M.Row?, M.Row?) -> Void)? = nil,
        refresh: ((inout M) -> Void)? = nil
    ) {
        let malformed = context.metrics.counter(
            MetricNames.Shell.malformed, help: "Records that could not be read and were skipped.",
            labels: ["machine": context.machine])
        self.init(machine, log: context.log, malformed: malformed, observe: observe, refresh: refresh)
    }

    package func restore(key: String, row: [UInt8]?) {
        guard let rowKey = M.Key(text: key) else { return self.refuse(key, "no key of a row") }
        guard let row else { return self.journal.restore(rowKey, nil) }
        do {
            self.journal.restore(rowKey, try Wire.decode(M.Row.self, from: row))
        } catch {
            self.refuse(key, "\(error)")
        }
    }

    package func take(generation: Int64, committedMetadata: String, at now: Timestamp) {
        if let time = Int64(committedMetadata) { self.committedNow = Timestamp(milliseconds: time) }
        self.now = self.committedNow
    }

    package func process(_ inputs: [InboxInput], effects: inout [Effect]) {
        self.causes.removeAll(keepingCapacity: true)
        self.refresh?(&self.machine)
        for (index, input) in inputs.enumerated() {
            self.now = max(self.now, input.moment.now)
            let moment = Moment(now: self.now, offset: input.moment.offset)
            self.machine.handleDue(in: &self.journal, at: moment, into: &effects)
            if case .record(let bytes) = input.payload {
                do {
                    let command = try Wire.decode(M.Input.self, from: bytes)
                    self.machine.handle(command, in: &self.journal, at: moment, into: &effects)
                } catch {
                    self.refuse("offset \(input.moment.offset)", "\(error)")
                }
            }
            while self.causes.count < effects.count { self.causes.append(index) }
        }
    }

    package var changes: [(key: String, row: [UInt8]?)] {
        self.journal.changes.map { ($0.key.text, $0.row.map { Wire.encode($0) }) }
    }
    package var offsetMetadata: String { "\(self.now.milliseconds)" }
    package var nextDue: Timestamp? { self.journal.nextDue }
    package var rowCount: Int { self.journal.count }

    package func committed() {
        if let observe = self.observe { self.journal.forEachChange(observe) }
        self.journal.commit()
        self.committedNow = self.now
    }

    package func rolledBack() {
        self.journal.rollback()
        self.now = self.committedNow
    }

    /// A foreign or broken record is skipped: it must not stop the partition.
    private func refuse(_ what: String, _ why: String) {
        self.malformed.add()
        self.log.warning("a record cannot be read and is skipped", [.path: .string(what), .detail: .string(why)])
    }
}
