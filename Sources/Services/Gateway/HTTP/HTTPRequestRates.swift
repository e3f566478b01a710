// SPDX-License-Identifier: Apache-2.0
internal import ClientAddress
internal import Concurrency
internal import GatewayCore
internal import MachineKit
internal import PlazaModel
internal import PlazaWire

/// Limits the HTTP requests per second at this gateway, and the bytes of their bodies (docs/RULES.md: R13.1, R13.46).
///
/// An app's servers together have a limit for each method; a user has one limit for all methods. A user, and an app's
/// servers together, have a limit for the bytes of all their bodies. An address has limits for rejected tokens, for
/// tokens that must be checked, for requests without a token, and for files of the browser pages. Requests with a valid
/// token that was checked before do not count for their address, because the server of an app sends all of its requests
/// from one address.
///
/// An address counts by its `limitKey`: an IPv4 address, or the /64 network of an IPv6 address.
final class HTTPRequestRates: Sendable {
    /// Identifies a rate limit of a caller whose token is valid.
    private enum CallerKey: Hashable {
        case server(AppID, method: String)
        case user(UserKey)
        case bodiesOfServers(AppID)
        case bodiesOfUser(UserKey)
    }

    /// Identifies a rate limit of an address.
    private enum AddressKey: Hashable {
        case rejectedToken(IPAddress)
        case tokenCheck(IPAddress)
        case anonymous(IPAddress)
        case pageFile(IPAddress)
    }

    /// The largest number of rate limits that each table tracks.
    private static let maxRateLimits = 100_000
    private let settings: GatewaySettings
    private let callerRates = Locked(CallRateLimiter<CallerKey>(maxBuckets: HTTPRequestRates.maxRateLimits))
    /// This table is separate, so that many addresses cannot use up the entries for the limits of callers.
    private let addressRates = Locked(CallRateLimiter<AddressKey>(maxBuckets: HTTPRequestRates.maxRateLimits))

    init(_ settings: GatewaySettings) { self.settings = settings }

    /// Checks whether a token of this address may be verified; counts nothing.
    ///
    /// Verifying a signature is the most expensive work that a request without a valid token can cause.
    ///
    /// - Throws: `tooFrequent` if too many tokens of the address were rejected recently.
    func checkTokens(of address: IPAddress?) throws(APIError) {
        guard let key = address?.limitKey else { return }
        let now = MonotonicClock.now
        let limit = self.settings.admission.refusedTokens
        let wait = self.addressRates.withLock { $0.waitBeforeAdmission(of: .rejectedToken(key), limit: limit, at: now) }
        guard let wait else { return }
        throw APIError(ReplyError(.tooFrequent, "too many tokens were refused", retryAfter: max(1, wait.count)))
    }

    /// Counts a rejected token of an address.
    func countRejectedToken(of address: IPAddress?) {
        guard let key = address?.limitKey else { return }
        let now = MonotonicClock.now
        let limit = self.settings.admission.refusedTokens
        // The result is ignored, because this request is rejected anyway; `checkTokens` decides about the next one.
        self.addressRates.withLock { _ = $0.admitOrReturnWait(.rejectedToken(key), limit: limit, at: now) }
    }

    /// Counts a token of an address that must be verified.
    ///
    /// - Throws: `tooFrequent` if too many tokens of the address had to be verified recently.
    func admitTokenCheck(of address: IPAddress?) throws(APIError) {
        guard let key = address?.limitKey else { return }
        let now = MonotonicClock.now
        let limit = self.settings.admission.tokenChecks
        let wait = self.addressRates.withLock { $0.admitOrReturnWait(.tokenCheck(key), limit: limit, at: now) }
        guard let wait else { return }
        throw APIError(
            ReplyError(.tooFrequent, "\(limit.count) new tokens a second are checked", retryAfter: max(1, wait.count)))
    }

    /// Counts a request that has no token, or is for a resource that needs none.
    ///
    /// - Throws: `tooFrequent`, with the time after which to retry.
    func admitAnonymous(from address: IPAddress?) throws(APIError) {
        try self.admitWithoutToken(AddressKey.anonymous, address, self.settings.admission.anonymousRequests)
    }

    /// Counts a request for a file of the browser pages.
    ///
    /// - Throws: `tooFrequent`, with the time after which to retry.
    func admitPageFile(from address: IPAddress?) throws(APIError) {
        try self.admitWithoutToken(AddressKey.pageFile, address, self.settings.admission.pageFiles)
    }

    /// Counts a request for which no token is checked, against one of the limits of its address.
    private func admitWithoutToken(
        _ makeKey: (IPAddress) -> AddressKey, _ address: IPAddress?, _ limit: RateLimit
    ) throws(APIError) {
        guard let key = (address?.limitKey).map(makeKey) else { return }
        let now = MonotonicClock.now
        let wait = self.addressRates.withLock { $0.admitOrReturnWait(key, limit: limit, at: now) }
        guard let wait else { return }
        throw APIError(
            ReplyError(
                .tooFrequent, "\(limit.count) requests a second without a token are possible",
                retryAfter: max(1, wait.count)))
    }

    /// Counts one request with a valid token against the rate limit of its caller.
    ///
    /// - Throws: `tooFrequent`, with the time after which to retry.
    func admit(_ identity: TokenIdentity, _ method: String) throws(APIError) {
        let key: CallerKey
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
        do throws(ReplyError) {
            try self.count(1, against: key, rate: rate)
        } catch {
            throw APIError(error)
        }
    }

    /// Counts a page of `live.list` as further requests of a user, in addition to the request that `admit` has counted
    /// (R13.42).
    ///
    /// - Parameters:
    ///   - entryCount: The largest number of entries of the page.
    ///   - identity: The caller; an app's server is not counted, because its lists have a limit of their own.
    /// - Throws: `tooFrequent`, with the time after which to retry.
    func admitPage(with entryCount: Int, of identity: TokenIdentity) throws(ReplyError) {
        let rate = self.settings.userRequestsPerSecond
        // A page that counts as more requests than the limit could never be admitted, so it counts as the limit.
        let furtherCount = min(MeteredCall.readCount(ofPageWith: entryCount), rate) - 1
        guard identity.role == .user, furtherCount > 0 else { return }
        try self.count(furtherCount, against: .user(identity.userKey), rate: rate)
    }

    /// Counts the bytes of a request's body.
    ///
    /// The bytes are limited because all requests share one thread, and a long body takes long to decode.
    ///
    /// - Throws: `tooFrequent`, with the time after which to retry.
    func admitBody(ofBytes byteCount: Int, of identity: TokenIdentity) throws(ReplyError) {
        // Most requests have no body, and need no entry in the table of rate limits.
        guard byteCount > 0 else { return }
        switch identity.role {
        case .server:
            try self.count(
                byteCount, against: .bodiesOfServers(identity.app), rate: self.settings.serverBodyBytesPerSecond,
                unit: "bytes of bodies")
        case .user:
            try self.count(
                byteCount, against: .bodiesOfUser(identity.userKey), rate: self.settings.userBodyBytesPerSecond,
                unit: "bytes of bodies")
        }
    }

    /// Counts `count` requests or bytes against a limit of `rate` a second; `unit` names them in the error.
    private func count(
        _ count: Int, against key: CallerKey, rate: Int, unit: String = "requests"
    ) throws(ReplyError) {
        let now = MonotonicClock.now
        let wait = self.callerRates.withLock {
            $0.admitOrReturnWait(key, limit: RateLimit(rate), counting: count, at: now)
        }
        guard let wait else { return }
        throw ReplyError(.tooFrequent, "\(rate) \(unit) a second are possible", retryAfter: max(1, wait.count))
    }
}
