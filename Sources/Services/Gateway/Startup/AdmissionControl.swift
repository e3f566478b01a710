// SPDX-License-Identifier: Apache-2.0
internal import ClientAddress
internal import Concurrency
internal import GatewayCore
internal import HTTPServer
internal import MachineKit
internal import PlazaModel
internal import WebSocket

/// Admits connections, logins and calls of all shards, the event loops of the gateway.
///
/// The kernel spreads the connections of an address, user or app over the shards, so all shards share one table. The
/// table's lock is taken when a connection begins or ends, at logins, for users' calls that have a rate limit of their
/// own (`MeteredCall`), and for calls of apps' servers. Calls that are forwarded to the services are counted under a
/// second lock, which is held for less than a microsecond. The delivery of feeds takes neither lock.
///
/// Connections and handshakes are counted by an address's `limitKey`: an IPv4 address, or the /64 network of an IPv6
/// address.
final class AdmissionControl: WebSocketAdmission, HTTPAdmission {
    private let table: Locked<AdmissionTable<IPAddress>>
    private let forwardedCalls: Locked<ForwardedCallRates>
    private let metrics: GatewayMetrics
    /// How long a client should wait before it retries, if a limit of connections has refused it.
    private static let retryAfter = Milliseconds.seconds(5)

    init(_ settings: GatewaySettings, _ metrics: GatewayMetrics) {
        let connectionsPerApp = settings.admission.connectionsPerApp ?? settings.maxConnections
        self.table = Locked(AdmissionTable(settings.admission, connectionsPerApp: connectionsPerApp))
        self.forwardedCalls = Locked(
            ForwardedCallRates(
                callsPerApp: settings.admission.callsPerApp, callsPerUser: settings.admission.callsPerUser))
        self.metrics = metrics
    }

    func admitConnection(from address: IPAddress) throws(HandshakeRejection) {
        if self.table.withLock({ $0.admitConnection(from: address.limitKey) }) { return }
        self.metrics.refused(RefusalReason.connectionsPerAddress)
        throw .tooManyRequests(retryAfter: Duration(Self.retryAfter))
    }

    func admitHandshake(from address: IPAddress) throws(HandshakeRejection) {
        let now = MonotonicClock.now
        guard let wait = self.table.withLock({ $0.admitHandshakeOrReturnWait(from: address.limitKey, at: now) }) else {
            return
        }
        self.metrics.refused(.handshakes)
        // The wait in milliseconds, rounded up to whole seconds.
        throw .tooManyRequests(retryAfter: .seconds(max(1, (wait.count + 999) / 1000)))
    }

    func connectionEnded(from address: IPAddress) {
        self.table.withLock { $0.removeConnection(from: address.limitKey) }
    }

    func proxyHeaderInvalid() { self.metrics.refused(.proxyHeader) }

    func allowsHTTPConnection(from address: IPAddress) -> Bool {
        let now = MonotonicClock.now
        return self.table.withLock { $0.allowsHTTPConnection(from: address.limitKey, at: now) }
    }

    func httpRequestMalformed(from address: IPAddress) {
        let now = MonotonicClock.now
        self.table.withLock { $0.countMalformedRequest(from: address.limitKey, at: now) }
    }

    /// Counts a connection that logs in.
    ///
    /// - Parameters:
    ///   - user: The user.
    ///   - role: The role of the user's token.
    ///   - isReplacing: Whether the connection replaces another connection of the same session. The limits are then not
    ///     checked, because the other connection ends.
    /// - Throws: `overLimit` if the user, or the app's servers together, have too many connections; `overloaded` if the
    ///   app has too many.
    func admitLogin(_ user: UserKey, role: CallerRole, isReplacing: Bool) throws(ReplyError) {
        let reason = self.table.withLock { $0.admitLoginOrReturnReason(user, role: role, isReplacing: isReplacing) }
        guard let reason else { return }
        self.metrics.refused(reason)
        let retryAfter = Self.retryAfter.count
        switch reason {
        case .connectionsPerUser:
            throw ReplyError(.overLimit, "you have too many connections; close one", retryAfter: retryAfter)
        case .serverConnections:
            throw ReplyError(
                .overLimit, "the app's servers have too many connections; close one", retryAfter: retryAfter)
        default:
            // The reason is `connectionsPerApp`, because the table returns no other reason.
            throw ReplyError(.overloaded, "the app has too many connections to this gateway", retryAfter: retryAfter)
        }
    }

    /// Removes a connection that `admitLogin` counted with the same user and role.
    func removeLogin(_ user: UserKey, role: CallerRole) {
        self.table.withLock { $0.removeLogin(user, role: role) }
    }

    /// Checks the rate limit for a user's call, and counts the call `count` times.
    ///
    /// A ban, for example, counts once for each user that it names.
    ///
    /// - Throws: `tooFrequent`, with the time after which to retry.
    func admit(_ call: MeteredCall, of user: UserKey, counting count: Int = 1) throws(ReplyError) {
        let now = MonotonicClock.now
        guard let wait = self.table.withLock({ $0.admitCallOrReturnWait(call, of: user, counting: count, at: now) })
        else { return }
        throw self.countRejection(call.reason, wait)
    }

    /// Checks the rate limit for a user's reads, and counts a large page of `live.list` as further reads.
    ///
    /// The page was counted as one read already, when its size was not known yet.
    ///
    /// - Throws: `tooFrequent`, with the time after which to retry.
    func admitPage(with entryCount: Int, of user: UserKey) throws(ReplyError) {
        let now = MonotonicClock.now
        guard let wait = self.table.withLock({ $0.admitPageOrReturnWait(with: entryCount, of: user, at: now) }) else {
            return
        }
        throw self.countRejection(.reads, wait)
    }

    /// Checks the rate limit that the servers of an app share for a call, and counts the call `count` times.
    ///
    /// A page of `live.list`, for example, counts as 20 reads.
    ///
    /// - Throws: `tooFrequent`, with the time after which to retry.
    func admit(_ call: ServerCall, ofServersOf app: AppID, counting count: Int = 1) throws(ReplyError) {
        let now = MonotonicClock.now
        let wait = self.table.withLock { $0.admitServerCallOrReturnWait(call, of: app, counting: count, at: now) }
        guard let wait else { return }
        throw self.countRejection(call.reason, wait)
    }

    /// Checks the rate limit that an app's servers share, and counts a call again for each further user that it names.
    ///
    /// The call was counted for its first user already, when its users were not known yet.
    ///
    /// - Throws: `tooFrequent`, with the time after which to retry.
    func admitServerCall(naming userCount: Int, of app: AppID) throws(ReplyError) {
        let now = MonotonicClock.now
        let wait = self.table.withLock { $0.admitServerCallOrReturnWait(naming: userCount, of: app, at: now) }
        guard let wait else { return }
        throw self.countRejection(ServerCall.call.reason, wait)
    }

    /// Counts a call that is about to be forwarded to the services.
    ///
    /// - Parameters:
    ///   - user: The caller; nil for an app's server and for the gateway's own requests.
    ///   - app: The caller's app.
    /// - Throws: `overloaded`, with the time after which to retry.
    func admitForwardedCall(of user: UserID?, in app: AppID) throws(ReplyError) {
        let now = MonotonicClock.now
        guard let refusal = self.forwardedCalls.withLock({ $0.admitOrReturnRefusal(user, of: app, at: now) }) else {
            return
        }
        self.metrics.refused(refusal.reason)
        let message =
            refusal.reason == .callsPerUser ? "you make too many calls" : "the app makes too many calls"
        throw ReplyError(.overloaded, message, retryAfter: max(1, refusal.retryAfter.count))
    }

    /// Counts a rejection in the metrics, and returns the error for the caller.
    private func countRejection(_ reason: RefusalReason, _ wait: Milliseconds) -> ReplyError {
        self.metrics.refused(reason)
        return ReplyError(.tooFrequent, "too often; try again later", retryAfter: max(1, wait.count))
    }
}
