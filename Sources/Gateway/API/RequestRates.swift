// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import CoreKit
internal import GatewayCore
internal import PlazaModel
internal import PlazaWire

/// How many requests an app's server may make of each call, and a user in all, through this gateway (reference 13).
final class RequestRates: Sendable {
    /// What has a rate of its own.
    private enum Key: Hashable {
        case server(AppID, call: String)
        case user(UserKey)
    }

    /// Rates that are kept at once.
    private static let limit = 100_000
    private let settings: GatewaySettings
    private let rates = Locked(CallRates<Key>(limit: RequestRates.limit))

    init(_ settings: GatewaySettings) { self.settings = settings }

    /// Takes one request.
    ///
    /// - Throws: `tooFrequent`, with the time to come back.
    func admit(_ admission: Admission, _ method: String) throws(APIRefusal) {
        let key: Key
        let rate: Int
        switch admission.role {
        case .server:
            // Names that are no call's share one rate, so that nobody can fill the table with them.
            key = .server(admission.app, call: CallParser.methods.contains(method) ? method : "")
            rate = method == "live.list" ? self.settings.serverListsPerSecond : self.settings.serverCallsPerSecond
        case .user:
            key = .user(admission.key)
            rate = self.settings.userRequestsPerSecond
        }
        let now = MonotonicClock.microseconds
        guard let wait = self.rates.withLock({ $0.refusal(of: key, rate: rate, at: now) }) else { return }
        throw APIRefusal(
            ReplyError(.tooFrequent, "\(rate) requests a second are possible", retryAfter: max(1, wait.count)))
    }
}
