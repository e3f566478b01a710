// SPDX-License-Identifier: Apache-2.0
internal import HTTPClient
internal import MachineKit
internal import PlazaWire
internal import Tokens

/// A client's token: the input is tried as a whole token, and then as the claims of a token that the target signs.
///
/// A token with a random signature is rejected before its claims are read. Only with a valid signature are they read.
public enum TokensFuzz: FuzzTarget {
    /// Handles one input.
    public static func run(_ input: [UInt8]) {
        guard let verifier = Self.verifier else { preconditionFailure("the key of this target is rejected") }
        let text = String(decoding: input, as: UTF8.self)
        let accepted = try? verifier.verify(text, at: .seconds(Self.now))
        precondition(accepted == nil, "a token without a valid signature was accepted")
        let signed = "\(Self.header).\(Base64URL.encode(input))"
        // `hex` returns the HMAC as hexadecimal digits. A token has the bytes of the HMAC, two digits each.
        let hexDigits = Array(HMACSHA256.hex(of: Array(signed.utf8), key: Self.secret).utf8)
        let signature = stride(from: 0, to: hexDigits.count, by: 2).map {
            Self.value(hexDigits[$0]) << 4 | Self.value(hexDigits[$0 + 1])
        }
        guard let claims = try? verifier.verify("\(signed).\(Base64URL.encode(signature))", at: .seconds(Self.now))
        else {
            return
        }
        precondition(claims.validationError == nil && claims.expires > Self.now && claims.app == "demo")
    }

    /// The present, in seconds since 1970.
    private static let now: Int64 = 1_700_000_000
    private static let secret = [UInt8](0..<32)
    private static let header = Base64URL.encode(Array("{\"alg\":\"HS256\",\"kid\":\"k1\"}".utf8))
    private static let verifier: TokenVerifier? = {
        guard let key = try? AppKey(kid: "k1", secret: Self.secret), let keyring = try? AppKeyring(["demo": [key]])
        else { return nil }
        return TokenVerifier(keyring: keyring)
    }()

    /// The value of a lower-case hexadecimal digit.
    private static func value(_ digit: UInt8) -> UInt8 {
        digit <= UInt8(ascii: "9") ? digit - UInt8(ascii: "0") : digit - UInt8(ascii: "a") + 10
    }
}
