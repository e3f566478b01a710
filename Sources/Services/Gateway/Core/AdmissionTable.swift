// SPDX-License-Identifier: Apache-2.0
package import MachineKit
package import PlazaModel

/// Counts the open connections of a gateway by address, user and app, and limits the rates of handshakes and calls.
///
/// The table has no IO and no clock. Counts of zero are removed, so there are no more counts than connections.
package struct AdmissionTable<Address: Hashable & Sendable>: Sendable {
    private enum Key: Hashable, Sendable {
        case handshake(Address)
        case call(UserKey, MeteredCall)
    }

    /// The largest number of rates that are tracked.
    private static var maxRates: Int { 200_000 }

    private let limits: AdmissionLimits
    private let connectionsPerApp: Int
    private var byAddress: [Address: Int] = [:]
    private var byUser: [UserKey: Int] = [:]
    private var byApp: [AppID: Int] = [:]
    private var rates = CallRateLimiter<Key>(maxBuckets: Self.maxRates)

    /// Creates a table without connections.
    ///
    /// - Parameters:
    ///   - limits: The limits.
    ///   - connectionsPerApp: The open connections of one app, at least 1.
    package init(_ limits: AdmissionLimits, connectionsPerApp: Int) {
        self.limits = limits
        self.connectionsPerApp = max(1, connectionsPerApp)
    }

    /// Counts a connection of an address; false if the address has reached its limit.
    package mutating func connected(_ address: Address) -> Bool {
        guard self.byAddress[address, default: 0] < self.limits.connectionsPerAddress else { return false }
        self.byAddress[address, default: 0] += 1
        return true
    }

    /// Removes a connection that `connected` counted.
    package mutating func disconnected(_ address: Address) { Self.remove(address, from: &self.byAddress) }

    /// Counts a handshake of an address; if its rate is exceeded, returns how long to wait instead.
    package mutating func handshake(of address: Address, at now: Int64) -> Milliseconds? {
        self.rates.admit(.handshake(address), limit: self.limits.handshakes, at: now)
    }

    /// Counts a connection that logs in.
    ///
    /// - Parameters:
    ///   - user: The user.
    ///   - role: A server's token stands for the app, so only the app's limit holds.
    ///   - isReplacing: Whether the connection replaces another one of the user, which is still counted.
    /// - Returns: Why the connection is refused and not counted; nil if it is counted.
    package mutating func loggedIn(_ user: UserKey, role: CallerRole, isReplacing: Bool) -> RefusalReason? {
        if !isReplacing {
            if role == .user, self.byUser[user, default: 0] >= self.limits.connectionsPerUser {
                return .connectionsPerUser
            }
            if self.byApp[user.app, default: 0] >= self.connectionsPerApp { return .connectionsPerApp }
        }
        self.byUser[user, default: 0] += 1
        self.byApp[user.app, default: 0] += 1
        return nil
    }

    /// Removes a connection that `loggedIn` counted.
    package mutating func loggedOut(_ user: UserKey) {
        Self.remove(user, from: &self.byUser)
        Self.remove(user.app, from: &self.byApp)
    }

    /// Counts a call of a user; if its rate is exceeded, returns how long to wait instead.
    ///
    /// - Parameters:
    ///   - call: The kind of the call.
    ///   - user: The caller.
    ///   - count: How many times the call counts; a call that counts more often than the limit needs the whole limit.
    ///   - now: The current monotonic time in microseconds.
    /// - Returns: Nil if the call is admitted; otherwise the time after which one will be.
    package mutating func call(
        _ call: MeteredCall, of user: UserKey, counting count: Int = 1, at now: Int64
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
        return self.rates.admit(.call(user, call), limit: limit, counting: count, at: now)
    }

    private static func remove<Key>(_ key: Key, from counts: inout [Key: Int]) {
        let count = counts[key, default: 1] - 1
        counts[key] = count > 0 ? count : nil
    }
}
