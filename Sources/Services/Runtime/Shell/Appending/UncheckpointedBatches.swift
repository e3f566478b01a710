// SPDX-License-Identifier: Apache-2.0
internal import KafkaClient
internal import PlazaModel

/// The batches that were appended between a partition's last checkpoint and its new owner's claim.
///
/// The new owner, which has acquired the partition, restores the rows of its state from these batches.
struct UncheckpointedBatches {
    let topic: PlazaTopic
    /// The offset of the last checkpoint, at which reading starts.
    let checkpointOffset: Int64
    /// The claims of the last checkpoint, and the new owner's claim once its record has been read.
    private(set) var claims: FeedEpochs
    /// The new owner's epoch.
    private let epoch: Int64
    private var filter: BatchFilter
    private var commits: [BatchHeader.Commit] = []

    /// Creates the collection without any batch.
    ///
    /// - Parameters:
    ///   - topic: the topic to which the batches were appended.
    ///   - claims: the claims in the last checkpoint; there may be none, but `checkpointOffset` is set.
    ///   - epoch: the new owner's epoch; its claim has a higher offset than the checkpoint.
    init(_ topic: PlazaTopic, after claims: FeedEpochs, claimedBy epoch: Int64) {
        self.topic = topic
        self.checkpointOffset = claims.checkpointOffset
        self.filter = BatchFilter(epoch: claims.epoch(before: claims.checkpointOffset))
        self.claims = claims
        self.epoch = epoch
    }

    /// Adds the next record of the partition, in the order of offsets.
    mutating func append(_ record: IncomingRecord) {
        // The rows are restored from the commits, so the valid records are not stored.
        var valid: [IncomingRecord] = []
        // The new owner has appended nothing yet, so the only record with its epoch is its claim.
        if BatchHeader(record)?.epoch == self.epoch { self.claims.add(epoch: self.epoch, offset: record.offset) }
        if let commit = self.filter.accept(record, into: &valid) { self.commits.append(commit) }
    }

    /// Returns the commits of the valid batches, in order.
    ///
    /// - Throws: `fenced` when a later owner has claimed the partition.
    func validCommits() throws(KafkaError) -> [BatchHeader.Commit] {
        guard self.filter.epoch <= self.epoch else {
            throw KafkaError(.fenced, "Another instance has claimed a partition of \(self.topic.rawValue).")
        }
        return self.commits
    }
}
