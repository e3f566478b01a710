// SPDX-License-Identifier: Apache-2.0
package import MachineKit
package import PlazaModel

/// Limits the rates at which a gateway forwards calls to the services: the rate of each app, and the rate of each user
/// within its app (R12.13, R12.15).
///
/// Both kinds of rates are counted over all shards, because a user's connections are spread over them. The value has no
/// IO and no clock. Apps come from verified tokens, so there are no more apps than are configured.
package struct ForwardedCallRates: Sendable {
    /// Why a call is not forwarded.
    package struct Refusal: Hashable, Sendable {
        /// The limit: `callsPerUser` or `callsPerApp`.
        package let reason: RefusalReason
        /// The time after which the call would be admitted.
        package let retryAfter: Milliseconds
    }

    /// The rates of one app.
    private struct AppRates: Sendable {
        /// The bucket for the calls of the whole app.
        var bucket = TokenBucket()
        /// The buckets of the app's users.
        var users = CallRateLimiter<UserID>(maxBuckets: ForwardedCallRates.maxUsersPerApp)
    }

    /// One user gets at most 1/`userShareDivisor` of its app's rate, so that a few users cannot use up the app's rate.
    private static var userShareDivisor: Int { 10 }
    /// The largest number of users of one app that are tracked.
    private static var maxUsersPerApp: Int { 100_000 }

    private let perApp: RateLimit?
    private let perUser: RateLimit
    private var apps: [AppID: AppRates] = [:]

    /// Creates rates that are not used yet.
    ///
    /// - Parameters:
    ///   - callsPerApp: The calls of an app per second; nil for no limit.
    ///   - callsPerUser: The calls of a user per second. A user also gets at most a tenth of its app's calls.
    package init(callsPerApp: Int?, callsPerUser: Int) {
        self.perApp = callsPerApp.map { RateLimit($0) }
        // The smallest rate is 1: `RateLimit` raises a rate of 0 to 1.
        self.perUser = RateLimit(min(callsPerUser, (callsPerApp ?? .max) / Self.userShareDivisor))
    }

    /// Counts a call that is about to be forwarded.
    ///
    /// A call that the app's limit rejects still counts for its user.
    ///
    /// - Parameters:
    ///   - user: The caller; nil for an app's server and for the gateway's own requests: only the app's limit applies
    ///     to these.
    ///   - app: The caller's app.
    ///   - now: The current time.
    /// - Returns: Nil if the call is admitted, otherwise why it is not.
    package mutating func admitOrReturnRefusal(_ user: UserID?, of app: AppID, at now: MonotonicTime) -> Refusal? {
        if let user,
            let wait = self.apps[app, default: AppRates()].users.admitOrReturnWait(user, limit: self.perUser, at: now)
        {
            return Refusal(reason: .callsPerUser, retryAfter: wait)
        }
        guard let perApp = self.perApp,
            let wait = self.apps[app, default: AppRates()].bucket.takeOrReturnWait(of: perApp, at: now)
        else { return nil }
        return Refusal(reason: .callsPerApp, retryAfter: wait)
    }
}
