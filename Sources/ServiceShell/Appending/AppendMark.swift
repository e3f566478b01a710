// SPDX-License-Identifier: Apache-2.0
package import KafkaClient

/// What the headers of a record say that was appended without a transaction (docs/decisions/0007).
///
/// Each has its writer's epoch; the last of a batch also says what the batch commits. A record with an epoch and nothing
/// else is a claim: from there on nothing of older epochs counts.
package struct AppendMark: Equatable, Sendable {
    /// What a batch commits with its last record.
    package struct End: Equatable, Sendable {
        /// The inbox's next offset to read.
        package var next: Int64
        /// The processor's line, as an offset's metadata has it.
        package var metadata: String
        /// The rows that changed: the next piece of the stream that began at the last transaction.
        package var rows: [UInt8]

        package init(next: Int64, metadata: String, rows: [UInt8]) {
            self.next = next
            self.metadata = metadata
            self.rows = rows
        }
    }

    /// The generation of the partition's owner: the offset of the tick with which it took the inbox partition.
    package var epoch: Int64
    package var end: End?

    private static let epochHeader = "e"
    private static let endHeader = "b"
    private static let rowsHeader = "r"

    package init(epoch: Int64, end: End? = nil) {
        self.epoch = epoch
        self.end = end
    }

    /// The mark of a record; nil for one that was written in a transaction.
    package init?(_ record: IncomingRecord) {
        guard let text = record.header(Self.epochHeader), let epoch = Int64(String(decoding: text, as: UTF8.self))
        else { return nil }
        self.epoch = epoch
        guard let line = record.header(Self.endHeader) else { return }
        let words = String(decoding: line, as: UTF8.self).split(
            separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
        guard words.count == 2, let next = Int64(words[0]) else { return }
        self.end = End(next: next, metadata: String(words[1]), rows: record.header(Self.rowsHeader) ?? [])
    }

    /// The headers as they are written.
    package var headers: [KafkaHeader] {
        var headers = [KafkaHeader(name: Self.epochHeader, text: "\(self.epoch)")]
        guard let end = self.end else { return headers }
        headers.append(KafkaHeader(name: Self.endHeader, text: "\(end.next) \(end.metadata)"))
        if !end.rows.isEmpty { headers.append(KafkaHeader(name: Self.rowsHeader, value: end.rows)) }
        return headers
    }
}
