// SPDX-License-Identifier: Apache-2.0
package import PlazaModel

/// The reading position in one partition, and the events of the partition that are not finished, by app.
///
/// A slow backend must not hold back the events of other apps. Therefore an app whose share of the `DeliveryQueue` is
/// used up *lags*: its further events are skipped and later read again, starting with the first skipped event.
///
/// Kafka stores one committed offset for all apps. The offset's metadata contains the offsets at which the lagging apps
/// continue.
package struct ReadingProgress: Hashable, Sendable {
    /// The progress that is committed for a partition.
    package struct Checkpoint: Hashable, Sendable {
        /// All events before this offset are finished, except events of the apps in `laggingOffsets`.
        package var offset: Int64
        /// For each app with unfinished events, the offset of the first one.
        ///
        /// The partition's next owner, the instance that reads it after this one, treats these apps as lagging: it
        /// reads their events again from these offsets on.
        package var laggingOffsets: [AppID: Int64]

        package init(offset: Int64, laggingOffsets: [AppID: Int64] = [:]) {
            self.offset = offset
            self.laggingOffsets = laggingOffsets
        }
    }

    /// The maximum number of apps whose lagging offsets fit into the committed offset's metadata.
    ///
    /// With more lagging apps, an earlier offset is committed. When another instance takes the partition over, more
    /// events are then sent again.
    package static let maxLaggingApps = 64

    /// The offset after the last record that was read.
    package private(set) var nextOffset: Int64 = 0
    /// The offsets of each app's queued events.
    private var queuedOffsets: [AppID: Set<Int64>] = [:]
    /// The offset from which each lagging app's events must be read again.
    private(set) var laggingOffsets: [AppID: Int64] = [:]

    /// Begins at the first record.
    init() {}

    /// Continues from the checkpoint of the previous owner.
    init(_ checkpoint: Checkpoint) {
        self.nextOffset = checkpoint.offset
        self.laggingOffsets = checkpoint.laggingOffsets
    }

    /// The number of lagging apps.
    var laggingCount: Int { self.laggingOffsets.count }

    /// The offset from which an app's events must be read again; nil if the app does not lag.
    func laggingOffset(_ app: AppID) -> Int64? { self.laggingOffsets[app] }

    /// Advances `nextOffset` after a record was read for the first time.
    mutating func recordRead(_ offset: Int64) { self.nextOffset = max(self.nextOffset, offset + 1) }

    /// Adds an event that was queued.
    mutating func eventQueued(_ offset: Int64, of app: AppID) { self.queuedOffsets[app, default: []].insert(offset) }

    /// Removes an event that was delivered or abandoned.
    mutating func eventFinished(_ offset: Int64, of app: AppID) {
        self.queuedOffsets[app]?.remove(offset)
        if self.queuedOffsets[app]?.isEmpty == true { self.queuedOffsets[app] = nil }
    }

    /// Sets the offset from which the app lags; nil means that the app no longer lags.
    mutating func set(_ app: AppID, laggingFrom offset: Int64?) { self.laggingOffsets[app] = offset }

    /// The progress that may be committed now.
    var checkpoint: Checkpoint {
        // The first unfinished event of each app.
        var unfinished = self.laggingOffsets
        for (app, offsets) in self.queuedOffsets {
            if let first = offsets.min() { unfinished[app] = min(first, unfinished[app] ?? first) }
        }
        let orderedApps = unfinished.sorted { ($0.value, $0.key.text) < ($1.value, $1.key.text) }
        var checkpoint = Checkpoint(offset: self.nextOffset)
        for (app, offset) in orderedApps.prefix(Self.maxLaggingApps) { checkpoint.laggingOffsets[app] = offset }
        // The events of the apps that do not fit are read again from the earliest of their offsets.
        if orderedApps.count > Self.maxLaggingApps {
            checkpoint.offset = min(self.nextOffset, orderedApps[Self.maxLaggingApps].value)
        }
        return checkpoint
    }
}

extension ReadingProgress.Checkpoint {
    private static let version = "v1"

    /// The lagging offsets encoded as the committed offset's metadata, such as `v1 demo=17 shop=4`.
    package var metadata: String {
        guard !self.laggingOffsets.isEmpty else { return "" }
        let entries = self.laggingOffsets.sorted { $0.key.text < $1.key.text }.map { "\($0.key.text)=\($0.value)" }
        return ([Self.version] + entries).joined(separator: " ")
    }

    /// Reads a committed offset and its metadata; nil when the metadata is not valid.
    package init?(offset: Int64, metadata: String) {
        self.init(offset: offset)
        guard !metadata.isEmpty else { return }
        let entries = metadata.split(separator: " ")
        guard entries.first == Substring(Self.version) else { return nil }
        for entry in entries.dropFirst() {
            let parts = entry.split(separator: "=", omittingEmptySubsequences: false)
            // `FeedPosition.validNumbers` is the range of all valid offsets, not only of the numbers in feeds.
            guard parts.count == 2, let app = AppID(checking: String(parts[0])), let offset = Int64(parts[1]),
                FeedPosition.validNumbers.contains(offset)
            else { return nil }
            self.laggingOffsets[app] = offset
        }
    }
}
