// SPDX-License-Identifier: Apache-2.0
package import MachineKit
package import Observability
package import PlazaModel

/// One inbox record as it is passed to a processor.
package struct InboxInput: Sendable {
    /// The content of the record.
    package enum Payload: Sendable {
        /// A command, or a fact from another machine, as JSON.
        case record([UInt8])
        /// A tick, which the partition's owner writes to its own inbox: no command, only a new time.
        case tick
    }
    /// The record's offset, and the broker's time of the record.
    package var moment: Moment
    package var payload: Payload
    /// The trace context in the record's headers, if there is one.
    package var trace: TraceContext?

    package init(moment: Moment, payload: Payload, trace: TraceContext? = nil) {
        self.moment = moment
        self.payload = payload
        self.trace = trace
    }
}

/// Why a processor cannot continue with its partition.
package enum ProcessorError: Error, Equatable, Sendable {
    /// Another instance owns the partition; the shell leaves the group and joins again.
    case fenced
    /// A service that the processor needs is unavailable; the batch is retried after a pause.
    case unavailable(String)
    /// One of the inputs can never be processed; the shell finds that input and writes it to the dead letters.
    case rejected(String)
}

/// Decides the inputs of one partition, on the thread of the shell, the run loop of an instance.
///
/// The shell calls `restore` for each row, that is, each record of the partition's compacted state topic. Each time
/// that the shell has acquired the partition, it calls `acquired` before the first input. After `process` the shell
/// makes the effects, the changes and the offset durable, in a transaction or an appended batch, and calls `committed`.
/// If that fails, it calls `rolledBack`; unless the session ends, it then calls `process` again with the same inputs.
package protocol PartitionProcessor: AnyObject {
    /// Restores a row of the state topic; `row` is nil if the row was removed.
    ///
    /// A row that cannot be read must not block the partition. It is counted as malformed, logged, skipped, and counted
    /// in `unreadableRowCount`.
    func restore(key: String, row: [UInt8]?)

    /// Called before the first input after each acquisition of the partition.
    ///
    /// - Parameters:
    ///   - generation: the offset of the tick that the owner wrote when it acquired the partition; each owner has a
    ///     higher generation than its predecessor.
    ///   - committedMetadata: the `offsetMetadata` that the last owner committed; empty for the first owner.
    ///   - now: the time of the first input.
    /// - Throws: `.fenced` when a later owner has acquired the partition.
    func acquired(generation: Int64, committedMetadata: String, at now: Timestamp) throws(ProcessorError)

    /// The maximum number of inputs that the shell passes to one call of `process`; at least 1.
    ///
    /// After each call the shell compares the size of the batch's effects with its limit. A lower number therefore
    /// keeps batches closer to the limit.
    var maxInputs: Int { get }

    /// Decides inputs of a batch, in order; may do I/O.
    ///
    /// A batch may have several calls. `effects` is empty before each call, and contains the effects of the decided
    /// inputs after it.
    ///
    /// - Returns: how many of the inputs were decided. The number is lower than that of `inputs` if too many rows are
    ///   due, that is, have reached their deadline, before the next input. The call has then handled some of these
    ///   rows, and a later call, in the same batch or the next one, handles the rest.
    /// - Throws: the reason why the batch could not be decided; the shell then calls `rolledBack`.
    @discardableResult
    func process(_ inputs: [InboxInput], effects: inout [Effect]) throws(ProcessorError) -> Int

    // `process` handles due rows together with the inputs. After a failure the shell handles them one by one, with the
    // next three methods, to find the row that causes the failure.

    /// The key of the earliest row that is due when `input` is processed.
    ///
    /// It is nil if no row is due, or if the processor does not handle rows one by one.
    func dueRowKey(before input: InboxInput) -> String?

    /// Handles only the earliest row that is due when `input` is processed.
    ///
    /// - Returns: whether a row was due.
    /// - Throws: `.fenced` when a later owner has acquired the partition.
    func processNextDue(before input: InboxInput, effects: inout [Effect]) throws(ProcessorError) -> Bool

    /// Removes the earliest row that is due when `input` is processed, because it can never be handled.
    ///
    /// - Returns: the row and its key; nil when no row is due.
    func removeNextDue(before input: InboxInput) -> (key: String, row: [UInt8])?

    /// For each effect of the last `process`, the index of the input that caused it; empty if unknown.
    var causeIndexes: [Int] { get }
    /// The rows that changed since the last `committed` or `rolledBack`; `row` is nil for a removed row.
    var changes: [(key: String, row: [UInt8]?)] { get }
    /// The processor's part of the offset's metadata: one short line.
    var offsetMetadata: String { get }
    /// When the next row is due; nil if no row has a due time.
    var nextDue: Timestamp? { get }
    /// The number of rows that the processor holds.
    var rowCount: Int { get }
    /// The number of rows that could not be read when the partition was restored.
    ///
    /// The partition is served without these rows, so the service reports that it is degraded.
    var unreadableRowCount: Int { get }

    /// Called when the results of all calls of `process` since the last commit are durable.
    func committed()
    /// Called when the results of all calls of `process` since the last commit were rolled back.
    func rolledBack()
}

extension PartitionProcessor {
    package var maxInputs: Int { .max }
    package var causeIndexes: [Int] { [] }
    package var rowCount: Int { 0 }
    package var unreadableRowCount: Int { 0 }
    package func dueRowKey(before input: InboxInput) -> String? { nil }
    package func processNextDue(before input: InboxInput, effects: inout [Effect]) -> Bool { false }
    package func removeNextDue(before input: InboxInput) -> (key: String, row: [UInt8])? { nil }
}
