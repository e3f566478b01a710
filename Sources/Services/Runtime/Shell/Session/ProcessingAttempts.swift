// SPDX-License-Identifier: Apache-2.0
internal import KafkaClient

/// Detects an input that crashes every process that handles it.
///
/// The owner of a partition is the process that handles its inputs. After it has acquired the partition, and before it
/// processes the first input, the owner writes a record of the attempt. If the owner dies, the next owner finds the
/// record at the committed offset. The inputs that the dead owner may have been processing are then suspect.
///
/// Inputs that are processed one by one take some thirty times as long. So the next owner processes many suspect inputs
/// in chunks of at most `chunkSize`. It processes an input alone only if an owner died in the input's chunk, or if few
/// inputs are suspect. A record is written before each chunk and before each input that is processed alone.
///
/// An input is not processed again once `maxAloneAttempts` owners have begun to process it alone. By then at least
/// three owners have died: one with the input's batch, and two with the input alone. A death in a chunk counts for none
/// of its inputs, because an owner that was fenced or has lost the partition leaves the same record as a dead one.
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
        /// The number of the step: 0, 1, … for the due rows, then the next number for the input itself.
        ///
        /// A due row is a row of the machine's state whose deadline has passed; it is handled before the input.
        var step: Int
        /// How many owners have begun to process the step alone, including an owner that is processing it now; 0 if the
        /// step is part of a batch or of a chunk.
        var count: Int
        /// The next owner processes inputs before this offset (exclusive) alone: the end of the chunk, or of the inputs
        /// that are being processed alone; nil if the owner processed whole batches.
        var aloneUntil: Int64?
        /// The process that wrote the record; empty if that process released the partition while it was running.
        var process: String
        /// The key of the due row that is the step, or empty for the input itself.
        ///
        /// It is nil in a record of an older version, and in a record before whole batches or a chunk. The number does
        /// not identify a step, because once a due row is handled, the next owner counts from 0 without that row.
        var row: String?

        /// Whether the record was written before a chunk.
        var isOfChunk: Bool { self.count == 0 && self.aloneUntil != nil }

        /// Whether the record shows that an owner died or that an input failed, so that inputs are suspect.
        ///
        /// A record before whole batches shows neither if `process` itself wrote it, or if its writer released the
        /// partition while the writer was running.
        ///
        /// - Parameter process: the process that reads the record.
        /// - Returns: true if the inputs are suspect.
        func makesInputsSuspect(to process: String) -> Bool {
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
    /// How many inputs are processed together while it is not known which of many inputs is at fault.
    ///
    /// It is about the square root of `suspectOffsets`. There are then about as many chunks as inputs in a chunk, and
    /// finding the input takes the fewest transactions.
    static let chunkSize = 32
    /// Up to this number of suspect offsets, the inputs are processed alone at once: a chunk before that would cost one
    /// more death.
    private static let maxAloneOffsets = Int64(chunkSize)
    /// How many offsets are suspect, from the committed offset at which an owner died.
    ///
    /// A batch has fewer records, so these offsets include all inputs of the batch in which the owner died.
    private static let suspectOffsets: Int64 = 1000

    /// Identifies this process; a record of another process may show that an owner died.
    let process: String
    /// The record in the state topic.
    private var record: Record?
    /// Inputs before this offset (exclusive) are processed alone.
    private var aloneUntil = Int64.min
    /// Inputs before this offset (exclusive) are suspect: they are processed in chunks, or alone.
    private var suspectUntil = Int64.min

    init(process: String) { self.process = process }

    /// Restores the record of the state topic.
    mutating func restore(_ record: Record?) { self.record = record }

    /// Begins the ownership of the partition.
    ///
    /// - Parameters:
    ///   - offset: the committed offset, at which the next input is read.
    ///   - generation: the offset of the tick with which the owner acquired the partition. Later inputs are not
    ///     suspect: they arrived when every former owner had already died.
    /// - Returns: the record to write before the first input is processed; nil if the state topic already has one for
    ///   this offset.
    mutating func beginOwnership(at offset: Int64, generation: Int64) -> Record? {
        if let record = self.record, record.offset == offset {
            if record.makesInputsSuspect(to: self.process) {
                if let end = record.aloneUntil { self.aloneUntil = max(end, self.aloneUntil) }
                // Inputs after the chunk are suspect, too: a gateway repeats a call without a reply, so the call that
                // crashed the owner is often in the inbox twice.
                let end = min(Self.sum(offset, Self.suspectOffsets), Self.sum(generation, 1))
                self.suspectUntil = max(end, self.suspectUntil)
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
    mutating func endOwnership(at offset: Int64) -> Record? {
        guard var record = self.record, record.offset == offset, record.process == self.process else { return nil }
        record.count = max(0, record.count - 1)
        record.process = ""
        self.record = record
        return record
    }

    /// Whether an owner that gives up a partition may write that its own attempt does not count.
    ///
    /// If another owner may have the partition, this process must write nothing, because the record of the state topic
    /// may be the new owner's and may be evidence of a death. After any other error it may, because it did not die.
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

    /// Makes inputs suspect, because one input of their batch could not be processed or written.
    ///
    /// - Parameters:
    ///   - end: the offset after the last input of the batch.
    ///   - count: the number of inputs in the batch.
    mutating func suspect(until end: Int64, count: Int) {
        self.suspectUntil = max(self.suspectUntil, end)
        if count <= Self.chunkSize { self.aloneUntil = max(self.aloneUntil, end) }
    }

    /// Whether the next input is suspect; `offset` is the committed offset.
    func isSuspect(at offset: Int64) -> Bool { offset < max(self.suspectUntil, self.aloneUntil) }

    /// Decides how many of the next inputs are processed together; call this method only if `isSuspect` is true.
    ///
    /// Once few inputs are suspect, this also decides that the suspect ones of the polled inputs are processed alone.
    ///
    /// - Parameters:
    ///   - count: the number of inputs that were polled and not processed yet.
    ///   - end: the offset after the last of them.
    ///   - offset: the committed offset.
    /// - Returns: the number of inputs of a chunk; 1 if the next input is processed alone.
    mutating func chooseChunkLength(of count: Int, until end: Int64, at offset: Int64) -> Int {
        if offset < self.aloneUntil { return 1 }
        // `count` does not show how many suspect inputs are left, because more of them may not have been polled yet.
        if count > 1, self.suspectUntil - offset > Self.maxAloneOffsets { return min(count, Self.chunkSize) }
        self.aloneUntil = min(end, self.suspectUntil)
        return 1
    }

    /// The record of an attempt at a chunk of suspect inputs.
    ///
    /// - Parameters:
    ///   - end: the offset after the chunk's last input.
    ///   - offset: the committed offset.
    /// - Returns: the record, which must be durable before the chunk is processed.
    func recordForChunk(until end: Int64, at offset: Int64) -> Record {
        Record(offset: offset, step: 0, count: 0, aloneUntil: end, process: self.process)
    }

    /// Remembers a record that is durable in the state topic now.
    ///
    /// A record whose write failed is not remembered: its step would be processed without evidence of the attempt.
    mutating func recordWritten(_ record: Record) { self.record = record }

    /// Decides how the next step of an input that is processed alone is handled.
    ///
    /// - Parameters:
    ///   - row: the key of the due row that is the step; empty for the input itself.
    ///   - step: the step's number, see `Record.step`.
    ///   - offset: the committed offset.
    /// - Returns: whether to process the step or to set it aside.
    func stepDecision(row: String, step: Int, at offset: Int64) -> StepDecision {
        var attempts = 0
        // The record of a chunk does not count attempts of a step.
        if let record = self.record, record.offset == offset, !record.isOfChunk,
            record.row.map({ $0 == row }) ?? (record.step == step)
        {
            // A record of this process is already written, and is not a sign of a crash.
            guard record.process != self.process else { return .process(nil) }
            attempts = record.count
        }
        guard attempts < Self.maxAloneAttempts else { return .setAside }
        return .process(
            Record(
                offset: offset, step: step, count: attempts + 1, aloneUntil: self.aloneUntil, process: self.process,
                row: row))
    }

    /// The sum of two offsets, of which `b` is positive; the highest offset if the sum is higher.
    private static func sum(_ a: Int64, _ b: Int64) -> Int64 {
        let (sum, hasOverflowed) = a.addingReportingOverflow(b)
        return hasOverflowed ? .max : sum
    }
}
