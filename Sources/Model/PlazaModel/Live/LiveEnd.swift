// SPDX-License-Identifier: Apache-2.0
package import MachineKit

/// Why a live ended (R3.55).
package enum LiveEndReason: String, Hashable, Sendable, Codable {
    case endedByHost
    /// The app's server or the app's dismissal policy ended the live.
    case endedByServer
}

/// The end of a live, which one machine (the logic of a service) forwards to the next, in the order of R18.5.
///
/// The directory decides the end once (I1). The connection machine then removes the live from its connection and
/// battle. The seat machine empties the seats. Presence removes the members. The fan-out writes the feed's last item,
/// answers the caller and sends `closed` to the directory. A machine that does not know the live only forwards the end.
package struct Ending: Hashable, Sendable, Codable {
    package var reason: LiveEndReason
    /// The author of the call that ended the live; nil if the app's dismissal policy ended the live.
    package var caller: Caller?
    /// The feed epoch of the live that ended; a newer live with the same id is not affected.
    package var epoch: Int64
    /// When the live was created.
    package var createdAt: Timestamp
    /// When the directory ended the live.
    package var endedAt: Timestamp
    /// The number of visits to the live (R3.31); 0 until presence sets the number.
    package var totalViewers: Int64
    /// The live's info, for the webhook event; nil if the app has no webhooks.
    package var info: LiveInfo?

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
