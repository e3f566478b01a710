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

    package static func < (a: ConnectionKey, b: ConnectionKey) -> Bool { a.order < b.order }

    private var order: (Int, AppID, String, LiveID) {
        switch self {
        case .live(let key): (0, key.app, key.live.text, "")
        case .request(let inviter, let invitee): (1, inviter.app, inviter.live.text, invitee)
        case .connection(let app, let id): (2, app, id.text, "")
        case .battle(let app, let id): (3, app, id.text, "")
        case .floors(let key): (4, key.app, key.live.text, "")
        case .outcomes(let app, let session): (5, app, session.text, "")
        }
    }
}

/// One keyed piece of the connection machine's state.
package enum ConnectionRow: JournalRow, Codable {
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
        case .outcomes(let window): window.expiresAt
        }
    }
}

/// A running live as the connection machine knows it.
package struct HostedLive: Equatable, Sendable, Codable {
    package var owner: UserInfo
    package var isVoice: Bool
    package var admins: [UserID] = []
    /// The revision of the last word to the live's seat machine.
    package var revision: Int64
    package var connection: ConnectionID?
    /// The lives that this one asks to connect, in the order of asking; at most `Limits.coHostTargets`.
    package var outgoing: [LiveID] = []
    /// The live that asks this one; one at a time.
    package var incoming: LiveID?
    /// The battle that the live shows: the one it fights in or has left, or the last one with its result.
    package var battle: BattleID?
    /// The battle that is being agreed on with this live.
    package var battleRequest: BattleID?
    /// What the other members see of this live's seats; empty while it is in no connection.
    package var seats: [Seat] = []
    /// A voice live with more than `Limits.voiceCoHostSeats` occupied seats.
    package var isCrowded = false
    /// The members whose sound this live's mix leaves out.
    package var muted: [LiveID] = []
}

/// An open request of one live's host to another's; ends exactly once (I13).
package struct CoHostRequest: Equatable, Sendable, Codable {
    package var inviter: LiveID
    package var invitee: LiveID
    /// The template of the connection that an acceptance begins.
    package var templateID: Int
    package var expiresAt: Timestamp
}

/// The code for each live that a co-host request names (reference 8, TUIConnectionCode).
enum ConnectionCode {
    static let unknown = -1
    static let sent = 0
    static let noSuchLive = 1
    static let alreadyInvited = 2
    static let connectedElsewhere = 3
    static let full = 4
    static let kindsDiffer = 6
}

/// The code for each live that a battle request names (reference 10, TUIBattleCode).
enum BattleCode {
    static let sent = 0
    static let noSuchLive = 1
    static let alreadyInvited = 2
    static let inAnotherBattle = 3
    static let hasLeft = 4
}
