// SPDX-License-Identifier: Apache-2.0
package import CoreKit

/// Why a live ended (reference 3.3).
package enum LiveEndReason: String, Hashable, Sendable, Codable {
    case endedByHost
    case endedByServer
}

/// The end of a live on its way through the machines, in the order of the reference, section 19.
///
/// The directory decides it once (I1) and sends it to the connection machine, which leaves connection and battle; then
/// to the seat machine, to presence, and to the fan-out, which writes the feed's last item, answers the caller, and
/// tells the directory that the live is closed. A machine that does not know the live passes its end on all the same.
package struct Ending: Hashable, Sendable, Codable {
    /// Who ended the live: its owner, or the app's server or a rule of the app.
    package var reason: LiveEndReason
    /// Whose call it was; nil: a rule of the app ended the live.
    package var caller: Caller?
    /// The feed epoch of the live that ended; one of the same name that is newer goes on.
    package var epoch: Int64
    /// When the live was created.
    package var createdAt: Timestamp
    /// When the directory ended it.
    package var endedAt: Timestamp
    /// All entries, repeat visits counted; presence sets it.
    package var totalViewers: Int64
    /// What the live was, for an app whose backend is told.
    package var info: LiveInfo?

    /// An ending as the directory decides it; `totalViewers` is presence's to set.
    package init(
        reason: LiveEndReason, caller: Caller?, epoch: Int64, createdAt: Timestamp, endedAt: Timestamp,
        totalViewers: Int64 = 0, info: LiveInfo? = nil
    ) {
        self.reason = reason
        self.caller = caller
        self.epoch = epoch
        self.createdAt = createdAt
        self.endedAt = endedAt
        self.totalViewers = totalViewers
        self.info = info
    }
}
