// SPDX-License-Identifier: Apache-2.0

/// HMAC-SHA-256 (FIPS 180-4 and RFC 2104), so that tests can sign tokens that `TokenSigner` rejects.
enum PlainHMAC {
    /// The authentication code of a message; the key has at most 64 bytes, the block size of SHA-256.
    static func code(_ message: [UInt8], key: [UInt8]) -> [UInt8] {
        let padded = key + [UInt8](repeating: 0, count: 64 - key.count)
        return self.sha256(padded.map { $0 ^ 0x5c } + self.sha256(padded.map { $0 ^ 0x36 } + message))
    }

    /// The digest of a message, with the constants and functions of FIPS 180-4.
    ///
    /// `v` has the working variables that the standard calls a to h; `first` is what the standard calls T1.
    static func sha256(_ message: [UInt8]) -> [UInt8] {
        var state: [UInt32] = self.primes(8).map { self.fraction(Double($0).squareRoot()) }
        let constants = self.primes(64).map { self.fraction(self.cubeRoot(Double($0))) }
        var padded = message + [0x80]
        while padded.count % 64 != 56 { padded.append(0) }
        padded += (0..<8).reversed().map { UInt8(truncatingIfNeeded: (message.count * 8) >> ($0 * 8)) }
        for block in stride(from: 0, to: padded.count, by: 64) {
            var words = (0..<16).map { word in
                padded[(block + word * 4)..<(block + word * 4 + 4)].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            }
            for index in 16..<64 {
                let (a, b) = (words[index - 15], words[index - 2])
                let s0 = self.rotated(a, 7) ^ self.rotated(a, 18) ^ (a >> 3)
                let s1 = self.rotated(b, 17) ^ self.rotated(b, 19) ^ (b >> 10)
                words.append(words[index - 16] &+ s0 &+ words[index - 7] &+ s1)
            }
            var v = state
            for index in 0..<64 {
                let s1 = self.rotated(v[4], 6) ^ self.rotated(v[4], 11) ^ self.rotated(v[4], 25)
                let choice = (v[4] & v[5]) ^ (~v[4] & v[6])
                let first = v[7] &+ s1 &+ choice &+ constants[index] &+ words[index]
                let s0 = self.rotated(v[0], 2) ^ self.rotated(v[0], 13) ^ self.rotated(v[0], 22)
                let majority = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2])
                v = [first &+ s0 &+ majority, v[0], v[1], v[2], v[3] &+ first, v[4], v[5], v[6]]
            }
            for index in 0..<8 { state[index] &+= v[index] }
        }
        return state.flatMap { word in (0..<4).reversed().map { UInt8(truncatingIfNeeded: word >> UInt32($0 * 8)) } }
    }

    private static func primes(_ count: Int) -> [Int] {
        var primes: [Int] = []
        var candidate = 2
        while primes.count < count {
            if primes.allSatisfy({ candidate % $0 != 0 }) { primes.append(candidate) }
            candidate += 1
        }
        return primes
    }

    /// The first 32 bits of the fractional part; 4,294,967,296 is 2 to the power of 32.
    private static func fraction(_ value: Double) -> UInt32 {
        UInt32((value - value.rounded(.down)) * 4_294_967_296)
    }

    /// The cube root, by Newton's method.
    private static func cubeRoot(_ value: Double) -> Double {
        (0..<60).reduce(value / 3) { root, _ in root - (root * root * root - value) / (3 * root * root) }
    }

    private static func rotated(_ word: UInt32, _ bits: UInt32) -> UInt32 { word >> bits | word << (32 - bits) }
}
