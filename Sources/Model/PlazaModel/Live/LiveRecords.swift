// SPDX-License-Identifier: Apache-2.0
package import MachineKit

/// The record of a live in the topic `rooms`.
///
/// A tombstone removes the record some minutes after the live's end.
package struct LiveRecord: Hashable, Sendable, Codable {
    /// The version of the record's format.
    package var v = 1
    package var app: AppID
    package var info: LiveInfo
    /// The live's feed epoch: the offset of its creation.
    package var epoch: Int64
    /// Grows with every change of the live; readers ignore a record with a lower revision than the last one.
    package var revision: Int64
    /// Why the live ended; nil while it is running.
    package var ended: LiveEndReason?

    package init(app: AppID, info: LiveInfo, epoch: Int64, revision: Int64, ended: LiveEndReason? = nil) {
        self.app = app
        self.info = info
        self.epoch = epoch
        self.revision = revision
        self.ended = ended
    }

    package var key: LiveKey { LiveKey(self.app, self.info.liveID) }
}

/// The audience count of a live in the topic `audience.counts`.
package struct CountRecord: Hashable, Sendable, Codable {
    /// The version of the record's format.
    package var v = 1
    package var app: AppID
    package var live: LiveID
    /// The live's feed epoch.
    package var epoch: Int64
    /// Users in the live, without the owner.
    package var count: Int
    /// All visits so far (R3.31); lists of lives are ordered by this number.
    package var totalViewers: Int
    /// Whether the count may be out of date because presence cannot reach Redis.
    package var stale: Bool
    /// The broker's time of the count.
    package var at: Timestamp

    package init(
        app: AppID, live: LiveID, epoch: Int64, count: Int, totalViewers: Int, stale: Bool = false, at: Timestamp
    ) {
        self.app = app
        self.live = live
        self.epoch = epoch
        self.count = count
        self.totalViewers = totalViewers
        self.stale = stale
        self.at = at
    }

    package var key: LiveKey { LiveKey(self.app, self.live) }
}

/// The presence epoch of a partition, in the topic `audience.counts` under the key `#epoch/<partition>`.
///
/// A new epoch begins when presence has lost its leases. Each gateway then reports its connected members of the
/// partition's lives to presence (I5).
package struct PresenceEpochRecord: Hashable, Sendable, Codable {
    /// The version of the record's format.
    package var v = 1
    package var partition: Int
    /// Identifies the epoch; each epoch has a different text.
    package var epoch: String

    package init(partition: Int, epoch: String) {
        self.partition = partition
        self.epoch = epoch
    }

    /// The record's key.
    package var keyText: String { Self.keyPrefix + "\(self.partition)" }
    /// The prefix of the keys of epoch records; a live's key never begins with `#`.
    package static let keyPrefix = "#epoch/"
}
