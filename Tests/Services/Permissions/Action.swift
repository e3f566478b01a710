// SPDX-License-Identifier: Apache-2.0
import MachineTestSupport
import PlazaModel

/// The expected outcome of a call.
enum ExpectedOutcome: Hashable, Sendable {
    case allowed
    /// Allowed, with exactly this result.
    case allowedWith(CallResult)
    case rejected(ReplyCode)

    static let notInRoom = ExpectedOutcome.rejected(.notInRoom)
    static let noPermission = ExpectedOutcome.rejected(.noPermission)
    static let needsOwner = ExpectedOutcome.rejected(.needsOwner)
    static let needsHost = ExpectedOutcome.rejected(.needsOwnerOrAdmin)
    static let noSuchRoom = ExpectedOutcome.rejected(.noSuchRoom)
    static let notOnSeat = ExpectedOutcome.rejected(.notOnSeat)
    static let alreadySeated = ExpectedOutcome.rejected(.alreadySeated)
    /// There is no application or invitation that the call could end.
    static let nothingPending = ExpectedOutcome.rejected(.failed)
}

/// One row of the matrix: a call, and its expected outcome for each role.
///
/// In a live where the caller has no role (`Cell.hasRole` is false), every user counts as a viewer. A user who has not
/// joined a live may not act in it; an app's server is not in a live, and may act in every live of its app. To a user
/// of another app the live does not exist (invariant I17 of docs/RULES.md). Seated and muted users count as viewers
/// unless the action has an outcome for them.
struct Action: Sendable, CustomStringConvertible {
    /// Changes the state before the call; it gets the live of the call and the caller.
    typealias Preparation = @Sendable (inout MatrixHarness, LiveKey, Caller) -> Void

    var description: String
    var owner = ExpectedOutcome.allowed
    var admin = ExpectedOutcome.allowed
    var viewer = ExpectedOutcome.allowed
    var seated: ExpectedOutcome?
    var muted: ExpectedOutcome?
    var server = ExpectedOutcome.allowed
    /// The outcome for a user of the app who has not joined the live.
    var outside = ExpectedOutcome.notInRoom
    /// The outcome for a banned user.
    ///
    /// If nil, the outcome is `outside`, except that a user who joined before the ban gets `staleTicket` where
    /// `outside` is `notInRoom`.
    var banned: ExpectedOutcome?
    /// The outcome for a user of another app.
    var stranger = ExpectedOutcome.noSuchRoom
    /// Prepares the state that the call requires.
    ///
    /// The caller has already joined if the cell's `hasJoined` is true.
    var prepare: Preparation
    /// Makes the call.
    var call: @Sendable (MatrixHarness, LiveKey, Caller) -> Effect

    init(
        _ description: String, owner: ExpectedOutcome = .allowed, admin: ExpectedOutcome = .allowed,
        viewer: ExpectedOutcome = .allowed,
        seated: ExpectedOutcome? = nil, muted: ExpectedOutcome? = nil, server: ExpectedOutcome = .allowed,
        outside: ExpectedOutcome = .notInRoom,
        banned: ExpectedOutcome? = nil, stranger: ExpectedOutcome = .noSuchRoom,
        prepare: @escaping Preparation = { _, _, _ in },
        call: @escaping @Sendable (MatrixHarness, LiveKey, Caller) -> Effect
    ) {
        self.description = description
        self.owner = owner
        self.admin = admin
        self.viewer = viewer
        self.seated = seated
        self.muted = muted
        self.server = server
        self.outside = outside
        self.banned = banned
        self.stranger = stranger
        self.prepare = prepare
        self.call = call
    }

    /// The expected outcome in one cell of the matrix.
    func expectedOutcome(_ cell: Cell) -> ExpectedOutcome {
        switch cell.role {
        case .stranger: return self.stranger
        case .server: return self.server
        case .owner, .admin, .viewer, .seated, .muted, .banned: break
        }
        guard cell.hasRole else { return cell.hasJoined ? self.viewer : self.outside }
        if cell.role == .banned {
            let hasStaleTicket = cell.hasJoined && self.outside == .notInRoom
            return self.banned ?? (hasStaleTicket ? .rejected(.staleTicket) : self.outside)
        }
        guard cell.hasJoined else { return self.outside }
        switch cell.role {
        case .owner: return self.owner
        case .admin: return self.admin
        case .seated: return self.seated ?? self.viewer
        case .muted: return self.muted ?? self.viewer
        case .viewer, .banned, .server, .stranger: return self.viewer
        }
    }
}
