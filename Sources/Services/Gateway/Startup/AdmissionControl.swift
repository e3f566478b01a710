// SPDX-License-Identifier: Apache-2.0
internal import ClientAddress
internal import Concurrency
internal import GatewayCore
internal import MachineKit
internal import PlazaModel
internal import WebSocket

/// Admits connections, logins and the metered calls of all shards.
///
/// The kernel spreads an address's connections over the shards, so all shards share one table. Its lock is taken when a
/// connection begins or ends, at logins, and for the calls of `MeteredCall`. It is never taken for messages or delivery.
final class AdmissionControl: WebSocketAdmission {
    private let table: Locked<AdmissionTable<IPAddress>>
    private let metrics: GatewayMetrics
    /// The time after which a refused client should retry.
    private static let retryAfter = Milliseconds.seconds(5)

    init(_ settings: GatewaySettings, _ metrics: GatewayMetrics) {
        let connectionsPerApp = settings.admission.connectionsPerApp ?? settings.maxConnections
        self.table = Locked(AdmissionTable(settings.admission, connectionsPerApp: connectionsPerApp))
        self.metrics = metrics
    }

    func admitConnection(from address: IPAddress) -> HandshakeRejection? {
        if self.table.withLock({ $0.admitConnection(from: address.limitKey) }) { return nil }
        self.metrics.refused(.connectionsPerAddress)
        return .tooManyRequests(retryAfter: Duration(Self.retryAfter))
    }

    func admitHandshake(from address: IPAddress) -> HandshakeRejection? {
        let now = MonotonicClock.microseconds
        guard let wait = self.table.withLock({ $0.admitHandshake(from: address.limitKey, at: now) }) else { return nil }
        self.metrics.refused(.handshakes)
        // The wait in milliseconds, rounded up to whole seconds.
        return .tooManyRequests(retryAfter: .seconds(max(1, (wait.count + 999) / 1000)))
    }

    func connectionEnded(from address: IPAddress) {
        self.table.withLock { $0.removeConnection(from: address.limitKey) }
    }

    func proxyHeaderMissing() { self.metrics.refused(.proxyHeader) }

    /// Counts a connection that logs in.
    ///
    /// - Parameters:
    ///   - user: The user.
    ///   - role: The role of the user's token.
    ///   - isReplacing: Whether the connection replaces another connection of the same session.
    /// - Throws: `overLimit` if the user has too many connections, `overloaded` if the app has too many.
    func admitLogin(_ user: UserKey, role: CallerRole, isReplacing: Bool) throws(ReplyError) {
        let reason = self.table.withLock { $0.admitLogin(user, role: role, isReplacing: isReplacing) }
        guard let reason else { return }
        self.metrics.refused(reason)
        let retryAfter = Self.retryAfter.count
        if reason == .connectionsPerUser {
            throw ReplyError(.overLimit, "you have too many connections; close one", retryAfter: retryAfter)
        }
        throw ReplyError(.overloaded, "the app has too many connections to this gateway", retryAfter: retryAfter)
    }

    /// Removes a connection that `admitLogin` counted.
    func removeLogin(_ user: UserKey) { self.table.withLock { $0.removeLogin(user) } }

    /// Checks the rate limit for a user's call, and counts the call `count` times.
    ///
    /// - Throws: `tooFrequent`, with the time after which to retry.
    func admit(_ call: MeteredCall, of user: UserKey, counting count: Int = 1) throws(ReplyError) {
        let now = MonotonicClock.microseconds
        guard let wait = self.table.withLock({ $0.admitCall(call, of: user, counting: count, at: now) }) else { return }
        self.metrics.refused(call.reason)
        throw ReplyError(.tooFrequent, "too often; try again later", retryAfter: max(1, wait.count))
    }
}
