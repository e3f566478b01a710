// SPDX-License-Identifier: Apache-2.0
internal import MachineKit
internal import PlazaWire

/// A token, and how long it remains valid.
struct TokenValue: Sendable, Equatable {
    var text: String
    /// The remaining validity.
    var remainingTime: Milliseconds

    /// The validity that is assumed for a token whose expiry cannot be read: an hour.
    static let assumedValidity = Milliseconds.seconds(3600)

    /// Makes a token whose validity is read from its text.
    ///
    /// `now`: the time by the server's clock if it is known.
    init(_ text: String, at now: WallTime) {
        let remainingTime = Self.expiry(of: text).map { $0 - now }
        self.init(text: text, remainingTime: remainingTime ?? Self.assumedValidity)
    }

    init(text: String, remainingTime: Milliseconds) {
        self.text = text
        self.remainingTime = remainingTime
    }

    /// Reads when a token expires, without verifying it.
    ///
    /// - Parameter token: a JWT in compact form.
    /// - Returns: the time of day, which the server compares with its own clock; nil if it cannot be read.
    static func expiry(of token: String) -> WallTime? {
        // The claim `exp` counts seconds since 1970.
        guard let exp = Self.claims(ExpiryClaim.self, of: token)?.exp, exp.isFinite else { return nil }
        return WallTime(fractionalMilliseconds: exp * 1000)
    }

    /// Reads the app that a token names, without verifying it.
    ///
    /// - Parameter token: a JWT in compact form.
    /// - Returns: the app's name; nil if it cannot be read.
    static func app(of token: String) -> String? { Self.claims(AppClaim.self, of: token)?.app }

    private struct ExpiryClaim: Decodable { var exp: Double }
    private struct AppClaim: Decodable { var app: String }

    private static func claims<Claims: Decodable>(_ type: Claims.Type, of token: String) -> Claims? {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count > 1 else { return nil }
        return Base64URL.decode(parts[1].utf8).flatMap { try? Wire.decode(type, from: $0) }
    }
}
