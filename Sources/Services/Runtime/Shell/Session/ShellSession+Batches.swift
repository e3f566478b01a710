// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import KafkaClient
internal import MachineKit
internal import Observability
internal import PlazaModel
internal import PlazaWire

/// Processes a batch: decides it, makes it durable and sends its replies.
extension ShellSession {
    /// Processes polled records as one batch.
    ///
    /// If an input of a partition has failed, or may have crashed an owner, the partition's records are processed in
    /// chunks or one by one.
    ///
    /// - Throws: the error that ends the session. After any other error, the consumer is rewound, so that the records
    ///   are polled again.
    func process(_ records: [IncomingRecord]) throws {
        let suspect = self.owned.filter { $0.value.attempts.isSuspect(at: $0.value.position) }
        let batch = suspect.isEmpty ? records : records.filter { suspect[$0.topicPartition] == nil }
        if !batch.isEmpty { _ = try self.processBatch(batch) }
        for (topicPartition, partition) in suspect {
            try self.processSuspects(records.filter { $0.topicPartition == topicPartition }, of: partition)
        }
    }

    /// Decides records, makes the effects durable and sends the replies.
    ///
    /// - Parameters:
    ///   - records: the records, of one partition or of several.
    ///   - mustTransact: true if the batch must be committed in a transaction, also for a machine that appends.
    /// - Returns: false when the batch failed; the consumer is rewound to its first records.
    /// - Throws: the error that ends the session.
    func processBatch(_ records: [IncomingRecord], mustTransact: Bool = false) throws -> Bool {
        let beganAt = MonotonicClock.now
        var output = BatchOutput()
        var replies: [OutgoingRecord] = []
        let runs = Self.runs(of: records).compactMap { run in
            self.owned[records[run.lowerBound].topicPartition].map { (records: records[run], partition: $0) }
        }
        // After a failure, those partitions too are rolled back and read again that were not decided yet.
        var partitions: [OwnedPartition] = []
        for run in runs where !partitions.contains(where: { $0 === run.partition }) { partitions.append(run.partition) }
        // If `partitions` is empty, all records belong to partitions that this instance does not serve.
        guard !partitions.isEmpty, let group = self.group else { return true }
        do {
            for run in runs { try self.decide(run.records, run.partition, into: &output, &replies) }
            // The batch may contain several runs of one partition. The partition is committed once for all of them,
            // because its plan for the rows (`planRows`) covers all changes since the last commit.
            if !mustTransact, let appender = self.appender,
                let batches = self.appendableBatches(of: output, partitions, to: appender.topic)
            {
                try self.append(batches, of: partitions, by: appender, group)
            } else {
                try self.transact(&output, partitions, group)
            }
        } catch {
            if InputFailure(error) != nil {
                // One of the records cannot be processed, or one of its effects cannot be written. To find that record,
                // all records of the batch are processed in chunks or one by one when they are read again.
                for partition in partitions {
                    guard let last = records.last(where: { $0.topicPartition == partition.topicPartition })
                    else { continue }
                    partition.attempts.suspect(until: last.offset + 1, count: records.count)
                }
            }
            try self.rollBack(partitions, error)
            return false
        }
        self.replyProducer.send(replies)
        self.spans?.batchCommitted()
        self.reportDurable(partitions)
        self.metrics.batchCommitted(
            records: records.count, written: output.items.count + output.rows.count, replies: replies.count,
            milliseconds: (MonotonicClock.now - beganAt).count,
            rows: self.owned.values.reduce(0) { $0 + $1.processor.rowCount })
        return true
    }

    /// Writes the checkpoint of one partition whose checkpoint interval has passed.
    ///
    /// - Throws: the error that ends the session; after any other error, the checkpoint is written in a later turn.
    func writeDueCheckpoint() throws {
        guard self.appender != nil, let group = self.group else { return }
        let now = MonotonicClock.now
        let interval = Milliseconds(self.settings.checkpointInterval)
        // One partition in each turn: writing all checkpoints at once would delay new records.
        guard let partition = self.owned.values.first(where: { $0.isCheckpointDue(at: now, interval: interval) })
        else { return }
        var output = BatchOutput()
        do {
            try self.transact(&output, [partition], group)
        } catch {
            try self.rollBack([partition], error)
        }
    }

    /// Decides the records of one partition, and collects the effects.
    private func decide(
        _ records: ArraySlice<IncomingRecord>, _ partition: OwnedPartition, into output: inout BatchOutput,
        _ replies: inout [OutgoingRecord]
    ) throws {
        try self.throwIfTakenOver(partition, records)
        var effects: [Effect] = []
        let began = self.spans?.now
        try partition.process(records, effects: &effects)
        if let began { self.spans?.recordsDecided(records, from: began) }
        self.collect(effects, of: records, partition, into: &output, &replies)
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
    func transact(
        _ output: inout BatchOutput, _ partitions: [OwnedPartition], _ group: GroupMetadata
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

    /// Splits `records` into runs of consecutive records of one partition each.
    static func runs(of records: [IncomingRecord]) -> [Range<Int>] {
        if records.isEmpty { return [] }
        var runs: [Range<Int>] = []
        var start = 0
        for index in records.indices.dropFirst() where records[index].topicPartition != records[start].topicPartition {
            runs.append(start..<index)
            start = index
        }
        runs.append(start..<records.count)
        return runs
    }
}
