// SPDX-License-Identifier: Apache-2.0

/// What a token allows: an app's user, or the app's own backend.
package enum CallerRole: String, Hashable, Sendable, Codable {
    case user
    case server
}

/// How a user is shown to others (reference 1, LiveUserInfo).
package struct UserInfo: Hashable, Sendable, Codable {
    package var userID: UserID
    package var userName: String
    package var avatarURL: String

    package init(userID: UserID, userName: String = "", avatarURL: String = "") {
        self.userID = userID
        self.userName = userName
        self.avatarURL = avatarURL
    }
}

/// Who asks, and where the answer goes.
///
/// Made by a gateway from a checked token; travels through every machine that a
/// call passes, so that the last one can answer.
package struct Caller: Hashable, Sendable, Codable {
    package var user: UserInfo
    package var role: CallerRole
    package var request: RequestID
    package var replyTo: GatewayID
    /// What the caller's join gave; nil while it is in no room, and for an app's server, which needs none.
    package var ticket: Ticket?

    package init(user: UserInfo, role: CallerRole, request: RequestID, replyTo: GatewayID, ticket: Ticket? = nil) {
        self.user = user
        self.role = role
        self.request = request
        self.replyTo = replyTo
        self.ticket = ticket
    }

    /// The caller's user id.
    package var userID: UserID { self.user.userID }
}
