// SPDX-License-Identifier: Apache-2.0
internal import MachineKit
package import PlazaModel

/// The key of a row of presence.
package enum AudienceKey: RowKey {
    /// The state of the whole partition.
    case partition
    /// A running live.
    case live(LiveKey)
    /// The revocation fence of a live: the lowest ticket (inbox offset of a join) that each kicked user may still use.
    ///
    /// The live's row is stored again with every count. So the fence, which changes seldom, has its own row.
    case fence(LiveKey)
    /// The bans of a live.
    case bans(LiveKey)
    /// The idempotency window of one session's calls in a live.
    case calls(LiveKey, UserID, SessionID)

    /// The stored key: the name of the kind and the key's parts, separated by slashes.
    ///
    /// A fence is stored as `floors`, because stored names never change.
    package var text: String {
        switch self {
        case .partition: "partition"
        case .live(let key): "live/\(key.text)"
        case .fence(let key): "floors/\(key.text)"
        case .bans(let key): "bans/\(key.text)"
        case .calls(let key, let user, let session): "calls/\(key.text)/\(user.text)/\(session.text)"
        }
    }

    package init?(text: String) {
        // No part of a key contains a slash.
        let parts = RecordKey.parts(of: text)
        switch (parts.first, parts.count) {
        case ("partition", 1): self = .partition
        case ("live", 3): self = .live(LiveKey(AppID(parts[1]), LiveID(parts[2])))
        case ("floors", 3): self = .fence(LiveKey(AppID(parts[1]), LiveID(parts[2])))
        case ("bans", 3): self = .bans(LiveKey(AppID(parts[1]), LiveID(parts[2])))
        case ("calls", 5):
            self = .calls(LiveKey(AppID(parts[1]), LiveID(parts[2])), UserID(parts[3]), SessionID(parts[4]))
        default: return nil
        }
    }

    /// Orders keys by kind, then by their parts.
    ///
    /// The comparison must be fast, because thousands of idempotency windows fall due at the same time. So the
    /// comparison builds no texts.
    package static func < (a: AudienceKey, b: AudienceKey) -> Bool {
        switch (a, b) {
        case (.live(let live), .live(let otherLive)), (.fence(let live), .fence(let otherLive)),
            (.bans(let live), .bans(let otherLive)):
            live < otherLive
        case (.calls(let live, let user, let session), .calls(let otherLive, let otherUser, let otherSession)):
            live != otherLive
                ? live < otherLive : user != otherUser ? user < otherUser : session < otherSession
        default: a.rank < b.rank
        }
    }

    /// The position of the key's kind in the order.
    private var rank: Int {
        switch self {
        case .partition: 0
        case .live: 1
        case .fence: 2
        case .bans: 3
        case .calls: 4
        }
    }
}
