// SPDX-License-Identifier: Apache-2.0
internal import PlazaWire

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A token, and for how many milliseconds it is valid yet.
struct TokenValue: Sendable, Equatable {
    var text: String
    var left: Double

    /// How long a token without a readable end is taken to be valid, in milliseconds.
    static let unknownLife = 3_600_000.0

    /// A token whose end is read from it.
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

    /// Reads when a token ends, without verifying it: that is the server's task.
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
    /// The token; nil: none is known.
    private(set) var text: String?
    /// When a newer token is asked for; infinite without a provider, and while one is asked for.
    var renewAt = Double.infinity
    let hasProvider: Bool
    private let random: Chance
    private var failures = 0
    /// Whether a token was refused since the last login; a second refusal is final.
    private var wasRefused = false

    /// How long before its end a token is renewed at the latest, if its life allows.
    private static let margin = 60_000.0

    init(hasProvider: Bool, random: @escaping Chance) {
        self.hasProvider = hasProvider
        self.random = random
    }

    /// How long to wait before a newer token is asked for: until a minute before the end, or four fifths of what is left.
    ///
    /// It is spread over as much time before that, so that clients whose tokens were issued together do not ask together.
    ///
    /// `left`: milliseconds until the token ends.
    /// `random`: from 0 to below 1.
    static func renewalDelay(left: Double, random: Double) -> Double {
        let early = min(Self.margin, max(0, left) / 5)
        return max(0, left - early - early * random)
    }

    /// Takes a token.
    mutating func use(_ token: TokenValue, at now: Double) {
        self.failures = 0
        self.text = token.text
        self.renewAt =
            self.hasProvider ? now + Self.renewalDelay(left: token.left, random: self.random()) : .infinity
    }

    /// Whether a login needs another token than the present one.
    func needsNew(at now: Double) -> Bool { self.hasProvider && (self.text == nil || self.renewAt <= now) }

    /// The provider has failed.
    ///
    /// - Returns: for how many milliseconds it is left alone.
    mutating func failed(at now: Double) -> Double {
        let pause = BackOff.pause(failures: self.failures, random: self.random(), first: 1000, most: 30_000)
        self.failures += 1
        if self.text != nil { self.renewAt = now + max(1000, pause) }
        return pause
    }

    /// A login has succeeded.
    mutating func accepted() { self.wasRefused = false }

    /// The server has refused the token, or it has ended.
    ///
    /// - Returns: whether another one may be tried.
    mutating func refused() -> Bool {
        guard self.hasProvider, !self.wasRefused else { return false }
        self.wasRefused = true
        self.text = nil
        return true
    }
}
