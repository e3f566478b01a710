// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import KafkaClient
internal import Observability
internal import PlazaModel
internal import PlazaWire

/// A batch: decided, made durable, answered.
extension ShellLife {
    func handle(_ records: [IncomingRecord]) throws {
        let began = MonotonicClock.milliseconds
        var output = BatchOutput()
        var replies: [OutgoingRecord] = []
        var touched: [OwnedPartition] = []
        do {
            for run in Self.runs(of: records) {
                guard let partition = self.owned[records[run.lowerBound].topicPartition] else { continue }
                if !touched.contains(where: { $0 === partition }) { touched.append(partition) }
                try self.decide(records[run], partition, into: &output, &replies)
            }
            guard !touched.isEmpty, let group = self.group else { return }
            // Once for each, though a batch may hold several stretches of a partition: a plan of rows goes on from the
            // last commit.
            if let appender = self.appender, let parts = self.parts(of: output, touched, to: appender.topic) {
                try self.append(parts, of: touched, by: appender, group)
            } else {
                try self.transact(&output, touched, group)
            }
        } catch {
            return try self.takeBack(touched, error)
        }
        self.side.send(replies)
        self.metrics.batch(
            records: records.count, written: output.items.count + output.rows.count, replies: replies.count,
            milliseconds: MonotonicClock.milliseconds - began,
            rows: self.owned.values.reduce(0) { $0 + $1.processor.rowCount })
    }

    /// Has a transaction for a partition that was only appended to for a while.
    func checkpoint() throws {
        guard self.appender != nil, let group = self.group else { return }
        let limit = MonotonicClock.milliseconds - self.settings.checkpointMilliseconds
        // One at a time, a turn for each: what comes meanwhile waits for it.
        guard let partition = self.owned.values.first(where: { $0.isCheckpointDue(since: limit) }) else { return }
        var output = BatchOutput()
        do {
            try self.transact(&output, [partition], group)
        } catch {
            try self.takeBack([partition], error)
        }
    }

    private func decide(
        _ records: ArraySlice<IncomingRecord>, _ partition: OwnedPartition, into output: inout BatchOutput,
        _ replies: inout [OutgoingRecord]
    ) throws {
        if self.appender != nil,
            records.contains(where: { SideProducer.isTake($0) && $0.offset > partition.generation })
        {
            throw KafkaError(.fenced, "Another instance has taken \(partition.place).")
        }
        var effects: [Effect] = []
        try partition.process(records, effects: &effects)
        let causes = partition.processor.causes
        for (index, effect) in effects.enumerated() {
            var trace: [UInt8]?
            if index < causes.count,
                let header = records[records.startIndex + causes[index]].header(TraceHeader.name),
                let context = TraceContext(parsing: header)
            {
                trace = context.child(using: &self.spans).bytes
            }
            let record = TopicRecord(effect).outgoing(partitions: self.settings.partitions, trace: trace)
            if case .reply = effect {
                replies.append(record)
            } else {
                output.items.append(BatchOutput.Item(record: record, from: partition.place.partition))
            }
        }
    }

    // MARK: Making it durable

    /// What each partition appends of a batch; nil when it must be a transaction.
    private func parts(
        of output: BatchOutput, _ touched: [OwnedPartition], to topic: PlazaTopic
    ) -> [AppendWriter.Part]? {
        guard !self.watch.isInDoubt(at: MonotonicClock.milliseconds), touched.allSatisfy(\.mayAppend),
            output.items.allSatisfy({ $0.record.topic == topic.rawValue && $0.record.partition == $0.from })
        else { return nil }
        var parts: [AppendWriter.Part] = []
        for partition in touched {
            guard case .carried(let metadata, let rows) = partition.planRows() else { return nil }
            let number = partition.place.partition
            let records = output.items.lazy.filter { $0.from == number }.map(\.record)
            let end = AppendMark.End(next: partition.position, metadata: metadata, rows: rows)
            parts.append(
                AppendWriter.Part(
                    partition: number, records: Array(records), epoch: partition.generation, end: end))
        }
        return parts
    }

    private func append(
        _ parts: [AppendWriter.Part], of partitions: [OwnedPartition], by appender: AppendWriter,
        _ group: GroupMetadata
    ) throws(KafkaError) {
        // What neither says nor changes anything need not be kept: it would be decided again in the same way.
        let lasts = try appender.append(parts.filter { !$0.records.isEmpty || !$0.end.rows.isEmpty })
        for partition in partitions {
            partition.batchAppended(
                OffsetAndMetadata(offset: partition.position, metadata: partition.processor.offsetMetadata),
                last: lasts[partition.place.partition])
        }
        // The next owner may have claimed the partition before this batch came, and then decides the same inputs: nobody
        // is answered until a transaction shows that there was none.
        guard self.watch.isInDoubt(at: MonotonicClock.milliseconds) else { return }
        var proof = BatchOutput()
        try self.transact(&proof, partitions, group)
    }

    func transact(
        _ output: inout BatchOutput, _ partitions: [OwnedPartition], _ group: GroupMetadata
    ) throws(KafkaError) {
        let began = MonotonicClock.milliseconds
        for partition in partitions {
            let plan = partition.planRows(mustWrite: self.appender != nil)
            if case .written(let rows, _) = plan {
                output.rows += rows.map { (partition: partition.place.partition, key: $0.key, row: $0.row) }
            }
            var metadata = plan.metadata
            if let claims = partition.appending?.claims { metadata += "\n" + claims.line }
            output.offsets[partition.place] = OffsetAndMetadata(offset: partition.position, metadata: metadata)
        }
        try self.writer.commit(output, group: group, consumer: self.consumer)
        self.watch.proven(at: began)
        for partition in partitions {
            if let offset = output.offsets[partition.place] { partition.checkpointed(offset, at: began) }
        }
    }

    // MARK: Taking it back

    /// Puts back what a batch changed that did not become durable; its inputs are read again.
    ///
    /// - Throws: `error`, when this life of the shell cannot go on after it.
    private func takeBack(_ partitions: [OwnedPartition], _ error: any Error) throws {
        for partition in partitions { partition.batchRolledBack() }
        switch error {
        case let error as KafkaError:
            self.metrics.aborted.add()
            guard !error.isFatal, error.kind != .fenced else { throw error }
            self.log.info("a batch is decided again", [.detail: .string(error.description)])
        case let error as ProcessorError:
            self.log.warning("a batch could not be decided", [.detail: .string("\(error)")])
            if error == .fenced { throw error }
            PauseTimer.wait(milliseconds: 100)
        default: throw error
        }
        try self.rewind(partitions)
    }

    private func rewind(_ partitions: [OwnedPartition]) throws(KafkaError) {
        var offsets: [TopicPartition: Int64] = [:]
        for partition in partitions where self.owned[partition.place] === partition {
            offsets[partition.place] = partition.committed.offset
        }
        guard !offsets.isEmpty else { return }
        try self.consumer.seek(offsets)
    }

    /// The stretches of `records` that are of one partition each; the records of a partition come in order.
    private static func runs(of records: [IncomingRecord]) -> [Range<Int>] {
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
