// SPDX-License-Identifier: Apache-2.0
internal import ClientAddress
internal import Concurrency
internal import GatewayCore
internal import MachineKit
internal import PlazaModel
internal import PlazaWire

/// Limits the HTTP requests per second through this gateway: per call for an app's server, and in total for a user
/// (R13.1).
///
/// Of an address, the requests with a refused token are limited.
final class RequestRates: Sendable {
    /// Identifies a rate limit.
    private enum Key: Hashable {
        case server(AppID, call: String)
        case user(UserKey)
        case refusedToken(IPAddress)
    }

    /// The largest number of rate limits that are tracked.
    private static let limit = 100_000
    private let settings: GatewaySettings
    private let rates = Locked(CallRateLimiter<Key>(limit: RequestRates.limit))

    /// The requests with a refused token of one address; beyond it, its tokens are not checked.
    private static let refusedTokens = RateLimit(20)

    init(_ settings: GatewaySettings) { self.settings = settings }

    /// Throws `tooFrequent` if too many tokens of this address were refused lately.
    ///
    /// A signature takes longer to check than anything else that a request without a valid token can ask for.
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
        self.rates.withLock { _ = $0.rejection(of: .refusedToken(key), limit: Self.refusedTokens, at: now) }
    }

    /// Counts one request against its rate limit.
    ///
    /// - Throws: `tooFrequent`, with the time after which to retry.
    func admit(_ admission: Admission, _ method: String) throws(APIError) {
        let key: Key
        let rate: Int
        switch admission.role {
        case .server:
            // Unknown methods could fill the table of rates, so they all share one rate.
            key = .server(admission.app, call: CallParser.methods.contains(method) ? method : "")
            rate = method == "live.list" ? self.settings.serverListsPerSecond : self.settings.serverCallsPerSecond
        case .user:
            key = .user(admission.key)
            rate = self.settings.userRequestsPerSecond
        }
        let now = MonotonicClock.microseconds
        guard let wait = self.rates.withLock({ $0.rejection(of: key, rate: rate, at: now) }) else { return }
        throw APIError(
            ReplyError(.tooFrequent, "\(rate) requests a second are possible", retryAfter: max(1, wait.count)))
    }
}
