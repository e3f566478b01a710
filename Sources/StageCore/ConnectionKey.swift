// SPDX-License-Identifier: Apache-2.0
package import CoreKit
package import PlazaModel

/// The name of a row of the connection machine.
package enum ConnectionKey: RowKey {
    case live(LiveKey)
    /// The inviter's request to another live of its app.
    case request(inviter: LiveKey, invitee: LiveID)
    case connection(AppID, ConnectionID)
    case battle(AppID, BattleID)
    case floors(LiveKey)
    case outcomes(AppID, SessionID)

    package var text: String {
        switch self {
        case .live(let live): "live/\(live.text)"
        case .request(let inviter, let invitee): "request/\(inviter.text)/\(invitee.text)"
        case .connection(let app, let id): "connection/\(app.text)/\(id.text)"
        case .battle(let app, let id): "battle/\(app.text)/\(id.text)"
        case .floors(let live): "floors/\(live.text)"
        case .outcomes(let app, let session): "outcomes/\(app.text)/\(session.text)"
        }
    }

    package init?(text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard parts.count >= 3 else { return nil }
        let app = AppID(parts[1])
        switch (parts[0], parts.count) {
        case ("live", 3): self = .live(LiveKey(app, LiveID(parts[2])))
        case ("request", 4): self = .request(inviter: LiveKey(app, LiveID(parts[2])), invitee: LiveID(parts[3]))
        case ("connection", 3): self = .connection(app, ConnectionID(parts[2]))
        case ("battle", 3): self = .battle(app, BattleID(parts[2]))
        case ("floors", 3): self = .floors(LiveKey(app, LiveID(parts[2])))
        case ("outcomes", 3): self = .outcomes(app, SessionID(parts[2]))
        default: return nil
        }
    }

    package static func < (a: ConnectionKey, b: ConnectionKey) -> Bool {
        switch (a, b) {
        case (.live(let a), .live(let b)), (.floors(let a), .floors(let b)): a < b
        case (.request(let a, let to), .request(let b, let other)): a != b ? a < b : to < other
        case (.connection(let app, let a), .connection(let other, let b)): app != other ? app < other : a < b
        case (.battle(let app, let a), .battle(let other, let b)): app != other ? app < other : a < b
        case (.outcomes(let app, let a), .outcomes(let other, let b)): app != other ? app < other : a < b
        default: a.kind < b.kind
        }
    }

    /// What tells most rows of a partition apart; equality looks at the rest.
    package func hash(into hasher: inout Hasher) {
        switch self {
        case .live(let key): hasher.combine(key.live)
        case .request(let inviter, let invitee):
            hasher.combine(inviter.live)
            hasher.combine(invitee)
        case .connection(_, let id): hasher.combine(id)
        case .battle(_, let id): hasher.combine(id)
        case .floors(let key):
            hasher.combine(4)
            hasher.combine(key.live)
        case .outcomes(_, let session): hasher.combine(session)
        }
    }

    private var kind: Int {
        switch self {
        case .live: 0
        case .request: 1
        case .connection: 2
        case .battle: 3
        case .floors: 4
        case .outcomes: 5
        }
    }
}

/// One keyed piece of the connection machine's state; indirect, for rows are looked at far more often than changed.
package indirect enum ConnectionRow: JournalRow, Codable {
    case live(live: HostedLive)
    case request(request: CoHostRequest)
    case connection(connection: ConnectionView)
    case battle(battle: Battle)
    case floors(floors: Floors)
    case outcomes(outcomes: OutcomeWindow)

    package var due: Timestamp? {
        switch self {
        case .live, .connection, .floors: nil
        case .request(let request): request.expiresAt
        case .battle(let battle): battle.due
        case .outcomes(let window): window.due
        }
    }

    /// Keeps the outcome of a call, when the row is a session's.
    mutating func record(_ counter: Int64, _ entry: OutcomeWindow.Entry, at now: Timestamp) {
        switch consume self {
        case .outcomes(var window):
            window.record(counter, entry, at: now)
            self = .outcomes(outcomes: window)
        case let other: self = other
        }
    }
}
