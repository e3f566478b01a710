// SPDX-License-Identifier: Apache-2.0
package import MachineKit
package import PlazaModel

/// The sort key of a live in a list: the live itself, and how often it was visited (R3.31).
package struct RankingEntry: Hashable, Sendable {
    /// The live.
    package var key: LiveKey
    /// The visits of the live so far; lists begin with the live that was visited most often.
    package var totalViewers: Int

    /// Creates the sort key of a live.
    package init(key: LiveKey, totalViewers: Int) {
        self.key = key
        self.totalViewers = totalViewers
    }
}

/// Snapshots of the order of lives, through which clients page.
///
/// A client that pages through a list misses no live and gets none twice, even if ranks change meanwhile (I3 in
/// docs/RULES.md).
///
/// All pages of one listing use the snapshot and the direction of the first page (`ListCursor`).
package struct Ranking: Sendable {
    /// The interval between snapshots.
    package static let interval = Milliseconds.seconds(5)
    /// How long a snapshot is kept; a listing must end within this time.
    package static let lifetime = Milliseconds.seconds(60)
    /// The largest number of snapshots; the oldest are removed first.
    ///
    /// One snapshot every 5 s for 60 s makes about 12, so the limit matters only if `refresh` is called more often.
    package static let snapshotLimit = 20
    /// The largest number of lives that are examined for one page.
    ///
    /// Without this limit, a call for which `entry` returns nil for most lives would examine all lives.
    package static let maxExaminedPerPage = 2000
    /// The largest size of the JSON of one page's entries, 2 MiB; a single entry may exceed it.
    ///
    /// Clients accept frames of up to 4 MiB. A full page, which has fifty lives, would exceed 4 MiB if all texts
    /// consisted of control characters, each of which has six bytes in JSON.
    package static let maxBytesPerPage = 2 << 20

    /// The order of each app's lives at one time.
    private struct Snapshot: Sendable {
        var id: Int64
        var createdAt: MonotonicTime
        /// The lives of each app, the most visited first.
        var liveKeys: [AppID: [LiveKey]]
    }

    private let gateway: GatewayID
    /// The snapshots, oldest first.
    private var snapshots: [Snapshot] = []

    /// Creates a ranking without a snapshot.
    package init(gateway: GatewayID) { self.gateway = gateway }

    /// Adds a snapshot of `entries`, and removes expired ones.
    ///
    /// - Parameters:
    ///   - entries: The result of `ReadModel.rankingEntries`, in any order.
    ///   - now: The current time. It is also the snapshot's id. Monotonic time counts from the host's start, so a
    ///     restarted gateway does not reuse an id.
    package mutating func refresh(_ entries: [RankingEntry], at now: MonotonicTime) {
        var entriesByApp: [AppID: [RankingEntry]] = [:]
        for entry in entries { entriesByApp[entry.key.app, default: []].append(entry) }
        let orderedKeys = entriesByApp.mapValues { entries in
            entries.sorted { a, b in
                a.totalViewers != b.totalViewers ? a.totalViewers > b.totalViewers : a.key < b.key
            }.map(\.key)
        }
        // Two snapshots of the same millisecond have different ids. `.min / 2`, which no time reaches, stands for the
        // id before the first snapshot.
        let id = max(now.milliseconds, (self.snapshots.last?.id ?? .min / 2) + 1)
        self.snapshots.append(Snapshot(id: id, createdAt: now, liveKeys: orderedKeys))
        self.snapshots.removeAll { now - $0.createdAt > Self.lifetime }
        if self.snapshots.count > Self.snapshotLimit {
            self.snapshots.removeFirst(self.snapshots.count - Self.snapshotLimit)
        }
    }

    /// Returns one page of an app's list.
    ///
    /// - Parameters:
    ///   - app: The app.
    ///   - cursor: The cursor that the previous page returned; empty for the first page, which uses the newest
    ///     snapshot.
    ///   - count: The largest number of entries.
    ///   - isAscending: Whether the listing begins with the lives that were visited least often. Ignored if there is a
    ///     cursor, which has the direction of its first page.
    ///   - now: The current time, by the same clock as in `refresh`.
    ///   - entry: Returns a live's current entry; nil leaves the live out.
    /// - Returns: The entries, and the next page's cursor, which is empty at the list's end. A page may hold fewer than
    ///   `count` entries, even none, and still have a cursor.
    /// - Throws: `cursorExpired` if the cursor is malformed, of another gateway, or of an expired snapshot.
    package func page(
        app: AppID, cursor: String, count: Int, isAscending: Bool = false, at now: MonotonicTime,
        entry: (LiveKey) -> LiveListEntry?
    ) throws(ReplyError) -> (items: [LiveListEntry], cursor: String) {
        guard let (snapshot, firstRank, isListAscending) = self.parse(cursor, isAscending, at: now) else {
            throw ReplyError(.cursorExpired, "the cursor is not of this gateway or too old; begin again without one")
        }
        // A valid cursor without a snapshot is the empty one before the first `refresh`.
        guard let snapshot else { return ([], "") }
        let keys = snapshot.liveKeys[app] ?? []
        var items: [LiveListEntry] = []
        var rank = firstRank
        var bytes = 0
        // The rank is client input. If it is beyond the end of the list, `firstRank + maxExaminedPerPage` could
        // overflow.
        let endRank = firstRank < keys.count ? min(keys.count, firstRank + Self.maxExaminedPerPage) : keys.count
        while rank < endRank, items.count < count {
            // The snapshot is in descending order, so an ascending list reads it from its end.
            if let item = entry(keys[isListAscending ? keys.count - 1 - rank : rank]) {
                bytes += item.maxJSONBytes
                if bytes > Self.maxBytesPerPage, !items.isEmpty { break }
                items.append(item)
            }
            rank += 1
        }
        guard rank < keys.count else { return (items, "") }
        let next = ListCursor(
            gateway: self.gateway, snapshot: snapshot.id, rank: rank, isAscending: isListAscending)
        return (items, next.text)
    }

    /// Returns the snapshot, rank and direction of a cursor; nil if the cursor is not valid.
    ///
    /// The empty cursor stands for the first page of the newest snapshot, in the direction `isFirstPageAscending`. The
    /// newest snapshot is nil before the first `refresh`.
    private func parse(
        _ cursor: String, _ isFirstPageAscending: Bool, at now: MonotonicTime
    ) -> (snapshot: Snapshot?, rank: Int, isAscending: Bool)? {
        if cursor.isEmpty { return (self.snapshots.last, 0, isFirstPageAscending) }
        guard let cursor = ListCursor(text: cursor), cursor.gateway == self.gateway,
            let snapshot = self.snapshots.first(where: { $0.id == cursor.snapshot }),
            now - snapshot.createdAt <= Self.lifetime
        else { return nil }
        return (snapshot, cursor.rank, cursor.isAscending)
    }
}

extension LiveListEntry {
    /// An upper bound of the length of the entry's JSON.
    fileprivate var maxJSONBytes: Int {
        let info = self.info
        let owner = info.liveOwner
        var bytes = Self.bytesWithoutTexts
        for text in [info.liveName, info.notice, info.coverURL, info.backgroundURL, owner.userName, owner.avatarURL] {
            bytes += text.maxJSONBytes
        }
        // A property `"key":"value",` has 6 bytes besides its texts, an element `"admin",` has 3.
        for (key, value) in info.metaData { bytes += key.maxJSONBytes + value.maxJSONBytes + 6 }
        for admin in info.admins { bytes += admin.text.utf8.count + 3 }
        return bytes
    }

    /// An upper bound, by estimate, of the JSON without the texts: property names, numbers and ids.
    private static let bytesWithoutTexts = 1200
}

extension String {
    /// An upper bound of the length of the string's JSON, without quotation marks.
    fileprivate var maxJSONBytes: Int {
        self.utf8.reduce(0) { sum, byte in
            switch byte {
            // A control character is written as `\u` with four digits.
            case 0..<0x20: sum + 6
            case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): sum + 2
            default: sum + 1
            }
        }
    }
}
