// SPDX-License-Identifier: Apache-2.0
internal import CJose

/// An app's key, with which tokens are signed and verified, as an object of the C library cjose.
///
/// It is `@unchecked Sendable` because signing and verifying only read the key, and the last reference releases it.
@safe final class KeyHandle: @unchecked Sendable {
    private let key: OpaquePointer

    /// Imports a JWK, the JSON form of a key.
    init(jwk: String, kid: String) throws(KeyringError) {
        var jwk = jwk
        let key = jwk.withUTF8 { bytes in
            unsafe bytes.withMemoryRebound(to: CChar.self) { unsafe cjose_jwk_import($0.baseAddress, $0.count, nil) }
        }
        // `AppKey` has checked all sizes, so only the point of an ES256 key can be wrong.
        guard let key = unsafe key else { throw .badKey(kid: kid, reason: "it is not a point of the curve") }
        unsafe self.key = key
    }

    deinit { unsafe cjose_jwk_release(self.key) }

    /// Whether the signature of a compact token matches this key.
    ///
    /// It uses the algorithm in the token's header, which the caller has checked.
    func verifies(_ token: String) -> Bool {
        var token = token
        let jws = token.withUTF8 { bytes in
            unsafe bytes.withMemoryRebound(to: CChar.self) { unsafe cjose_jws_import($0.baseAddress, $0.count, nil) }
        }
        guard let jws = unsafe jws else { return false }
        defer { unsafe cjose_jws_release(jws) }
        return unsafe cjose_jws_verify(jws, self.key, nil)
    }

    /// Signs a payload.
    ///
    /// - Returns: the compact token; nil when the key cannot sign.
    func sign(_ payload: [UInt8], algorithm: TokenAlgorithm, kid: String) -> String? {
        guard let header = unsafe cjose_header_new(nil) else { return nil }
        defer { unsafe cjose_header_release(header) }
        guard unsafe cjose_header_set(header, "alg", algorithm.rawValue, nil),
            unsafe cjose_header_set(header, "kid", kid, nil), unsafe cjose_header_set(header, "typ", "JWT", nil)
        else { return nil }
        let jws = unsafe payload.withUnsafeBufferPointer { bytes in
            unsafe cjose_jws_sign(self.key, header, bytes.baseAddress, bytes.count, nil)
        }
        guard let jws = unsafe jws else { return nil }
        defer { unsafe cjose_jws_release(jws) }
        var text: UnsafePointer<CChar>?
        // The JWS owns the text, so it is copied.
        guard unsafe cjose_jws_export(jws, &text, nil), let text = unsafe text else { return nil }
        return unsafe String(cString: text)
    }
}
