// SPDX-License-Identifier: Apache-2.0
package import CoreKit

/// How far the outbox of a partition has been told: what is committed beside the inbox's offset.
package struct Bookmark: Hashable, Sendable {
    /// The epoch of the leases; empty before the first.
    package var epoch = ""
    /// The last entry of the outbox that was told.
    package var id: Int64 = 0
    /// The latest time seen, so that a new owner's time does not go back.
    package var now = Timestamp.distantPast

    package init() {}

    /// Reads what an owner committed; empty text, and any other text, is the very beginning.
    package init(text: String) {
        let parts = text.split(separator: " ")
        guard parts.count == 3, let id = Int64(parts[1]), let now = Int64(parts[2]) else { return }
        self.epoch = parts[0] == "-" ? "" : String(parts[0])
        self.id = id
        self.now = Timestamp(milliseconds: now)
    }

    /// As it is committed: the epoch or a hyphen, the id, the time.
    package var text: String { "\(self.epoch.isEmpty ? "-" : self.epoch) \(self.id) \(self.now.milliseconds)" }
}
