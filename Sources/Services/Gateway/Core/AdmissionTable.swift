// SPDX-License-Identifier: Apache-2.0
package import MachineKit
package import PlazaModel

/// Counts the open connections of a gateway by address, user and app, and limits the rates of handshakes and calls.
///
/// The table has no IO and no clock. Counts of zero are removed, so there are no more counts than connections.
package struct AdmissionTable<Address: Hashable & Sendable>: Sendable {
    /// Identifies a rate limit.
    private enum Key: Hashable, Sendable {
        case handshake(Address)
        case call(UserKey, MeteredCall)
    }

    /// The largest number of rate limits that are tracked.
    private static var maxRateLimits: Int { 200_000 }

    private let limits: AdmissionLimits
    private let connectionsPerApp: Int
    private var connectionsByAddress: [Address: Int] = [:]
    private var connectionsByUser: [UserKey: Int] = [:]
    private var connectionsByApp: [AppID: Int] = [:]
    private var rates = CallRateLimiter<Key>(maxBuckets: Self.maxRateLimits)

    /// Creates a table without connections.
    ///
    /// - Parameters:
    ///   - limits: The limits.
    ///   - connectionsPerApp: The largest number of open connections of one app; 0 counts as 1.
    package init(_ limits: AdmissionLimits, connectionsPerApp: Int) {
        self.limits = limits
        self.connectionsPerApp = max(1, connectionsPerApp)
    }

    /// Counts a connection of an address; false if the address has reached its limit.
    package mutating func admitConnection(from address: Address) -> Bool {
        guard self.connectionsByAddress[address, default: 0] < self.limits.connectionsPerAddress else { return false }
        self.connectionsByAddress[address, default: 0] += 1
        return true
    }

    /// Removes a connection that `admitConnection` counted.
    package mutating func removeConnection(from address: Address) {
        Self.decrement(address, from: &self.connectionsByAddress)
    }

    /// Counts a handshake of an address at a monotonic time in microseconds.
    ///
    /// - Returns: Nil if the handshake is admitted; otherwise the time after which one would be.
    package mutating func admitHandshake(from address: Address, at microseconds: Int64) -> Milliseconds? {
        self.rates.admit(.handshake(address), limit: self.limits.handshakes, at: microseconds)
    }

    /// Counts a connection that logs in.
    ///
    /// - Parameters:
    ///   - user: The user.
    ///   - role: The user's role. A server's token stands for the app, so only the app's limit applies to it.
    ///   - isReplacing: Whether the connection replaces another connection of the user, which is still counted.
    /// - Returns: Why the connection is refused and not counted; nil if it is counted.
    package mutating func admitLogin(_ user: UserKey, role: CallerRole, isReplacing: Bool) -> RefusalReason? {
        if !isReplacing {
            if role == .user, self.connectionsByUser[user, default: 0] >= self.limits.connectionsPerUser {
                return .connectionsPerUser
            }
            if self.connectionsByApp[user.app, default: 0] >= self.connectionsPerApp { return .connectionsPerApp }
        }
        self.connectionsByUser[user, default: 0] += 1
        self.connectionsByApp[user.app, default: 0] += 1
        return nil
    }

    /// Removes a connection that `admitLogin` counted.
    package mutating func removeLogin(_ user: UserKey) {
        Self.decrement(user, from: &self.connectionsByUser)
        Self.decrement(user.app, from: &self.connectionsByApp)
    }

    /// Counts a call of a user.
    ///
    /// - Parameters:
    ///   - call: The kind of the call.
    ///   - user: The caller.
    ///   - count: How many times the call counts; a count above the limit counts as the limit.
    ///   - microseconds: The current monotonic time in microseconds.
    /// - Returns: Nil if the call is admitted; otherwise the time after which it would be.
    package mutating func admitCall(
        _ call: MeteredCall, of user: UserKey, counting count: Int = 1, at microseconds: Int64
    ) -> Milliseconds? {
        let limit =
            switch call {
            case .login: self.limits.logins
            case .membership: self.limits.memberships
            case .join: self.limits.joinsOfLive
            case .gift: self.limits.gifts
            case .deviceChange: self.limits.deviceChanges
            case .read: self.limits.reads
            case .sanction: self.limits.sanctions
            }
        return self.rates.admit(.call(user, call), limit: limit, counting: count, at: microseconds)
    }

    /// Decreases a count, and removes it at zero.
    private static func decrement<Key>(_ key: Key, from counts: inout [Key: Int]) {
        let count = counts[key, default: 1] - 1
        counts[key] = count > 0 ? count : nil
    }
}
