// SPDX-License-Identifier: Apache-2.0
package import MachineKit
package import PlazaModel

/// The key of one of the fan-out's rows.
///
/// The key is a struct and not an enum with payloads, so that a look-up compares the parts without copying them.
package struct BarrageKey: RowKey {
    /// The kind of a row.
    package enum Kind: Int, Sendable, CaseIterable {
        /// A live's feed.
        case feed
        /// The outcomes of a session's calls to a live: an idempotency window.
        case calls
        /// The count of the users who sent gifts to a live.
        case givers
        /// The errors with which the app's backend refused a session's calls to a live.
        case backend

        /// The name in the stored key.
        fileprivate var name: String {
            switch self {
            case .feed: "feed"
            case .calls: "calls"
            case .givers: "givers"
            case .backend: "backend"
            }
        }

        /// Whether each session has its own row of this kind.
        fileprivate var isPerSession: Bool { self == .calls || self == .backend }
    }

    package let kind: Kind
    package let live: LiveKey
    /// The session of an idempotency window or of backend errors; empty for other rows.
    package let session: SessionID

    /// A live's feed.
    package static func feed(_ live: LiveKey) -> BarrageKey { BarrageKey(kind: .feed, live: live, session: "") }
    /// The outcomes of a session's calls to a live.
    package static func calls(_ live: LiveKey, _ session: SessionID) -> BarrageKey {
        BarrageKey(kind: .calls, live: live, session: session)
    }
    /// The count of the users who sent gifts to a live.
    package static func givers(_ live: LiveKey) -> BarrageKey { BarrageKey(kind: .givers, live: live, session: "") }
    /// The errors with which the app's backend refused a session's calls to a live.
    package static func backend(_ live: LiveKey, _ session: SessionID) -> BarrageKey {
        BarrageKey(kind: .backend, live: live, session: session)
    }

    /// The stored key: `KIND/APP/LIVE`, followed by `/SESSION` if each session has its own row of this kind.
    package var text: String {
        let text = "\(self.kind.name)/\(self.live.text)"
        return self.kind.isPerSession ? "\(text)/\(self.session.text)" : text
    }

    private init(kind: Kind, live: LiveKey, session: SessionID) {
        self.kind = kind
        self.live = live
        self.session = session
    }

    package init?(text: String) {
        let parts = RecordKey.parts(of: text)
        guard parts.count >= 3, let kind = Kind.allCases.first(where: { $0.name == parts[0] }),
            parts.count == (kind.isPerSession ? 4 : 3)
        else {
            return nil
        }
        let session = SessionID(kind.isPerSession ? parts[3] : "")
        self.init(kind: kind, live: LiveKey(AppID(parts[1]), LiveID(parts[2])), session: session)
    }

    package static func == (a: BarrageKey, b: BarrageKey) -> Bool {
        // The strings are compared directly, because Swift compares two short strings as machine words, without a call.
        a.kind == b.kind && a.session.text == b.session.text && a.live.live.text == b.live.live.text
            && a.live.app.text == b.live.app.text
    }

    // Every message looks up two rows (the feed and the session's window), so hashing must be cheap. The app and the
    // kind are not hashed; `==` compares them.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(self.live.live.text)
        if self.kind.isPerSession { hasher.combine(self.session.text) }
    }

    /// Orders keys by kind, live and session.
    package static func < (a: BarrageKey, b: BarrageKey) -> Bool {
        if a.kind != b.kind { return a.kind.rawValue < b.kind.rawValue }
        return a.live != b.live ? a.live < b.live : a.session < b.session
    }
}

/// One of the fan-out's rows.
///
/// A row has the size of a few machine words, so it is cheap to move. The names of the cases' parameters are stored
/// with the rows, so they never change.
package enum BarrageRow: JournalRow, Codable {
    package typealias UndoStore = BarrageUndoStore

    case feed(row: CopyOnWrite<FeedRow>)
    case calls(window: MessageWindow)
    case givers(count: UniqueCount)
    /// The errors of the calls that the backend refused; the label is `words`, because stored rows contain it.
    case backend(words: BackendErrors)

    package var due: Timestamp? {
        switch self {
        case .feed(let row): row.value.due
        case .calls(let window): window.due
        // `givers` is removed with the live's feed, and `backend` with the session's window.
        case .givers, .backend: nil
        }
    }
}

/// The fan-out's row of a live's feed.
///
/// The feed is open until `numbers.removeAt` is set. This happens once, when `liveEnded` is appended as the feed's last
/// item (I1 in docs/RULES.md).
package struct FeedRow: Equatable, Sendable, Codable {
    var numbers: FeedNumbers
    /// The admissions of the last second, stored so that a new owner of the partition does not grant the budget twice
    /// (I9).
    package var admissions: AdmissionWindow
    /// The part of the feed that changes seldom.
    ///
    /// It is copy-on-write: a row that is saved for undo shares the details with the current row until they change.
    private(set) var details: CopyOnWrite<FeedDetails>

    /// Creates a feed without items.
    package init(epoch: Int64, owner: UserID, at now: Timestamp, admissions: AdmissionWindow = AdmissionWindow()) {
        let details = FeedDetails(rights: FeedRights(owner: owner), counters: Counters(openedAt: now))
        self.init(
            numbers: FeedNumbers(epoch: epoch, openedAt: now), admissions: admissions, details: CopyOnWrite(details))
    }

    init(numbers: FeedNumbers, admissions: AdmissionWindow, details: CopyOnWrite<FeedDetails>) {
        self.numbers = numbers
        self.admissions = admissions
        self.details = details
    }

    /// Whether the live has ended.
    package var hasEnded: Bool { self.numbers.removeAt != nil }

    /// When the row falls due: to be removed if the live has ended, otherwise to check what is pending.
    var due: Timestamp? { self.numbers.removeAt ?? self.numbers.wakeAt }

    /// Sets the wake time to `time`, unless an earlier wake time is set.
    mutating func scheduleWake(at time: Timestamp) {
        if let wakeAt = self.numbers.wakeAt, wakeAt <= time { return }
        self.numbers.wakeAt = time
    }
}

/// The part of a feed that changes with each message.
struct FeedNumbers: Equatable, Sendable, Codable {
    /// The number that distinguishes the live from earlier lives with the same id; a later live has a higher epoch.
    var epoch: Int64
    /// When the live began.
    var openedAt: Timestamp
    /// The number of the last item; 0 before the first (I7).
    var lastNumber: Int64 = 0
    /// The ledger of everything that was published (I10).
    var ledger = Ledger()
    /// The live's statistics; the duration is set at the end.
    var statistics = LiveStatistics()
    /// When tips (low-priority items) count as complete again, unless another tip is dropped before; nil while no tips
    /// are dropped.
    var degradedUntil: Timestamp?
    /// When pending counters, speaking levels or the end of dropped tips must be checked; nil when nothing is pending.
    var wakeAt: Timestamp?
    /// When the row of the ended live is removed; nil while the live is running.
    var removeAt: Timestamp?

    init(epoch: Int64, openedAt: Timestamp) {
        self.epoch = epoch
        self.openedAt = openedAt
    }
}

/// The part of a feed that changes seldom.
struct FeedDetails: Equatable, Sendable, Codable {
    /// The permissions; other machines decide them and send them to the fan-out.
    var rights: FeedRights
    /// The counters that are not published yet.
    var counters: Counters
    /// Who has repeated the call to end the live, before the fan-out handled the end; nil if nobody has.
    ///
    /// This caller gets its reply when the feed ends. If several calls are repeated, only the latest caller is kept.
    var callerAwaitingEnd: Caller?

    /// The names in stored rows; one differs from its property, because stored names never change.
    private enum CodingKeys: String, CodingKey {
        case rights, counters
        case callerAwaitingEnd = "waitsForEnd"
    }
}

// The accessors `_read` and `_modify` lend the value in place; a getter would copy it.
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
    var callerAwaitingEnd: Caller? {
        get { self.details.value.callerAwaitingEnd }
        set { self.details.value.callerAwaitingEnd = newValue }
    }
}

/// Who may send what to a feed; this changes seldom.
package struct FeedRights: Hashable, Sendable, Codable {
    /// The live's owner.
    package var owner: UserID
    /// Whether the live is muted for viewers: only the owner and the admins may send messages.
    package var isMessageDisable = false
    /// The live's admins.
    package var admins: [UserID] = []
    /// Whether gifts may be sent.
    package var isGiftEnabled = true
    /// The muted users, and until when.
    package var mutes = Mutes()
    /// The floor of each kicked user: the lowest ticket that the user may still use (I6).
    package var floors = RevocationFence()
    /// The users on the live's seats, who may send speaking levels.
    package var seated: [UserID] = []

    /// Creates the rights of a new live.
    package init(owner: UserID) { self.owner = owner }
}
