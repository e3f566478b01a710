// SPDX-License-Identifier: Apache-2.0
package import PlazaModel

/// A gateway's copy of the public topics: the last record of each live, stage, viewer count and app, by key.
///
/// A late or repeated record changes nothing, because each record has an epoch, and a revision or (in a viewer count) a
/// time.
package struct ReadModel: Sendable {
    private var lives: [LiveKey: LiveRecord] = [:]
    /// The number of records in `lives` of each app.
    private var liveCounts: [AppID: Int] = [:]
    private var stages: [LiveKey: StageRecord] = [:]
    private var counts: [LiveKey: CountRecord] = [:]
    /// The apps' settings and gifts.
    package private(set) var apps = AppTable()

    /// Creates an empty model.
    package init() {}

    /// The number of lives' records, including those of ended lives that are not removed yet.
    package var liveRecordCount: Int { self.lives.count }

    /// The number of an app's lives, including those that have ended and are not removed yet.
    package func liveCount(of app: AppID) -> Int { self.liveCounts[app, default: 0] }

    /// Applies a live's record.
    ///
    /// - Returns: False if the record is not newer than the stored one.
    @discardableResult package mutating func apply(_ record: LiveRecord) -> Bool {
        if let stored = self.lives[record.key],
            (stored.epoch, stored.revision) >= (record.epoch, record.revision)
        {
            return false
        }
        if self.lives.updateValue(record, forKey: record.key) == nil { self.liveCounts[record.app, default: 0] += 1 }
        return true
    }

    /// Applies a stage's record.
    ///
    /// - Returns: False if the record is not newer than the stored one.
    @discardableResult package mutating func apply(_ record: StageRecord) -> Bool {
        if let stored = self.stages[record.key],
            (stored.epoch, stored.revision) >= (record.epoch, record.revision)
        {
            return false
        }
        self.stages[record.key] = record
        return true
    }

    /// Applies a live's viewer count.
    ///
    /// A count has no revision, so its epoch and time decide. Of two counts with the same time, the one that is applied
    /// later wins.
    ///
    /// - Returns: False if the record is older than the stored one.
    @discardableResult package mutating func apply(_ record: CountRecord) -> Bool {
        if let stored = self.counts[record.key], (stored.epoch, stored.at) > (record.epoch, record.at) { return false }
        self.counts[record.key] = record
        return true
    }

    /// Applies an app's record.
    ///
    /// - Returns: False if the record is not newer than the stored one.
    @discardableResult package mutating func apply(_ record: AppRecord) -> Bool { self.apps.apply(record) }

    /// Removes a live's record; this happens some minutes after the live ended.
    package mutating func removeLive(_ key: LiveKey) {
        if self.lives.removeValue(forKey: key) != nil { self.liveCounts[key.app, default: 1] -= 1 }
    }
    /// Removes a stage's record.
    package mutating func removeStage(_ key: LiveKey) { self.stages[key] = nil }
    /// Removes a viewer count's record.
    package mutating func removeCount(_ key: LiveKey) { self.counts[key] = nil }

    /// Returns a live's record, even if the live has ended; nil if there is none or it was removed.
    package func live(_ key: LiveKey) -> LiveRecord? { self.lives[key] }

    /// Returns whether the model's record has reached the revision that a reply requires; the client that gets the
    /// reply then reads its own change.
    package func hasReached(_ required: RequiredRevision, app: AppID) -> Bool {
        let key = LiveKey(app, required.live)
        return switch required.table {
        // Wire names call a live a room.
        case .rooms: (self.lives[key]?.revision ?? .min) >= required.revision
        case .stages: (self.stages[key]?.revision ?? .min) >= required.revision
        case .apps: self.apps.revision(of: app) >= required.revision
        }
    }

    /// Returns a live's details; nil if the live has ended or is unknown.
    package func details(_ key: LiveKey) -> LiveDetails? {
        guard let live = self.running(key) else { return nil }
        return LiveDetails(
            info: live.info, epoch: live.epoch, revision: live.revision, audience: self.count(of: live),
            stage: self.stage(of: live))
    }

    /// Returns a live's viewer count; nil if the live has ended or is unknown.
    package func count(_ key: LiveKey) -> LiveCount? { self.running(key).map(self.count(of:)) }

    /// Returns a live's stage: its seats, connection and battle.
    ///
    /// The inner optional is nil if the live has no stage record yet; the outer optional is nil if the live has ended
    /// or is unknown.
    package func stage(_ key: LiveKey) -> StageRecord?? { self.running(key).map(self.stage(of:)) }

    /// Returns a live's metadata: only the given keys, or all keys if `keys` is empty; nil if there is no such live.
    package func metadata(_ key: LiveKey, keys: [String]) -> [String: String]? {
        guard let live = self.running(key) else { return nil }
        return keys.isEmpty ? live.info.metaData : live.info.metaData.filter { keys.contains($0.key) }
    }

    /// Returns a live's list entry; nil if the live is not public or not in `category`.
    package func listEntry(_ key: LiveKey, category: Int?) -> LiveListEntry? {
        guard let live = self.running(key), live.info.isPublicVisible else { return nil }
        if let category, !live.info.categoryList.contains(category) { return nil }
        let count = self.count(of: live)
        return LiveListEntry(info: live.info, audienceCount: count.count, totalViewerCount: count.totalViewers)
    }

    /// Returns the sort keys of all public running lives, in no particular order.
    package func rankingEntries() -> [RankingEntry] {
        var entries: [RankingEntry] = []
        entries.reserveCapacity(self.lives.count)
        for (key, live) in self.lives where live.ended == nil && live.info.isPublicVisible {
            entries.append(RankingEntry(key: key, totalViewers: self.count(of: live).totalViewers))
        }
        return entries
    }

    /// Returns the record of a running live; nil if the live has ended or is unknown.
    package func running(_ key: LiveKey) -> LiveRecord? {
        guard let live = self.lives[key], live.ended == nil else { return nil }
        return live
    }

    /// Returns the viewer count of a running live; nil if presence has not reported one.
    package func reportedCount(_ key: LiveKey) -> LiveCount? { self.running(key).flatMap(self.reportedCount) }

    /// Returns the reported viewer count of `live`; ignores the count of an earlier live with the same id.
    private func reportedCount(_ live: LiveRecord) -> LiveCount? {
        guard let record = self.counts[live.key], record.epoch == live.epoch else { return nil }
        return LiveCount(record)
    }

    /// Returns the viewer count of `live`; a count of 0 if presence has not reported one.
    private func count(of live: LiveRecord) -> LiveCount {
        self.reportedCount(live)
            ?? LiveCount(live: live.info.liveID, count: 0, totalViewers: 0, stale: false, at: live.info.createTime)
    }

    /// Returns the stage of `live`; ignores the stage of an earlier live with the same id.
    func stage(of live: LiveRecord) -> StageRecord? {
        guard let record = self.stages[live.key], record.epoch == live.epoch else { return nil }
        return record
    }
}
