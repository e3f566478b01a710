// SPDX-License-Identifier: Apache-2.0
import Foundation
import MachineKit
import PlazaWire
import Testing
import Tokens

/// Keys and tokens that the tests share.
enum Sample {
    /// The secret of the HS256 key `k1`.
    static let secret = [UInt8](0..<32)
    /// The ES256 key of RFC 7515, appendix A.3: the coordinates `x` and `y` of the public point, and the private `d`.
    static let publicX = "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU"
    static let publicY = "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"
    static let privateD = "jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI"
    /// The present time in seconds since 1970.
    static let now: Int64 = 1_800_000_000

    /// A keys file of two apps.
    ///
    /// The first key of `demo` is for ES256, all other keys are for HS256. Both apps have a key with the id `k1`.
    static var keysFile: String {
        """
        {"apps": {
          "demo": {"keys": [
            {"kid": "k2", "alg": "ES256", "x": "\(publicX)", "y": "\(publicY)", "d": "\(privateD)"},
            {"kid": "k1", "alg": "HS256", "k": "\(Base64URL.encode(secret))"}], "policy": {"feedBudget": 40}},
          "other": {"keys": [
            {"kid": "k1", "alg": "HS256", "k": "\(Base64URL.encode(secret.reversed()))"},
            {"kid": "o1", "alg": "HS256", "k": "\(Base64URL.encode(secret.reversed()))"}]}}}
        """
    }

    static func keyring() throws -> AppKeyring { try AppKeyring(json: Array(self.keysFile.utf8)) }
    static func verifier() throws -> TokenVerifier { TokenVerifier(keyring: try self.keyring()) }
    /// The claims of a valid token.
    static let claims = TokenClaims(app: "demo", user: "alice", expires: now + 60)

    /// A token with any header and payload, signed with HMAC-SHA-256 by code that is independent of `TokenSigner`.
    static func token(_ header: String, _ payload: String, secret: [UInt8] = secret) throws -> String {
        let signed = "\(Base64URL.encode(Array(header.utf8))).\(Base64URL.encode(Array(payload.utf8)))"
        return "\(signed).\(Base64URL.encode(PlainHMAC.code(Array(signed.utf8), key: secret)))"
    }
}

/// Tests of the tokens (JWTs) that `TokenVerifier` accepts, and of the errors with which it rejects other tokens.
@Suite struct TokenVerifierTests {
    /// The header of a token that the key `k1` signs.
    static let header = #"{"alg":"HS256","kid":"k1"}"#
    /// The payload of a token that expires 60 s after `Sample.now`.
    static let payload = #"{"app":"demo","sub":"alice","exp":1800000060}"#

    /// The error with which a token is rejected; nil if it is accepted.
    static func error(_ token: String, now: Int64 = Sample.now, app: String? = nil) throws -> TokenError? {
        let verifier = try Sample.verifier()
        do throws(TokenError) {
            _ = try verifier.verify(token, at: .seconds(now), app: app)
            return nil
        } catch { return error }
    }

    @Test func `the HMAC of the tests matches the examples of FIPS 180 and RFC 4231`() {
        let digest = PlainHMAC.sha256(Array("abc".utf8)).map { String(format: "%02x", Int($0)) }.joined()
        #expect(digest == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        let code = PlainHMAC.code(Array("what do ya want for nothing?".utf8), key: Array("Jefe".utf8))
        // The first four bytes of the example are enough.
        #expect(code.prefix(4) == [0x5b, 0xdc, 0xc1, 0x46])
    }

    @Test(arguments: ["k1", "k2"])
    func `a token signed with the HS256 key k1 or the ES256 key k2 is accepted`(kid: String) throws {
        let keyring = try Sample.keyring()
        // The keyring gives the app's first key, `k2`, for signing.
        let key = try #require(
            kid == "k2" ? keyring.signingKey(for: "demo") : AppKey(kid: "k1", secret: Sample.secret))
        #expect(key.kid == kid)
        var claims = Sample.claims
        claims.role = .server
        claims.name = "Älice \u{1F600}\""
        claims.avatar = "https://example.org/a.png"
        let token = try TokenSigner.sign(claims, with: key, issued: Sample.now)
        #expect(try Sample.verifier().verify(token, at: .seconds(Sample.now)) == claims)
        #expect(try Sample.verifier().verify(token, at: .seconds(Sample.now), app: "demo") == claims)
    }

    @Test func `a token signed by other code is accepted, and its times may have fractions`() throws {
        // `nbf`, from when the token is valid, is 29.5 s after `Sample.now`; clocks may differ by 30 s.
        let payload = """
            {"app":"demo","sub":"alice","exp":1800000060.9,"nbf":1800000029.5,"iat":1800000000,"more":{"a":[1]}}
            """
        let token = try Sample.token(#"{"typ":"JWT","kid":"k1","alg":"HS256"}"#, payload)
        #expect(try Sample.verifier().verify(token, at: .seconds(Sample.now)) == Sample.claims)
    }

    @Test func `a public key verifies and does not sign`() throws {
        let key = try AppKey(
            kid: "k2", x: try #require(Base64URL.decode(Sample.publicX.utf8)),
            y: try #require(Base64URL.decode(Sample.publicY.utf8)),
            secret: nil)
        #expect(!key.canSign)
        #expect(throws: TokenError.cannotSign) { try TokenSigner.sign(Sample.claims, with: key) }
        let privateKey = try #require(try Sample.keyring().signingKey(for: "demo"))
        let token = try TokenSigner.sign(Sample.claims, with: privateKey)
        #expect(
            try TokenVerifier(keyring: AppKeyring(["demo": [key]])).verify(token, at: .seconds(Sample.now))
                == Sample.claims)
        // A signature of the standard consists of r and s, 32 bytes each.
        #expect(Base64URL.decode(token.utf8.split(separator: UInt8(ascii: "."))[2])?.count == 64)
    }

    @Test(arguments: ["none", "None", "HS512", "HS384", "RS256", "PS256", "ES512", "", "hs256"])
    func `I17 an algorithm other than HS256 and ES256 is rejected`(algorithm: String) throws {
        let header = #"{"alg":"\#(algorithm)","kid":"k1"}"#
        #expect(try Self.error(try Sample.token(header, Self.payload)) == .badAlgorithm)
        let unsigned = "\(Base64URL.encode(Array(header.utf8))).\(Base64URL.encode(Array(Self.payload.utf8)))."
        #expect(try Self.error(unsigned) == .badAlgorithm)
    }

    @Test func `I17 a key is used with its own algorithm only`() throws {
        // The key k2 is for ES256, and k1 for HS256.
        let hs256Token = try Sample.token(#"{"alg":"HS256","kid":"k2"}"#, Self.payload)
        #expect(try Self.error(hs256Token) == .badAlgorithm)
        let es256Token = try Sample.token(#"{"alg":"ES256","kid":"k1"}"#, Self.payload)
        #expect(try Self.error(es256Token) == .badAlgorithm)
        // In a known attack, the attacker signs with the public key, here with its coordinate x, as the secret of an
        // HMAC.
        let publicKeyBytes = try #require(Base64URL.decode(Sample.publicX.utf8))
        let signedWithPublicKey = try Sample.token(
            #"{"alg":"HS256","kid":"k2"}"#, Self.payload, secret: publicKeyBytes)
        #expect(try Self.error(signedWithPublicKey) == .badAlgorithm)
    }

    /// Rules: R2.5.
    @Test func `I17 only keys of the token's app are used`() throws {
        let withUnknownKey = try Sample.token(#"{"alg":"HS256","kid":"k9"}"#, Self.payload)
        #expect(try Self.error(withUnknownKey) == .unknownKey)
        #expect(try Self.error(try Sample.token(#"{"alg":"HS256"}"#, Self.payload)) == .unknownKey)

        // The app `other` has the keys `o1` and `k1`, both with this secret.
        let otherSecret = Array(Sample.secret.reversed())
        let withKeyOfOtherApp = try Sample.token(#"{"alg":"HS256","kid":"o1"}"#, Self.payload, secret: otherSecret)
        #expect(try Self.error(withKeyOfOtherApp) == .foreignApp)
        let withKeyOfSameID = try Sample.token(Self.header, Self.payload, secret: otherSecret)
        #expect(try Self.error(withKeyOfSameID) == .badSignature)

        // The caller of `verify` may require a token of a given app, here of `other`.
        #expect(try Self.error(try Sample.token(Self.header, Self.payload), app: "other") == .foreignApp)
    }

    @Test func `I17 a token is valid before its expiry and not afterwards`() throws {
        let token = try Sample.token(Self.header, Self.payload)
        #expect(try Self.error(token, now: Sample.now + 59) == nil)
        #expect(try Self.error(token, now: Sample.now + 60) == .expired)
        // Near the largest time, sums with the tolerance must not overflow.
        #expect(try Self.error(token, now: .max - 100) == .expired)

        // The claim is 31 s after `Sample.now`, which is 1800000000; clocks may differ by only 30 s.
        for claim in ["nbf", "iat"] {
            let earlyPayload = #"{"app":"demo","sub":"alice","exp":1800000060,"\#(claim)":1800000031}"#
            #expect(try Self.error(try Sample.token(Self.header, earlyPayload)) == .notYetValid)
            #expect(try Self.error(try Sample.token(Self.header, earlyPayload), now: Sample.now + 1) == nil)
        }
    }

    @Test(arguments: [
        #"{"sub":"alice","exp":1800000060}"#, #"{"app":"demo","exp":1800000060}"#,
        #"{"app":"demo","sub":"alice"}"#, #"{"app":"demo","sub":7,"exp":1800000060}"#,
        #"{"app":"demo","sub":"","exp":1800000060}"#, #"{"app":"demo","sub":"a b","exp":1800000060}"#,
        #"{"app":"demo","sub":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","exp":1800000060}"#,
        #"{"app":"demo","sub":"alice","exp":"1800000060"}"#,
        #"{"app":"demo","sub":"alice","exp":1e300}"#,
        #"{"app":"demo","sub":"alice","exp":null}"#, #"{"app":"demo","sub":"alice","exp":-5}"#,
        #"{"app":"demo","sub":"alice","exp":1800000060,"role":"admin"}"#,
        #"{"app":"demo","sub":"alice","exp":1800000060,"nbf":1e300}"#, "[]", "7", "", "not json",
    ])
    func `claims that are missing, of another type or beyond their limits are rejected`(payload: String) throws {
        guard case .badClaims(let validationError)? = try Self.error(try Sample.token(Self.header, payload)) else {
            Issue.record("the token was accepted, or rejected for another reason than bad claims")
            return
        }
        #expect(!validationError.isEmpty)
    }

    @Test(
        arguments: [
            ("sub", 32, "sub has 33 bytes; it is 1 to 32 letters, digits, hyphens or underscores"),
            ("name", 100, "name has 101 bytes; at most 100 are possible"),
            ("avatar", 200, "avatar has 201 bytes; at most 200 are possible"),
        ])
    func `a claim at its limit is accepted, and a longer claim is rejected with an error that names it`(
        claim: String, limit: Int, validationError: String
    ) throws {
        /// The error of a token whose claim has this length; nil if the token is accepted.
        func error(length: Int) throws -> TokenError? {
            let members = ["sub": "alice"].merging([claim: String(repeating: "x", count: length)]) { $1 }
                .map { #""\#($0.key)":"\#($0.value)""# }
            let payload = "{\"app\":\"demo\",\"exp\":1800000060,\(members.joined(separator: ","))}"
            return try Self.error(try Sample.token(Self.header, payload))
        }
        #expect(try error(length: limit) == nil)
        #expect(try error(length: limit + 1) == .badClaims(validationError: validationError))
    }

    @Test func `the error names the claim that is missing or of another type`() throws {
        let payloads = [
            #"{"sub":"alice","exp":1800000060}"#: "app is missing",
            #"{"app":"demo","sub":7,"exp":1800000060}"#: "sub is of another type",
            #"{"app":"demo","sub":"alice","exp":1800000060,"role":"admin"}"#: "role is user or server",
        ]
        for (payload, validationError) in payloads {
            #expect(
                try Self.error(try Sample.token(Self.header, payload)) == .badClaims(validationError: validationError))
        }
    }

    @Test func `I16 a token of combining marks is rejected before its texts are compared`() throws {
        // As many marks as fit into a token of 8 KiB in Base64: a mark has two bytes, or six as an escape sequence.
        let marks = String(repeating: "\u{301}", count: 1_400) + String(repeating: "\u{334}", count: 1_400)
        let escaped = String(repeating: #"\u0301"#, count: 450) + String(repeating: #"\u0334"#, count: 450)
        var payloads: [String] = []
        for text in [marks, escaped] {
            payloads += [
                #"{"app":"\#(text)","sub":"alice","exp":1800000060}"#, #"{"\#(text)":1,"app":"demo"}"#,
                #"{"app":"demo","sub":"alice","exp":1800000060,"role":"\#(text)"}"#,
            ]
        }
        let headers = [#"{"alg":"HS256","kid":"\#(escaped)"}"#, #"{"\#(escaped)":1}"#]
        // The signatures are wrong, but the errors below are not `badSignature`. So the marks are rejected before the
        // signatures are verified.
        func encoded(_ header: String, _ payload: String) -> String {
            "\(Base64URL.encode(Array(header.utf8))).\(Base64URL.encode(Array(payload.utf8))).AAAA"
        }
        let tooManyMarks = TokenError.badClaims(
            validationError: "the payload has more than 30 combining marks in a row")
        let cases =
            payloads.map { (encoded(Self.header, $0), tooManyMarks) }
            + headers.map { (encoded($0, Self.payload), TokenError.malformed) }
        let verifier = try Sample.verifier()
        let start = ContinuousClock.now
        for _ in 0..<20 {
            for (token, error) in cases {
                #expect(throws: error) { try verifier.verify(token, at: .seconds(Sample.now)) }
            }
        }
        // Without these scans, the look-up of the app alone took about 4 ms for each token of marks. The scans take far
        // less than 2 s for all tokens.
        #expect(ContinuousClock.now - start < .seconds(2))
    }

    @Test func `text that is not a token is malformed`() throws {
        let token = try Sample.token(Self.header, Self.payload)
        let parts = token.split(separator: ".").map(String.init)
        // The last two texts are longer than a token may be, 8192 bytes.
        let malformedTokens = [
            "", ".", "..", "...", "a.b.c", parts[0], "\(parts[0]).\(parts[1])", token + ".", token + "=", " " + token,
            token + "\n", "\(parts[0])=.\(parts[1]).\(parts[2])", String(repeating: "a", count: 10_000),
            "\(parts[0]).\(Base64URL.encode([UInt8](repeating: 65, count: 8_192))).\(parts[2])",
        ]
        for text in malformedTokens { #expect(try Self.error(text) == .malformed, "\(text.prefix(80))") }
        // By RFC 7515, a token with an unknown critical extension must be rejected.
        let withCriticalExtension = try Sample.token(#"{"alg":"HS256","kid":"k1","crit":["x"]}"#, Self.payload)
        #expect(try Self.error(withCriticalExtension) == .malformed)
    }

    @Test(arguments: ["k1", "k2"])
    func `I17 a token with a flipped bit or a missing end is rejected`(kid: String) throws {
        let key = try #require(
            kid == "k2" ? Sample.keyring().signingKey(for: "demo") : AppKey(kid: "k1", secret: Sample.secret))
        let token = Array(try TokenSigner.sign(Sample.claims, with: key).utf8)
        let verifier = try Sample.verifier()
        for index in token.indices {
            // The texts are ASCII, so their bytes have no eighth bit.
            for bit in 0..<7 {
                var bytes = token
                bytes[index] ^= 1 << bit
                let text = String(decoding: bytes, as: UTF8.self)
                #expect(throws: TokenError.self) { try verifier.verify(text, at: .seconds(Sample.now)) }
            }
            let text = String(decoding: token[..<index], as: UTF8.self)
            #expect(throws: TokenError.self) { try verifier.verify(text, at: .seconds(Sample.now)) }
        }
    }

    @Test func `many threads can verify tokens with the same verifier at once`() throws {
        let key = try #require(try Sample.keyring().signingKey(for: "demo"))
        let (token, verifier) = (try TokenSigner.sign(Sample.claims, with: key), try Sample.verifier())
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
            for _ in 0..<50 { #expect((try? verifier.verify(token, at: .seconds(Sample.now))) == Sample.claims) }
        }
    }
}
