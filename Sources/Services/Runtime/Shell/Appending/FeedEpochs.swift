// SPDX-License-Identifier: Apache-2.0
package import KafkaClient
internal import PlazaModel

/// The last claims of a feed partition, one for each owner of it, and the offset of the partition's last checkpoint.
///
/// The claims and the offset are stored as the last line of the metadata of the inbox partition's committed offset.
package struct FeedEpochs: Equatable, Sendable {
    /// One owner's claim of the partition: a record after which the records of lower epochs are ignored.
    package struct Claim: Equatable, Sendable {
        package var epoch: Int64
        /// The offset of the claim record.
        package var offset: Int64
    }

    /// The last claims, oldest first.
    package private(set) var claims: [Claim] = []
    /// The offset in the feed partition before which the state topic includes the rows of all batches.
    ///
    /// The stored offset always has this meaning, because it is stored only together with a checkpoint. In memory, the
    /// owner also advances the offset with each batch that it appends. The state topic includes the rows of these
    /// batches only after the next checkpoint.
    package var checkpointOffset: Int64 = 0

    /// The maximum number of stored claims; for offsets before the oldest claim, no epoch is known (`epoch(before:)`).
    private static let maxClaims = 8
    private static let linePrefix: Character = "@"

    /// Creates an empty list of claims; the state topic includes the rows of all batches before
    /// `checkpointOffset`.
    package init(checkpointOffset: Int64 = 0) { self.checkpointOffset = checkpointOffset }

    /// Parses the claims in an offset's metadata; nil if the metadata has none, because nothing was ever appended.
    package init?(metadata: String) {
        guard let line = metadata.split(separator: "\n").last, line.first == Self.linePrefix else { return nil }
        let words = line.dropFirst().split(separator: " ")
        guard let checkpointOffset = words.first.flatMap({ Int64($0) }),
            FeedPosition.validNumbers.contains(checkpointOffset)
        else { return nil }
        self.checkpointOffset = checkpointOffset
        for word in words.dropFirst() {
            let numbers = word.split(separator: ":").compactMap { Int64($0) }
            guard numbers.count == 2, numbers.allSatisfy(FeedPosition.validNumbers.contains) else { return nil }
            self.claims.append(Claim(epoch: numbers[0], offset: numbers[1]))
        }
    }

    /// The claims encoded as one line of metadata: `@checkpointOffset epoch:offset …`.
    package var line: String {
        String(Self.linePrefix)
            + ([String(self.checkpointOffset)] + self.claims.map { "\($0.epoch):\($0.offset)" }).joined(separator: " ")
    }

    /// Adds the newest claim; the state topic must include the rows of all batches before it.
    package mutating func add(epoch: Int64, offset: Int64) {
        self.claims.append(Claim(epoch: epoch, offset: offset))
        if self.claims.count > Self.maxClaims { self.claims.removeFirst() }
        self.checkpointOffset = offset + 1
    }

    /// The epoch of the last claim before `offset`; `Int64.min` if no such claim is known.
    package func epoch(before offset: Int64) -> Int64 {
        self.claims.last { $0.offset < offset }?.epoch ?? .min
    }
}

/// Creates the batch filters with which the feed partitions are read; only the barrage machine appends to them.
package enum AppendedFeed {
    /// The consumer group of the machine that appends.
    package static let group = "barrage"

    private static let inbox = PlazaTopic.barrageInbox
    /// How long the query for the group's offset may take; short, because the query blocks the caller, which cannot
    /// deliver other feeds meanwhile.
    private static let timeout: Duration = .milliseconds(250)

    /// Creates a consumer that queries the group's committed offsets without joining the group.
    ///
    /// With the isolation level `committed`, the query would block while a transaction is open. The level is therefore
    /// `uncommitted`: the last committed checkpoint is sufficient.
    ///
    /// - Parameters:
    ///   - settings: the brokers' addresses and the client id.
    ///   - mode: the broker's mode; feeds on the in-memory broker have no claims.
    /// - Returns: the consumer to pass to `batchFilter`, connected to the group's coordinator; nil in embedded mode.
    /// - Throws: `KafkaError` when the coordinator does not answer.
    package static func makeCheckpointClient(_ settings: KafkaSettings, mode: KafkaMode) throws(KafkaError)
        -> KafkaConsumer?
    {
        if mode == .embedded { return nil }
        let client = try KafkaConsumer(settings, group: Self.group, isolation: .uncommitted)
        // The first query connects the client to the coordinator, which may take longer than `timeout`.
        _ = try client.committedOffsets(of: [TopicPartition(Self.inbox.rawValue, 0)], timeout: .seconds(5))
        return client
    }

    /// Creates the filter with which a feed partition is read from `offset` on.
    ///
    /// - Parameters:
    ///   - partition: the partition's number.
    ///   - offset: the first offset that the caller needs.
    ///   - checkpointClient: the consumer that `makeCheckpointClient` returned.
    /// - Returns: the filter, and the offset at which reading must start: `offset`, or the last checkpoint if the
    ///   checkpoint is earlier. Reading from the checkpoint finds all claims after it.
    /// - Throws: `KafkaError` when the coordinator does not answer; the call may be repeated.
    package static func batchFilter(
        of partition: Int32, from offset: Int64, checkpointClient: KafkaConsumer?
    ) throws(KafkaError) -> (filter: BatchFilter, start: Int64) {
        // The feed partition's claims are stored with the inbox partition that has the same number.
        let partition = TopicPartition(Self.inbox.rawValue, partition)
        let committed = try checkpointClient?.committedOffsets(of: [partition], timeout: Self.timeout) ?? [:]
        guard let metadata = (committed[partition] ?? nil)?.metadata, let claims = FeedEpochs(metadata: metadata) else {
            return (BatchFilter(), offset)
        }
        let start = min(offset, claims.checkpointOffset)
        return (BatchFilter(epoch: claims.epoch(before: start)), start)
    }
}
