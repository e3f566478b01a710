// SPDX-License-Identifier: Apache-2.0

/// What is known of the attempts to process a partition's next input; the evidence that an input kills its owners.
///
/// An owner writes a record before it processes the first input after an acquisition. If the owner dies, the next owner
/// finds the record at the committed offset. It then processes inputs alone, each after a record of its own, until the
/// range of the failed batch is behind it. An input that was begun alone `limit` times is not processed again: with the
/// batch that it was in, it has then ended three owners or more.
///
/// The record is a row of the state topic and is written without a transaction: it is evidence only, and an offset that
/// is committed makes it void.
struct ProcessingAttempts {
    /// The record's form in the state topic.
    struct Record: Codable, Equatable {
        /// The committed offset before the input.
        var offset: Int64
        /// Which step of the input: the rows that are due before it, one after another, then the input itself.
        var step: Int
        /// How often the step was begun alone by an owner that did not complete it; 0 if it was in a batch.
        var count: Int
        /// Inputs before this offset are processed alone; nil if the owner processed whole batches.
        var aloneUntil: Int64?
        /// The process that wrote the record.
        var process: String
    }

    /// What to do with the next step.
    enum Verdict: Equatable {
        /// Process it, after `record` is durable if there is one.
        case process(Record?)
        /// It ended `limit` owners: set it aside.
        case setAside
    }

    /// The key of the record in the state topic; no machine's key begins with `#`.
    static let key = "#attempts"
    /// How often a step may be begun alone.
    static let limit = 2
    /// The offsets after a doubtful one whose inputs are processed alone: more than a batch has.
    private static let aloneSpan: Int64 = 1000

    /// This process: the records of another one may be those of an owner that died.
    let process: String
    private var record: Record?
    private var aloneUntil = Int64.min

    init(process: String) { self.process = process }

    /// Takes over the record that the state topic holds.
    mutating func restore(_ record: Record?) { self.record = record }

    /// Begins the ownership of the partition.
    ///
    /// - Parameter offset: the committed offset.
    /// - Returns: the record to write before the first input is processed.
    mutating func acquired(at offset: Int64) -> Record? {
        if let record = self.record, record.offset == offset {
            if record.process != self.process || record.aloneUntil != nil {
                self.aloneUntil = max(record.aloneUntil ?? Self.end(of: offset), self.aloneUntil)
            }
            return nil
        }
        let record = Record(offset: offset, step: 0, count: 0, aloneUntil: nil, process: self.process)
        self.record = record
        return record
    }

    /// Processes the inputs before `end` alone, because a batch that they were in was rejected.
    mutating func isolate(until end: Int64) { self.aloneUntil = max(self.aloneUntil, end) }

    /// Whether the input after `offset` must be processed alone.
    func isAlone(at offset: Int64) -> Bool { offset < self.aloneUntil }

    /// Begins a step.
    mutating func begin(step: Int, at offset: Int64) -> Verdict {
        var next = Record(
            offset: offset, step: step, count: 1, aloneUntil: self.aloneUntil, process: self.process)
        if let record = self.record, record.offset == offset, record.step == step {
            guard record.process != self.process else { return .process(nil) }
            guard record.count < Self.limit else { return .setAside }
            next.count = record.count + 1
        }
        self.record = next
        return .process(next)
    }

    private static func end(of offset: Int64) -> Int64 {
        let (end, isOverflow) = offset.addingReportingOverflow(Self.aloneSpan)
        return isOverflow ? .max : end
    }
}
