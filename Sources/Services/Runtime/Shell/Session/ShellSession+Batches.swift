// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import KafkaClient
internal import MachineKit
internal import Observability
internal import PlazaModel
internal import PlazaWire

/// Processes a batch: decides it, makes it durable and sends its replies.
extension ShellSession {
    /// Processes polled records.
    ///
    /// If an input of a partition has failed, or may have crashed an owner, the partition's records are processed in
    /// chunks or one by one.
    ///
    /// - Throws: the error that ends the session. After any other error, the consumer is rewound, so that the records
    ///   are polled again.
    func process(_ records: [IncomingRecord]) throws {
        let suspect = self.owned.filter { $0.value.attempts.isSuspect(at: $0.value.position) }
        let batch = suspect.isEmpty ? records : records.filter { suspect[$0.topicPartition] == nil }
        if !batch.isEmpty { _ = try self.processBatches(batch) }
        for (topicPartition, partition) in suspect {
            try self.processSuspects(records.filter { $0.topicPartition == topicPartition }, of: partition)
        }
    }

    /// Processes records as one batch, or as several batches if their output is large.
    ///
    /// - Parameters:
    ///   - records: the records, of one partition or of several.
    ///   - mustTransact: true if each batch must be committed in a transaction, also for a machine that appends.
    /// - Returns: false when a batch failed; the consumer is then rewound to the first records of that batch.
    /// - Throws: the error that ends the session.
    func processBatches(_ records: [IncomingRecord], mustTransact: Bool = false) throws -> Bool {
        var rest = records[...]
        while !rest.isEmpty {
            guard let end = try self.processBatch(rest, mustTransact: mustTransact) else { return false }
            rest = rest[end...]
        }
        return true
    }

    /// Decides the first of the records, makes their effects durable and sends their replies.
    ///
    /// - Returns: the index after the last record of the batch; nil when the batch failed and the consumer is rewound.
    /// - Throws: the error that ends the session.
    private func processBatch(_ records: ArraySlice<IncomingRecord>, mustTransact: Bool) throws -> Int? {
        let beganAt = MonotonicClock.now
        var batch = DecidedBatch(end: records.startIndex)
        // A run consists of consecutive records of one partition.
        let runs = Self.partitionRuns(of: records).compactMap { run in
            self.owned[records[run.lowerBound].topicPartition].map { (records: records[run], partition: $0) }
        }
        // After a failure all these partitions are rolled back and read again, even those of which nothing was decided.
        var partitions: [OwnedPartition] = []
        for run in runs where !partitions.contains(where: { $0 === run.partition }) { partitions.append(run.partition) }
        // If `partitions` is empty, all records belong to partitions that this instance does not serve.
        guard !partitions.isEmpty, let group = self.group else { return records.endIndex }
        // Until the batch is decided, each record may be the cause of a failure.
        var suspects = records
        do {
            for run in runs { try self.throwIfTakenOver(run.partition, run.records) }
            try self.decide(runs, into: &batch)
            // The next record is suspect, too, because the output may contain effects of rows that are due before it.
            suspects = records[..<min(batch.end + 1, records.endIndex)]
            // The batch may contain several runs of one partition. The partition is committed once for all of them,
            // because its plan for the rows (`planRows`) covers all changes since the last commit.
            if !mustTransact, let appender = self.appender,
                let batches = self.appendableBatches(of: batch.output, batch.partitions, to: appender.topic)
            {
                try self.append(batches, of: batch.partitions, by: appender, group)
            } else {
                let isDivisible = suspects.count > 1
                try self.transact(
                    &batch.output, batch.partitions, group, maxBytes: isDivisible ? BatchOutput.maxBytes : .max)
            }
        } catch {
            // One of the records cannot be processed, or one of its effects cannot be written, or all effects together
            // are too large. When the records are read again, they are therefore processed in chunks or one by one.
            if InputFailure(error) != nil { Self.suspect(suspects, of: partitions) }
            try self.rollBack(partitions, error)
            return nil
        }
        self.replyProducer.send(batch.replies)
        self.spans?.batchCommitted()
        self.reportDurable(batch.partitions)
        self.metrics.batchCommitted(
            records: batch.end - records.startIndex, written: batch.output.items.count + batch.output.rows.count,
            replies: batch.replies.count, milliseconds: (MonotonicClock.now - beganAt).count,
            rows: self.owned.values.reduce(0) { $0 + $1.processor.rowCount })
        return batch.end
    }

    /// Makes records suspect in their partitions.
    private static func suspect(_ records: ArraySlice<IncomingRecord>, of partitions: [OwnedPartition]) {
        for partition in partitions {
            guard let last = records.last(where: { $0.topicPartition == partition.topicPartition }) else { continue }
            partition.attempts.suspect(until: last.offset + 1, count: records.count)
        }
    }

    /// The result of deciding the first of several records.
    private struct DecidedBatch {
        /// The index after the last decided record.
        var end: Int
        /// The partitions of the decided records.
        var partitions: [OwnedPartition] = []
        var output = BatchOutput()
        var replies: [OutgoingRecord] = []
    }

    /// Decides the records of runs, in order, until all are decided or the effects have `BatchOutput.maxEffectBytes`.
    ///
    /// A batch has the output of at least one record or due row, however large it is.
    private func decide(
        _ runs: [(records: ArraySlice<IncomingRecord>, partition: OwnedPartition)], into batch: inout DecidedBatch
    ) throws {
        for (records, partition) in runs {
            // Records before the run that are not in any run belong to partitions which this instance does not serve.
            batch.end = records.startIndex
            while batch.end < records.endIndex {
                guard batch.output.effectBytes < BatchOutput.maxEffectBytes else { return }
                if !batch.partitions.contains(where: { $0 === partition }) { batch.partitions.append(partition) }
                batch.end += try self.decide(records[batch.end...], partition, into: &batch.output, &batch.replies)
            }
        }
    }

    /// Writes the checkpoint of one partition whose checkpoint interval has passed.
    ///
    /// - Throws: the error that ends the session; after any other error, the checkpoint is written in a later turn.
    func writeDueCheckpoint() throws {
        guard self.appender != nil, let group = self.group else { return }
        let now = MonotonicClock.now
        let interval = Milliseconds(self.settings.checkpointInterval)
        // Each turn of the loop writes the checkpoint of one partition, because writing all at once would delay new
        // records.
        guard let partition = self.owned.values.first(where: { $0.isCheckpointDue(at: now, interval: interval) })
        else { return }
        var output = BatchOutput()
        do {
            try self.transact(&output, [partition], group)
        } catch {
            try self.rollBack([partition], error)
        }
    }

    /// Decides the first records of one partition, and collects the effects.
    ///
    /// - Returns: how many records were decided; 0 if the call has only handled rows that are due before the first one.
    func decide(
        _ records: ArraySlice<IncomingRecord>, _ partition: OwnedPartition, into output: inout BatchOutput,
        _ replies: inout [OutgoingRecord]
    ) throws -> Int {
        let inputs = records.prefix(partition.processor.maxInputs)
        var effects: [Effect] = []
        let began = self.spans?.now
        let count = try partition.process(inputs, effects: &effects)
        if let began { self.spans?.recordsDecided(inputs.prefix(count), from: began) }
        self.collect(effects, of: inputs, partition, into: &output, &replies)
        return count
    }

    /// Throws when the records contain the tick with which a later owner acquired the partition.
    ///
    /// Only a machine that appends needs this check: Kafka rejects a transaction of a former owner, but not its
    /// appended batch.
    func throwIfTakenOver(_ partition: OwnedPartition, _ records: ArraySlice<IncomingRecord>) throws(KafkaError) {
        if self.appender != nil,
            records.contains(where: { ReplyProducer.isAcquisition($0) && $0.offset > partition.generation })
        {
            throw KafkaError(.fenced, "Another instance has taken \(partition.topicPartition).")
        }
    }

    /// Converts effects to records: replies are sent after the commit; all other records belong to `output` and are
    /// committed.
    func collect(
        _ effects: [Effect], of records: ArraySlice<IncomingRecord>, _ partition: OwnedPartition,
        into output: inout BatchOutput, _ replies: inout [OutgoingRecord]
    ) {
        // For each effect, the index of the record that caused it.
        let causeIndexes = partition.processor.causeIndexes
        for (index, effect) in effects.enumerated() {
            let topicRecord = TopicRecord(effect)
            let cause = index < causeIndexes.count ? records[records.startIndex + causeIndexes[index]] : nil
            let record = topicRecord.outgoing(
                partitions: self.settings.partitions,
                trace: cause.flatMap { self.traceHeader(of: topicRecord.topic, causedBy: $0) })
            output.effectBytes += BatchOutput.size(of: record)
            if case .reply = effect {
                replies.append(record)
            } else {
                output.items.append(
                    BatchOutput.Item(record: record, inboxPartition: partition.topicPartition.partition))
            }
        }
    }

    /// The trace header of an effect's record.
    ///
    /// If this process records no spans, the trace context of the causing input is passed on, so that later services
    /// add their spans to the same trace. A malformed header is not passed on, because it may be so large that the
    /// effect's record exceeds the broker's limit.
    private func traceHeader(of topic: PlazaTopic, causedBy record: IncomingRecord) -> [UInt8]? {
        guard let header = record.header(TraceHeader.name), let context = TraceContext(parsing: header) else {
            return nil
        }
        return self.spans?.effectHeader(of: topic.rawValue, causedBy: record) ?? context.bytes
    }

    // MARK: Making it durable

    /// Builds the batch that each partition appends; nil if the records must be written in a transaction.
    private func appendableBatches(
        of output: BatchOutput, _ partitions: [OwnedPartition], to topic: PlazaTopic
    ) -> [AppendWriter.PartitionBatch]? {
        guard !self.leaseGuard.isLeaseDoubtful(at: MonotonicClock.now), partitions.allSatisfy(\.canAppend),
            output.items.allSatisfy({ $0.record.topic == topic.rawValue && $0.record.partition == $0.inboxPartition })
        else { return nil }
        var batches: [AppendWriter.PartitionBatch] = []
        for partition in partitions {
            // If the delta is full, its rows must be written to the state topic, which needs a transaction.
            guard case .delta(let metadata, let rows) = partition.planRows() else { return nil }
            let number = partition.topicPartition.partition
            let records = output.items.lazy.filter { $0.inboxPartition == number }.map(\.record)
            let commit = BatchHeader.Commit(nextOffset: partition.position, metadata: metadata, rows: rows)
            batches.append(
                AppendWriter.PartitionBatch(
                    partition: number, records: Array(records), epoch: partition.generation, commit: commit))
        }
        return batches.allSatisfy(\.fitsOneRequest) ? batches : nil
    }

    /// Appends the partitions' batches, and records that they are durable.
    private func append(
        _ batches: [AppendWriter.PartitionBatch], of partitions: [OwnedPartition], by appender: AppendWriter,
        _ group: GroupMetadata
    ) throws(KafkaError) {
        // Inputs that cause neither records nor changed rows need no durable batch: after a crash the next owner would
        // decide them again with the same result.
        let lastOffsets = try appender.append(
            batches.filter { !$0.records.isEmpty || !$0.commit.rows.isEmpty })
        for partition in partitions {
            partition.batchAppended(
                OffsetAndMetadata(offset: partition.position, metadata: partition.processor.offsetMetadata),
                lastFeedOffset: lastOffsets[partition.topicPartition.partition])
        }
        // If another owner claimed the partition before this batch, readers ignore the batch, and that owner decides
        // the same inputs again. After a stall of this thread, a transaction must therefore prove that there is no such
        // owner before the replies are sent.
        guard self.leaseGuard.isLeaseDoubtful(at: MonotonicClock.now) else { return }
        var emptyOutput = BatchOutput()
        try self.transact(&emptyOutput, partitions, group)
    }

    /// Commits the batch's records, the partitions' changed rows and their offsets in one transaction.
    ///
    /// For a machine that appends, the transaction is a checkpoint: the rows are written to the state topic.
    ///
    /// - Throws: `messageTooLarge` if the records and the rows have more than `maxBytes`; nothing is written then.
    func transact(
        _ output: inout BatchOutput, _ partitions: [OwnedPartition], _ group: GroupMetadata, maxBytes: Int = .max
    ) throws(KafkaError) {
        let beganAt = MonotonicClock.now
        for partition in partitions {
            let plan = partition.planRows(mustWriteRows: self.appender != nil)
            if case .stateTopic(let rows, _) = plan {
                output.rows += rows.map { (partition: partition.topicPartition.partition, key: $0.key, row: $0.row) }
            }
            var metadata = plan.metadata
            // The claims are the last line of the offset's metadata (`FeedEpochs`).
            if let claims = partition.appending?.claims { metadata += "\n" + claims.line }
            output.offsets[partition.topicPartition] = OffsetAndMetadata(offset: partition.position, metadata: metadata)
        }
        let bytes = output.writtenBytes
        guard bytes <= maxBytes else {
            throw KafkaError(.messageTooLarge, "A batch has \(bytes) bytes, more than \(maxBytes).")
        }
        try self.writer.commit(output, group: group, consumer: self.consumer)
        self.leaseGuard.membershipConfirmed(at: beganAt)
        for partition in partitions {
            if let offset = output.offsets[partition.topicPartition] {
                partition.transactionCommitted(offset, beganAt: beganAt)
            }
        }
    }

    // MARK: Rolling back

    /// Rolls back a batch that did not become durable, and rewinds the consumer to read its inputs again.
    ///
    /// - Throws: `error`, if it ends the session.
    func rollBack(_ partitions: [OwnedPartition], _ error: any Error) throws {
        for partition in partitions { partition.batchRolledBack() }
        self.spans?.batchRolledBack()
        switch error {
        case let error as KafkaError:
            self.metrics.aborted.add()
            // The session ends if the client is unusable or another instance has taken the partitions.
            guard !error.isFatal, error.kind != .fenced else { throw error }
            self.log.info("a batch is decided again", [.detail: .string(error.description)])
        case let error as ProcessorError:
            self.log.warning("a batch could not be decided", [.detail: .string("\(error)")])
            if error == .fenced { throw error }
        default: throw error
        }
        self.pauseAfterFailure(of: partitions, error)
        try self.rewind(partitions)
    }

    /// Makes the consumer continue at the partitions' committed offsets.
    private func rewind(_ partitions: [OwnedPartition]) throws(KafkaError) {
        var offsets: [TopicPartition: Int64] = [:]
        for partition in partitions where self.owned[partition.topicPartition] === partition {
            offsets[partition.topicPartition] = partition.committed.offset
        }
        guard !offsets.isEmpty else { return }
        try self.consumer.seek(offsets)
    }

    /// The index ranges of the runs in `records`; a run consists of consecutive records of one partition.
    static func partitionRuns(of records: ArraySlice<IncomingRecord>) -> [Range<Int>] {
        if records.isEmpty { return [] }
        var runs: [Range<Int>] = []
        var start = records.startIndex
        for index in records.indices.dropFirst() where records[index].topicPartition != records[start].topicPartition {
            runs.append(start..<index)
            start = index
        }
        runs.append(start..<records.endIndex)
        return runs
    }
}
