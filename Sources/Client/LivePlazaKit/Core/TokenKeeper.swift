// SPDX-License-Identifier: Apache-2.0
internal import PlazaWire

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A token, and how many milliseconds it remains valid.
struct TokenValue: Sendable, Equatable {
    var text: String
    var left: Double

    /// How long a token is assumed to be valid whose end cannot be read, in milliseconds.
    static let unknownLife = 3_600_000.0

    /// A token whose validity is read from its text.
    ///
    /// `wallTime`: milliseconds since 1970.
    init(_ text: String, wallTime: Double) {
        self.init(text: text, left: Self.end(of: text).map { $0 - wallTime } ?? Self.unknownLife)
    }

    init(text: String, left: Double) {
        self.text = text
        self.left = left
    }

    private struct Claims: Decodable { var exp: Double }

    /// Reads when a token expires, without verifying the token: that is the server's task.
    ///
    /// - Parameter token: a JWT in compact form.
    /// - Returns: milliseconds since 1970; nil if it cannot be read.
    static func end(of token: String) -> Double? {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count > 1 else { return nil }
        var text = String(parts[1]).replacing("-", with: "+").replacing("_", with: "/")
        text += String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
        guard let json = Data(base64Encoded: text), let claims = try? Wire.decode(Claims.self, from: [UInt8](json)),
            claims.exp.isFinite
        else { return nil }
        return claims.exp * 1000
    }
}

/// The token of a client, and when it is renewed.
///
/// All times are milliseconds of the core's clock.
struct TokenKeeper: Sendable {
    /// The token; nil if none is known.
    private(set) var text: String?
    /// When the provider is asked for a newer token; infinite without a provider, and while it is being asked.
    var renewAt = Double.infinity
    let hasProvider: Bool
    private let random: Chance
    private var failures = 0
    /// Whether a token was refused since the last login; a second refusal is final.
    private var wasRefused = false

    /// A token is renewed at least this long before its end, unless its whole validity is too short.
    private static let margin = 60_000.0

    init(hasProvider: Bool, random: @escaping Chance) {
        self.hasProvider = hasProvider
        self.random = random
    }

    /// How long to wait before the provider is asked for a newer token, in milliseconds.
    ///
    /// The latest moment is a minute before the token's end, or a fifth of its remaining validity if that is less. The
    /// moment is drawn at random from as long a time before that, so that clients whose tokens were issued together do
    /// not ask together.
    ///
    /// `left`: milliseconds until the token ends.
    /// `random`: a random number from 0 to below 1.
    static func renewalDelay(left: Double, random: Double) -> Double {
        let early = min(Self.margin, max(0, left) / 5)
        return max(0, left - early - early * random)
    }

    /// Uses a token from now on.
    mutating func use(_ token: TokenValue, at now: Double) {
        self.failures = 0
        self.text = token.text
        self.renewAt =
            self.hasProvider ? now + Self.renewalDelay(left: token.left, random: self.random()) : .infinity
    }

    /// Whether a login needs another token than the present one.
    func needsNew(at now: Double) -> Bool { self.hasProvider && (self.text == nil || self.renewAt <= now) }

    /// Records that the provider has failed.
    ///
    /// - Returns: how many milliseconds to wait before the provider is asked again.
    mutating func recordFailure(at now: Double) -> Double {
        let pause = BackOff.pause(failures: self.failures, random: self.random(), first: 1000, max: 30_000)
        self.failures += 1
        if self.text != nil { self.renewAt = now + max(1000, pause) }
        return pause
    }

    /// Records that a login has succeeded.
    mutating func recordAcceptance() { self.wasRefused = false }

    /// Records that the server has refused the token, or that the token has expired.
    ///
    /// - Returns: whether a login with another token may be tried.
    mutating func recordRefusal() -> Bool {
        guard self.hasProvider, !self.wasRefused else { return false }
        self.wasRefused = true
        self.text = nil
        return true
    }
}
