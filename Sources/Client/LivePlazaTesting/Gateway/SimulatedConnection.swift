// SPDX-License-Identifier: Apache-2.0
internal import GatewayCore
internal import MachineKit
internal import PlazaModel

/// A call's record, kept to be written again.
struct SentEffect: Sendable {
    var effect: Effect
}

/// The state of one client's connection to the simulated gateway.
struct SimulatedConnection: Sendable {
    let number: Int
    var core: SessionCore<SentEffect>
    var identity: SimulatedToken?
    var user = UserInfo(userID: UserID(""))
    /// The session's name in the cluster, which is bound to the user.
    var session = SessionID("")
    /// The session's name that the client knows.
    var givenSession = SessionID("")
    /// Whether the client has named its session, which may then have an earlier connection.
    var isNamed = false
    var signIn = DeviceSignIn(connection: 0, isOnly: false)
    var retryAges = RetryAges()
    /// When the client was last heard from.
    var lastReceived: MonotonicTime
    /// The live whose feed is sent to the client.
    var live: LiveKey?
    /// The number of the last item that the client has, or that precedes its join.
    var caughtUpTo: Int64 = 0
    /// The offset of the last notice that was sent to the client.
    var lastNotice: Int64 = -1

    init(_ number: Int, at now: MonotonicTime) {
        self.number = number
        self.core = SessionCore(at: now)
        self.lastReceived = now
    }

    var app: AppID { self.identity.map { AppID($0.app) } ?? AppID("") }
    var role: CallerRole { self.identity?.isServer == true ? .server : .user }
    var userKey: UserKey { UserKey(self.app, self.user.userID) }

    func key(_ live: LiveID) -> LiveKey { LiveKey(self.app, live) }

    /// The caller that a call of this connection names.
    func caller(_ id: Int64, _ gateway: GatewayID, isLateRetry: Bool = false) -> Caller {
        Caller(
            user: self.user, role: self.role, request: RequestID(session: self.session, counter: id),
            replyTo: gateway, ticket: self.core.ticket, isLateRetry: isLateRetry)
    }
}

/// A frame for a client, or the end of its connection.
enum ConnectionOutput: Sendable {
    case text([UInt8])
    case close(code: Int)
}
