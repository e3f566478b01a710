// SPDX-License-Identifier: Apache-2.0
package import MachineKit

/// The position up to which a partition's outbox (the changes that Redis holds until they are published) was published.
///
/// The position is committed as the metadata of the inbox offset.
package struct OutboxCursor: Hashable, Sendable {
    /// The name of the epoch of the leases; empty before the first epoch.
    package var epoch = ""
    /// The id of the last published entry of the outbox.
    package var id: Int64 = 0
    /// The latest time of an input; the next owner begins with this time, so that time never goes backwards.
    package var latestTime = Timestamp.distantPast

    package init() {}

    /// Reads the committed text.
    ///
    /// An empty or malformed text stands for the beginning of the outbox.
    package init(text: String) {
        let parts = text.split(separator: " ")
        guard parts.count == 3, let id = Int64(parts[1]), let latestTime = Int64(parts[2]) else { return }
        self.epoch = parts[0] == "-" ? "" : String(parts[0])
        self.id = id
        self.latestTime = Timestamp(milliseconds: latestTime)
    }

    /// The committed text: the epoch or a hyphen, the id, the time.
    package var text: String { "\(self.epoch.isEmpty ? "-" : self.epoch) \(self.id) \(self.latestTime.milliseconds)" }
}
