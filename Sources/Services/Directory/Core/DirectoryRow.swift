// SPDX-License-Identifier: Apache-2.0
package import MachineKit
package import PlazaModel

/// The key of one of the directory's rows.
package enum DirectoryKey: RowKey {
    /// A live that is running or ended less than five minutes ago.
    case live(LiveKey)
    /// The claim of a user: the one live that the user runs or is creating.
    case claim(UserKey)
    /// The outcomes of a session's calls about a live.
    case liveCalls(LiveKey, SessionID)
    /// The outcomes of a session's calls that create lives for an owner.
    case ownerCalls(UserKey, SessionID)
    /// One page of the bans of a live.
    case bans(LiveKey, page: Int = 0)
    /// One page of the mutes of a live.
    case mutes(LiveKey, page: Int = 0)
    /// An app's settings.
    case app(AppID)
    /// The outcomes of a session's calls that change an app's settings.
    case appCalls(AppID, SessionID)

    /// The stored key: the name of the kind and the key's parts, separated by slashes.
    ///
    /// Stored names say `room` for a live.
    package var text: String {
        switch self {
        case .live(let key): "room/\(key.text)"
        case .claim(let key): "claim/\(key.text)"
        case .liveCalls(let key, let session): "roomCalls/\(key.text)/\(session.text)"
        case .ownerCalls(let key, let session): "ownerCalls/\(key.text)/\(session.text)"
        // The first page has the key of the row in which older versions stored the whole list.
        case .bans(let key, let page): page == 0 ? "bans/\(key.text)" : "bans/\(key.text)/\(page)"
        case .mutes(let key, let page): page == 0 ? "mutes/\(key.text)" : "mutes/\(key.text)/\(page)"
        case .app(let app): "app/\(app.text)"
        case .appCalls(let app, let session): "appCalls/\(app.text)/\(session.text)"
        }
    }

    package init?(text: String) {
        let parts = RecordKey.parts(of: text)
        switch (parts.first, parts.count) {
        case ("room", 3): self = .live(LiveKey(AppID(parts[1]), LiveID(parts[2])))
        case ("claim", 3): self = .claim(UserKey(AppID(parts[1]), UserID(parts[2])))
        case ("roomCalls", 4): self = .liveCalls(LiveKey(AppID(parts[1]), LiveID(parts[2])), SessionID(parts[3]))
        case ("ownerCalls", 4): self = .ownerCalls(UserKey(AppID(parts[1]), UserID(parts[2])), SessionID(parts[3]))
        case ("bans", 3): self = .bans(LiveKey(AppID(parts[1]), LiveID(parts[2])))
        case ("mutes", 3): self = .mutes(LiveKey(AppID(parts[1]), LiveID(parts[2])))
        case ("bans", 4), ("mutes", 4):
            // Only the plain form of a number is a page (not "01" or "+1"), so that each page has one stored key.
            guard let page = Int(parts[3]), (1..<SanctionLimits.rowsPerList).contains(page), parts[3] == "\(page)"
            else {
                return nil
            }
            let live = LiveKey(AppID(parts[1]), LiveID(parts[2]))
            self = parts[0] == "bans" ? .bans(live, page: page) : .mutes(live, page: page)
        case ("app", 2): self = .app(AppID(parts[1]))
        case ("appCalls", 3): self = .appCalls(AppID(parts[1]), SessionID(parts[2]))
        default: return nil
        }
    }

    /// Orders keys by kind, then by their parts.
    package static func < (a: DirectoryKey, b: DirectoryKey) -> Bool {
        switch (a, b) {
        case (.live(let live), .live(let otherLive)): live < otherLive
        case (.bans(let live, let page), .bans(let otherLive, let otherPage)),
            (.mutes(let live, let page), .mutes(let otherLive, let otherPage)):
            live != otherLive ? live < otherLive : page < otherPage
        case (.claim(let owner), .claim(let otherOwner)): owner < otherOwner
        case (.liveCalls(let live, let session), .liveCalls(let otherLive, let otherSession)):
            live != otherLive ? live < otherLive : session < otherSession
        case (.ownerCalls(let owner, let session), .ownerCalls(let otherOwner, let otherSession)):
            owner != otherOwner ? owner < otherOwner : session < otherSession
        case (.app(let app), .app(let otherApp)): app < otherApp
        case (.appCalls(let app, let session), .appCalls(let otherApp, let otherSession)):
            app != otherApp ? app < otherApp : session < otherSession
        default: a.rank < b.rank
        }
    }

    /// The position of the key's kind in the order of keys.
    private var rank: Int {
        switch self {
        case .live: 0
        case .claim: 1
        case .liveCalls: 2
        case .ownerCalls: 3
        case .app: 4
        case .appCalls: 5
        case .bans: 6
        case .mutes: 7
        }
    }
}

/// One of the directory's rows.
///
/// The enum is indirect, so that a copy of a row is only a reference. A change allocates, but rows are read far more
/// often than they are changed.
///
/// The names of the cases' parameters are stored with the rows, so they never change.
package indirect enum DirectoryRow: JournalRow, Codable {
    case live(row: LiveRow)
    case claim(claim: OwnerClaim)
    case calls(window: CallWindow)
    case app(row: AppRow)
    case sanctions(list: SanctionList)

    /// The names in stored rows; one differs from its case, because stored names never change.
    private enum CodingKeys: String, CodingKey {
        case live = "room"
        case claim, calls, app, sanctions
    }

    package var due: Timestamp? {
        switch self {
        case .live(let row): row.removeAt ?? row.dismissAt
        case .sanctions(let list): list.nextExpiry
        // These rows are changed only by inputs.
        case .claim, .app: nil
        case .calls(let window): window.due
        }
    }

    /// Records the outcome of the call with the request number `counter`; does nothing if the row is not an idempotency
    /// window.
    mutating func record(_ outcome: CallOutcome, of counter: Int64, at moment: Moment) {
        guard case .calls(var window) = self else { return }
        window.record(outcome, of: counter, at: moment)
        self = .calls(window: window)
    }

    /// Handles the due time of an idempotency window (see `IdempotencyWindow.expire`); the machine calls this only for
    /// windows.
    ///
    /// - Returns: whether the window has expired and the row must be removed; true for any other row.
    mutating func expire(at moment: Moment) -> Bool {
        guard case .calls(var window) = self else { return true }
        let isExpired = window.expire(at: moment)
        self = .calls(window: window)
        return isExpired
    }
}

/// The directory's row of a live.
///
/// The live is running until `ended` is set, which happens once and is final (I1, docs/RULES.md).
package struct LiveRow: Hashable, Sendable, Codable {
    /// The public info.
    package var info: LiveInfo
    /// The offset of the creation; it distinguishes the live from earlier lives with the same id.
    package var epoch: Int64
    /// The offset of the last change of the live, or of its creation if it has not changed since.
    ///
    /// A later live with the same id has higher revisions.
    package var revision: Int64
    /// Why the live ended; nil while the live is running.
    package var ended: LiveEndReason?
    /// True from the end until all machines have handled the end, otherwise nil; meanwhile the id cannot be reused.
    package var isClosing: Bool?
    /// When the ended live's row is removed; nil while the live is running.
    package var removeAt: Timestamp?
    /// The time since which the live has been empty.
    ///
    /// Nil if the live is not empty, or if an app's server created it and nobody has joined yet.
    package var emptySince: Timestamp?
    /// How and when the owner left; nil if the owner is in the live or has never joined.
    package var ownerGone: OwnerGone?
    /// When the dismissal policy ends the live if the occupancy stays the same (R3.60, R3.61); nil means never.
    package var dismissAt: Timestamp?
    /// The lowest tickets that kicked users may still use (I6).
    package var floors: RevocationFence

    /// Creates the row of a new live.
    package init(info: LiveInfo, epoch: Int64) {
        self.info = info
        self.epoch = epoch
        self.revision = epoch
        self.floors = RevocationFence()
    }

    /// How and when an owner left.
    package struct OwnerGone: Hashable, Sendable, Codable {
        /// Whether the owner's connection was lost; otherwise the owner left by a call.
        package var isOffline: Bool
        /// When the owner left.
        package var since: Timestamp
    }

    /// The live's record in the topic `rooms`.
    func record(app: AppID) -> LiveRecord {
        LiveRecord(app: app, info: self.info, epoch: self.epoch, revision: self.revision, ended: self.ended)
    }
}

/// An owner's claim: the right to run one live, which the owner is running or creating.
///
/// A create claims first, in the partition of the owner, and then opens the live in the partition of the live. Exactly
/// one `release` command removes each claim. It is sent when the live ends, or when its opening is rejected.
package struct OwnerClaim: Hashable, Sendable, Codable {
    /// The claimed live.
    package var live: LiveID

    /// Creates a claim for `live`.
    package init(live: LiveID) { self.live = live }
}

/// The directory's row of an app's settings.
package struct AppRow: Hashable, Sendable, Codable {
    package var settings: AppSettings
    /// The offset of the last change, plus one because offsets begin at 0; 0 if the app has no settings.
    package var revision: Int64

    /// Creates a row.
    package init(settings: AppSettings, revision: Int64) {
        self.settings = settings
        self.revision = revision
    }
}
