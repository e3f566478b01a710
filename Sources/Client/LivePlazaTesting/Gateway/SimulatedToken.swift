// SPDX-License-Identifier: Apache-2.0
internal import PlazaWire

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A token that the simulated cluster accepts: it has the form of a JSON Web Token, but no signature.
struct SimulatedToken: Hashable, Sendable, Codable {
    var app: String
    /// The user's id.
    var sub: String
    /// When the token expires, in seconds since 1970.
    var exp: Double
    /// `server`: the token of the app's backend.
    var role: String?
    /// The name with which the user is shown; nil if the user may choose it.
    var name: String?

    var isServer: Bool { self.role == "server" }

    /// The text that a client passes to its login.
    var text: String {
        // Base64url, without padding.
        let claims = Data(Wire.encode(self)).base64EncodedString()
            .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
        return "simulated.\(claims).none"
    }

    init(app: String, sub: String, exp: Double, role: String? = nil, name: String? = nil) {
        self.app = app
        self.sub = sub
        self.exp = exp
        self.role = role
        self.name = name
    }

    /// Reads a token; nil if `text` is not a token of a simulated cluster.
    init?(text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0] == "simulated" else { return nil }
        var claims = String(parts[1]).replacing("-", with: "+").replacing("_", with: "/")
        claims += String(repeating: "=", count: (4 - claims.utf8.count % 4) % 4)
        guard let json = Data(base64Encoded: claims), let token = try? Wire.decode(Self.self, from: [UInt8](json))
        else { return nil }
        self = token
    }
}
