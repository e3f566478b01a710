// SPDX-License-Identifier: Apache-2.0
package import MachineKit
package import PlazaModel

/// The id of a notice, which is a message to one user: the position of the notice's record.
///
/// All notices of a user are in one partition, so the ids of a user's notices are increasing.
package struct NoticeID: Hashable, Sendable {
    /// The partition.
    package var partition: Int
    /// The offset in it; -1 before the first notice of the partition.
    package var offset: Int64

    /// Creates the id of a record.
    package init(partition: Int, offset: Int64) {
        self.partition = partition
        self.offset = offset
    }

    /// The id as clients get it: `partition-offset`.
    package var text: String { "\(self.partition)-\(self.offset)" }

    /// Parses an id; nil if `text` is not one.
    package init?(text: String) {
        guard let dash = text.firstIndex(of: "-"), let partition = Int(text[..<dash]), partition >= 0,
            let offset = Int64(text[text.index(after: dash)...]), offset >= -1
        else { return nil }
        self.init(partition: partition, offset: offset)
    }
}

/// The notices of the last 60 s, for clients that reconnect and send the id of the last notice they received.
package struct NoticeRing: Sendable {
    /// How long a notice is kept.
    package static let span = Milliseconds.seconds(60)
    /// The largest number of notices; the oldest are removed first.
    package static let maxNotices = 50_000

    /// A notice with its encoded frame.
    package struct Entry: Hashable, Sendable {
        /// The position of the notice's record.
        package var id: NoticeID
        /// The notice.
        package var notice: Notice
        /// The frame's JSON, encoded once.
        package var json: [UInt8]

        /// Creates an entry.
        package init(id: NoticeID, notice: Notice, json: [UInt8]) {
            self.id = id
            self.notice = notice
            self.json = json
        }
    }

    private var entriesByUser: [UserKey: [Entry]] = [:]
    /// The user of each stored notice and the time at which it was read, oldest first.
    private var order = RingBuffer<(user: UserKey, readAt: MonotonicTime)>(limit: NoticeRing.maxNotices)
    /// The offset of the last notice that was read from each partition.
    private var lastOffsets: [Int: Int64] = [:]

    /// Creates an empty ring.
    package init() {}

    /// The number of stored notices.
    package var count: Int { self.order.count }

    /// Adds a notice that was read at `now`.
    ///
    /// The notice is stored only if clients that reconnect need it (`isStored`); its offset is remembered in any case.
    ///
    /// - Returns: False if the notice was added before.
    package mutating func append(_ entry: Entry, at now: MonotonicTime) -> Bool {
        let lastOffset = self.lastOffsets[entry.id.partition] ?? -1
        if entry.id.offset <= lastOffset { return false }
        self.lastOffsets[entry.id.partition] = entry.id.offset
        guard entry.notice.content.isStored else { return true }
        while let oldest = self.order.first, now - oldest.readAt > Self.span || self.order.count == Self.maxNotices {
            self.removeOldest()
        }
        if self.order.append((user: entry.notice.to, readAt: now)) {
            self.entriesByUser[entry.notice.to, default: []].append(entry)
        }
        return true
    }

    /// Returns a user's stored notices that follow the notice with this id.
    ///
    /// - Parameters:
    ///   - user: The user.
    ///   - id: The id of the last notice that the client received. If the id is not of the user's partition, all stored
    ///     notices are returned.
    /// - Returns: The notices in order.
    package func entries(of user: UserKey, after id: NoticeID) -> [Entry] {
        (self.entriesByUser[user] ?? []).filter { $0.id.partition != id.partition || $0.id.offset > id.offset }
    }

    /// Returns the id of the last notice of a partition; its offset is -1 if there was none.
    ///
    /// A client that logs in now gets this id, and sends it when it reconnects.
    package func lastID(ofPartition partition: Int) -> NoticeID {
        NoticeID(partition: partition, offset: self.lastOffsets[partition] ?? -1)
    }

    /// Removes notices that are older than the span.
    package mutating func prune(at now: MonotonicTime) {
        while let oldest = self.order.first, now - oldest.readAt > Self.span { self.removeOldest() }
    }

    private mutating func removeOldest() {
        guard let oldest = self.order.popFirst() else { return }
        self.entriesByUser[oldest.user]?.removeFirst()
        if self.entriesByUser[oldest.user]?.isEmpty == true { self.entriesByUser[oldest.user] = nil }
    }
}
