// SPDX-License-Identifier: Apache-2.0
package import PlazaModel

/// All that a gateway knows of lives: the last record of each, by key, as the public topics tell them.
///
/// Records carry epochs and revisions, so that one that comes late or twice changes nothing.
package struct ReadModel: Sendable {
    private var rooms: [LiveKey: RoomRecord] = [:]
    private var stages: [LiveKey: StageRecord] = [:]
    private var counts: [LiveKey: CountRecord] = [:]
    /// What apps have set for themselves.
    package private(set) var apps = AppTable()

    /// A model that knows nothing.
    package init() {}

    /// How many lives it knows, ended ones that still have a record among them.
    package var roomCount: Int { self.rooms.count }

    /// Takes a room's record.
    ///
    /// - Returns: false when it is older than, or the same as, what is known.
    @discardableResult package mutating func apply(_ record: RoomRecord) -> Bool {
        if let known = self.rooms[record.key],
            (known.epoch, known.revision) >= (record.epoch, record.revision)
        {
            return false
        }
        self.rooms[record.key] = record
        return true
    }

    /// Takes a stage's record.
    ///
    /// - Returns: false when it is older than, or the same as, what is known.
    @discardableResult package mutating func apply(_ record: StageRecord) -> Bool {
        if let known = self.stages[record.key],
            (known.epoch, known.revision) >= (record.epoch, record.revision)
        {
            return false
        }
        self.stages[record.key] = record
        return true
    }

    /// Takes a count.
    ///
    /// - Returns: false when it is older than what is known.
    @discardableResult package mutating func apply(_ record: CountRecord) -> Bool {
        if let known = self.counts[record.key], (known.epoch, known.at) > (record.epoch, record.at) { return false }
        self.counts[record.key] = record
        return true
    }

    /// Takes an app's record.
    ///
    /// - Returns: false when it is older than, or the same as, what is known.
    @discardableResult package mutating func apply(_ record: AppRecord) -> Bool { self.apps.apply(record) }

    /// The room's record is gone: the live ended some minutes ago.
    package mutating func removeRoom(_ key: LiveKey) { self.rooms[key] = nil }
    /// The stage's record is gone.
    package mutating func removeStage(_ key: LiveKey) { self.stages[key] = nil }
    /// The count's record is gone.
    package mutating func removeCount(_ key: LiveKey) { self.counts[key] = nil }

    /// The room's record, also of a live that has ended.
    package func room(_ key: LiveKey) -> RoomRecord? { self.rooms[key] }

    /// Whether the table has the revision that a reply speaks of, or a later one.
    package func hasSeen(_ seen: Seen, app: AppID) -> Bool {
        let key = LiveKey(app, seen.live)
        return switch seen.table {
        case .rooms: (self.rooms[key]?.revision ?? .min) >= seen.revision
        case .stages: (self.stages[key]?.revision ?? .min) >= seen.revision
        case .apps: self.apps.revision(of: app) >= seen.revision
        }
    }

    /// A live's details; an ended live has none.
    package func details(_ key: LiveKey) -> LiveDetails? {
        guard let room = self.running(key) else { return nil }
        return LiveDetails(
            info: room.info, epoch: room.epoch, audience: self.count(of: room), stage: self.stage(of: room))
    }

    /// A live's count; an ended live has none.
    package func count(_ key: LiveKey) -> LiveCount? { self.running(key).map(self.count(of:)) }

    /// A live's stage, which a new live may not have yet; the outer nil: no such live.
    package func stage(_ key: LiveKey) -> StageRecord?? { self.running(key).map(self.stage(of:)) }

    /// A live's metadata: the named keys, or all when none is named; nil: no such live.
    package func metadata(_ key: LiveKey, keys: [String]) -> [String: String]? {
        guard let room = self.running(key) else { return nil }
        return keys.isEmpty ? room.info.metaData : room.info.metaData.filter { keys.contains($0.key) }
    }

    /// A live as lists show it, if lists may show it to those who ask for `category`.
    package func listEntry(_ key: LiveKey, category: Int?) -> LiveListEntry? {
        guard let room = self.running(key), room.info.isPublicVisible else { return nil }
        if let category, !room.info.categoryList.contains(category) { return nil }
        let count = self.count(of: room)
        return LiveListEntry(info: room.info, audienceCount: count.count, totalViewerCount: count.totalViewers)
    }

    /// A live as the list of candidates of `host` shows it (reference 8): public, of the same kind, its owner here to
    /// answer, in no connection, and not the host's own.
    package func candidate(_ key: LiveKey, for host: RoomRecord) -> LiveListEntry? {
        guard key != host.key, let room = self.running(key), room.info.isVoice == host.info.isVoice,
            room.info.status == .running, self.stage(of: room)?.connection == nil
        else { return nil }
        return self.listEntry(key, category: nil)
    }

    /// What lists are ordered by, for each live that lists may show, in no order.
    package func rankingEntries() -> [RankingEntry] {
        var entries: [RankingEntry] = []
        entries.reserveCapacity(self.rooms.count)
        for (key, room) in self.rooms where room.ended == nil && room.info.isPublicVisible {
            entries.append(RankingEntry(key: key, totalViewers: self.count(of: room).totalViewers))
        }
        return entries
    }

    /// The room's record of a live that runs.
    package func running(_ key: LiveKey) -> RoomRecord? {
        guard let room = self.rooms[key], room.ended == nil else { return nil }
        return room
    }

    /// The count of a live that runs, if presence has told one.
    package func countTold(_ key: LiveKey) -> LiveCount? { self.running(key).flatMap(self.countTold) }

    /// Counts and stages of an earlier live of the same name do not count.
    private func countTold(_ room: RoomRecord) -> LiveCount? {
        guard let record = self.counts[room.key], record.epoch == room.epoch else { return nil }
        return LiveCount(record)
    }

    private func count(of room: RoomRecord) -> LiveCount {
        self.countTold(room)
            ?? LiveCount(live: room.info.liveID, count: 0, totalViewers: 0, stale: false, at: room.info.createTime)
    }

    private func stage(of room: RoomRecord) -> StageRecord? {
        guard let record = self.stages[room.key], record.epoch == room.epoch else { return nil }
        return record
    }
}
