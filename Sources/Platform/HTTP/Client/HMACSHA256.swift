// SPDX-License-Identifier: Apache-2.0
internal import COpenSSL

/// Signs bytes with a shared secret, by HMAC with SHA-256 (RFC 2104).
package enum HMACSHA256 {
    /// The signature in lower-case hexadecimal digits.
    ///
    /// - Parameters:
    ///   - message: the bytes to sign.
    ///   - key: the secret.
    /// - Returns: 64 digits.
    package static func hex(of message: [UInt8], key: [UInt8]) -> String {
        var digest = [UInt8](repeating: 0, count: 32)
        var length: UInt32 = 0
        let isDone = unsafe HMAC(EVP_sha256(), key, Int32(key.count), message, message.count, &digest, &length) != nil
        precondition(isDone && length == 32, "OpenSSL cannot compute an HMAC")
        let digits = Array("0123456789abcdef".utf8)
        return String(
            decoding: digest.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}
