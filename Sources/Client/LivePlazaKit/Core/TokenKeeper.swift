// SPDX-License-Identifier: Apache-2.0
internal import MachineKit

/// The token of a client, and when it is renewed.
struct TokenKeeper: Sendable {
    /// The token; nil if none is known.
    private(set) var token: String?
    /// When the provider is asked for a newer token; `distantFuture` without a provider.
    ///
    /// While the provider is being asked on an open connection, it is the time at which this request times out.
    private(set) var renewAt = MonotonicTime.distantFuture
    /// Whether the provider was asked on an open connection, and has not answered yet.
    private(set) var isRequested = false
    let hasProvider: Bool
    private let random: RandomSource
    /// How often in a row the provider has failed.
    private var failures = 0
    /// Whether a token was rejected since the last successful login; a second rejection is final.
    private var wasRejected = false

    /// A token is renewed at least this long before it expires, unless its validity is too short.
    private static let renewalMargin = Milliseconds.seconds(60)
    /// The minimum time between two requests to the provider on an open connection.
    private static let minRetryPause = Milliseconds.seconds(1)
    /// How long the client waits for the token provider before it asks again.
    static let answerTimeout = Milliseconds.seconds(30)

    init(hasProvider: Bool, random: @escaping RandomSource) {
        self.hasProvider = hasProvider
        self.random = random
    }

    /// How long to wait before the provider is asked for a newer token.
    ///
    /// The provider is asked one to two margins before the token expires. The moment is random, so that clients whose
    /// tokens were issued together do not ask together. The margin is a minute, or a fifth of the remaining validity if
    /// that is less.
    ///
    /// `remainingTime`: the time until the token expires.
    /// `random`: a random number from 0 to below 1.
    static func renewalDelay(remainingTime: Milliseconds, random: Double) -> Milliseconds {
        let margin = min(Self.renewalMargin, Milliseconds(max(0, remainingTime.count) / 5))
        return Milliseconds(max(0, remainingTime.count - margin.count - margin.randomPart(random).count))
    }

    /// Uses this token from now on, and sets when it is renewed.
    mutating func use(_ token: TokenValue, at now: MonotonicTime) {
        self.failures = 0
        self.isRequested = false
        self.token = token.text
        guard self.hasProvider else { return }
        let delay = Self.renewalDelay(remainingTime: token.remainingTime, random: self.random())
        // If the provider gives expired tokens, the pause keeps the client from asking it without end.
        self.renewAt = now + max(Self.minRetryPause, delay)
    }

    /// Whether a login needs a new token from the provider.
    func needsNewToken(at now: MonotonicTime) -> Bool { self.hasProvider && (self.token == nil || self.renewAt <= now) }

    /// Records that the provider is being asked on an open connection.
    mutating func recordRequest(at now: MonotonicTime) {
        self.isRequested = true
        self.renewAt = now + Self.answerTimeout
    }

    /// Records that the provider has failed, or has not answered in time.
    ///
    /// - Returns: how long to wait before the provider is asked again, for a client that is not connected; a connected
    ///   client asks at `renewAt`.
    @discardableResult
    mutating func recordFailure(at now: MonotonicTime) -> Milliseconds {
        let pause = BackOff.pause(failures: self.failures, random: self.random(), first: .seconds(1), max: .seconds(30))
        self.failures += 1
        self.isRequested = false
        // The random pause may be almost 0. Without a token, `renewAt` is not used: each attempt needs a new token.
        if self.token != nil { self.renewAt = now + max(Self.minRetryPause, pause) }
        return pause
    }

    /// Records that a login has succeeded.
    mutating func recordAcceptance() { self.wasRejected = false }

    /// Records that the server has rejected the token, or that the token has expired.
    ///
    /// - Returns: whether a login with another token may be tried.
    mutating func recordRejection() -> Bool {
        guard self.hasProvider, !self.wasRejected else { return false }
        self.wasRejected = true
        self.token = nil
        return true
    }
}
