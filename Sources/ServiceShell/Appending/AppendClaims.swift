// SPDX-License-Identifier: Apache-2.0
package import KafkaClient
internal import PlazaModel

/// Who claimed a partition to which batches are appended, and from where on its batches are newer than the state topic.
///
/// Rides in the metadata of the inbox's offset, as a line of its own.
package struct AppendClaims: Equatable, Sendable {
    package struct Claim: Equatable, Sendable {
        package var epoch: Int64
        /// Where the claim stands in the partition.
        package var offset: Int64
    }

    /// The last claims, oldest first.
    package private(set) var claims: [Claim] = []
    /// Batches appended before it are in the state topic.
    package var start: Int64 = 0

    /// More takeovers than a reader looks back upon.
    private static let limit = 8
    private static let mark: Character = "@"

    /// No claim yet; batches from `start` on are newer than the state topic.
    package init(start: Int64 = 0) { self.start = start }

    /// The claims that an offset's metadata carries; nil where nothing was ever appended.
    package init?(metadata: String) {
        guard let line = metadata.split(separator: "\n").last, line.first == Self.mark else { return nil }
        let words = line.dropFirst().split(separator: " ")
        guard let start = words.first.flatMap({ Int64($0) }) else { return nil }
        self.start = start
        for word in words.dropFirst() {
            let numbers = word.split(separator: ":").compactMap { Int64($0) }
            guard numbers.count == 2 else { return nil }
            self.claims.append(Claim(epoch: numbers[0], offset: numbers[1]))
        }
    }

    /// The line.
    package var line: String {
        String(Self.mark)
            + ([String(self.start)] + self.claims.map { "\($0.epoch):\($0.offset)" }).joined(separator: " ")
    }

    /// Adds the newest claim; from it on, batches are newer than the rows.
    package mutating func add(epoch: Int64, offset: Int64) {
        self.claims.append(Claim(epoch: epoch, offset: offset))
        if self.claims.count > Self.limit { self.claims.removeFirst() }
        self.start = offset + 1
    }

    /// The epoch that was the last to claim the partition before `offset`; the lowest there is where none is known.
    package func epoch(before offset: Int64) -> Int64 {
        self.claims.last { $0.offset < offset }?.epoch ?? .min
    }
}

/// The feed as the topic to which its one writer appends.
package enum AppendedFeed {
    /// The writer's consumer group.
    package static let group = "barrage"

    private static let inbox = PlazaTopic.barrageInbox
    /// How long the question for the group's offset may take, in milliseconds: who asks delivers other feeds meanwhile.
    private static let patience = 250

    /// A consumer that asks for the group's offsets, which it neither joins nor reads for.
    ///
    /// The last checkpoint that stands will do, so an open transaction is not waited for.
    ///
    /// - Parameters:
    ///   - settings: where and who.
    ///   - mode: the in-memory broker's feeds have no claims.
    /// - Returns: the consumer, which knows the group's coordinator, for `batches`; nil where there are no claims.
    /// - Throws: as the first question does.
    package static func asker(_ settings: KafkaSettings, mode: KafkaMode) throws(KafkaError) -> KafkaConsumer? {
        guard mode == .full else { return nil }
        let asker = try KafkaConsumer(settings, group: Self.group, isolation: .uncommitted)
        _ = try asker.committed([TopicPartition(Self.inbox.rawValue, 0)], timeoutMilliseconds: 5000)
        return asker
    }

    /// A reader of what counts in a feed partition from `offset` on.
    ///
    /// - Parameters:
    ///   - partition: the partition's number.
    ///   - offset: from where on it must be known what counts.
    ///   - asker: asks for the last checkpoint, if there are any.
    /// - Returns: the reader, and where it begins: no later than `offset`, and no later than any claim of which the
    ///   checkpoint does not know.
    /// - Throws: what the question for the group's offset throws; then ask again.
    package static func batches(
        of partition: Int32, from offset: Int64, by asker: KafkaConsumer?
    ) throws(KafkaError) -> (batches: AppendedBatches, start: Int64) {
        let place = TopicPartition(Self.inbox.rawValue, partition)
        let committed = try asker?.committed([place], timeoutMilliseconds: Self.patience) ?? [:]
        guard let metadata = (committed[place] ?? nil)?.metadata, let claims = AppendClaims(metadata: metadata) else {
            return (AppendedBatches(), offset)
        }
        let start = min(offset, claims.start)
        return (AppendedBatches(epoch: claims.epoch(before: start)), start)
    }
}
