// SPDX-License-Identifier: Apache-2.0
package import MachineKit
package import PlazaModel

/// The id of a notice (a message to one user): the position of the notice's record in its topic.
///
/// All notices of a user are in one partition, so their offsets increase.
package struct NoticeID: Hashable, Sendable {
    /// The partition.
    package var partition: Int
    /// The record's offset in the partition; -1 before the partition's first notice.
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
///
/// One user's requests may cause many notices to another user, so each user has a limit. When a limit of the whole ring
/// is exceeded, the oldest notice of the app with the most bytes is removed. So an app cannot push out the notices of
/// an app that has fewer bytes.
package struct NoticeRing: Sendable {
    /// How long a notice is kept.
    package static let span = Milliseconds.seconds(60)
    /// The largest number of notices in the ring.
    package static let maxNotices = 50_000
    /// The largest number of notices of one user; the oldest are removed first.
    package static let maxNoticesOfUser = 2_000
    /// The largest memory of all notices together, approximately: 64 MiB.
    package static let maxBytes = 64 << 20

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

        /// Approximately the entry's memory: 256 bytes, and twice the size of the JSON, because `notice` has the same
        /// texts as `json`.
        fileprivate var byteCount: Int { 256 + 2 * self.json.count }
    }

    private var apps: [AppID: AppNotices] = [:]
    /// The number of stored notices.
    package private(set) var count = 0
    /// The memory of the stored notices, approximately, in bytes.
    package private(set) var byteCount = 0
    /// The offset of the last notice that was read from each partition.
    private var lastOffsets: [Int: Int64] = [:]

    /// Creates an empty ring.
    package init() {}

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
        let app = entry.notice.to.app
        self.change(app) { notices in
            notices.removeExpired(at: now)
            notices.append(entry, at: now)
        }
        while self.count > Self.maxNotices || self.byteCount > Self.maxBytes, let app = self.largestApp {
            self.change(app) { $0.removeOldest() }
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
        guard let entries = self.apps[user.app]?.entriesByUser[user] else { return [] }
        return (0..<entries.count).map { entries[$0] }.filter {
            $0.id.partition != id.partition || $0.id.offset > id.offset
        }
    }

    /// Returns the id of the last notice of a partition; its offset is -1 if there was none.
    ///
    /// A client that logs in now gets this id, and sends it when it reconnects.
    package func lastID(ofPartition partition: Int) -> NoticeID {
        NoticeID(partition: partition, offset: self.lastOffsets[partition] ?? -1)
    }

    /// Removes the notices that are older than `span`.
    package mutating func prune(at now: MonotonicTime) {
        for app in Array(self.apps.keys) { self.change(app) { $0.removeExpired(at: now) } }
    }

    /// The app whose notices have the most bytes; if several have equally many, the one with the lowest id.
    private var largestApp: AppID? {
        self.apps.max { ($0.value.byteCount, $1.key.text) < ($1.value.byteCount, $0.key.text) }?.key
    }

    /// Changes the notices of one app, and the totals with them.
    private mutating func change(_ app: AppID, _ body: (inout AppNotices) -> Void) {
        // While the dictionary does not hold the notices, `body` can change them without a copy.
        var notices = self.apps.removeValue(forKey: app) ?? AppNotices()
        self.count -= notices.count
        self.byteCount -= notices.byteCount
        body(&notices)
        self.count += notices.count
        self.byteCount += notices.byteCount
        if notices.count > 0 { self.apps[app] = notices }
    }
}

/// The notices of one app.
private struct AppNotices: Sendable {
    private(set) var entriesByUser: [UserKey: RingBuffer<NoticeRing.Entry>] = [:]
    private(set) var count = 0
    private(set) var byteCount = 0
    /// One entry for each notice, oldest first.
    ///
    /// The entry of a notice that was removed because of its user's limit is stale, but stays here. `compactOrder`
    /// removes the stale entries when they outnumber the others. So the entries always fit, although one notice more
    /// than `maxNotices` is stored for a moment.
    private var order = Self.emptyOrder()

    private typealias OrderEntry = (user: UserKey, id: NoticeID, readAt: MonotonicTime)

    private static func emptyOrder() -> RingBuffer<OrderEntry> { RingBuffer(limit: 2 * NoticeRing.maxNotices + 2) }

    mutating func append(_ entry: NoticeRing.Entry, at now: MonotonicTime) {
        let user = entry.notice.to
        if self.entriesByUser[user]?.count == NoticeRing.maxNoticesOfUser {
            self.removeFirst(of: user)
            self.compactOrder()
        }
        let limit = NoticeRing.maxNoticesOfUser
        guard self.order.append((user, entry.id, now)),
            self.entriesByUser[user, default: RingBuffer(limit: limit)].append(entry)
        else { return }
        self.count += 1
        self.byteCount += entry.byteCount
    }

    mutating func removeExpired(at now: MonotonicTime) {
        while let oldest = self.order.first, now - oldest.readAt > NoticeRing.span { self.removeOldest() }
    }

    /// Removes the oldest entry of `order` with its notice; a stale entry has no notice any more.
    mutating func removeOldest() {
        guard let oldest = self.order.popFirst() else { return }
        if self.entriesByUser[oldest.user]?.first?.id == oldest.id { self.removeFirst(of: oldest.user) }
    }

    /// Removes the stale entries of `order` if they outnumber the others by more than one.
    private mutating func compactOrder() {
        guard self.order.count > 2 * self.count + 1 else { return }
        var compacted = Self.emptyOrder()
        while let entry = self.order.popFirst() {
            // A user's oldest notices are removed first. So an entry is stale if it is older than the user's first
            // notice.
            let first = self.entriesByUser[entry.user]?.first
            if let first, first.id.offset <= entry.id.offset { _ = compacted.append(entry) }
        }
        self.order = compacted
    }

    /// Removes a user's oldest notice, but not its entry of `order`.
    private mutating func removeFirst(of user: UserKey) {
        guard let entry = self.entriesByUser[user]?.popFirst() else { return }
        self.count -= 1
        self.byteCount -= entry.byteCount
        if self.entriesByUser[user]?.count == 0 { self.entriesByUser[user] = nil }
    }
}
