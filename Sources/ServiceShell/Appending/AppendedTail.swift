// SPDX-License-Identifier: Apache-2.0
internal import KafkaClient
internal import PlazaModel

/// What was appended to a partition between its last checkpoint and the claim of a new owner, who restores from it.
struct AppendedTail {
    let topic: PlazaTopic
    /// Where the reading begins.
    let start: Int64
    /// The claims of before, and the new owner's once it was read.
    private(set) var claims: AppendClaims
    private let epoch: Int64
    private var batches: AppendedBatches
    private var found: [AppendMark.End] = []

    /// A tail of which nothing has been read.
    ///
    /// - Parameters:
    ///   - topic: the topic that is appended to.
    ///   - claims: those of the last checkpoint, or none yet, but with a start.
    ///   - epoch: the new owner's, whose claim stands behind the start.
    init(_ topic: PlazaTopic, after claims: AppendClaims, claimedBy epoch: Int64) {
        self.topic = topic
        self.start = claims.start
        self.batches = AppendedBatches(epoch: claims.epoch(before: claims.start))
        self.claims = claims
        self.epoch = epoch
    }

    /// Takes the next record of the partition.
    mutating func take(_ record: IncomingRecord) {
        var counting: [IncomingRecord] = []
        if AppendMark(record)?.epoch == self.epoch { self.claims.add(epoch: self.epoch, offset: record.offset) }
        if let end = self.batches.take(record, counting: &counting) { self.found.append(end) }
    }

    /// What the batches that count committed, in order.
    ///
    /// - Throws: `fenced` when a later owner has claimed the partition.
    func ends() throws(KafkaError) -> [AppendMark.End] {
        guard self.batches.epoch <= self.epoch else {
            throw KafkaError(.fenced, "Another instance has claimed a partition of \(self.topic.rawValue).")
        }
        return self.found
    }
}
