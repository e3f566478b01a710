// SPDX-License-Identifier: Apache-2.0
package import MachineKit
package import Observability
package import PlazaModel
internal import PlazaWire

/// Runs a pure machine for one partition: decodes inputs and rows, and handles the rows that are due.
///
/// A row is a record of the machine's state. The rows are stored in a journal, which can undo the changes of a batch.
package final class MachineProcessor<M: Machine>: PartitionProcessor
where M.Effect == PlazaModel.Effect, M.Input: Decodable, M.Row: Codable {
    /// The maximum number of due rows that one call of `process` handles; thousands of rows may be due at once.
    private static var maxDueRows: Int { 16 }

    private var machine: M
    private let log: Log
    /// The counter of malformed records.
    private let malformed: Counter
    /// Called for metrics after a commit, with each changed row before and after the change.
    private let observe: ((_ before: M.Row?, _ after: M.Row?) -> Void)?
    /// Called at the start of each batch to update the machine's tables.
    private let refresh: ((inout M) -> Void)?
    /// Whether `refresh` was called for the current batch, which may have several calls of `process`.
    private var isRefreshed = false
    private var journal = Journal<M.Key, M.Row>()
    /// The keys of the rows whose last restored version could not be read.
    private var unreadableKeys: Set<String> = []
    /// The latest time of an input.
    ///
    /// It is committed with the offset, so that time never goes backwards for a new owner.
    private var now = Timestamp.distantPast
    /// `now` as of the last commit, which a rollback restores.
    private var committedNow = Timestamp.distantPast
    /// The partition's total standstill, committed with the offset: the time in which it had no owner or no input (see
    /// `Moment`).
    private var standstill = Milliseconds(0)
    /// `standstill` as of the last commit, which a rollback restores.
    private var committedStandstill = Milliseconds(0)
    /// For each effect of the last call, the index of the input that caused it.
    package private(set) var causeIndexes: [Int] = []

    /// Creates a processor without rows.
    ///
    /// - Parameters:
    ///   - machine: the machine that handles the inputs.
    ///   - log: the log to which malformed records are reported.
    ///   - malformed: the counter of malformed records.
    ///   - observe: called for metrics after a commit, with each changed row before and after the change.
    ///   - refresh: called at the start of each batch to update the machine's tables.
    package init(
        _ machine: M, log: Log, malformed: Counter, observe: ((_ before: M.Row?, _ after: M.Row?) -> Void)? = nil,
        refresh: ((inout M) -> Void)? = nil
    ) {
        self.refresh = refresh
        self.observe = observe
        self.machine = machine
        self.log = log
        self.malformed = malformed
    }

    /// Creates the processor of the partition that `context` names.
    package convenience init(
        _ machine: M, _ context: ProcessorContext, observe: ((_ before: M.Row?, _ after: M.Row?) -> Void)? = nil,
        refresh: ((inout M) -> Void)? = nil
    ) {
        let malformed = context.metrics.counter(
            MetricNames.Shell.malformed, help: "Records that could not be read and were skipped.",
            labels: ["machine": context.machine])
        self.init(machine, log: context.log, malformed: malformed, observe: observe, refresh: refresh)
    }

    package func restore(key: String, row: [UInt8]?) {
        // A later version of an unreadable row, or its removal, replaces it.
        self.unreadableKeys.remove(key)
        guard let rowKey = M.Key(text: key) else {
            // The removal of a row whose key cannot be read loses nothing.
            if row != nil { self.unreadableKeys.insert(key) }
            return self.reportMalformed(key, "no key of a row")
        }
        // A record without a row removes the row of an earlier record.
        guard let row else { return self.journal.restore(rowKey, nil) }
        do {
            self.journal.restore(rowKey, try Wire.decode(M.Row.self, from: row))
        } catch {
            self.unreadableKeys.insert(key)
            self.reportMalformed(key, "\(error)")
        }
    }

    package func acquired(generation: Int64, committedMetadata: String, at now: Timestamp) {
        // `generation` and `now` are not used. A pure machine writes only through the shell, which fences the writes.
        // The machine gets the time with each input.
        //
        // The format of `offsetMetadata`: the time, or the time and the standstill, in milliseconds.
        let numbers = committedMetadata.split(separator: " ").map { Int64($0) }
        // `?? nil` flattens the double Optional: there is no number, or the text is not a number.
        if let time = numbers.first ?? nil { self.committedNow = Timestamp(milliseconds: time) }
        if numbers.count > 1, let standstill = numbers[1] { self.committedStandstill = Milliseconds(standstill) }
        self.now = self.committedNow
        self.standstill = self.committedStandstill
    }

    // Rows and records have at most half a MiB. One call handles at most 16 inputs and 16 due rows, so it rarely adds
    // more than 32 * 0.5 = 16 MiB to a batch's effects.
    package var maxInputs: Int { 16 }

    @discardableResult
    package func process(_ inputs: [InboxInput], effects: inout [Effect]) -> Int {
        self.causeIndexes.removeAll(keepingCapacity: true)
        self.refreshOnce()
        var dueRowCount = 0
        for (index, input) in inputs.enumerated() {
            let moment = self.advance(to: input)
            dueRowCount += self.machine.handleDue(
                in: &self.journal, at: moment, limit: Self.maxDueRows - dueRowCount, into: &effects)
            guard dueRowCount < Self.maxDueRows else {
                // More rows may be due before this input, so it is left to the next call.
                while self.causeIndexes.count < effects.count { self.causeIndexes.append(index) }
                return index
            }
            if case .record(let bytes) = input.payload {
                do {
                    let command = try Wire.decode(M.Input.self, from: bytes)
                    self.machine.handle(command, in: &self.journal, at: moment, into: &effects)
                } catch {
                    self.reportMalformed("offset \(input.moment.offset)", "\(error)")
                }
            }
            // This input has caused all effects that were added since the input before.
            while self.causeIndexes.count < effects.count { self.causeIndexes.append(index) }
        }
        return inputs.count
    }

    package func dueRowKey(before input: InboxInput) -> String? {
        self.journal.dueKey(at: max(self.now, input.moment.now))?.text
    }

    package func processNextDue(before input: InboxInput, effects: inout [Effect]) -> Bool {
        let moment = self.advance(to: input)
        self.causeIndexes.removeAll(keepingCapacity: true)
        self.refreshOnce()
        let handledCount = self.machine.handleDue(in: &self.journal, at: moment, limit: 1, into: &effects)
        // There is only one input, whose index is 0.
        self.causeIndexes = Array(repeating: 0, count: effects.count)
        return handledCount > 0
    }

    package func removeNextDue(before input: InboxInput) -> (key: String, row: [UInt8])? {
        let moment = self.advance(to: input)
        guard let key = self.journal.popDue(at: moment.now), let row = self.journal[key] else { return nil }
        self.journal[key] = nil
        return (key.text, Wire.encode(row))
    }

    /// Calls `refresh`, unless it was called for this batch.
    private func refreshOnce() {
        if !self.isRefreshed { self.refresh?(&self.machine) }
        self.isRefreshed = true
    }

    /// Advances the time to an input's time, and adds the standstill since the last input.
    private func advance(to input: InboxInput) -> Moment {
        self.standstill = self.standstill + Moment.standstill(from: self.now, to: input.moment.now)
        self.now = max(self.now, input.moment.now)
        return Moment(now: self.now, offset: input.moment.offset, standstill: self.standstill)
    }

    package var changes: [(key: String, row: [UInt8]?)] {
        self.journal.changes.map { ($0.key.text, $0.row.map { Wire.encode($0) }) }
    }
    package var offsetMetadata: String {
        // Earlier versions parse only the time, so a standstill of 0 is omitted.
        self.standstill == Milliseconds(0)
            ? "\(self.now.milliseconds)" : "\(self.now.milliseconds) \(self.standstill.count)"
    }
    package var nextDue: Timestamp? { self.journal.nextDue }
    package var rowCount: Int { self.journal.count }
    package var unreadableRowCount: Int { self.unreadableKeys.count }

    package func committed() {
        if let observe = self.observe { self.journal.forEachChange(observe) }
        self.journal.commit()
        self.isRefreshed = false
        self.committedNow = self.now
        self.committedStandstill = self.standstill
    }

    package func rolledBack() {
        self.journal.rollback()
        self.isRefreshed = false
        self.now = self.committedNow
        self.standstill = self.committedStandstill
    }

    /// Counts and logs a malformed record that is skipped; such a record must not block the partition.
    ///
    /// - Parameters:
    ///   - record: the record's offset or key, as text for operators.
    ///   - reason: why the record cannot be read.
    private func reportMalformed(_ record: String, _ reason: String) {
        self.malformed.add()
        self.log.warning(
            "a record cannot be read and is skipped", [.record: .string(record), .detail: .string(reason)])
    }
}
