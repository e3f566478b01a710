// SPDX-License-Identifier: Apache-2.0
package import CoreKit
package import PlazaModel

/// The name of one of the directory's rows.
package enum DirectoryKey: RowKey {
    /// A live that runs, or ended a short while ago.
    case room(LiveKey)
    /// The claim of a user who runs a live: one at a time.
    case claim(UserKey)
    /// What became of a session's calls about a live.
    case roomCalls(LiveKey, SessionID)
    /// What became of a session's creates for an owner.
    case ownerCalls(UserKey, SessionID)
    /// Who may not enter a live.
    case bans(LiveKey)
    /// Who may not write in a live.
    case mutes(LiveKey)
    /// What an app has set for itself.
    case app(AppID)
    /// What became of a session's changes of the settings.
    case appCalls(AppID, SessionID)

    package var text: String {
        switch self {
        case .room(let key): "room/\(key.text)"
        case .claim(let key): "claim/\(key.text)"
        case .roomCalls(let key, let session): "roomCalls/\(key.text)/\(session.text)"
        case .ownerCalls(let key, let session): "ownerCalls/\(key.text)/\(session.text)"
        case .bans(let key): "bans/\(key.text)"
        case .mutes(let key): "mutes/\(key.text)"
        case .app(let app): "app/\(app.text)"
        case .appCalls(let app, let session): "appCalls/\(app.text)/\(session.text)"
        }
    }

    package init?(text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        switch (parts.first, parts.count) {
        case ("room", 3): self = .room(LiveKey(AppID(parts[1]), LiveID(parts[2])))
        case ("claim", 3): self = .claim(UserKey(AppID(parts[1]), UserID(parts[2])))
        case ("roomCalls", 4): self = .roomCalls(LiveKey(AppID(parts[1]), LiveID(parts[2])), SessionID(parts[3]))
        case ("ownerCalls", 4): self = .ownerCalls(UserKey(AppID(parts[1]), UserID(parts[2])), SessionID(parts[3]))
        case ("bans", 3): self = .bans(LiveKey(AppID(parts[1]), LiveID(parts[2])))
        case ("mutes", 3): self = .mutes(LiveKey(AppID(parts[1]), LiveID(parts[2])))
        case ("app", 2): self = .app(AppID(parts[1]))
        case ("appCalls", 3): self = .appCalls(AppID(parts[1]), SessionID(parts[2]))
        default: return nil
        }
    }

    /// Rooms, claims, calls, apps, bans, mutes; within each by name.
    package static func < (a: DirectoryKey, b: DirectoryKey) -> Bool {
        switch (a, b) {
        case (.room(let a), .room(let b)), (.bans(let a), .bans(let b)), (.mutes(let a), .mutes(let b)): a < b
        case (.claim(let a), .claim(let b)): a < b
        case (.roomCalls(let a, let s), .roomCalls(let b, let t)): a != b ? a < b : s < t
        case (.ownerCalls(let a, let s), .ownerCalls(let b, let t)): a != b ? a < b : s < t
        case (.app(let a), .app(let b)): a < b
        case (.appCalls(let a, let s), .appCalls(let b, let t)): a != b ? a < b : s < t
        default: a.rank < b.rank
        }
    }

    private var rank: Int {
        switch self {
        case .room: 0
        case .claim: 1
        case .roomCalls: 2
        case .ownerCalls: 3
        case .app: 4
        case .appCalls: 5
        case .bans: 6
        case .mutes: 7
        }
    }
}

/// One of the directory's rows; indirect, for rows are looked at far more often than changed.
package indirect enum DirectoryRow: JournalRow, Codable {
    case room(row: RoomRow)
    case claim(claim: OwnerClaim)
    case calls(window: OutcomeWindow)
    case app(row: AppRow)
    case sanctions(list: SanctionList)

    package var due: Timestamp? {
        switch self {
        case .room(let row): row.removeAt ?? row.dismissAt
        case .sanctions(let list): list.nextEnd
        case .claim, .app: nil
        case .calls(let window): window.due
        }
    }

    /// Keeps what became of a call, when the row is a window.
    mutating func record(_ counter: Int64, _ entry: OutcomeWindow.Entry, at now: Timestamp) {
        guard case .calls(var window) = self else { return }
        window.record(counter, entry, at: now)
        self = .calls(window: window)
    }
}

/// A live as the directory knows it.
///
/// Running until `ended` is set, which happens once and for good (I1).
package struct RoomRow: Hashable, Sendable, Codable {
    /// What everybody sees of it.
    package var info: LiveInfo
    /// The offset of the creation.
    package var epoch: Int64
    /// The offset of the last change: grows for ever, also when the live's id is used again.
    package var revision: Int64
    /// Who ended it, once it has ended.
    package var ended: LiveEndReason?
    /// The end is still on its way through the machines; until it has passed them all, the name is not free.
    package var isClosing: Bool?
    /// When the ended live's row goes.
    package var removeAt: Timestamp?
    /// Since when nobody is in it; nil: somebody is, or nobody has ever been in a live that an app's server made.
    package var emptySince: Timestamp?
    /// Where the owner went, and when; nil: it is here, or has never been.
    package var ownerGone: OwnerGone?
    /// When the live ends by itself, if nothing changes (reference 3.4).
    package var dismissAt: Timestamp?
    /// The lowest tickets of users who were kicked (I6).
    package var floors: Floors

    /// A live that has just been created.
    package init(info: LiveInfo, epoch: Int64) {
        self.info = info
        self.epoch = epoch
        self.revision = epoch
        self.floors = Floors()
    }

    /// Where an owner went.
    package struct OwnerGone: Hashable, Sendable, Codable {
        package var isOffline: Bool
        package var since: Timestamp
    }

    /// The live's record in the topic `rooms`.
    func record(app: AppID) -> RoomRecord {
        RoomRecord(app: app, info: self.info, epoch: self.epoch, revision: self.revision, ended: self.ended)
    }
}

/// Which live its owner runs, or is about to.
///
/// Each claim is released by exactly one `release`: by the refusal of the
/// second step, or by the end of the live.
package struct OwnerClaim: Hashable, Sendable, Codable {
    package var live: LiveID

    /// A claim for `live`.
    package init(live: LiveID) { self.live = live }
}

/// An app's settings as the directory knows them.
package struct AppRow: Hashable, Sendable, Codable {
    package var settings: AppSettings
    /// The offset of the last change, plus one: 0 is an app without settings.
    package var revision: Int64

    /// Settings of a revision.
    package init(settings: AppSettings, revision: Int64) {
        self.settings = settings
        self.revision = revision
    }
}
