// SPDX-License-Identifier: Apache-2.0
package import CoreKit
package import PlazaModel

/// The name of one of the fan-out's rows.
package enum BarrageKey: RowKey {
    /// A live's feed.
    case feed(LiveKey)
    /// What became of a session's messages to a live.
    case calls(LiveKey, SessionID)

    package var text: String {
        switch self {
        case .feed(let key): "feed/\(key.text)"
        case .calls(let key, let session): "calls/\(key.text)/\(session.text)"
        }
    }

    package init?(text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        switch (parts.first, parts.count) {
        case ("feed", 3): self = .feed(LiveKey(AppID(parts[1]), LiveID(parts[2])))
        case ("calls", 4): self = .calls(LiveKey(AppID(parts[1]), LiveID(parts[2])), SessionID(parts[3]))
        default: return nil
        }
    }

    // Every message looks up three rows: what tells rows apart is hashed once, apps and kinds are left to `==`.
    package func hash(into hasher: inout Hasher) {
        switch self {
        case .feed(let key): hasher.combine(key.live.text)
        case .calls(let key, let session):
            hasher.combine(key.live.text)
            hasher.combine(session.text)
        }
    }

    /// Feeds, then calls; within each by name.
    package static func < (a: BarrageKey, b: BarrageKey) -> Bool {
        switch (a, b) {
        case (.feed(let a), .feed(let b)): a < b
        case (.feed, .calls): true
        case (.calls, .feed): false
        case (.calls(let a, let s), .calls(let b, let t)): a != b ? a < b : s < t
        }
    }
}

/// One of the fan-out's rows.
package enum BarrageRow: JournalRow, Codable {
    case feed(row: FeedRow)
    case calls(window: FateWindow)

    package var due: Timestamp? {
        switch self {
        case .feed(let row): row.removeAt
        case .calls(let window): window.due
        }
    }
}

/// A live's feed as its one writer knows it.
///
/// Open until `removeAt` is set, which happens once, with `liveEnded` as the feed's last item (I1).
package struct FeedRow: Equatable, Sendable, Codable {
    /// The live's incarnation.
    package var epoch: Int64
    /// Whom the room mute spares, with the admins.
    package var owner: UserID
    /// The number of the last item; 0 before the first (I7).
    package var lastNumber: Int64 = 0
    /// Mutes all but owner and admins.
    package var isMessageDisable = false
    package var admins: [UserID] = []
    /// Whether gifts may be sent.
    package var isGiftEnabled = true
    /// Who may not write, and until when.
    package var mutes = Mutes()
    package var statistics = LiveStatistics()
    /// The lowest tickets of users who were kicked (I6).
    package var floors = Floors()
    /// What entered in the last second, so that a takeover grants no second budget (I9).
    package var admissions: AdmissionWindow
    /// What became of everything that was published (I10).
    package var ledger = Ledger()
    /// When the ended live's row goes.
    package var removeAt: Timestamp?

    /// A feed that has no item yet.
    package init(epoch: Int64, owner: UserID, admissions: AdmissionWindow = AdmissionWindow()) {
        self.epoch = epoch
        self.owner = owner
        self.admissions = admissions
    }

    /// Whether the live has ended.
    package var hasEnded: Bool { self.removeAt != nil }
}
