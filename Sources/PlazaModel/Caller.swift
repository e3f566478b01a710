// SPDX-License-Identifier: Apache-2.0
import CoreKit

/// What a token allows: an app's user, or the app's own backend.
package enum CallerRole: String, Hashable, Sendable, Codable {
    case user
    case server
}

/// How a user is shown to others (reference 1, LiveUserInfo).
///
/// Shared, for it goes with every message and stands in most rows.
package struct UserInfo: Hashable, Sendable, Codable {
    private struct Parts: Hashable, Sendable, Codable {
        var userID: UserID
        var userName: String
        var avatarURL: String
    }

    private var parts: Shared<Parts>

    package init(userID: UserID, userName: String = "", avatarURL: String = "") {
        self.parts = Shared(Parts(userID: userID, userName: userName, avatarURL: avatarURL))
    }

    package init(from decoder: any Decoder) throws { self.parts = try Shared(from: decoder) }
    package func encode(to encoder: any Encoder) throws { try self.parts.encode(to: encoder) }

    package var userID: UserID { self.parts.value.userID }
    package var userName: String {
        get { self.parts.value.userName }
        set { self.parts.value.userName = newValue }
    }
    package var avatarURL: String {
        get { self.parts.value.avatarURL }
        set { self.parts.value.avatarURL = newValue }
    }
}

/// Who asks, and where the answer goes.
///
/// Made by a gateway from a checked token; travels through every machine that a call passes, so that the last one can
/// answer. Shared, for it is passed on far more often than it is made.
package struct Caller: Hashable, Sendable, Codable {
    private struct Parts: Hashable, Sendable, Codable {
        var user: UserInfo
        var role: CallerRole
        var request: RequestID
        var replyTo: GatewayID
        var ticket: Ticket?
    }

    private var parts: Shared<Parts>

    package init(user: UserInfo, role: CallerRole, request: RequestID, replyTo: GatewayID, ticket: Ticket? = nil) {
        self.parts = Shared(Parts(user: user, role: role, request: request, replyTo: replyTo, ticket: ticket))
    }

    package init(from decoder: any Decoder) throws { self.parts = try Shared(from: decoder) }
    package func encode(to encoder: any Encoder) throws { try self.parts.encode(to: encoder) }

    package var user: UserInfo {
        get { self.parts.value.user }
        set { self.parts.value.user = newValue }
    }
    package var role: CallerRole { self.parts.value.role }
    package var request: RequestID {
        get { self.parts.value.request }
        set { self.parts.value.request = newValue }
    }
    /// The request's counter, without a copy of its session's name.
    package var counter: Int64 { self.parts.value.request.counter }
    package var replyTo: GatewayID { self.parts.value.replyTo }
    /// What the caller's join gave; nil while it is in no room, and an app's server needs none.
    package var ticket: Ticket? {
        get { self.parts.value.ticket }
        set { self.parts.value.ticket = newValue }
    }

    /// The caller's user id.
    package var userID: UserID { self.parts.value.user.userID }
}
