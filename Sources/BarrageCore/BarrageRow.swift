// SPDX-License-Identifier: Apache-2.0
package import CoreKit
package import PlazaModel

/// The name of one of the fan-out's rows.
package enum BarrageKey: RowKey {
    /// A live's feed.
    case feed(LiveKey)
    /// What became of a session's calls to a live.
    case calls(LiveKey, SessionID)
    /// Who sent gifts to a live.
    case givers(LiveKey)

    package var text: String {
        switch self {
        case .feed(let key): "feed/\(key.text)"
        case .calls(let key, let session): "calls/\(key.text)/\(session.text)"
        case .givers(let key): "givers/\(key.text)"
        }
    }

    package init?(text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        switch (parts.first, parts.count) {
        case ("feed", 3): self = .feed(LiveKey(AppID(parts[1]), LiveID(parts[2])))
        case ("calls", 4): self = .calls(LiveKey(AppID(parts[1]), LiveID(parts[2])), SessionID(parts[3]))
        case ("givers", 3): self = .givers(LiveKey(AppID(parts[1]), LiveID(parts[2])))
        default: return nil
        }
    }

    // Every message looks up two rows: what tells rows apart is hashed once, apps and kinds are left to `==`.
    package func hash(into hasher: inout Hasher) {
        switch self {
        case .feed(let key), .givers(let key): hasher.combine(key.live.text)
        case .calls(let key, let session):
            hasher.combine(key.live.text)
            hasher.combine(session.text)
        }
    }

    /// Feeds, then calls, then givers; within each by name.
    package static func < (a: BarrageKey, b: BarrageKey) -> Bool {
        switch (a, b) {
        case (.feed(let a), .feed(let b)), (.givers(let a), .givers(let b)): a < b
        case (.calls(let a, let s), .calls(let b, let t)): a != b ? a < b : s < t
        case (.feed, _), (.calls, .givers): true
        case (.calls, .feed), (.givers, _): false
        }
    }
}

/// One of the fan-out's rows; some words each, so that they move at little cost.
package enum BarrageRow: JournalRow, Codable {
    package typealias Kept = KeptBarrageRows

    case feed(row: FeedRow)
    case calls(window: FateWindow)
    case givers(count: UniqueCount)

    package var due: Timestamp? {
        switch self {
        case .feed(let row): row.due
        case .calls(let window): window.due
        // They go with the feed.
        case .givers: nil
        }
    }
}

/// A live's feed as its one writer knows it.
///
/// Open until `removeAt` is set, which happens once, with `liveEnded` as the feed's last item (I1).
package struct FeedRow: Equatable, Sendable, Codable {
    /// In a box, so that the row itself is a word.
    var state: Boxed<FeedState>

    /// A feed that has no item yet.
    package init(epoch: Int64, owner: UserID, at now: Timestamp, admissions: AdmissionWindow = AdmissionWindow()) {
        let details = FeedDetails(rights: FeedRights(owner: owner), counters: Counters(openedAt: now))
        self.init(numbers: FeedNumbers(epoch: epoch, openedAt: now), admissions: admissions, details: Boxed(details))
    }

    init(numbers: FeedNumbers, admissions: AdmissionWindow, details: Boxed<FeedDetails>) {
        self.state = Boxed(FeedState(numbers: numbers, admissions: admissions, details: details))
    }

    package init(from decoder: any Decoder) throws { self.state = try Boxed(from: decoder) }
    package func encode(to encoder: any Encoder) throws { try self.state.encode(to: encoder) }

    /// Whether the live has ended.
    package var hasEnded: Bool { self.numbers.removeAt != nil }

    /// When the row falls due.
    var due: Timestamp? { self.numbers.removeAt ?? self.numbers.wakeAt }

    /// Makes the row fall due at `time` or before.
    mutating func wake(at time: Timestamp) {
        if let known = self.numbers.wakeAt, known <= time { return }
        self.numbers.wakeAt = time
    }
}

/// What a feed's row holds.
struct FeedState: Equatable, Sendable, Codable {
    var numbers: FeedNumbers
    var admissions: AdmissionWindow
    var details: Boxed<FeedDetails>
}

/// What changes in a feed with each message: plain numbers.
struct FeedNumbers: Equatable, Sendable, Codable {
    /// The live's incarnation.
    var epoch: Int64
    /// When the live began.
    var openedAt: Timestamp
    /// The number of the last item; 0 before the first (I7).
    var lastNumber: Int64 = 0
    /// What became of everything that was published (I10).
    var ledger = Ledger()
    /// The live's figures, but for its duration while it runs.
    var statistics = LiveStatistics()
    /// Until when tips are told to be incomplete; nil: they are not.
    var degradedUntil: Timestamp?
    /// When something that waits here may be due: no later than it is.
    var wakeAt: Timestamp?
    /// When the ended live's row goes.
    var removeAt: Timestamp?

    init(epoch: Int64, openedAt: Timestamp) {
        self.epoch = epoch
        self.openedAt = openedAt
    }
}

/// What changes seldom in a feed.
struct FeedDetails: Equatable, Sendable, Codable {
    /// What the other machines told.
    var rights: FeedRights
    /// What waits for room in the feed.
    var counters: Counters
    /// Who asked again for an end that is on its way; of several the last.
    var waitsForEnd: Caller?
}

extension FeedRow {
    var numbers: FeedNumbers {
        _read { yield self.state.value.numbers }
        _modify { yield &self.state.value.numbers }
    }
    /// What entered in the last second, so that a takeover grants no second budget (I9).
    package var admissions: AdmissionWindow {
        _read { yield self.state.value.admissions }
        _modify { yield &self.state.value.admissions }
    }
    package var lastNumber: Int64 { self.state.value.numbers.lastNumber }
    package var epoch: Int64 { self.state.value.numbers.epoch }
    package var ledger: Ledger {
        _read { yield self.state.value.numbers.ledger }
        _modify { yield &self.state.value.numbers.ledger }
    }
    package var statistics: LiveStatistics {
        _read { yield self.state.value.numbers.statistics }
        _modify { yield &self.state.value.numbers.statistics }
    }
    var details: FeedDetails {
        _read { yield self.state.value.details.value }
        _modify { yield &self.state.value.details.value }
    }
    var rights: FeedRights {
        _read { yield self.state.value.details.value.rights }
        _modify { yield &self.state.value.details.value.rights }
    }
    var counters: Counters {
        _read { yield self.state.value.details.value.counters }
        _modify { yield &self.state.value.details.value.counters }
    }
}

/// Who may do what in a feed; changes seldom.
package struct FeedRights: Hashable, Sendable, Codable {
    /// Whom the room mute spares, with the admins.
    package var owner: UserID
    /// Mutes all but owner and admins.
    package var isMessageDisable = false
    package var admins: [UserID] = []
    /// Whether gifts may be sent.
    package var isGiftEnabled = true
    /// Who may not write, and until when.
    package var mutes = Mutes()
    /// The lowest tickets of users who were kicked (I6).
    package var floors = Floors()
    /// Users of this live on its seats: they may be heard.
    package var seated: [UserID] = []

    /// The rights in a live that begins.
    package init(owner: UserID) { self.owner = owner }
}
