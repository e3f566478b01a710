// SPDX-License-Identifier: Apache-2.0
import MachineKit

/// The role in a token: an app's user, or the app's own backend.
package enum CallerRole: String, Hashable, Sendable, Codable {
    case user
    case server
}

/// The author of a call, and the gateway that receives the reply.
///
/// A gateway creates the caller from a verified token. The call carries the caller through all machines, because the
/// last machine replies. The fields are stored by reference, because callers are copied far more often than created.
package struct Caller: Hashable, Sendable, Codable {
    private struct Fields: Hashable, Sendable, Codable {
        var user: UserInfo
        var role: CallerRole
        var request: RequestID
        var replyTo: GatewayID
        var ticket: Ticket?
        /// The stored form of `isLateRetry`; nil means false, so that the encoding is the same as in earlier versions.
        var late: Bool?
    }

    private var fields: Reference<Fields>

    package init(
        user: UserInfo, role: CallerRole, request: RequestID, replyTo: GatewayID, ticket: Ticket? = nil,
        isLateRetry: Bool = false
    ) {
        self.fields = Reference(
            Fields(
                user: user, role: role, request: request, replyTo: replyTo, ticket: ticket,
                late: isLateRetry ? true : nil))
    }

    package init(from decoder: any Decoder) throws { self.fields = try Reference(from: decoder) }
    package func encode(to encoder: any Encoder) throws { try self.fields.encode(to: encoder) }

    package var user: UserInfo {
        get { self.fields.value.user }
        set { self.fields.value.user = newValue }
    }
    package var role: CallerRole { self.fields.value.role }
    package var request: RequestID {
        get { self.fields.value.request }
        set { self.fields.value.request = newValue }
    }
    /// The request's counter; reading it does not copy the session's id.
    package var counter: Int64 { self.fields.value.request.counter }
    package var replyTo: GatewayID { self.fields.value.replyTo }
    /// The ticket of the caller's join; nil while the caller is not in a live, and for an app's server, which needs no
    /// ticket.
    package var ticket: Ticket? {
        get { self.fields.value.ticket }
        set { self.fields.value.ticket = newValue }
    }

    /// Whether the call was first sent longer ago than an idempotency window lasts.
    ///
    /// A late retry gets the stored outcome or `requestForgotten`; it is never applied (R16.11).
    package var isLateRetry: Bool {
        get { self.fields.value.late ?? false }
        set { self.fields.value.late = newValue ? true : nil }
    }

    /// The caller's user id.
    package var userID: UserID { self.fields.value.user.userID }
}
