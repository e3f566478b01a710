// SPDX-License-Identifier: Apache-2.0
internal import GatewayCore
internal import MachineKit
internal import PlazaModel

/// The record that the gateway wrote for an open call, and writes again if no reply arrives.
struct SentEffect: Sendable {
    var effect: Effect
}

/// The state of one client's connection to the simulated gateway.
struct SimulatedConnection: Sendable {
    let number: Int
    /// The login's state, the membership in a live, and the open calls.
    var core: SessionCore<SentEffect>
    /// The token of the last login; nil before the first login.
    var token: SimulatedToken?
    /// A placeholder before the first login; the two session ids below are placeholders, too.
    var user = UserInfo(userID: UserID(""))
    /// The session's id in the cluster, which is derived from `clientSession` and from the user.
    var session = SessionID("")
    /// The session's id that the client uses.
    var clientSession = SessionID("")
    /// The sign-in of the first login; a placeholder before that login.
    var signIn = DeviceSignIn(connection: 0, endsOtherSessions: false)
    var retryAges = RetryAges()
    /// When a text of the client was last received.
    var lastReceivedAt: MonotonicTime
    /// The live whose feed is sent to the client.
    var live: LiveKey?
    /// The number of the last feed item that must not be sent any more: the client has it, or it precedes the join.
    var caughtUpTo: Int64 = 0
    /// The offset of the last notice that was sent to the client; -1 before the first.
    var lastNoticeOffset: Int64 = -1

    init(_ number: Int, at now: MonotonicTime) {
        self.number = number
        self.core = SessionCore(at: now)
        self.lastReceivedAt = now
    }

    var app: AppID { self.token.map { AppID($0.app) } ?? AppID("") }
    var role: CallerRole { self.token?.isServer == true ? .server : .user }
    var userKey: UserKey { UserKey(self.app, self.user.userID) }

    /// Whether the connection belongs to a scripted user; these have negative numbers.
    var isScripted: Bool { self.number < 0 }

    /// The time since the last text of the client was received.
    func silence(at now: MonotonicTime) -> Milliseconds { Milliseconds(max(0, (now - self.lastReceivedAt).count)) }

    func key(_ live: LiveID) -> LiveKey { LiveKey(self.app, live) }

    /// The caller in the record of this connection's call `id`.
    func caller(_ id: Int64, _ gateway: GatewayID, isLateRetry: Bool = false) -> Caller {
        Caller(
            user: self.user, role: self.role, request: RequestID(session: self.session, counter: id),
            replyTo: gateway, ticket: self.core.ticket, isLateRetry: isLateRetry)
    }
}
