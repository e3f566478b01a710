// SPDX-License-Identifier: Apache-2.0
internal import KafkaClient

/// Detects an input that crashes every process that handles it.
///
/// Before an owner processes the first input after an acquisition, it writes a record of the attempt. If the owner
/// dies, the next owner finds the record at the committed offset. That owner processes the inputs of the failed batch
/// one by one, and writes a record before each. An input is not processed again once `maxAloneAttempts` owners have
/// begun to process it alone. By then at least three owners have died: one with the input's batch, and two with the
/// input alone.
///
/// The record is a row of the state topic, written without a transaction, and is ignored once a later offset is
/// committed.
struct ProcessingAttempts {
    /// The record in the state topic.
    struct Record: Codable, Equatable {
        /// The partition's committed offset when the input was the next one.
        ///
        /// It is the input's own offset, or a lower offset if there is no input between the two.
        var offset: Int64
        /// The number of the step: 0, 1, … for the rows that are due before the input, then the next number for the
        /// input itself.
        var step: Int
        /// How many owners have begun to process the step alone, including an owner that is processing it now; 0 if the
        /// step is part of a batch.
        var count: Int
        /// Inputs before this offset (exclusive) are processed alone; nil if the owner processed whole batches.
        var aloneUntil: Int64?
        /// The process that wrote the record; empty if that process released the partition while it was running.
        var process: String

        /// Whether the record shows that an owner died.
        ///
        /// A record that `process` itself wrote shows no death, unless another process had died before.
        ///
        /// - Parameter process: the process that reads the record.
        /// - Returns: true if an owner died.
        func showsDeath(to process: String) -> Bool {
            self.aloneUntil != nil || (self.process != process && !self.process.isEmpty)
        }
    }

    /// How the owner must handle the next step.
    enum StepDecision: Equatable {
        /// Write the record, if there is one; once it is durable, process the step.
        case process(Record?)
        /// Write the input or the row to the dead letters, because `maxAloneAttempts` owners died while they processed
        /// it alone.
        case setAside
    }

    /// The key of the record in the state topic; no machine's key begins with `#`.
    static let key = "#attempts"
    /// How many owners may begin to process a step alone.
    static let maxAloneAttempts = 2
    /// How many offsets are processed one by one, from the committed offset at which an owner died.
    ///
    /// A batch has fewer records, so all inputs of the batch in which the owner died are covered.
    private static let isolatedOffsets: Int64 = 1000

    /// Identifies this process; a record of another process may show that an owner died.
    let process: String
    /// The record in the state topic.
    private var record: Record?
    /// Inputs before this offset (exclusive) are processed alone.
    private var aloneUntil = Int64.min

    init(process: String) { self.process = process }

    /// Restores the record of the state topic.
    mutating func restore(_ record: Record?) { self.record = record }

    /// Begins the ownership of the partition.
    ///
    /// - Parameter offset: the committed offset, at which the next input is read.
    /// - Returns: the record to write before the first input is processed; nil if the state topic already has one for
    ///   this offset.
    mutating func recordForAcquisition(at offset: Int64) -> Record? {
        if let record = self.record, record.offset == offset {
            if record.showsDeath(to: self.process) {
                self.aloneUntil = max(record.aloneUntil ?? Self.endOfIsolation(from: offset), self.aloneUntil)
                return nil
            }
            // This process has only lost the partition and acquired it again.
            if record.process == self.process { return nil }
        }
        let record = Record(offset: offset, step: 0, count: 0, aloneUntil: nil, process: self.process)
        self.record = record
        return record
    }

    /// Ends the ownership of the partition while this process is alive, so that its own attempt does not count.
    ///
    /// - Parameter offset: the committed offset.
    /// - Returns: the record to write before another owner acquires the partition; nil if the record in the state topic
    ///   has another offset or was written by another process.
    mutating func recordForRelease(at offset: Int64) -> Record? {
        guard var record = self.record, record.offset == offset, record.process == self.process else { return nil }
        record.count = max(0, record.count - 1)
        record.process = ""
        self.record = record
        return record
    }

    /// Whether an owner that gives up a partition may withdraw its own attempt.
    ///
    /// A former owner must write nothing: the record of the state topic is then the new owner's, and may be evidence of
    /// a death. After another error the owner withdraws its attempt, because the owner did not die.
    ///
    /// - Parameters:
    ///   - failure: the error that ends the owner's session; nil if there is none.
    ///   - isLeaseDoubtful: whether the owner stalled for so long that another member may own the partition.
    /// - Returns: false if the partition may have another owner.
    static func canWithdraw(after failure: (any Error)?, isLeaseDoubtful: Bool) -> Bool {
        switch failure {
        case let error as KafkaError where error.kind == .fenced: false
        case ProcessorError.fenced?: false
        default: !isLeaseDoubtful
        }
    }

    /// Requires that inputs before the offset `end` (exclusive) are processed alone, because one input of their batch
    /// could not be processed or written.
    mutating func isolate(until end: Int64) { self.aloneUntil = max(self.aloneUntil, end) }

    /// Whether the next input must be processed alone; `offset` is the committed offset.
    func mustProcessAlone(at offset: Int64) -> Bool { offset < self.aloneUntil }

    /// Begins a step of an input that is processed alone; call this method only if `mustProcessAlone` is true.
    ///
    /// - Parameters:
    ///   - step: the step's number, see `Record.step`.
    ///   - offset: the committed offset.
    /// - Returns: whether to process the step or to set it aside.
    mutating func beginAlone(step: Int, at offset: Int64) -> StepDecision {
        var newRecord = Record(
            offset: offset, step: step, count: 1, aloneUntil: self.aloneUntil, process: self.process)
        if let record = self.record, record.offset == offset, record.step == step {
            // A record of this process is already written, and is not a sign of a crash.
            guard record.process != self.process else { return .process(nil) }
            guard record.count < Self.maxAloneAttempts else { return .setAside }
            newRecord.count = record.count + 1
        }
        self.record = newRecord
        return .process(newRecord)
    }

    /// The offset up to which inputs are processed alone after an owner has died at `offset`.
    private static func endOfIsolation(from offset: Int64) -> Int64 {
        let (end, hasOverflowed) = offset.addingReportingOverflow(Self.isolatedOffsets)
        return hasOverflowed ? .max : end
    }
}
