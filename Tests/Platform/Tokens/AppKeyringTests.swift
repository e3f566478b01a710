// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaWire
import Testing
import Tokens

/// Tests of `AppKeyring`, the keys by which apps sign tokens, and of the errors of a keys file.
@Suite struct AppKeyringTests {
    /// The error of a keys file; nil if the file is accepted.
    static func error(_ json: String) -> KeyringError? {
        do throws(KeyringError) {
            _ = try AppKeyring(json: Array(json.utf8))
            return nil
        } catch { return error }
    }

    @Test func `an app's first key signs, and all its keys verify, so that a key can be replaced`() throws {
        let oldKey = try AppKey(kid: "old", secret: [UInt8](repeating: 1, count: 32))
        let newKey = try AppKey(kid: "new", secret: [UInt8](repeating: 2, count: 32))
        let oldToken = try TokenSigner.sign(Sample.claims, with: oldKey)
        let keyring = try AppKeyring(["demo": [newKey, oldKey]])
        #expect(keyring.signingKey(for: "demo")?.kid == "new")
        #expect(keyring.apps == ["demo"])
        #expect(try TokenVerifier(keyring: keyring).verify(oldToken, at: .seconds(Sample.now)) == Sample.claims)
        // Without the old key, its tokens are rejected.
        let newKeyVerifier = TokenVerifier(keyring: try AppKeyring(["demo": [newKey]]))
        #expect(throws: TokenError.unknownKey) { try newKeyVerifier.verify(oldToken, at: .seconds(Sample.now)) }
    }

    @Test func `the error describes what is wrong with a keys file`() {
        let encodedSecret = Base64URL.encode([UInt8](repeating: 7, count: 32))
        #expect(Self.error("{") == .malformed("it is not JSON"))
        // An error begins with the path of the object, which is empty for the outermost one.
        #expect(Self.error("{}") == .malformed(#" has no "apps""#))
        #expect(
            Self.error(#"{"apps":{"a":{"keys":[{"alg":"HS256"}]}}}"#)
                == .malformed(#".apps.a.keys[0] has no "kid""#))
        #expect(Self.error(#"{"apps":{"a":{"keys":7}}}"#) == .malformed(".apps.a.keys is of another type"))
        #expect(Self.error(#"{"apps":{"a":{"keys":[]}}}"#) == .noKeys(app: "a"))
        /// The error of a file with one key, which has these fields.
        func keyError(_ fields: String, app: String = "a") -> KeyringError? {
            Self.error(#"{"apps":{"\#(app)":{"keys":[{"kid":"k",\#(fields)}]}}}"#)
        }
        // These fields are valid; the cases below vary them.
        #expect(keyError(#""alg":"HS256","k":"\#(encodedSecret)""#) == nil)
        #expect(keyError(#""alg":"HS256","k":"\#(encodedSecret)""#, app: "a b") == .badApp("a b"))
        // The invalid fields are, in this order: an unknown algorithm; HS256 without a secret, with a secret that is
        // too short, and with a secret that has padding; ES256 with coordinates that are not a point on the curve, and
        // with a coordinate that is too short.
        for fields in [
            #""alg":"none""#, #""alg":"HS256""#, #""alg":"HS256","k":"AAAA""#,
            #""alg":"HS256","k":"\#(encodedSecret)=""#,
            #""alg":"ES256","x":"\#(encodedSecret)","y":"\#(encodedSecret)""#,
            #""alg":"ES256","x":"\#(Sample.publicX)","y":"AAAA""#,
        ] {
            guard case .badKey(kid: "k", reason: _) = keyError(fields) else {
                Issue.record("a key with \(fields) was not rejected as a bad key")
                continue
            }
        }
        // Two keys of an app have the same id, which the error names.
        let firstKey = #"{"kid":"first","alg":"HS256","k":"\#(encodedSecret)"}"#
        let repeatedKey = #"{"kid":"k","alg":"HS256","k":"\#(encodedSecret)"}"#
        #expect(
            Self.error(#"{"apps":{"a":{"keys":[\#(firstKey),\#(repeatedKey),\#(repeatedKey)]}}}"#)
                == .badKey(kid: "k", reason: "two keys of the app 'a' have the same kid"))
    }
}
