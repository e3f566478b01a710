// SPDX-License-Identifier: Apache-2.0
import PlazaModel

/// What becomes of a call.
enum Verdict: Hashable, Sendable {
    case allowed
    /// Allowed, with this very result.
    case gives(CallResult)
    case refused(ReplyCode)

    static let notInRoom = Verdict.refused(.notInRoom)
    static let noPermission = Verdict.refused(.noPermission)
    static let needsOwner = Verdict.refused(.needsOwner)
    static let needsHost = Verdict.refused(.needsOwnerOrAdmin)
    static let noSuchRoom = Verdict.refused(.noSuchRoom)
    static let notOnSeat = Verdict.refused(.notOnSeat)
    static let alreadySeated = Verdict.refused(.alreadySeated)
    static let nothingPending = Verdict.refused(.failed)
}

/// One row of the matrix: a call, and what becomes of it by role.
///
/// In a foreign live everybody is a viewer. Outside of it nobody acts; servers are in no live and act everywhere; of
/// another app's lives a user knows nothing (I17). Who sits or is muted is a viewer unless the row says more.
struct Action: Sendable, CustomStringConvertible {
    typealias Preparation = @Sendable (inout World, LiveKey, Caller) -> Void

    var description: String
    var owner = Verdict.allowed
    var admin = Verdict.allowed
    var viewer = Verdict.allowed
    var seated: Verdict?
    var muted: Verdict?
    var server = Verdict.allowed
    var outside = Verdict.notInRoom
    /// Banned after it had joined; nil: `staleTicket` where being in the room matters.
    var banned: Verdict?
    var stranger = Verdict.noSuchRoom
    /// What must be there for the call to have a meaning; the caller is in already, if it will be.
    var prepare: Preparation
    /// The call.
    var call: @Sendable (World, LiveKey, Caller) -> Effect

    init(
        _ description: String, owner: Verdict = .allowed, admin: Verdict = .allowed, viewer: Verdict = .allowed,
        seated: Verdict? = nil, muted: Verdict? = nil, server: Verdict = .allowed, outside: Verdict = .notInRoom,
        banned: Verdict? = nil, stranger: Verdict = .noSuchRoom, prepare: @escaping Preparation = { _, _, _ in },
        call: @escaping @Sendable (World, LiveKey, Caller) -> Effect
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

    /// What the matrix says about one cell.
    func verdict(_ cell: Cell) -> Verdict {
        switch cell.role {
        case .stranger: return self.stranger
        case .server: return self.server
        case .owner, .admin, .viewer, .seated, .muted, .banned: break
        }
        guard cell.isOwn else { return cell.isIn ? self.viewer : self.outside }
        if cell.role == .banned {
            return self.banned ?? (cell.isIn && self.outside == .notInRoom ? .refused(.staleTicket) : self.outside)
        }
        guard cell.isIn else { return self.outside }
        switch cell.role {
        case .owner: return self.owner
        case .admin: return self.admin
        case .seated: return self.seated ?? self.viewer
        case .muted: return self.muted ?? self.viewer
        case .viewer, .banned, .server, .stranger: return self.viewer
        }
    }
}
