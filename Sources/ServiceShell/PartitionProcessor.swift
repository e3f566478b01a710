// SPDX-License-Identifier: Apache-2.0
package import CoreKit
package import Observability
package import PlazaModel

/// One record of an inbox as a processor gets it.
package struct InboxInput: Sendable {
    /// What the record is.
    package enum Payload: Sendable {
        /// A command or a fact, as JSON.
        case record([UInt8])
        /// The owner's tick: only time passes.
        case tick
    }
    /// The record's offset, and its time: the broker's, never going back within the partition.
    package var moment: Moment
    package var payload: Payload
    /// The trace that the record belongs to, if its writer named one.
    package var trace: TraceContext?

    package init(moment: Moment, payload: Payload, trace: TraceContext? = nil) {
        self.moment = moment
        self.payload = payload
        self.trace = trace
    }
}

/// Why a processor cannot go on with its partition.
package enum ProcessorError: Error, Equatable, Sendable {
    /// Another owner has taken the partition; the shell gives it up and asks the group anew.
    case fenced
    /// What the processor needs is away; the batch is tried again after a pause.
    case unavailable(String)
}

/// Decides the inputs of one partition, on the shell's one thread.
///
/// The shell calls `restore` for each row, then `take` once before the first `process` after each assignment. After
/// `process` it writes the effects, the changes and the offset in one transaction, and then calls `committed`, or
/// `rolledBack` when the transaction had to be aborted: the same inputs come again then.
package protocol PartitionProcessor: AnyObject {
    /// Takes in a row of the state topic; nil: the row is gone.
    func restore(key: String, row: [UInt8]?)

    /// The partition is ours.
    ///
    /// - Parameters:
    ///   - generation: the offset of the tick that the owner wrote when it took the partition; grows with each owner.
    ///   - committedMetadata: what the last owner committed beside the offset; empty at the very first.
    ///   - now: the time of the first input.
    /// - Throws: `.fenced` when a later owner has the partition.
    func take(generation: Int64, committedMetadata: String, at now: Timestamp) throws(ProcessorError)

    /// Decides the inputs of a batch, in order. May do IO.
    func process(_ inputs: [InboxInput], effects: inout [Effect]) throws(ProcessorError)

    /// For each effect of the last `process` the index of the input that caused it, or nothing at all.
    var causes: [Int] { get }
    /// The rows that the last `process` changed; nil: removed.
    var changes: [(key: String, row: [UInt8]?)] { get }
    /// What is committed beside the offset: one short line; rows ride behind it.
    var offsetMetadata: String { get }
    /// When the processor wants a tick, if it waits for one.
    var nextDue: Timestamp? { get }
    /// How many rows it holds.
    var rowCount: Int { get }

    /// What `process` did is durable.
    func committed()
    /// What `process` did is void.
    func rolledBack()
}

extension PartitionProcessor {
    package var causes: [Int] { [] }
    package var rowCount: Int { 0 }
}
