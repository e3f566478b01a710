// SPDX-License-Identifier: Apache-2.0
package import CoreKit
package import PlazaModel

/// The name of a row of the connection machine.
///
/// Plain parts and no cases, for a look-up compares them where they stand.
package struct ConnectionKey: RowKey {
    /// What the row is, in the order of the keys.
    package enum Kind: Int, Sendable, CaseIterable {
        case live
        case request
        case connection
        case battle
        case floors
        case outcomes

        fileprivate var name: String {
            switch self {
            case .live: "live"
            case .request: "request"
            case .connection: "connection"
            case .battle: "battle"
            case .floors: "floors"
            case .outcomes: "outcomes"
            }
        }
    }

    package let kind: Kind
    package let app: AppID
    /// The text of the id that the row goes by: of a live (of a request the inviter), connection, battle or session.
    package let name: String
    /// Of a request the live that is asked; else empty.
    package let invitee: LiveID

    /// A running live.
    package static func live(_ live: LiveKey) -> ConnectionKey { ConnectionKey(.live, live.app, live.live.text) }
    /// The inviter's request to another live of its app.
    package static func request(inviter: LiveKey, invitee: LiveID) -> ConnectionKey {
        ConnectionKey(.request, inviter.app, inviter.live.text, invitee: invitee)
    }
    /// A connection between lives.
    package static func connection(_ app: AppID, _ id: ConnectionID) -> ConnectionKey {
        ConnectionKey(.connection, app, id.text)
    }
    /// A battle that is agreed on, fought or over.
    package static func battle(_ app: AppID, _ id: BattleID) -> ConnectionKey { ConnectionKey(.battle, app, id.text) }
    /// The floors of users who were kicked from a live.
    package static func floors(_ live: LiveKey) -> ConnectionKey { ConnectionKey(.floors, live.app, live.live.text) }
    /// What became of a session's calls.
    package static func outcomes(_ app: AppID, _ session: SessionID) -> ConnectionKey {
        ConnectionKey(.outcomes, app, session.text)
    }

    /// A key of any kind but requests, which have an invitee.
    init(_ kind: Kind, _ app: AppID, _ name: String, invitee: LiveID = "") {
        self.kind = kind
        self.app = app
        self.name = name
        self.invitee = invitee
    }

    /// Of a live, a request or floors: whose they are.
    package var live: LiveKey { LiveKey(self.app, LiveID(self.name)) }

    package var text: String {
        let text = "\(self.kind.name)/\(self.app.text)/\(self.name)"
        return self.kind == .request ? "\(text)/\(self.invitee.text)" : text
    }

    package init?(text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard parts.count >= 3, let kind = Kind.allCases.first(where: { $0.name == parts[0] }),
            parts.count == (kind == .request ? 4 : 3)
        else { return nil }
        self.init(kind, AppID(parts[1]), parts[2], invitee: LiveID(kind == .request ? parts[3] : ""))
    }

    package static func == (a: ConnectionKey, b: ConnectionKey) -> Bool {
        // The texts themselves: equal short ones are told by two words, without a call.
        a.kind == b.kind && a.name == b.name && a.invitee.text == b.invitee.text && a.app.text == b.app.text
    }

    /// What tells most rows of a partition apart; equality looks at the rest.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(self.name)
        if self.kind == .request { hasher.combine(self.invitee.text) }
    }

    /// By kind, then by name.
    package static func < (a: ConnectionKey, b: ConnectionKey) -> Bool {
        if a.kind != b.kind { return a.kind.rawValue < b.kind.rawValue }
        if a.app != b.app { return a.app < b.app }
        return a.name != b.name ? a.name < b.name : a.invitee < b.invitee
    }
}

/// One keyed piece of the connection machine's state; a few words each, for rows are looked at far more often than
/// changed.
package enum ConnectionRow: JournalRow, Codable {
    case live(live: Boxed<HostedLive>)
    indirect case request(request: CoHostRequest)
    indirect case connection(connection: ConnectionView)
    indirect case battle(battle: Battle)
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

    /// Stands in a row's place while its content is out to be changed: shared with a second row it would be copied.
    private static var nothing: ConnectionRow { .floors(floors: Floors()) }

    /// Changes the live that the row is, if it is one.
    mutating func changeLive<R>(_ change: (inout HostedLive) -> R) -> R? {
        guard case .live(var live) = self else { return nil }
        self = Self.nothing
        defer { self = .live(live: live) }
        return change(&live.value)
    }

    /// Keeps the outcome of a call, when the row is a session's.
    mutating func record(_ counter: Int64, _ entry: OutcomeWindow.Entry, at now: Timestamp) {
        guard case .outcomes(var window) = self else { return }
        self = Self.nothing
        window.record(counter, entry, at: now)
        self = .outcomes(outcomes: window)
    }
}
