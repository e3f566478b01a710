// SPDX-License-Identifier: Apache-2.0
package import MachineKit
package import PlazaModel

/// The key of a row of the connection machine.
///
/// Its parts are separate properties, so a look-up need not build a combined string.
package struct ConnectionKey: RowKey {
    /// The kind of row; keys are sorted by their kind first.
    package enum Kind: Int, Sendable, CaseIterable {
        case live
        case request
        case connection
        case battle
        /// The row with the revocation fence of a live.
        case fence
        /// The row of a session's recent calls and their outcomes.
        case idempotencyWindow

        /// The name in the stored key; two differ from their cases, because stored names never change.
        fileprivate var storedName: String {
            switch self {
            case .live: "live"
            case .request: "request"
            case .connection: "connection"
            case .battle: "battle"
            case .fence: "floors"
            case .idempotencyWindow: "outcomes"
            }
        }
    }

    package let kind: Kind
    package let app: AppID
    /// The id of the live, connection, battle or session as text; for a request, the inviter.
    package let name: String
    /// The invitee of a request; empty for the other kinds.
    package let invitee: LiveID

    /// The inviter's request to another live of its app.
    package static func request(inviter: LiveKey, invitee: LiveID) -> ConnectionKey {
        ConnectionKey(.request, inviter.app, inviter.live.text, invitee: invitee)
    }
    /// The revocation fence of a live: the lowest tickets that kicked users may still use.
    package static func fence(_ live: LiveKey) -> ConnectionKey { ConnectionKey(.fence, live.app, live.live.text) }
    /// A session's idempotency window.
    package static func idempotencyWindow(_ app: AppID, _ session: SessionID) -> ConnectionKey {
        ConnectionKey(.idempotencyWindow, app, session.text)
    }

    /// Creates a key from its parts; only the key of a request has an invitee.
    init(_ kind: Kind, _ app: AppID, _ name: String, invitee: LiveID = "") {
        self.kind = kind
        self.app = app
        self.name = name
        self.invitee = invitee
    }

    /// The live that the key names; meaningful only for the key of a live, a request (the inviter) or a revocation
    /// fence.
    package var live: LiveKey { LiveKey(self.app, LiveID(self.name)) }

    /// The stored key: `KIND/APP/NAME`, followed by `/INVITEE` for a request.
    package var text: String {
        let text = "\(self.kind.storedName)/\(self.app.text)/\(self.name)"
        return self.kind == .request ? "\(text)/\(self.invitee.text)" : text
    }

    package init?(text: String) {
        let parts = RecordKey.parts(of: text)
        guard parts.count >= 3, let kind = Kind.allCases.first(where: { $0.storedName == parts[0] }),
            parts.count == (kind == .request ? 4 : 3)
        else { return nil }
        self.init(kind, AppID(parts[1]), parts[2], invitee: LiveID(kind == .request ? parts[3] : ""))
    }

    package static func == (a: ConnectionKey, b: ConnectionKey) -> Bool {
        // The texts are compared directly, because Swift compares two short strings as machine words, without a call.
        a.kind == b.kind && a.name == b.name && a.invitee.text == b.invitee.text && a.app.text == b.app.text
    }

    /// Hashes only the name and the invitee.
    ///
    /// Every look-up hashes its key, so hashing must be cheap, and two keys rarely differ in the kind or the app alone.
    /// `==` compares all parts.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(self.name)
        if self.kind == .request { hasher.combine(self.invitee.text) }
    }

    /// Orders keys by kind, app, name and invitee.
    package static func < (a: ConnectionKey, b: ConnectionKey) -> Bool {
        if a.kind != b.kind { return a.kind.rawValue < b.kind.rawValue }
        if a.app != b.app { return a.app < b.app }
        return a.name != b.name ? a.name < b.name : a.invitee < b.invitee
    }
}

/// One keyed piece of the connection machine's state.
///
/// Large cases are indirect, so that a copy of a row is only a reference. A change allocates, but rows are read far
/// more often than they are changed.
package enum ConnectionRow: JournalRow, Codable {
    case live(live: CopyOnWrite<HostedLive>)
    indirect case request(request: CoHostRequest)
    indirect case connection(connection: ConnectionView)
    indirect case battle(battle: Battle)
    case fence(fence: RevocationFence)
    case idempotencyWindow(window: CallWindow)

    /// The names in stored rows; two differ from their cases, because stored names never change.
    private enum CodingKeys: String, CodingKey {
        case live, request, connection, battle
        case fence = "floors"
        case idempotencyWindow = "outcomes"
    }
    // These two enums set the stored names of the parameters of the cases `fence` and `idempotencyWindow`. The compiler
    // looks for enums with exactly these names.
    private enum FenceCodingKeys: String, CodingKey {
        case fence = "floors"
    }
    private enum IdempotencyWindowCodingKeys: String, CodingKey {
        case window = "outcomes"
    }

    package var due: Timestamp? {
        switch self {
        case .live, .connection, .fence: nil
        case .request(let request): request.expiresAt
        case .battle(let battle): battle.due
        case .idempotencyWindow(let window): window.due
        }
    }

    /// The value of a row while the row's content is being changed; no reader sees this value.
    ///
    /// The content is moved out of the row for the change. If the row kept a second reference to the content, Swift
    /// would copy the content before the change.
    private static var placeholder: ConnectionRow { .fence(fence: RevocationFence()) }

    /// Changes the row in place, and returns the result of `change`; nil if the row is not that of a live.
    mutating func changeLive<R>(_ change: (inout HostedLive) -> R) -> R? {
        guard case .live(var live) = self else { return nil }
        self = Self.placeholder
        defer { self = .live(live: live) }
        return change(&live.value)
    }

    /// Records the outcome of a call, if the row is an idempotency window.
    mutating func record(_ outcome: CallOutcome, of counter: Int64, at moment: Moment) {
        guard case .idempotencyWindow(var window) = self else { return }
        self = Self.placeholder
        window.record(outcome, of: counter, at: moment)
        self = .idempotencyWindow(window: window)
    }

    /// Handles the due time of an idempotency window (see `IdempotencyWindow.expire`); the machine calls this only for
    /// idempotency windows.
    ///
    /// - Returns: whether the window has expired and the row must be removed; true for any other row.
    mutating func expire(at moment: Moment) -> Bool {
        guard case .idempotencyWindow(var window) = self else { return true }
        self = Self.placeholder
        let hasExpired = window.expire(at: moment)
        self = .idempotencyWindow(window: window)
        return hasExpired
    }
}
