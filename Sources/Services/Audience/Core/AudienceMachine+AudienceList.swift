// SPDX-License-Identifier: Apache-2.0
internal import MachineKit
internal import PlazaModel

// MARK: - Pages of the audience list

extension AudienceMachine {
    /// The error for a cursor that no page of a list can have returned; nil when the cursor is empty or well-formed.
    ///
    /// A cursor is the text of a number: the ticket after which the next page begins.
    func rejection(ofCursor cursor: String) -> ReplyError? {
        if cursor.isEmpty || Int64(cursor) != nil { return nil }
        return ReplyError(.invalidParameter, "the cursor does not belong to this list")
    }

    /// Replies with the page that Redis has returned, and adds the role of each member.
    func replyWithPage(
        _ caller: Caller, _ key: LiveKey, _ row: LiveRow, _ result: LeaseResult, at now: Timestamp,
        into effects: inout [Effect]
    ) {
        // Any other result means that Redis cannot be reached.
        guard case .page(let members, let nextCursor, let count) = result else {
            return effects.append(.reply(Reply(to: caller, app: key.app, .failure(error: Self.redisUnavailableError))))
        }
        let membersWithRoles = members.map { member in
            AudienceMember(user: member.user, role: row.role(of: member.user.userID), joinedAt: member.joinedAt)
        }
        let page = AudiencePage(
            members: membersWithRoles, cursor: nextCursor.map(String.init) ?? "", count: count, at: now)
        effects.append(.success(.audience(page: page), to: caller, app: key.app))
    }
}
