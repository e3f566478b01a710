// SPDX-License-Identifier: Apache-2.0
internal import Deflate
internal import FoundationEssentials

/// The rows of a partition that changed since they were last written to the state topic.
///
/// They ride elsewhere, compressed, until there are too many; then all of them are written, and the tail begins anew.
///
/// A transaction costs a request and a marker for each partition that it writes, and the rows are half of those: most
/// batches need none of them this way, and a row that changes forty times a second is written once or twice.
struct RowTail {
    /// A row that changed; nil: it is gone.
    typealias Change = (key: String, row: [UInt8]?)

    /// What the rows ride in.
    enum Carrier {
        /// The metadata of the partition's offset: all of them in each batch's.
        case offset
        /// The records that batches append: in each what it changed.
        case appended
    }

    /// What becomes of a batch's rows.
    enum Plan {
        /// They ride: the offset's metadata is this, and an appended batch has these bytes.
        case carried(metadata: String, added: [UInt8])
        /// They are written to the state topic, with all that rode before; the offset's metadata is this.
        case written(rows: [Change], metadata: String)

        var metadata: String {
            switch self {
            case .carried(let metadata, _), .written(_, let metadata): metadata
            }
        }
    }

    /// A broker's default for an offset's metadata, in bytes.
    static let metadataLimit = 4096
    /// What may be appended until the rows are written, in bytes before compression: what a restore goes through.
    private static let appendedLimit = 8 << 20
    /// A batch that changes more than this is written at once: it would not fit.
    private static let batchLimit = 32 * 1024
    /// Far above what `metadataLimit` bytes hold of rows; guards against metadata that is not ours.
    private static let inflatedLimit = 16 << 20

    private let carrier: Carrier
    /// The rows that are not in the state topic as they are here, by key.
    private var pending: [String: [UInt8]?] = [:]
    /// What rides already in the offset's metadata, compressed.
    private var carried: [UInt8] = []
    /// How many bytes were appended, before compression.
    private var appendedCount = 0
    /// Continues `carried`; nil after a batch that was taken back, for a stream cannot be: the next batch is written.
    private var stream: DeflateStream?
    /// What the batch in hand makes of the tail, once it is committed.
    private var next: Next?

    private enum Next {
        case carried(changes: [Change], size: Int, added: [UInt8])
        case written
    }

    /// The tail of a partition of which nothing was ever written.
    init(carrier: Carrier = .offset) {
        self.carrier = carrier
        self.stream = DeflateStream()
    }

    /// The tail that the metadata of a committed offset carries.
    ///
    /// - Throws: when the metadata is not what a tail wrote: nothing may be guessed about the rows then.
    init(metadata: String, carrier: Carrier = .offset) throws(InflationError) {
        self.init(carrier: carrier)
        guard let text = Self.lines(of: metadata).tail else { return }
        guard let data = Data(base64Encoded: text) else { throw .corrupt }
        try self.take(Array(data))
    }

    /// The tail that batches carry which were appended since the rows were last written.
    ///
    /// - Parameter appended: what the batches added, in order.
    /// - Throws: when that is not what a tail made.
    init(appended: [UInt8]) throws(InflationError) {
        self.init(carrier: .appended)
        if appended.isEmpty { self.stream = nil } else { try self.take(appended) }
    }

    private mutating func take(_ stream: [UInt8]) throws(InflationError) {
        for change in try Self.changes(in: try Inflation.inflate(stream, limit: Self.inflatedLimit)) {
            self.pending[change.key] = .some(change.row)
        }
        // The stream is the last owner's: the next batch is written.
        self.stream = nil
    }

    /// The rows that ride, sorted by key: to be restored after those of the state topic.
    var rows: [Change] { Self.sorted(self.pending) }

    /// The processor's part of an offset's metadata.
    static func processorMetadata(in metadata: String) -> String { Self.lines(of: metadata).head }

    /// Decides where a batch's rows go.
    ///
    /// - Parameters:
    ///   - changes: the rows that the batch changed.
    ///   - metadata: what the processor wants committed beside the offset: one line.
    ///   - mustWrite: the rows may not ride.
    /// - Returns: what the batch's commit holds of rows; void after the next `plan`.
    mutating func plan(_ changes: [Change], metadata: String, mustWrite: Bool = false) -> Plan {
        if !mustWrite, let plan = self.carry(changes, metadata: metadata) { return plan }
        self.stream = DeflateStream()
        self.next = .written
        var rows = self.pending
        for change in changes { rows[change.key] = .some(change.row) }
        return .written(rows: Self.sorted(rows), metadata: metadata)
    }

    /// The plan by which the rows ride, if there is room for them.
    private mutating func carry(_ changes: [Change], metadata: String) -> Plan? {
        var bytes: [UInt8] = []
        for change in changes { Self.append(change, to: &bytes) }
        guard let stream = self.stream, bytes.count <= Self.batchLimit else { return nil }
        let added = bytes.isEmpty ? [] : stream.append(bytes)
        var metadata = metadata
        switch self.carrier {
        case .offset:
            let carried = self.carried + added
            if !carried.isEmpty { metadata += "\n" + Data(carried).base64EncodedString() }
            guard metadata.utf8.count <= Self.metadataLimit else { return nil }
        case .appended:
            guard self.appendedCount + bytes.count <= Self.appendedLimit else { return nil }
        }
        self.next = .carried(changes: changes, size: bytes.count, added: added)
        return .carried(metadata: metadata, added: added)
    }

    /// The batch is durable.
    mutating func committed() {
        switch self.next {
        case .carried(let changes, let size, let added):
            for change in changes { self.pending[change.key] = .some(change.row) }
            if self.carrier == .offset { self.carried += added } else { self.appendedCount += size }
        case .written:
            self.pending.removeAll(keepingCapacity: true)
            self.carried.removeAll(keepingCapacity: true)
            self.appendedCount = 0
        case nil: return
        }
        self.next = nil
    }

    /// The batch is void.
    mutating func rolledBack() {
        guard self.next != nil else { return }
        self.next = nil
        self.stream = nil
    }

    private static func lines(of metadata: String) -> (head: String, tail: String?) {
        let lines = metadata.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
        return (lines.first.map(String.init) ?? "", lines.count > 1 ? String(lines[1]) : nil)
    }

    private static func sorted(_ rows: [String: [UInt8]?]) -> [Change] {
        rows.map { (key: $0.key, row: $0.value) }.sorted { $0.key < $1.key }
    }
}

// MARK: - A change as bytes

extension RowTail {
    /// The length of the key, the key, the length of the row and one, the row; 0 for a row that is gone.
    private static func append(_ change: Change, to bytes: inout [UInt8]) {
        let key = Array(change.key.utf8)
        Self.append(key.count, to: &bytes)
        bytes += key
        Self.append(change.row.map { $0.count + 1 } ?? 0, to: &bytes)
        if let row = change.row { bytes += row }
    }

    /// Seven bits a byte, the lowest first.
    private static func append(_ number: Int, to bytes: inout [UInt8]) {
        var rest = number
        while rest > 0x7f {
            bytes.append(UInt8(rest & 0x7f) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    private static func changes(in bytes: [UInt8]) throws(InflationError) -> [Change] {
        var changes: [Change] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            let key = String(decoding: try Self.take(try Self.number(from: &rest), from: &rest), as: UTF8.self)
            let length = try Self.number(from: &rest)
            changes.append((key, length == 0 ? nil : Array(try Self.take(length - 1, from: &rest))))
        }
        return changes
    }

    private static func number(from bytes: inout ArraySlice<UInt8>) throws(InflationError) -> Int {
        var number = 0
        for shift in stride(from: 0, through: 28, by: 7) {
            guard let byte = bytes.popFirst() else { throw .corrupt }
            number |= Int(byte & 0x7f) << shift
            if byte & 0x80 == 0 { return number }
        }
        throw .corrupt
    }

    private static func take(
        _ count: Int, from bytes: inout ArraySlice<UInt8>
    ) throws(InflationError) -> ArraySlice<UInt8> {
        guard count <= bytes.count else { throw .corrupt }
        let taken = bytes.prefix(count)
        bytes = bytes.dropFirst(count)
        return taken
    }
}
