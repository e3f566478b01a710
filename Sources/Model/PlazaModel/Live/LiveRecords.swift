// SPDX-License-Identifier: Apache-2.0
package import MachineKit

/// The record of a live in the topic `rooms`; a tombstone follows some minutes after the end.
package struct LiveRecord: Hashable, Sendable, Codable {
    package var v = 1
    package var app: AppID
    package var info: LiveInfo
    /// The live's feed epoch: the offset of its creation.
    package var epoch: Int64
    /// Grows with every change of this live; a reader ignores older ones.
    package var revision: Int64
    /// Why the live ended; nil: it runs.
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

/// The record of a live in the topic `audience.counts`.
package struct CountRecord: Hashable, Sendable, Codable {
    package var v = 1
    package var app: AppID
    package var live: LiveID
    package var epoch: Int64
    /// Users in the live, the owner not counted.
    package var count: Int
    /// All entries so far, repeat visits counted; lists are ordered by it.
    package var totalViewers: Int
    /// Whether the count may be out of date, because presence cannot reach Redis.
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

/// The other record in `audience.counts`, one per partition under the key `#epoch/<partition>`: presence has restarted,
/// so gateways send it their members of the partition's lives (I5).
package struct PresenceEpochRecord: Hashable, Sendable, Codable {
    package var v = 1
    package var partition: Int
    package var epoch: String

    package init(partition: Int, epoch: String) {
        self.partition = partition
        self.epoch = epoch
    }

    /// The record's key.
    package var keyText: String { Self.keyPrefix + "\(self.partition)" }
    /// Distinguishes these records' keys from those of lives: no app's name begins with it.
    package static let keyPrefix = "#epoch/"
}
