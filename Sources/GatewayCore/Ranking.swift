// SPDX-License-Identifier: Apache-2.0
package import CoreKit
package import PlazaModel

/// What a live's place in a list depends on.
package struct RankingEntry: Hashable, Sendable {
    /// The live.
    package var key: LiveKey
    /// All entries so far; most first.
    package var totalViewers: Int

    /// Names a live and its entries.
    package init(key: LiveKey, totalViewers: Int) {
        self.key = key
        self.totalViewers = totalViewers
    }
}

/// The order of the lives at some moments, so that a walk by pages does not lose or repeat a live whose place changes
/// meanwhile (I3).
///
/// A walk stays in the snapshot and the order that it began in. A cursor is gateway, snapshot and rank, as text; the rank
/// of a walk from the list's end has an `a` before it.
package struct Ranking: Sendable {
    /// How often a snapshot should be made.
    package static let interval = Milliseconds.seconds(5)
    /// How long a walk may take.
    package static let lifetime = Milliseconds.seconds(60)
    /// Snapshots kept at most; the oldest go first.
    package static let snapshotLimit = 20
    /// Lives that one page looks at, at most: a filter that fits few lives must not walk through all of them at once.
    package static let examinedPerPage = 2000
    /// Bytes of JSON that the entries of one page have at most, a first entry apart: a client takes frames of 4 MiB, and
    /// fifty lives whose texts are all control characters would be more.
    package static let bytesPerPage = 2 << 20

    private struct Snapshot: Sendable {
        var id: Int64
        var at: Timestamp
        var apps: [AppID: [LiveKey]]
    }

    private let gateway: GatewayID
    /// Oldest first.
    private var snapshots: [Snapshot] = []

    /// A ranking without a snapshot.
    package init(gateway: GatewayID) { self.gateway = gateway }

    /// Adds a snapshot of `entries`, and forgets those that are too old.
    ///
    /// - Parameters:
    ///   - entries: what `ReadModel.rankingEntries` gives, in any order.
    ///   - now: the snapshot's time; its name too, so that a gateway that restarts gives none out twice.
    package mutating func refresh(_ entries: [RankingEntry], at now: Timestamp) {
        var apps: [AppID: [RankingEntry]] = [:]
        for entry in entries { apps[entry.key.app, default: []].append(entry) }
        let ordered = apps.mapValues { entries in
            entries.sorted { a, b in
                a.totalViewers != b.totalViewers ? a.totalViewers > b.totalViewers : a.key < b.key
            }.map(\.key)
        }
        let id = max(now.milliseconds, (self.snapshots.last?.id ?? .min / 2) + 1)
        self.snapshots.append(Snapshot(id: id, at: now, apps: ordered))
        self.snapshots.removeAll { now - $0.at > Self.lifetime }
        if self.snapshots.count > Self.snapshotLimit {
            self.snapshots.removeFirst(self.snapshots.count - Self.snapshotLimit)
        }
    }

    /// One page of an app's list.
    ///
    /// - Parameters:
    ///   - app: whose list.
    ///   - cursor: where the last page ended; empty begins with the newest snapshot.
    ///   - count: entries at most.
    ///   - isAscending: the walk that begins here begins with the fewest entries.
    ///   - now: the time by the clock of `refresh`.
    ///   - entry: looks a live up as it is now; nil leaves it out.
    /// - Returns: the entries, and the next page's cursor, which is empty at the list's end. A page may hold fewer
    ///   than `count` entries, even none, and still have a cursor.
    /// - Throws: `cursorExpired` for a cursor of another gateway, of a snapshot that is gone, or that is none.
    package func page(
        app: AppID, cursor: String, count: Int, isAscending: Bool = false, at now: Timestamp,
        entry: (LiveKey) -> LiveListEntry?
    ) throws(ReplyError) -> (items: [LiveListEntry], cursor: String) {
        guard let (snapshot, start, isAscending) = self.place(cursor, isAscending, at: now) else {
            throw ReplyError(.cursorExpired, "the cursor is not of this gateway or too old; begin again without one")
        }
        guard let snapshot else { return ([], "") }
        let keys = snapshot.apps[app] ?? []
        var items: [LiveListEntry] = []
        var rank = start
        var bytes = 0
        let end = min(keys.count, start + Self.examinedPerPage)
        while rank < end, items.count < count {
            if let item = entry(keys[isAscending ? keys.count - 1 - rank : rank]) {
                bytes += item.mostBytes
                if bytes > Self.bytesPerPage, !items.isEmpty { break }
                items.append(item)
            }
            rank += 1
        }
        let place = isAscending ? "a\(rank)" : "\(rank)"
        return (items, rank < keys.count ? "\(self.gateway.text).\(snapshot.id).\(place)" : "")
    }

    /// Where a cursor points; nil when nowhere.
    ///
    /// There is no snapshot before the first `refresh`.
    private func place(_ cursor: String, _ isAscending: Bool, at now: Timestamp) -> (Snapshot?, Int, Bool)? {
        if cursor.isEmpty { return (self.snapshots.last, 0, isAscending) }
        guard let lastDot = cursor.lastIndex(of: ".") else { return nil }
        let place = cursor[cursor.index(after: lastDot)...]
        let isAscending = place.hasPrefix("a")
        guard let rank = Int(isAscending ? place.dropFirst() : place), rank >= 0,
            let firstDot = cursor[..<lastDot].lastIndex(of: "."),
            let id = Int64(cursor[cursor.index(after: firstDot)..<lastDot]),
            cursor[..<firstDot] == self.gateway.text,
            let snapshot = self.snapshots.first(where: { $0.id == id }), now - snapshot.at <= Self.lifetime
        else { return nil }
        return (snapshot, rank, isAscending)
    }
}

extension LiveListEntry {
    /// How long its JSON is at most.
    fileprivate var mostBytes: Int {
        let info = self.info
        let owner = info.liveOwner
        var bytes = Self.frameBytes
        for text in [info.liveName, info.notice, info.coverURL, info.backgroundURL, owner.userName, owner.avatarURL] {
            bytes += text.mostJSONBytes
        }
        for (key, value) in info.metaData { bytes += key.mostJSONBytes + value.mostJSONBytes + 6 }
        for admin in info.admins { bytes += admin.text.utf8.count + 3 }
        return bytes
    }

    /// Names of members, numbers, and ids.
    private static let frameBytes = 1200
}

extension String {
    /// How long it is as JSON at most, without its quotation marks.
    fileprivate var mostJSONBytes: Int {
        self.utf8.reduce(0) { sum, byte in
            switch byte {
            case 0..<0x20: sum + 6
            case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): sum + 2
            default: sum + 1
            }
        }
    }
}
