// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import KafkaClient
internal import Observability
internal import PlazaModel

/// Partitions come and go.
extension ShellLife {
    /// How long a takeover may wait for the last owner's transaction and the state's end.
    private static let restoreMilliseconds: Int64 = 20_000

    func rebalanced(_ event: RebalanceEvent) {
        switch event {
        case .assigned(let places):
            self.metrics.assigned.add()
            do {
                try self.take(places)
            } catch {
                self.failure = error
            }
        case .revoked(let places, let lost):
            self.metrics.revoked.add()
            if !lost { self.checkpointBeforeLeaving(places) }
            for place in places {
                // Of what is appended the group does not know, so that its offset says not whether rows are still true.
                if let partition = self.owned.removeValue(forKey: place), self.appender == nil {
                    self.remembered[place] = partition
                }
            }
            self.metrics.partitions.set(self.owned.count)
            try? self.consumer.unassign()
        }
    }

    /// Restores the rows of `places` and begins to read them; the group's heartbeats go on meanwhile.
    private func take(_ places: [TopicPartition]) throws {
        let began = MonotonicClock.milliseconds
        let deadline = began + Self.restoreMilliseconds
        if !places.isEmpty { try self.warmUp() }
        self.group = self.consumer.groupMetadata()
        let committed = try self.committedOffsets(places, deadline: deadline)
        var fresh: [Int32: OwnedPartition] = [:]
        for place in places {
            let offset = (committed[place] ?? nil) ?? OffsetAndMetadata(offset: 0)
            if let kept = self.remembered.removeValue(forKey: place), kept.committed == offset {
                kept.isTaken = false
                self.owned[place] = kept
            } else {
                let context = ProcessorContext(
                    machine: self.spec.name, partition: Int(place.partition), log: self.log,
                    metrics: self.registry, apps: self.spec.apps)
                let partition = try OwnedPartition(
                    place, self.spec.makeProcessor(context), committed: offset,
                    carrier: self.appender == nil ? .offset : .appended)
                self.owned[place] = partition
                fresh[place.partition] = partition
            }
            self.owned[place]?.generation = try self.side.tickAndWait(self.spec.inbox, place.partition)
        }
        try self.restore(fresh, deadline: deadline)
        self.metrics.partitions.set(self.owned.count)
        self.metrics.restore.record(milliseconds: Int(MonotonicClock.milliseconds - began))
        var starts: [TopicPartition: Int64] = [:]
        for place in places { starts[place] = self.owned[place]?.position }
        try self.consumer.assign(starts)
    }

    /// Waits for the last owner's open transaction, if it left one.
    private func committedOffsets(
        _ places: [TopicPartition], deadline: Int64
    ) throws(KafkaError) -> [TopicPartition: OffsetAndMetadata?] {
        while true {
            do {
                return try self.consumer.committed(places, timeoutMilliseconds: 1000)
            } catch {
                guard error.kind == .timedOut || error.isRetriable, MonotonicClock.milliseconds < deadline,
                    !self.isStopping()
                else { throw error }
            }
        }
    }

    private func restore(_ fresh: [Int32: OwnedPartition], deadline: Int64) throws {
        guard !fresh.isEmpty else { return }
        var places = fresh.keys.map { TopicPartition(self.spec.state.rawValue, $0) }
        let isPlain = self.settings.mode == .embedded
        if isPlain {
            for topic in self.spec.facts { places += fresh.keys.map { TopicPartition(topic.rawValue, $0) } }
        }
        var tails = try self.claim(fresh)
        let starts = Dictionary(
            tails.map { (TopicPartition($1.topic.rawValue, $0), $1.start) }, uniquingKeysWith: { first, _ in first })
        try self.state.read(places, tails: starts, deadline: deadline) { record in
            if record.topic == self.appender?.topic.rawValue { tails[record.partition]?.take(record); return }
            guard let bytes = record.key else { return }
            let key = String(decoding: bytes, as: UTF8.self)
            if isPlain { self.writer.learn(record.topic, partition: record.partition, key: key, value: record.value) }
            if record.topic == self.spec.state.rawValue {
                fresh[record.partition]?.processor.restore(key: key, row: record.value)
            }
        }
        for (number, tail) in tails { try fresh[number]?.claimed(tail.claims, after: try tail.ends()) }
        for partition in fresh.values { partition.restoreTail() }
    }

    /// Claims what partitions append to, and begins what their last owners appended.
    ///
    /// In a transaction with the offsets as they stand: it goes through only while the group counts on this instance, so
    /// that every later owner's tick is later and its epoch higher. A sleeper's claim would outrank the owner's.
    private func claim(_ fresh: [Int32: OwnedPartition]) throws(KafkaError) -> [Int32: AppendedTail] {
        guard let appender = self.appender, let group = self.group else { return [:] }
        var tails: [Int32: AppendedTail] = [:]
        var output = BatchOutput()
        for (number, partition) in fresh {
            let place = TopicPartition(appender.topic.rawValue, number)
            var claims = AppendClaims(start: try self.state.end(of: place))
            if let known = AppendClaims(metadata: partition.committed.metadata) { claims = known }
            tails[number] = AppendedTail(appender.topic, after: claims, claimedBy: partition.generation)
            let record = appender.claim(number, epoch: partition.generation)
            output.items.append(BatchOutput.Item(record: record, from: number))
            output.offsets[partition.place] = partition.committed
        }
        try self.writer.commit(output, group: group, consumer: self.consumer)
        return tails
    }

    /// Writes the rows of partitions that go in good order, so that nobody need read what was appended to them.
    ///
    /// Not after a failure: of a batch that was appended without an answer the rows know nothing, and it counts if it
    /// came through; rows that were half restored are not those of the partition either.
    private func checkpointBeforeLeaving(_ places: [TopicPartition]) {
        guard self.failure == nil, let group = self.group else { return }
        for place in places {
            guard let partition = self.owned[place], partition.appending?.isAhead == true else { continue }
            // What was appended is durable either way.
            do throws(KafkaError) {
                var output = BatchOutput()
                try self.transact(&output, [partition], group)
            } catch {
                self.log.info("a partition goes without a checkpoint", [.detail: .string(error.description)])
            }
        }
    }
}
