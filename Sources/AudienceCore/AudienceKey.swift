// SPDX-License-Identifier: Apache-2.0
internal import CoreKit
package import PlazaModel

/// The name of a row of presence.
package enum AudienceKey: RowKey {
    /// What holds for all lives of the partition.
    case partition
    /// A running live.
    case live(LiveKey)
    /// The floors of a live's kicked users; apart from the live's row, which changes with every count.
    case floors(LiveKey)
    /// Who may not enter a live.
    case bans(LiveKey)
    /// The last outcomes of one session's calls in a live.
    case calls(LiveKey, UserID, SessionID)

    package var text: String {
        switch self {
        case .partition: "partition"
        case .live(let key): "live/\(key.text)"
        case .floors(let key): "floors/\(key.text)"
        case .bans(let key): "bans/\(key.text)"
        case .calls(let key, let user, let session): "calls/\(key.text)/\(user.text)/\(session.text)"
        }
    }

    package init?(text: String) {
        // No part of a name may hold a slash.
        let parts = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        switch (parts.first, parts.count) {
        case ("partition", 1): self = .partition
        case ("live", 3): self = .live(LiveKey(AppID(parts[1]), LiveID(parts[2])))
        case ("floors", 3): self = .floors(LiveKey(AppID(parts[1]), LiveID(parts[2])))
        case ("bans", 3): self = .bans(LiveKey(AppID(parts[1]), LiveID(parts[2])))
        case ("calls", 5):
            self = .calls(LiveKey(AppID(parts[1]), LiveID(parts[2])), UserID(parts[3]), SessionID(parts[4]))
        default: return nil
        }
    }

    /// By kind, then by name; without making texts, for thousands of outcomes fall due at one time.
    package static func < (a: AudienceKey, b: AudienceKey) -> Bool {
        switch (a, b) {
        case (.live(let one), .live(let other)), (.floors(let one), .floors(let other)),
            (.bans(let one), .bans(let other)):
            one < other
        case (.calls(let live, let user, let session), .calls(let otherLive, let otherUser, let otherSession)):
            live != otherLive
                ? live < otherLive : user != otherUser ? user < otherUser : session < otherSession
        default: a.rank < b.rank
        }
    }

    private var rank: Int {
        switch self {
        case .partition: 0
        case .live: 1
        case .floors: 2
        case .bans: 3
        case .calls: 4
        }
    }
}
