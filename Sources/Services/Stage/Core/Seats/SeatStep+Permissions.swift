// SPDX-License-Identifier: Apache-2.0
import PlazaModel

/// Decides who may make which seat call, and which users it may concern (R15.4, R15.5, R7.2).
extension SeatStep {
    /// Whether the caller is the owner, an admin or the app's server.
    func isHost(_ caller: Caller) -> Bool {
        caller.role == .server || self.stage.role(of: caller.userID) != .generalUser
    }

    /// Rejects every caller except the owner, the admins and the app's server.
    func requireHost(_ caller: Caller) throws(ReplyError) {
        if self.isHost(caller) { return }
        throw self.permissionError("only the owner and admins may do this")
    }

    /// Rejects the app's server, because it is not a user.
    func requireUser(_ caller: Caller) throws(ReplyError) {
        guard caller.role == .user else { throw self.permissionError("only users can sit on seats") }
    }

    /// Rejects every caller except the app's server.
    func requireServer(_ caller: Caller) throws(ReplyError) {
        guard caller.role == .server else { throw self.permissionError("only the app's server puts users on seats") }
    }

    /// Rejects an action of an admin on the owner (R15.5); the owner and the app's server may act on everybody.
    func requireAuthority(over user: UserID, _ caller: Caller) throws(ReplyError) {
        guard user == self.stage.owner.userID, user != caller.userID, caller.role == .user else { return }
        throw self.permissionError("an admin may not do this to the owner")
    }

    /// Rejects the removal of the owner from seat 0 while the seat is reserved for the owner.
    func requireRemovable(_ user: UserID) throws(ReplyError) {
        if self.stage.isBoundToSeatZero(user) {
            throw self.permissionError("the live keeps its owner on seat 0")
        }
    }

    /// The error for a caller without the permission; `message` says what the caller may not do.
    func permissionError(_ message: String) -> ReplyError { ReplyError(.noPermission, message) }
}
