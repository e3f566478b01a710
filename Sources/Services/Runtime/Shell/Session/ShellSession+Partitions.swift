// SPDX-License-Identifier: Apache-2.0
internal import Compression
internal import Concurrency
internal import KafkaClient
internal import MachineKit
internal import Observability
internal import PlazaModel
internal import PlazaWire

/// Acquires, restores and releases partitions.
///
/// An owner is the instance that has acquired a partition; its generation is the offset of the tick, an inbox record
/// without a command, that it wrote when it acquired the partition. If the machine appends batches to a feed, the owner
/// first claims the feed partition: it writes a record with its generation, after which readers ignore what former
/// owners append.
extension ShellSession {
    /// How long a takeover may take: waiting for the previous owner's transaction and reading the state topic to its
    /// end.
    private static let restoreTimeout = Milliseconds.seconds(20)

    /// Leaves an assigned partition unserved, because the rows of its checkpoint delta cannot be decompressed.
    ///
    /// Every owner would fail to restore these rows, so neither a new session nor another instance would help. The
    /// other partitions are served meanwhile. An operator must repair the partition (docs/OPERATING.md, section 5.18).
    private func leaveUnserved(_ topicPartition: TopicPartition, _ error: InflationError) {
        self.owned[topicPartition] = nil
        self.setDamagedPartitions(self.damaged.union([topicPartition]))
        self.log.error(
            "the rows of a partition cannot be restored, so it is not served",
            [
                .component: .string(self.spec.name), .partition: .int(Int(topicPartition.partition)),
                .detail: .string("\(error)"),
            ])
    }

    /// Acquires assigned partitions, or releases revoked ones.
    func rebalanced(_ event: RebalanceEvent) {
        switch event {
        case .assigned(let partitions):
            self.metrics.assigned.add()
            self.reportProgress { $0.partitionsAssigned(partitions) }
            do {
                try self.acquire(partitions)
            } catch {
                self.failure = error
            }
        case .revoked(let partitions, let isLost):
            self.metrics.revoked.add()
            self.setDamagedPartitions(self.damaged.subtracting(partitions))
            // A revocation takes all partitions, so no work is left to watch. After a failure the revocation only means
            // that the session leaves its group. Its work then waits for the next session and is still watched.
            if self.failure == nil { self.reportProgress { $0.partitionsAssigned([]) } }
            // Another member may already own lost partitions, so nothing is written for them.
            if !isLost {
                self.checkpointBeforeLeaving(partitions)
                self.endAttempts(at: partitions)
            }
            let endOffsets = isLost ? [:] : self.endsBeforeLeaving(partitions)
            for topicPartition in partitions {
                guard let partition = self.owned.removeValue(forKey: topicPartition) else { continue }
                partition.endAtRevocation = endOffsets[topicPartition]
                // Without the end offset, nothing could show later that the rows are still current.
                if partition.endAtRevocation != nil { self.revoked[topicPartition] = partition }
            }
            self.reportOwners(of: partitions)
            // A failure makes the client unusable, and its next poll throws.
            try? self.consumer.unassign()
        }
    }

    /// Exports how many partitions this instance owns, whether it owns each of `partitions`, and which rows it lacks.
    private func reportOwners(of partitions: [TopicPartition]) {
        for topicPartition in partitions {
            self.metrics.setOwned(self.owned[topicPartition] != nil, partition: topicPartition.partition)
        }
        self.metrics.partitions.set(self.owned.count)
        self.reportUnreadableRows()
    }

    /// Restores the rows of `partitions` and starts consuming them; the group's heartbeats continue meanwhile.
    ///
    /// - Throws: an error of a Kafka client, or an error if the rows could not be read within `restoreTimeout`; the
    ///   session must then end.
    private func acquire(_ partitions: [TopicPartition]) throws {
        let beganAt = MonotonicClock.now
        let deadline = beganAt + Self.restoreTimeout
        self.group = self.consumer.groupMetadata()
        let resumed = self.resumeUnclaimedPartitions(among: partitions)
        let takenOver = partitions.filter { !resumed.contains($0) }
        if !takenOver.isEmpty { try self.warmUp() }
        let committed = takenOver.isEmpty ? [:] : try self.committedOffsets(takenOver, deadline: deadline)
        let generations = try self.replyProducer.writeAcquisitionTicks(self.spec.inbox, takenOver.map(\.partition))
        let stateEnds = self.stateEndsOfRevoked(among: takenOver)
        // The partitions whose rows must be read from Kafka, by their number.
        var unrestored: [Int32: OwnedPartition] = [:]
        for topicPartition in takenOver {
            // Nil in the dictionary: nothing was committed yet, so the partition begins at 0.
            let offset = (committed[topicPartition] ?? nil) ?? OffsetAndMetadata(offset: 0)
            if let partition = self.revoked.removeValue(forKey: topicPartition),
                partition.isUnchanged(committed: offset, end: stateEnds[topicPartition])
            {
                // No other member has committed since the revocation, so the rows are current. None has written
                // `ProcessingAttempts` either, so those of this instance are current too. Only the generation is new.
                partition.hasCalledAcquired = false
                self.owned[topicPartition] = partition
            } else {
                let context = ProcessorContext(
                    machine: self.spec.name, partition: Int(topicPartition.partition), log: self.log,
                    metrics: self.registry, apps: self.spec.apps)
                do throws(InflationError) {
                    let partition = try OwnedPartition(
                        topicPartition, self.spec.makeProcessor(context), committed: offset,
                        storage: self.appender == nil ? .offsetMetadata : .appendedBatches,
                        process: self.settings.process)
                    self.owned[topicPartition] = partition
                    unrestored[topicPartition.partition] = partition
                } catch {
                    self.leaveUnserved(topicPartition, error)
                }
            }
            if let generation = generations[topicPartition.partition] {
                self.owned[topicPartition]?.generation = generation
            }
        }
        try self.restore(unrestored, deadline: deadline)
        self.beginAttempts(at: partitions)
        self.reportOwners(of: partitions)
        let duration = MonotonicClock.now - beganAt
        self.metrics.restore.record(milliseconds: Int(duration.count))
        self.log.info(
            "partitions acquired",
            [.detail: .string("\(takenOver.count) taken, \(resumed.count) kept, in \(duration.count) ms")])
        // A partition that is not served is not in `owned`, so it gets no start offset and is not read.
        var startOffsets: [TopicPartition: Int64] = [:]
        for topicPartition in partitions { startOffsets[topicPartition] = self.owned[topicPartition]?.position }
        try self.consumer.assign(startOffsets)
    }

    /// Adds to `owned` those `partitions` that no other member has claimed since they were revoked from this instance.
    ///
    /// Such a partition needs no restore and no claim: its rows are current, and its former generation stays valid.
    ///
    /// - Returns: the added partitions; empty for a machine that does not append, or if the ends of the feed partitions
    ///   cannot be queried.
    private func resumeUnclaimedPartitions(among partitions: [TopicPartition]) -> Set<TopicPartition> {
        guard let appender = self.appender else { return [] }
        // Rows are reused only in the first assignment after the revocation. Later the partitions are restored.
        defer { self.revoked = [:] }
        var resumed: Set<TopicPartition> = []
        let candidates = partitions.filter { self.revoked[$0] != nil }
        let feeds = candidates.map { TopicPartition(appender.topic.rawValue, $0.partition) }
        // If the ends cannot be queried, all partitions are restored.
        guard let ends = try? self.stateReader.ends(of: feeds) else { return [] }
        for topicPartition in candidates {
            guard let partition = self.revoked[topicPartition],
                partition.isUnchanged(
                    committed: nil, end: ends[TopicPartition(appender.topic.rawValue, topicPartition.partition)])
            else { continue }
            self.owned[topicPartition] = partition
            resumed.insert(topicPartition)
        }
        return resumed
    }

    /// Queries the end offsets of the feed partitions of `partitions`, or of their state partitions if the machine does
    /// not append, while this instance still owns them.
    ///
    /// The next owner of a partition writes a claim to its feed partition, which moves the end. As long as the end
    /// stays the same, the rows of this instance are therefore current. The group's committed offset could not show
    /// this: appended batches do not change it, and an owner that dies in its first batch leaves only its
    /// `ProcessingAttempts` in the state partition.
    ///
    /// - Returns: the end for each partition whose rows are known to be current; empty after a failure and at the
    ///   session's end.
    private func endsBeforeLeaving(_ partitions: [TopicPartition]) -> [TopicPartition: Int64] {
        guard self.failure == nil, !self.isStopping else { return [:] }
        guard let appender = self.appender else { return self.ends(of: partitions, in: self.spec.state) }
        return self.ends(of: partitions.filter { self.owned[$0]?.canAppend == true }, in: appender.topic)
    }

    /// The present ends of the state partitions of the `partitions` whose rows may be reused.
    ///
    /// The result is empty for a machine that appends: `resumeUnclaimedPartitions` has already compared the ends of its
    /// feed partitions and emptied `revoked`.
    private func stateEndsOfRevoked(among partitions: [TopicPartition]) -> [TopicPartition: Int64] {
        self.ends(of: partitions.filter { self.revoked[$0] != nil }, in: self.spec.state)
    }

    /// For each of `partitions`, the end of the partition of `topic` with the same number; empty after a failure.
    private func ends(of partitions: [TopicPartition], in topic: PlazaTopic) -> [TopicPartition: Int64] {
        guard !partitions.isEmpty else { return [:] }
        let queried = partitions.map { TopicPartition(topic.rawValue, $0.partition) }
        guard let queriedEnds = try? self.stateReader.ends(of: queried) else { return [:] }
        var ends: [TopicPartition: Int64] = [:]
        for (topicPartition, queriedPartition) in zip(partitions, queried) {
            ends[topicPartition] = queriedEnds[queriedPartition]
        }
        return ends
    }

    /// Reads the committed offsets; waits until the previous owner's open transaction has ended, if there is one.
    private func committedOffsets(
        _ partitions: [TopicPartition], deadline: MonotonicTime
    ) throws(KafkaError) -> [TopicPartition: OffsetAndMetadata?] {
        while true {
            do {
                return try self.consumer.committedOffsets(of: partitions, timeout: .seconds(1))
            } catch {
                guard error.kind == .timedOut || error.isRetriable, MonotonicClock.now < deadline,
                    !self.isStopping
                else { throw error }
            }
        }
    }

    /// Restores the rows of partitions from the state topic, and from the batches after the last checkpoint.
    ///
    /// - Throws: `timedOut` after the deadline, `fenced` when a later owner has claimed a partition, or another error
    ///   of a Kafka client.
    private func restore(_ unrestored: [Int32: OwnedPartition], deadline: MonotonicTime) throws {
        guard !unrestored.isEmpty else { return }
        var statePartitions = unrestored.keys.map { TopicPartition(self.spec.state.rawValue, $0) }
        // The writer for the in-memory broker needs all values of compacted topics, because it must write them again
        // (`NonTransactionalWriter`).
        let isNonTransactional = self.settings.mode == .embedded
        if isNonTransactional {
            for topic in self.spec.publicTopics {
                statePartitions += unrestored.keys.map { TopicPartition(topic.rawValue, $0) }
            }
        }
        var uncheckpointed = try self.claim(unrestored)
        // Batches after the checkpoint are read from the feed partitions.
        let feedStarts = Dictionary(
            uncheckpointed.map { number, batches in
                (TopicPartition(batches.topic.rawValue, number), batches.checkpointOffset)
            },
            uniquingKeysWith: { first, _ in first })
        try self.stateReader.read(statePartitions, tails: feedStarts, deadline: deadline) { record in
            if record.topic == self.appender?.topic.rawValue {
                uncheckpointed[record.partition]?.append(record)
                return
            }
            guard let bytes = record.key else { return }
            let key = String(decoding: bytes, as: UTF8.self)
            if isNonTransactional {
                self.writer.restoreValue(record.topic, partition: record.partition, key: key, value: record.value)
            }
            if record.topic == self.spec.state.rawValue, key == ProcessingAttempts.key {
                let attempts = record.value.flatMap { try? Wire.decode(ProcessingAttempts.Record.self, from: $0) }
                unrestored[record.partition]?.attempts.restore(attempts)
            } else if record.topic == self.spec.state.rawValue {
                unrestored[record.partition]?.processor.restore(key: key, row: record.value)
            }
        }
        for (number, batches) in uncheckpointed {
            guard let partition = unrestored[number] else { continue }
            let commits = try batches.validCommits()
            do throws(InflationError) {
                try partition.restoreAppendedBatches(commits, claims: batches.claims)
            } catch {
                self.leaveUnserved(partition.topicPartition, error)
            }
        }
        for partition in unrestored.values { partition.restoreDelta() }
    }

    /// Claims the feed partitions of `unrestored`.
    ///
    /// A stalled former owner must not claim a partition after the new owner has claimed it. The claim is therefore
    /// written in a transaction together with the committed offsets; it succeeds only while this instance is a member
    /// of the group. The epoch of a claim is the owner's generation. Every later owner acquires the partition with a
    /// later tick, so its epoch is higher.
    ///
    /// - Returns: for each partition, the collection into which the batches after its last checkpoint must be read.
    /// - Throws: an error of a Kafka client, for example when this instance is no longer a member of the group.
    private func claim(_ unrestored: [Int32: OwnedPartition]) throws(KafkaError) -> [Int32: UncheckpointedBatches] {
        guard let appender = self.appender, let group = self.group else { return [:] }
        var uncheckpointed: [Int32: UncheckpointedBatches] = [:]
        var output = BatchOutput()
        let ends = try self.stateReader.ends(of: unrestored.keys.map { TopicPartition(appender.topic.rawValue, $0) })
        for (number, partition) in unrestored {
            let feedEnd = ends[TopicPartition(appender.topic.rawValue, number)] ?? 0
            // Without stored claims, nothing was ever appended, so reading begins at the end.
            let claims =
                FeedEpochs(metadata: partition.committed.metadata) ?? FeedEpochs(checkpointOffset: feedEnd)
            uncheckpointed[number] = UncheckpointedBatches(
                appender.topic, after: claims, claimedBy: partition.generation)
            let record = appender.claimRecord(number, epoch: partition.generation)
            output.items.append(BatchOutput.Item(record: record, inboxPartition: number))
            output.offsets[partition.topicPartition] = partition.committed
        }
        try self.writer.commit(output, group: group, consumer: self.consumer)
        return uncheckpointed
    }

    /// Writes the rows of partitions that are revoked, so that the next owner need not read their appended batches.
    ///
    /// After a failure nothing is written, because the rows may be wrong: an appended batch of unknown outcome may
    /// count although the rows do not include it, or a restore may be incomplete.
    private func checkpointBeforeLeaving(_ partitions: [TopicPartition]) {
        guard self.failure == nil, let group = self.group else { return }
        let uncheckpointed = partitions.compactMap { self.owned[$0] }.filter {
            $0.appending?.hasUncheckpointedBatches == true
        }
        guard !uncheckpointed.isEmpty else { return }
        // A failed checkpoint loses nothing: appended batches are durable without it.
        do throws(KafkaError) {
            var output = BatchOutput()
            try self.transact(&output, uncheckpointed, group)
        } catch {
            self.log.info("partitions go without a checkpoint", [.detail: .string(error.description)])
        }
    }
}
