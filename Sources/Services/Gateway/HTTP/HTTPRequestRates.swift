// SPDX-License-Identifier: Apache-2.0
internal import ClientAddress
internal import Concurrency
internal import GatewayCore
internal import MachineKit
internal import PlazaModel
internal import PlazaWire

/// Limits the HTTP requests per second at this gateway (R13.1).
///
/// There are limits for an app's server and each method, for a user, and for the refused tokens of an address.
final class HTTPRequestRates: Sendable {
    /// Identifies a rate limit.
    private enum Key: Hashable {
        case server(AppID, method: String)
        case user(UserKey)
        case refusedToken(IPAddress)
    }

    /// The largest number of rate limits that are tracked.
    private static let maxRateLimits = 100_000
    private let settings: GatewaySettings
    private let rates = Locked(CallRateLimiter<Key>(maxBuckets: HTTPRequestRates.maxRateLimits))

    /// The rate of refused tokens of one address above which tokens from the address are not checked.
    private static let refusedTokens = RateLimit(20)

    init(_ settings: GatewaySettings) { self.settings = settings }

    /// Checks whether a token of this address may be verified.
    ///
    /// Verifying a signature is the most expensive work that a request without a valid token can cause.
    ///
    /// - Throws: `tooFrequent` if too many tokens of the address were refused recently.
    func checkTokens(of address: IPAddress?) throws(APIError) {
        guard let key = address?.limitKey else { return }
        let now = MonotonicClock.microseconds
        let wait = self.rates.withLock { $0.wait(of: .refusedToken(key), limit: Self.refusedTokens, at: now) }
        guard let wait else { return }
        throw APIError(ReplyError(.tooFrequent, "too many tokens were refused", retryAfter: max(1, wait.count)))
    }

    /// Counts a refused token of an address.
    func tokenRefused(of address: IPAddress?) {
        guard let key = address?.limitKey else { return }
        let now = MonotonicClock.microseconds
        // Only the count matters: `checkTokens` decides about the next request.
        self.rates.withLock { _ = $0.admit(.refusedToken(key), limit: Self.refusedTokens, at: now) }
    }

    /// Counts one request against its rate limit.
    ///
    /// - Throws: `tooFrequent`, with the time after which to retry.
    func admit(_ identity: TokenIdentity, _ method: String) throws(APIError) {
        let key: Key
        let rate: Int
        switch identity.role {
        case .server:
            // Unknown methods could fill the table of rate limits, so they all share one.
            key = .server(identity.app, method: CallParser.methods.contains(method) ? method : "")
            rate = method == "live.list" ? self.settings.serverListsPerSecond : self.settings.serverCallsPerSecond
        case .user:
            key = .user(identity.userKey)
            rate = self.settings.userRequestsPerSecond
        }
        let now = MonotonicClock.microseconds
        guard let wait = self.rates.withLock({ $0.admit(key, rate: rate, at: now) }) else { return }
        throw APIError(
            ReplyError(.tooFrequent, "\(rate) requests a second are possible", retryAfter: max(1, wait.count)))
    }
}
