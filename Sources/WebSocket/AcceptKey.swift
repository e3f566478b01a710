// SPDX-License-Identifier: Apache-2.0
internal import COpenSSL

/// The proof that a server understood a handshake (RFC 6455, section 4.2.2): base64 of SHA-1 of the key and a constant.
enum AcceptKey {
    /// The answer to a client's key.
    static func answer(to key: String) -> String {
        let source = Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8)
        var digest = [UInt8](repeating: 0, count: 20)
        unsafe EVP_Digest(source, source.count, &digest, nil, EVP_sha1(), nil)
        return Self.base64(digest)
    }

    /// The key for 16 random bytes.
    static func key(_ first: UInt64, _ second: UInt64) -> String {
        var nonce: [UInt8] = []
        for word in [first, second] {
            for shift in stride(from: 0, to: 64, by: 8) { nonce.append(UInt8(truncatingIfNeeded: word >> shift)) }
        }
        return Self.base64(nonce)
    }

    /// Whether a key is base64 of 16 bytes.
    static func isValid(_ key: String) -> Bool {
        let bytes = Array(key.utf8)
        guard bytes.count == 24, bytes[22] == UInt8(ascii: "="), bytes[23] == UInt8(ascii: "="),
            bytes[21] != UInt8(ascii: "=")
        else { return false }
        var decoded = [UInt8](repeating: 0, count: 18)
        return unsafe EVP_DecodeBlock(&decoded, bytes, 24) == 18
    }

    private static func base64(_ bytes: [UInt8]) -> String {
        // A terminating zero follows the text.
        var text = [UInt8](repeating: 0, count: (bytes.count + 2) / 3 * 4 + 1)
        let count = unsafe EVP_EncodeBlock(&text, bytes, Int32(bytes.count))
        return String(decoding: text.prefix(Int(count)), as: UTF8.self)
    }
}
