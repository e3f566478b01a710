// SPDX-License-Identifier: Apache-2.0
package import MachineKit
package import PlazaModel

/// Counts the open connections of a gateway by address, user and app, and limits the rates of handshakes and calls.
///
/// The table has no IO and no clock. Counts of zero are removed, so there are no more counts than connections.
package struct AdmissionTable<Address: Hashable & Sendable>: Sendable {
    /// Identifies a token bucket within an app: of one user, or of the app's servers together.
    private enum CallKey: Hashable, Sendable {
        case user(UserID, MeteredCall)
        case servers(ServerCall)
    }

    /// The largest number of addresses whose rates are tracked; also the smallest `maxBucketsPerApp`.
    package static var maxBuckets: Int { 200_000 }

    private let limits: AdmissionLimits
    private let connectionsPerApp: Int
    private var connectionsByAddress: [Address: Int] = [:]
    private var connectionsByUser: [UserKey: Int] = [:]
    private var connectionsByApp: [AppID: Int] = [:]
    private var serverConnectionsByApp: [AppID: Int] = [:]
    private var handshakeRates = CallRateLimiter<Address>(maxBuckets: Self.maxBuckets)
    private var malformedRequestRates = CallRateLimiter<Address>(maxBuckets: Self.maxBuckets)
    /// The largest number of token buckets of one app's users and servers.
    private let maxBucketsPerApp: Int
    /// The rates of each app's users and servers.
    ///
    /// Each app has a limiter of its own, so that the users of one app cannot fill the limiter of another app. Apps
    /// come from verified tokens, so there are no more apps than are configured.
    private var callRates: [AppID: CallRateLimiter<CallKey>] = [:]

    /// Creates a table without connections.
    ///
    /// - Parameters:
    ///   - limits: The limits.
    ///   - connectionsPerApp: The largest number of open connections of one app; 0 counts as 1.
    package init(_ limits: AdmissionLimits, connectionsPerApp: Int) {
        self.limits = limits
        self.connectionsPerApp = max(1, connectionsPerApp)
        // A user who logs in, joins and resumes uses four buckets: for logins, memberships, joins of the live and
        // replays.
        self.maxBucketsPerApp = max(Self.maxBuckets, 4 * self.connectionsPerApp)
    }

    /// Counts a connection of an address; if the address has reached its limit, returns false and counts nothing.
    package mutating func admitConnection(from address: Address) -> Bool {
        guard self.connectionsByAddress[address, default: 0] < self.limits.connectionsPerAddress else { return false }
        self.connectionsByAddress[address, default: 0] += 1
        return true
    }

    /// Removes a connection that `admitConnection` counted.
    package mutating func removeConnection(from address: Address) {
        Self.decrement(address, from: &self.connectionsByAddress)
    }

    /// Counts a malformed HTTP request of an address.
    package mutating func countMalformedRequest(from address: Address, at now: MonotonicTime) {
        // The result is ignored, because the request has ended; `allowsHTTPConnection` decides about the next one.
        _ = self.malformedRequestRates.admitOrReturnWait(address, limit: self.limits.handshakes, at: now)
    }

    /// Whether another HTTP connection of an address is admitted: false if too many of its requests were malformed.
    package func allowsHTTPConnection(from address: Address, at now: MonotonicTime) -> Bool {
        self.malformedRequestRates.waitBeforeAdmission(of: address, limit: self.limits.handshakes, at: now) == nil
    }

    /// Counts a handshake of an address, malformed or not.
    ///
    /// - Returns: Nil if the handshake is admitted; otherwise the time after which a handshake would be admitted.
    package mutating func admitHandshakeOrReturnWait(from address: Address, at now: MonotonicTime) -> Milliseconds? {
        self.handshakeRates.admitOrReturnWait(address, limit: self.limits.handshakes, at: now)
    }

    /// Counts a connection that logs in.
    ///
    /// - Parameters:
    ///   - user: The user.
    ///   - role: The user's role. The servers of an app share a limit, whatever their names.
    ///   - isReplacing: Whether the connection replaces an earlier connection of the user, which is still counted. Then
    ///     the limits are not checked.
    /// - Returns: Why the connection is refused and not counted; nil if it is counted.
    package mutating func admitLoginOrReturnReason(
        _ user: UserKey, role: CallerRole, isReplacing: Bool
    ) -> RefusalReason? {
        if !isReplacing {
            switch role {
            case .user:
                if self.connectionsByUser[user, default: 0] >= self.limits.connectionsPerUser {
                    return .connectionsPerUser
                }
            case .server:
                if self.serverConnectionsByApp[user.app, default: 0] >= self.limits.serverConnections {
                    return .serverConnections
                }
            }
            if self.connectionsByApp[user.app, default: 0] >= self.connectionsPerApp { return .connectionsPerApp }
        }
        switch role {
        case .user: self.connectionsByUser[user, default: 0] += 1
        case .server: self.serverConnectionsByApp[user.app, default: 0] += 1
        }
        self.connectionsByApp[user.app, default: 0] += 1
        return nil
    }

    /// Removes a connection that `admitLoginOrReturnReason` counted with the same user and role.
    package mutating func removeLogin(_ user: UserKey, role: CallerRole) {
        switch role {
        case .user: Self.decrement(user, from: &self.connectionsByUser)
        case .server: Self.decrement(user.app, from: &self.serverConnectionsByApp)
        }
        Self.decrement(user.app, from: &self.connectionsByApp)
    }

    /// Counts a call of a user.
    ///
    /// - Parameters:
    ///   - call: The kind of the call.
    ///   - user: The caller.
    ///   - count: How many times the call counts; a count above the limit counts as the limit.
    ///   - now: The current time.
    /// - Returns: Nil if the call is admitted; otherwise the time after which it would be admitted.
    package mutating func admitCallOrReturnWait(
        _ call: MeteredCall, of user: UserKey, counting count: Int = 1, at now: MonotonicTime
    ) -> Milliseconds? {
        let limit =
            switch call {
            case .login: self.limits.logins
            case .membership: self.limits.memberships
            case .join: self.limits.joinsOfLive
            case .replay: self.limits.replays
            case .creation: self.limits.creations
            case .gift: self.limits.gifts
            case .deviceChange: self.limits.deviceChanges
            case .read: self.limits.reads
            case .sanction: self.limits.sanctions
            }
        return self.admitOrReturnWait(.user(user.user, call), of: user.app, limit: limit, counting: count, at: now)
    }

    /// Counts the further reads that a large page of `live.list` costs a user.
    ///
    /// `admitCallOrReturnWait` has already counted the page as one read, when the page's size was not known yet. It
    /// counts one read again when the call is repeated.
    ///
    /// - Parameters:
    ///   - entryCount: The largest number of entries of the page.
    ///   - user: The caller.
    ///   - now: The current time.
    /// - Returns: Nil if the page is admitted; otherwise the time after which it would be admitted if it is repeated.
    package mutating func admitPageOrReturnWait(
        with entryCount: Int, of user: UserKey, at now: MonotonicTime
    ) -> Milliseconds? {
        let limit = self.limits.reads
        // A page that counts as more reads than the limit could never be admitted, so it counts as the limit.
        let furtherCount = min(MeteredCall.readCount(ofPageWith: entryCount), limit.count) - 1
        if furtherCount == 0 { return nil }
        let wait = self.admitCallOrReturnWait(.read, of: user, counting: furtherCount, at: now)
        // If the call is repeated, it needs one token more, because its first read is counted again.
        return wait.map { $0 + limit.timePerToken }
    }

    /// Counts a call of an app's server.
    ///
    /// - Parameters:
    ///   - call: The kind of the call.
    ///   - app: The app, whose servers share the limit.
    ///   - count: How many times the call counts; a count above the limit counts as the limit.
    ///   - now: The current time.
    /// - Returns: Nil if the call is admitted; otherwise the time after which it would be admitted.
    package mutating func admitServerCallOrReturnWait(
        _ call: ServerCall, of app: AppID, counting count: Int = 1, at now: MonotonicTime
    ) -> Milliseconds? {
        let limit =
            switch call {
            case .login: self.limits.serverLogins
            case .call: self.limits.serverCalls
            case .read: self.limits.serverReads
            case .settings: self.limits.serverSettings
            }
        return self.admitOrReturnWait(.servers(call), of: app, limit: limit, counting: count, at: now)
    }

    /// Counts a call of an app's server for each user that it names beyond the first.
    ///
    /// `admitServerCallOrReturnWait(_:of:counting:at:)` has already counted the call once, when its users were not
    /// known yet. It counts once again when the call is repeated.
    ///
    /// - Parameters:
    ///   - userCount: How many users the call names, at least 1; a count above the limit of calls counts as the limit,
    ///     because the call could never be admitted otherwise.
    ///   - app: The app, whose servers share the limit.
    ///   - now: The current time.
    /// - Returns: Nil if the call is admitted; otherwise the time after which it would be admitted if it is repeated.
    package mutating func admitServerCallOrReturnWait(
        naming userCount: Int, of app: AppID, at now: MonotonicTime
    ) -> Milliseconds? {
        let limit = self.limits.serverCalls
        let furtherCount = min(userCount, limit.count) - 1
        let wait = self.admitServerCallOrReturnWait(.call, of: app, counting: furtherCount, at: now)
        // If the call is repeated, it needs one token more, because it is counted once before its further users are
        // counted.
        return wait.map { $0 + limit.timePerToken }
    }

    /// Takes `count` tokens from the app's token bucket for `key`.
    ///
    /// - Returns: Nil if the tokens were taken; otherwise the time after which they could be taken.
    private mutating func admitOrReturnWait(
        _ key: CallKey, of app: AppID, limit: RateLimit, counting count: Int, at now: MonotonicTime
    ) -> Milliseconds? {
        self.callRates[app, default: CallRateLimiter(maxBuckets: self.maxBucketsPerApp)]
            .admitOrReturnWait(key, limit: limit, counting: count, at: now)
    }

    /// Decreases a count, and removes it at zero; a key without a count stays without one.
    private static func decrement<Key>(_ key: Key, from counts: inout [Key: Int]) {
        let count = counts[key, default: 1] - 1
        counts[key] = count > 0 ? count : nil
    }
}
