// SPDX-License-Identifier: Apache-2.0
package import CoreKit
package import PlazaModel

/// The name of one of the fan-out's rows.
///
/// Plain parts and no cases, for a look-up compares them where they stand.
package struct BarrageKey: RowKey {
    /// What the row is.
    package enum Kind: Int, Sendable, CaseIterable {
        case feed
        case calls
        case givers
        case backend

        fileprivate var name: String {
            switch self {
            case .feed: "feed"
            case .calls: "calls"
            case .givers: "givers"
            case .backend: "backend"
            }
        }

        /// Whether there is one for each session.
        fileprivate var isOfSession: Bool { self == .calls || self == .backend }
    }

    package let kind: Kind
    package let live: LiveKey
    /// Of calls, and of what a backend said of them; else empty.
    package let session: SessionID

    /// A live's feed.
    package static func feed(_ live: LiveKey) -> BarrageKey { BarrageKey(kind: .feed, live: live, session: "") }
    /// What became of a session's calls to a live.
    package static func calls(_ live: LiveKey, _ session: SessionID) -> BarrageKey {
        BarrageKey(kind: .calls, live: live, session: session)
    }
    /// Who sent gifts to a live.
    package static func givers(_ live: LiveKey) -> BarrageKey { BarrageKey(kind: .givers, live: live, session: "") }
    /// What the app's backend said of a session's calls to a live.
    package static func backend(_ live: LiveKey, _ session: SessionID) -> BarrageKey {
        BarrageKey(kind: .backend, live: live, session: session)
    }

    package var text: String {
        let text = "\(self.kind.name)/\(self.live.text)"
        return self.kind.isOfSession ? "\(text)/\(self.session.text)" : text
    }

    private init(kind: Kind, live: LiveKey, session: SessionID) {
        self.kind = kind
        self.live = live
        self.session = session
    }

    package init?(text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard parts.count >= 3, let kind = Kind.allCases.first(where: { $0.name == parts[0] }),
            parts.count == (kind.isOfSession ? 4 : 3)
        else {
            return nil
        }
        let session = SessionID(kind.isOfSession ? parts[3] : "")
        self.init(kind: kind, live: LiveKey(AppID(parts[1]), LiveID(parts[2])), session: session)
    }

    package static func == (a: BarrageKey, b: BarrageKey) -> Bool {
        // The texts themselves: equal short ones are told by two words, without a call.
        a.kind == b.kind && a.session.text == b.session.text && a.live.live.text == b.live.live.text
            && a.live.app.text == b.live.app.text
    }

    // Every message looks up two rows: what tells rows apart is hashed once, apps and kinds are left to `==`.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(self.live.live.text)
        if self.kind.isOfSession { hasher.combine(self.session.text) }
    }

    /// By kind, then by name.
    package static func < (a: BarrageKey, b: BarrageKey) -> Bool {
        if a.kind != b.kind { return a.kind.rawValue < b.kind.rawValue }
        return a.live != b.live ? a.live < b.live : a.session < b.session
    }
}

/// One of the fan-out's rows; some words each, so that they move at little cost.
package enum BarrageRow: JournalRow, Codable {
    package typealias Kept = KeptBarrageRows

    case feed(row: Boxed<FeedRow>)
    case calls(window: FateWindow)
    case givers(count: UniqueCount)
    case backend(words: BackendWords)

    package var due: Timestamp? {
        switch self {
        case .feed(let row): row.value.due
        case .calls(let window): window.due
        // They go with the feed, or with the window.
        case .givers, .backend: nil
        }
    }
}

/// A live's feed as its one writer knows it.
///
/// Open until `removeAt` is set, which happens once, with `liveEnded` as the feed's last item (I1).
package struct FeedRow: Equatable, Sendable, Codable {
    var numbers: FeedNumbers
    /// What entered in the last second, so that a takeover grants no second budget (I9).
    package var admissions: AdmissionWindow
    /// In a box, for a row kept for undo shares them with the row that goes on.
    private(set) var details: Boxed<FeedDetails>

    /// A feed that has no item yet.
    package init(epoch: Int64, owner: UserID, at now: Timestamp, admissions: AdmissionWindow = AdmissionWindow()) {
        let details = FeedDetails(rights: FeedRights(owner: owner), counters: Counters(openedAt: now))
        self.init(numbers: FeedNumbers(epoch: epoch, openedAt: now), admissions: admissions, details: Boxed(details))
    }

    init(numbers: FeedNumbers, admissions: AdmissionWindow, details: Boxed<FeedDetails>) {
        self.numbers = numbers
        self.admissions = admissions
        self.details = details
    }

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
    package var lastNumber: Int64 { self.numbers.lastNumber }
    package var epoch: Int64 { self.numbers.epoch }
    package var ledger: Ledger {
        _read { yield self.numbers.ledger }
        _modify { yield &self.numbers.ledger }
    }
    package var statistics: LiveStatistics {
        _read { yield self.numbers.statistics }
        _modify { yield &self.numbers.statistics }
    }
    var rights: FeedRights {
        _read { yield self.details.value.rights }
        _modify { yield &self.details.value.rights }
    }
    var counters: Counters {
        _read { yield self.details.value.counters }
        _modify { yield &self.details.value.counters }
    }
    /// Who asked again for an end that is on its way; of several the last.
    var waitsForEnd: Caller? {
        get { self.details.value.waitsForEnd }
        set { self.details.value.waitsForEnd = newValue }
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
