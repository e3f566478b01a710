// SPDX-License-Identifier: Apache-2.0
package import CoreKit
package import PlazaModel

/// A notice's name: where its record is.
///
/// All notices of a user are in one partition, so theirs only grow.
package struct NoticeID: Hashable, Sendable {
    /// The partition.
    package var partition: Int
    /// The offset in it.
    package var offset: Int64

    /// Names a record.
    package init(partition: Int, offset: Int64) {
        self.partition = partition
        self.offset = offset
    }

    /// `partition-offset`, as clients get it.
    package var text: String { "\(self.partition)-\(self.offset)" }

    /// The id that `text` spells.
    package init?(text: String) {
        guard let dash = text.firstIndex(of: "-"), let partition = Int(text[..<dash]), partition >= 0,
            let offset = Int64(text[text.index(after: dash)...]), offset >= -1
        else { return nil }
        self.init(partition: partition, offset: offset)
    }
}

/// The notices of the last 60 s, for clients that come back and name the last that they have.
package struct NoticeRing: Sendable {
    /// How long a notice is kept.
    package static let span = Milliseconds.seconds(60)
    /// Notices kept at most; the oldest go first.
    package static let limit = 50_000

    /// A notice with the frame that clients get.
    package struct Entry: Hashable, Sendable {
        /// Where its record is.
        package var id: NoticeID
        /// The notice.
        package var notice: Notice
        /// The frame's JSON, made once.
        package var json: [UInt8]

        /// A notice.
        package init(id: NoticeID, notice: Notice, json: [UInt8]) {
            self.id = id
            self.notice = notice
            self.json = json
        }
    }

    private var byUser: [UserKey: [Entry]] = [:]
    private var order = RingBuffer<(user: UserKey, at: Timestamp)>(limit: NoticeRing.limit)
    private var lastOffsets: [Int: Int64] = [:]

    /// An empty ring.
    package init() {}

    /// How many notices are kept.
    package var count: Int { self.order.count }

    /// Adds a notice that came at `now`; one that nobody needs later is known to have come, and not kept.
    ///
    /// - Returns: false for one that came before.
    package mutating func append(_ entry: Entry, at now: Timestamp) -> Bool {
        if entry.id.offset <= self.lastOffsets[entry.id.partition] ?? -1 { return false }
        self.lastOffsets[entry.id.partition] = entry.id.offset
        guard entry.notice.content.isKept else { return true }
        while let oldest = self.order.first, now - oldest.at > Self.span || self.order.count == Self.limit {
            self.removeOldest()
        }
        if self.order.append((user: entry.notice.to, at: now)) {
            self.byUser[entry.notice.to, default: []].append(entry)
        }
        return true
    }

    /// The notices of a user after the one named; of those kept, for one that is too old.
    ///
    /// - Parameters:
    ///   - user: whose notices.
    ///   - id: the last that the client has; one of another partition counts as none.
    /// - Returns: the notices in order.
    package func entries(of user: UserKey, after id: NoticeID) -> [Entry] {
        (self.byUser[user] ?? []).filter { $0.id.partition != id.partition || $0.id.offset > id.offset }
    }

    /// The place behind all notices of a partition so far: what a client that begins now names when it comes back.
    package func end(ofPartition partition: Int) -> NoticeID {
        NoticeID(partition: partition, offset: self.lastOffsets[partition] ?? -1)
    }

    /// Lets go of what is older than the span.
    package mutating func prune(at now: Timestamp) {
        while let oldest = self.order.first, now - oldest.at > Self.span { self.removeOldest() }
    }

    private mutating func removeOldest() {
        guard let oldest = self.order.popFirst() else { return }
        self.byUser[oldest.user]?.removeFirst()
        if self.byUser[oldest.user]?.isEmpty == true { self.byUser[oldest.user] = nil }
    }
}
