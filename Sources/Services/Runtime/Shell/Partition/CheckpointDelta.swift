// SPDX-License-Identifier: Apache-2.0
package import Compression
internal import FoundationEssentials

/// The rows of a partition that changed since they were last written to the state topic.
///
/// A row is a record of the compacted state topic, from which a new owner of the partition restores its state.
///
/// A transaction costs one request and one marker record for each partition that it writes, including the partitions of
/// the state topic. Changed rows are therefore first stored where they cost less (`Storage`), in compressed form. When
/// the delta exceeds its size limit, all its rows are written to the state topic, and an empty delta begins. A row that
/// changes forty times a second is thus written to the state topic only once or twice a second.
package struct CheckpointDelta {
    /// A changed row; `row` is nil if the row was removed.
    package typealias Change = (key: String, row: [UInt8]?)

    /// Where the delta is stored.
    package enum Storage {
        /// In the metadata of the partition's committed offset; each commit contains the whole delta.
        case offsetMetadata
        /// In the headers of appended batches; each batch contains only its own changes.
        case appendedBatches
    }

    /// Where a batch's changed rows are written.
    enum Plan {
        /// The rows are added to the delta. With `Storage.offsetMetadata`, `metadata` contains the whole delta; with
        /// `Storage.appendedBatches`, the batch's header gets `added`.
        case delta(metadata: String, added: [UInt8])
        /// `rows`, the batch's rows and all earlier rows of the delta, are written to the state topic.
        case stateTopic(rows: [Change], metadata: String)

        var metadata: String {
            switch self {
            case .delta(let metadata, _), .stateTopic(_, let metadata): metadata
            }
        }
    }

    /// The broker's default limit for the metadata of an offset, in bytes.
    static let metadataLimit = 4096
    /// The maximum bytes of changes, before compression, between two writes to the state topic: 8 MiB.
    ///
    /// A restore reads all these changes.
    private static let maxAppendedBytes = 8 << 20
    /// The maximum bytes of one batch's changes, before compression, 32 KiB; the changes of a larger batch are written
    /// to the state topic.
    private static let maxBatchBytes = 32 * 1024
    /// The maximum size of an inflated delta, 16 MiB; it limits the memory if another program wrote the metadata.
    private static let maxInflatedBytes = 16 << 20

    private let storage: Storage
    /// The rows of the delta, by key; nil for a removed row.
    ///
    /// A row is assigned as `.some(row)`, because assigning a plain nil would remove the key.
    private var changedRows: [String: [UInt8]?] = [:]
    /// The compressed delta in the committed offset's metadata; empty with `Storage.appendedBatches`.
    private var storedBytes: [UInt8] = []
    /// The bytes of changes, before compression, appended since the last write to the state topic; 0 with
    /// `Storage.offsetMetadata`.
    private var appendedBytes = 0
    /// The compressor that continues the stored delta.
    ///
    /// A compressor can be neither rolled back nor restored. After a rollback or a restore it is therefore nil, and the
    /// next batch is written to the state topic.
    private var stream: DeflateStream?
    /// The last plan, which `committed` applies to the delta.
    private var pendingPlan: PendingPlan?

    /// A plan whose batch is not durable yet.
    private enum PendingPlan {
        /// `size` is the number of bytes of `changes` before compression; `added` are the compressed bytes.
        case delta(changes: [Change], size: Int, added: [UInt8])
        case stateTopic
    }

    /// Creates an empty delta, for a partition without a committed offset.
    init(storage: Storage = .offsetMetadata) {
        self.storage = storage
        self.stream = DeflateStream()
    }

    /// Restores the delta from the metadata of a committed offset.
    ///
    /// - Throws: `InflationError` when the metadata is not valid; the current rows are then unknown.
    package init(metadata: String, storage: Storage = .offsetMetadata) throws(InflationError) {
        self.init(storage: storage)
        guard let text = Self.lines(of: metadata).delta else { return }
        guard let compressed = Data(base64Encoded: text) else { throw .corrupt }
        try self.restore(Array(compressed))
    }

    /// Restores the delta from the batches that were appended since the last write to the state topic.
    ///
    /// - Parameter appended: the changes of the batches, joined in order.
    /// - Throws: `InflationError` when the bytes are not valid.
    package init(appended: [UInt8]) throws(InflationError) {
        self.init(storage: .appendedBatches)
        // Without bytes there is nothing to inflate. The next batch is written to the state topic, as after `restore`.
        if appended.isEmpty { self.stream = nil } else { try self.restore(appended) }
    }

    /// Restores the changed rows from their compressed form.
    ///
    /// - Throws: `InflationError` when the bytes are not valid.
    private mutating func restore(_ compressed: [UInt8]) throws(InflationError) {
        for change in try Self.changes(in: try Inflation.inflate(compressed, limit: Self.maxInflatedBytes)) {
            self.changedRows[change.key] = .some(change.row)
        }
        // The previous owner's compressor is gone, so the next batch is written to the state topic.
        self.stream = nil
    }

    /// The rows of the delta, sorted by key; restore them after the rows of the state topic.
    package var rows: [Change] { Self.sorted(self.changedRows) }

    /// Returns the processor's part of an offset's metadata.
    static func processorMetadata(in metadata: String) -> String { Self.lines(of: metadata).processor }

    /// Decides where a batch's changed rows are written.
    ///
    /// - Parameters:
    ///   - changes: the rows that the batch changed.
    ///   - metadata: the processor's metadata for the offset: one line.
    ///   - mustWriteRows: whether the rows must be written to the state topic.
    /// - Returns: the plan; it is valid until the next call of this method. Call `committed` or `rolledBack` when the
    ///   outcome of the batch is known.
    mutating func plan(_ changes: [Change], metadata: String, mustWriteRows: Bool = false) -> Plan {
        if !mustWriteRows, let plan = self.planDelta(changes, metadata: metadata) { return plan }
        self.stream = DeflateStream()
        self.pendingPlan = .stateTopic
        var rows = self.changedRows
        for change in changes { rows[change.key] = .some(change.row) }
        return .stateTopic(rows: Self.sorted(rows), metadata: metadata)
    }

    /// Plans to add the changes to the delta; nil if the batch or the delta would be too large, or if there is no
    /// compressor that continues the delta.
    private mutating func planDelta(_ changes: [Change], metadata: String) -> Plan? {
        var bytes: [UInt8] = []
        for change in changes { Self.append(change, to: &bytes) }
        guard let stream = self.stream, bytes.count <= Self.maxBatchBytes else { return nil }
        // If the delta turns out too large below, `plan` replaces the stream, because the stream already contains the
        // bytes of these changes.
        let added = bytes.isEmpty ? [] : stream.append(bytes)
        var metadata = metadata
        switch self.storage {
        case .offsetMetadata:
            let newStoredBytes = self.storedBytes + added
            if !newStoredBytes.isEmpty { metadata += "\n" + Data(newStoredBytes).base64EncodedString() }
            guard metadata.utf8.count <= Self.metadataLimit else { return nil }
        case .appendedBatches:
            guard self.appendedBytes + bytes.count <= Self.maxAppendedBytes else { return nil }
        }
        self.pendingPlan = .delta(changes: changes, size: bytes.count, added: added)
        return .delta(metadata: metadata, added: added)
    }

    /// Applies the last plan, whose batch is durable.
    mutating func committed() {
        switch self.pendingPlan {
        case .delta(let changes, let size, let added):
            for change in changes { self.changedRows[change.key] = .some(change.row) }
            if self.storage == .offsetMetadata { self.storedBytes += added } else { self.appendedBytes += size }
        case .stateTopic:
            self.changedRows.removeAll(keepingCapacity: true)
            self.storedBytes.removeAll(keepingCapacity: true)
            self.appendedBytes = 0
        case nil: return
        }
        self.pendingPlan = nil
    }

    /// Discards the last plan, whose batch was rolled back.
    mutating func rolledBack() {
        guard self.pendingPlan != nil else { return }
        self.pendingPlan = nil
        self.stream = nil
    }

    /// Splits an offset's metadata into the processor's line and the delta in base64, if there is one.
    private static func lines(of metadata: String) -> (processor: String, delta: String?) {
        let lines = metadata.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
        return (lines.first.map(String.init) ?? "", lines.count > 1 ? String(lines[1]) : nil)
    }

    private static func sorted(_ rows: [String: [UInt8]?]) -> [Change] {
        rows.map { (key: $0.key, row: $0.value) }.sorted { $0.key < $1.key }
    }
}

// MARK: - A change as bytes

extension CheckpointDelta {
    /// Encodes a change as length-prefixed bytes.
    ///
    /// The order is: the length of the key, the key, the length of the row plus one, and the row. A removed row is
    /// encoded as length 0.
    private static func append(_ change: Change, to bytes: inout [UInt8]) {
        let key = Array(change.key.utf8)
        Self.appendNumber(key.count, to: &bytes)
        bytes += key
        Self.appendNumber(change.row.map { $0.count + 1 } ?? 0, to: &bytes)
        if let row = change.row { bytes += row }
    }

    /// Encodes a number as a base-128 varint.
    private static func appendNumber(_ number: Int, to bytes: inout [UInt8]) {
        var remainingBits = number
        while remainingBits > 0x7f {
            bytes.append(UInt8(remainingBits & 0x7f) | 0x80)
            remainingBits >>= 7
        }
        bytes.append(UInt8(remainingBits))
    }

    /// Decodes all changes.
    ///
    /// - Throws: `corrupt` when a number or a length is not valid.
    private static func changes(in bytes: [UInt8]) throws(InflationError) -> [Change] {
        var changes: [Change] = []
        var unread = bytes[...]
        while !unread.isEmpty {
            let keyLength = try Self.readNumber(from: &unread)
            let key = String(decoding: try Self.readBytes(keyLength, from: &unread), as: UTF8.self)
            // 0 is a removed row, otherwise the row's length plus one.
            let encodedLength = try Self.readNumber(from: &unread)
            let row = encodedLength == 0 ? nil : Array(try Self.readBytes(encodedLength - 1, from: &unread))
            changes.append((key, row))
        }
        return changes
    }

    /// Decodes a base-128 varint of at most five bytes, and removes it from `bytes`.
    private static func readNumber(from bytes: inout ArraySlice<UInt8>) throws(InflationError) -> Int {
        var number = 0
        for shift in stride(from: 0, through: 28, by: 7) {
            guard let byte = bytes.popFirst() else { throw .corrupt }
            number |= Int(byte & 0x7f) << shift
            if byte & 0x80 == 0 { return number }
        }
        throw .corrupt
    }

    /// Removes the first `count` bytes from `bytes` and returns them.
    private static func readBytes(
        _ count: Int, from bytes: inout ArraySlice<UInt8>
    ) throws(InflationError) -> ArraySlice<UInt8> {
        guard count <= bytes.count else { throw .corrupt }
        let prefix = bytes.prefix(count)
        bytes = bytes.dropFirst(count)
        return prefix
    }
}
