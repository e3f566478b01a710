// SPDX-License-Identifier: Apache-2.0
internal import COpenSSL

/// The client's key in a handshake, and the value with which the server proves that it has read the key (RFC 6455,
/// section 4.2.2).
enum AcceptKey {
    /// The value of `Sec-WebSocket-Accept` for a client's key: the SHA-1 digest of the key and a constant, as base64.
    static func acceptValue(for key: String) -> String {
        let input = Array((key + Self.protocolGUID).utf8)
        var digest = [UInt8](repeating: 0, count: 20)
        unsafe EVP_Digest(input, input.count, &digest, nil, EVP_sha1(), nil)
        return Self.base64(digest)
    }

    /// The constant of RFC 6455, section 1.3.
    private static let protocolGUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

    /// The key that encodes a nonce of 16 random bytes, which is passed as two 64-bit words.
    static func key(nonce: (UInt64, UInt64)) -> String {
        var bytes: [UInt8] = []
        for word in [nonce.0, nonce.1] {
            for shift in stride(from: 0, to: 64, by: 8) { bytes.append(UInt8(truncatingIfNeeded: word >> shift)) }
        }
        return Self.base64(bytes)
    }

    /// Whether a key is base64 of 16 bytes.
    static func isValid(_ key: String) -> Bool {
        let bytes = Array(key.utf8)
        // The base64 of 16 bytes has 22 characters and two characters of padding.
        guard bytes.count == 24, bytes[22] == UInt8(ascii: "="), bytes[23] == UInt8(ascii: "="),
            bytes[21] != UInt8(ascii: "=")
        else { return false }
        // OpenSSL decodes each padding character to a zero byte, so it returns 18 bytes instead of 16.
        var decoded = [UInt8](repeating: 0, count: 18)
        return unsafe EVP_DecodeBlock(&decoded, bytes, 24) == 18
    }

    private static func base64(_ bytes: [UInt8]) -> String {
        // `EVP_EncodeBlock` appends a terminating zero to the text.
        var text = [UInt8](repeating: 0, count: (bytes.count + 2) / 3 * 4 + 1)
        let count = unsafe EVP_EncodeBlock(&text, bytes, Int32(bytes.count))
        return String(decoding: text.prefix(Int(count)), as: UTF8.self)
    }
}
