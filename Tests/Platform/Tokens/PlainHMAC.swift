// SPDX-License-Identifier: Apache-2.0

/// HMAC-SHA-256 (FIPS 180-4 and RFC 2104) for tests.
///
/// With this code tests can sign tokens that `TokenSigner` would not sign, and check signatures independently of it.
enum PlainHMAC {
    /// The authentication code of a message; the key has at most 64 bytes, the block size of SHA-256.
    static func code(_ message: [UInt8], key: [UInt8]) -> [UInt8] {
        let paddedKey = key + [UInt8](repeating: 0, count: 64 - key.count)
        let innerDigest = self.sha256(paddedKey.map { $0 ^ 0x36 } + message)
        return self.sha256(paddedKey.map { $0 ^ 0x5c } + innerDigest)
    }

    /// The digest of a message, with the constants and functions of FIPS 180-4.
    ///
    /// The standard calls the working variables a to h, and `temporary1` T1.
    static func sha256(_ message: [UInt8]) -> [UInt8] {
        var state: [UInt32] = self.primes(8).map { self.fraction(Double($0).squareRoot()) }
        let constants = self.primes(64).map { self.fraction(self.cubeRoot(Double($0))) }
        // The padding is a set bit, zeros up to the last 8 bytes of a block, and the length of the message in bits.
        var padded = message + [0x80]
        while padded.count % 64 != 56 { padded.append(0) }
        padded += (0..<8).reversed().map { UInt8(truncatingIfNeeded: (message.count * 8) >> ($0 * 8)) }
        for block in stride(from: 0, to: padded.count, by: 64) {
            var words = (0..<16).map { index in
                let start = block + index * 4
                return padded[start..<(start + 4)].reduce(UInt32(0)) { word, byte in word << 8 | UInt32(byte) }
            }
            for index in 16..<64 {
                let (word15Before, word2Before) = (words[index - 15], words[index - 2])
                let s0 = self.rotated(word15Before, 7) ^ self.rotated(word15Before, 18) ^ (word15Before >> 3)
                let s1 = self.rotated(word2Before, 17) ^ self.rotated(word2Before, 19) ^ (word2Before >> 10)
                words.append(words[index - 16] &+ s0 &+ words[index - 7] &+ s1)
            }
            var variables = state
            for index in 0..<64 {
                let (a, b, c, d) = (variables[0], variables[1], variables[2], variables[3])
                let (e, f, g, h) = (variables[4], variables[5], variables[6], variables[7])
                let s1 = self.rotated(e, 6) ^ self.rotated(e, 11) ^ self.rotated(e, 25)
                let choice = (e & f) ^ (~e & g)
                let temporary1 = h &+ s1 &+ choice &+ constants[index] &+ words[index]
                let s0 = self.rotated(a, 2) ^ self.rotated(a, 13) ^ self.rotated(a, 22)
                let majority = (a & b) ^ (a & c) ^ (b & c)
                variables = [temporary1 &+ s0 &+ majority, a, b, c, d &+ temporary1, e, f, g]
            }
            for index in 0..<8 { state[index] &+= variables[index] }
        }
        return state.flatMap { word in (0..<4).reversed().map { UInt8(truncatingIfNeeded: word >> UInt32($0 * 8)) } }
    }

    /// The first prime numbers.
    private static func primes(_ count: Int) -> [Int] {
        var primes: [Int] = []
        var candidate = 2
        while primes.count < count {
            if primes.allSatisfy({ candidate % $0 != 0 }) { primes.append(candidate) }
            candidate += 1
        }
        return primes
    }

    /// The first 32 bits of the fractional part of a number.
    ///
    /// 4,294,967,296 is 2 to the power of 32.
    private static func fraction(_ value: Double) -> UInt32 {
        UInt32((value - value.rounded(.down)) * 4_294_967_296)
    }

    /// The cube root, by Newton's method.
    private static func cubeRoot(_ value: Double) -> Double {
        (0..<60).reduce(value / 3) { root, _ in root - (root * root * root - value) / (3 * root * root) }
    }

    /// The word with its bits rotated to the right.
    private static func rotated(_ word: UInt32, _ bits: UInt32) -> UInt32 { word >> bits | word << (32 - bits) }
}
