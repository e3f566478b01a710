// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import KafkaClient
internal import MachineKit
internal import Observability
internal import PlazaModel
internal import PlazaWire

/// Processes inputs in chunks or one by one after a failure, and writes the inputs that can never be processed to the
/// dead letters (docs/decisions/0011).
///
/// A record of attempts (`ProcessingAttempts`) in the state topic says which input an owner, the process that owns the
/// partition, has begun to process. From this record the next owner learns at which input former owners died.
extension ShellSession {
    /// The content of one transaction while inputs are processed alone: a row that is due before the input, or the
    /// input itself.
    private enum Step {
        /// The row with this key.
        case dueRow(String)
        case input
    }

    /// Makes this process's attempts not count at the partitions that it releases while it is still running.
    ///
    /// If another member may already own the partitions, nothing is written, because that would overwrite its records.
    func endAttempts(at partitions: [TopicPartition]) {
        let isLeaseDoubtful = self.leaseGuard.isLeaseDoubtful(at: MonotonicClock.now)
        guard ProcessingAttempts.canWithdraw(after: self.failure, isLeaseDoubtful: isLeaseDoubtful) else { return }
        var records: [(partition: Int32, record: ProcessingAttempts.Record)] = []
        for topicPartition in partitions {
            guard let partition = self.owned[topicPartition],
                let record = partition.attempts.endOwnership(at: partition.committed.offset)
            else { continue }
            records.append((topicPartition.partition, record))
        }
        self.replyProducer.write(records, to: self.spec.state)
    }

    /// Writes the record of attempts of each acquired partition, before its first input is processed.
    func beginAttempts(at partitions: [TopicPartition]) {
        var records: [(partition: Int32, record: ProcessingAttempts.Record)] = []
        for topicPartition in partitions {
            guard let partition = self.owned[topicPartition],
                let record = partition.attempts.beginOwnership(
                    at: partition.position, generation: partition.generation)
            else { continue }
            records.append((topicPartition.partition, record))
        }
        self.replyProducer.write(records, to: self.spec.state)
    }

    /// Processes polled records of a partition, the suspect ones at the beginning in chunks or one by one.
    ///
    /// Returns after a failure, too: the consumer is then rewound, so that the records are polled again.
    ///
    /// - Throws: the error that ends the session.
    func processSuspects(_ records: [IncomingRecord], of partition: OwnedPartition) throws {
        var rest = records[...]
        while let first = rest.first, let last = rest.last, partition.attempts.isSuspect(at: partition.position) {
            let length = partition.attempts.chooseChunkLength(
                of: rest.count, until: last.offset + 1, at: partition.position)
            let chunk = rest.prefix(length)
            let isDone =
                length == 1
                ? try self.processAlone(first, of: partition) : try self.processChunk(Array(chunk), of: partition)
            guard isDone else { return }
            rest = rest.dropFirst(length)
        }
        if !rest.isEmpty { _ = try self.processBatches(Array(rest)) }
    }

    /// Processes suspect records as one batch.
    ///
    /// The batch is committed in a transaction, even if the machine appends its batches. If an appended batch has no
    /// effects, nothing is written, and the committed offset stays the same. The next record of attempts, which names a
    /// later offset, would then mean nothing to the next owner.
    ///
    /// - Returns: false when the batch failed; the consumer is rewound to the first of the records.
    /// - Throws: the error that ends the session.
    private func processChunk(_ records: [IncomingRecord], of partition: OwnedPartition) throws -> Bool {
        guard let last = records.last else { return true }
        do {
            try self.throwIfTakenOver(partition, records[...])
            let attemptRecord = partition.attempts.recordForChunk(until: last.offset + 1, at: partition.position)
            try self.writeDurably(attemptRecord, of: partition)
        } catch {
            try self.rollBack([partition], error)
            return false
        }
        return try self.processBatches(records, mustTransact: true)
    }

    /// Writes a record of attempts, and waits until it is durable.
    private func writeDurably(_ record: ProcessingAttempts.Record, of partition: OwnedPartition) throws {
        try self.replyProducer.writeDurably(record, to: self.spec.state, partition.topicPartition.partition)
        partition.attempts.recordWritten(record)
    }

    /// Processes each row that is due before a record, and then the record, each in a transaction of its own.
    ///
    /// - Returns: false when a step failed; the consumer is rewound to the record.
    /// - Throws: the error that ends the session.
    private func processAlone(_ record: IncomingRecord, of partition: OwnedPartition) throws -> Bool {
        var stepIndex = 0
        while let key = partition.dueRowKey(before: record) {
            guard try self.processStep(.dueRow(key), stepIndex, record, partition) else { return false }
            stepIndex += 1
        }
        return try self.processStep(.input, stepIndex, record, partition)
    }

    /// Processes a due row or an input in a transaction of its own, or sets it aside.
    ///
    /// - Returns: false when the step failed and must be repeated; the consumer is rewound to the record.
    private func processStep(
        _ step: Step, _ stepIndex: Int, _ record: IncomingRecord, _ partition: OwnedPartition
    ) throws -> Bool {
        // `acquire` sets the group before any partition is owned.
        guard let group = self.group else { return false }
        var replies: [OutgoingRecord] = []
        do {
            try self.throwIfTakenOver(partition, [record])
            let row = if case .dueRow(let key) = step { key } else { "" }
            switch partition.attempts.stepDecision(row: row, step: stepIndex, at: partition.position) {
            case .setAside:
                try self.setAside(step, record, partition, .deaths, group)
                return true
            case .process(let attemptRecord):
                // The record of attempts must be durable before the step, because the step may crash this process.
                if let attemptRecord { try self.writeDurably(attemptRecord, of: partition) }
            }
            var output = BatchOutput()
            switch step {
            case .dueRow:
                var effects: [Effect] = []
                // `processAlone` has checked that a row is due, so the result is true.
                _ = try partition.processNextDue(before: record, effects: &effects)
                self.collect(effects, of: [record], partition, into: &output, &replies)
            case .input:
                // `processAlone` has handled the due rows, unless the processor does not handle them one by one.
                while try self.decide([record], partition, into: &output, &replies) == 0 {}
            }
            try self.transact(&output, [partition], group)
        } catch {
            guard let failure = InputFailure(error) else {
                try self.rollBack([partition], error)
                return false
            }
            partition.batchRolledBack()
            self.spans?.batchRolledBack()
            try self.setAside(step, record, partition, failure, group)
            return true
        }
        self.replyProducer.send(replies)
        self.spans?.batchCommitted()
        self.reportDurable([partition])
        return true
    }

    /// Writes the input, or the due row, to the dead letters instead of processing it.
    private func setAside(
        _ step: Step, _ record: IncomingRecord, _ partition: OwnedPartition, _ failure: InputFailure,
        _ group: GroupMetadata
    ) throws {
        let letter: DeadLetter?
        do {
            letter = try self.writeDeadLetter(step, record, partition, failure, group, hasContent: true)
        } catch let error as KafkaError where InputFailure(error) != nil {
            // The topic of the dead letters has a lower size limit than the services' producers. A letter without
            // content fits, and says how many bytes are missing.
            partition.batchRolledBack()
            letter = try self.writeDeadLetter(step, record, partition, failure, group, hasContent: false)
        }
        // The letter is nil if the row to set aside is not due any more.
        guard let letter else { return }
        self.log.error(
            "an input is set aside",
            [
                .component: .string(self.spec.name), .partition: .int(Int(record.partition)),
                .offset: .int(Int(record.offset)), .detail: .string(failure.reason),
            ])
        self.metrics.deadLetters.add()
        self.reportDurable([partition])
        if case .input = step, let reply = letter.reply(failure) {
            self.replyProducer.send([TopicRecord(reply).outgoing(partitions: self.settings.partitions)])
        }
    }

    /// Skips the input or removes the due row, and writes its dead letter in the same transaction.
    ///
    /// `hasContent` is false to leave out key, value and headers. The result is nil when no row is due any more.
    private func writeDeadLetter(
        _ step: Step, _ record: IncomingRecord, _ partition: OwnedPartition, _ failure: InputFailure,
        _ group: GroupMetadata, hasContent: Bool
    ) throws -> DeadLetter? {
        var letter = DeadLetter(record, machine: self.spec.name, reason: failure.reason)
        switch step {
        case .input: try partition.skip(record)
        case .dueRow:
            guard let (key, row) = try partition.removeNextDue(before: record) else { return nil }
            letter.setOriginal(toRow: row, key: key, in: self.spec.state)
        }
        var output = BatchOutput()
        let outgoing = letter.outgoing(hasContent: hasContent)
        output.items.append(BatchOutput.Item(record: outgoing, inboxPartition: record.partition))
        try self.transact(&output, [partition], group)
        return letter
    }
}

/// Why an input can never be processed.
enum InputFailure: Equatable {
    /// The records that the input causes are larger than the broker accepts.
    case tooLarge(String)
    /// The broker rejects the content of a record that the input causes.
    case invalid(String)
    /// The processor rejects the input.
    case rejected(String)
    /// The partition's owners died while they processed the input.
    case deaths

    /// The failure that an error stands for; nil if the batch's content did not cause the error.
    ///
    /// If the broker denies access or a topic rejects every record, the result is nil, too: no input is at fault. The
    /// partition waits, and its service is unhealthy, until an operator has corrected the deployment.
    init?(_ error: any Error) {
        switch error {
        case let error as KafkaError where error.kind == .messageTooLarge: self = .tooLarge(error.description)
        case let error as KafkaError where error.kind == .invalidRecord: self = .invalid(error.description)
        case ProcessorError.rejected(let detail): self = .rejected(detail)
        default: return nil
        }
    }

    /// The reason, as text for operators.
    var reason: String {
        switch self {
        case .tooLarge(let detail): "too large: \(detail)"
        case .invalid(let detail): "invalid: \(detail)"
        case .rejected(let detail): "refused: \(detail)"
        case .deaths: "its owners died while they processed it"
        }
    }

    /// The code of the reply to the input's caller.
    var replyCode: ReplyCode {
        switch self {
        case .tooLarge: .overLimit
        case .invalid, .rejected, .deaths: .failed
        }
    }
}
