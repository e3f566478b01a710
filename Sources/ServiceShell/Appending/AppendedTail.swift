// SPDX-License-Identifier: Apache-2.0
internal import KafkaClient
internal import PlazaModel

/// What was appended to a partition between its last transaction and the claim of a new owner, who restores from it.
struct AppendedTail {
    let topic: PlazaTopic
    /// Where the reading begins.
    let start: Int64
    /// The claims of before, and the new owner's.
    private(set) var claims: AppendClaims
    private let epoch: Int64
    private var batches: AppendedBatches
    private var found: [AppendMark.End] = []

    /// A tail of which nothing has been read.
    ///
    /// - Parameters:
    ///   - topic: the topic that is appended to.
    ///   - claims: those of the last transaction; nil if there was none with any.
    ///   - claim: the new owner's, written already.
    init(_ topic: PlazaTopic, after claims: AppendClaims?, claim: AppendClaims.Claim) {
        self.topic = topic
        self.start = claims?.start ?? claim.offset
        self.batches = AppendedBatches(epoch: claims?.epoch(before: self.start) ?? .min)
        self.claims = claims ?? AppendClaims()
        self.claims.add(epoch: claim.epoch, offset: claim.offset)
        self.epoch = claim.epoch
    }

    /// Takes the next record of the partition.
    mutating func take(_ record: IncomingRecord) {
        var counting: [IncomingRecord] = []
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
