// SPDX-License-Identifier: Apache-2.0

/// How many different texts there were, in bounded space: exact up to `exactLimit`, beyond that an estimate.
///
/// The estimate is HyperLogLog's with 2,048 registers: its standard error is 2.3 %. The count never falls.
package struct UniqueCount: Hashable, Sendable {
    /// So many are counted exactly.
    package static let exactLimit = 512
    /// The registers are chosen by so many bits of a hash.
    private static let indexBits = 11

    /// How many there were.
    package private(set) var count: Int64 = 0
    /// Their hashes, sorted, while they are counted exactly.
    private var known: [UInt64] = []
    /// For each register the longest run of zeros seen, plus one; empty while the texts are counted exactly.
    private var registers: [UInt8] = []

    /// Nothing was counted.
    package init() {}

    /// Counts `text`, unless it was counted before.
    package mutating func insert(_ text: String) {
        let hash = StableHash.of(text)
        if !self.registers.isEmpty {
            self.estimate(hash)
            return
        }
        let index = self.index(of: hash)
        if index < self.known.count, self.known[index] == hash { return }
        if self.known.count < Self.exactLimit {
            self.known.insert(hash, at: index)
            self.count += 1
            return
        }
        self.registers = [UInt8](repeating: 0, count: 1 << Self.indexBits)
        for known in self.known { self.raise(known) }
        self.known = []
        self.count += 1
        self.estimate(hash)
    }

    private mutating func estimate(_ hash: UInt64) {
        if self.raise(hash) { self.count = max(self.count, self.estimated) }
    }

    /// Whether the register of `hash` rose.
    @discardableResult private mutating func raise(_ hash: UInt64) -> Bool {
        let register = Int(hash >> (64 - UInt64(Self.indexBits)))
        let rest = hash << UInt64(Self.indexBits)
        let rank = UInt8(min(rest.leadingZeroBitCount, 64 - Self.indexBits) + 1)
        guard self.registers[register] < rank else { return false }
        self.registers[register] = rank
        return true
    }

    /// HyperLogLog's estimate; below 2.5 times the registers by counting empty ones.
    ///
    /// Sums of powers of two and one division: the same on every machine. The logarithm of the small range is taken from
    /// a series for the same reason.
    private var estimated: Int64 {
        let size = Double(self.registers.count)
        var sum = 0.0
        var empty = 0
        for register in self.registers {
            sum += 1 / Double(UInt64(1) << UInt64(register))
            if register == 0 { empty += 1 }
        }
        let raw = 0.7213 / (1 + 1.079 / size) * size * size / sum
        if raw <= 2.5 * size, empty > 0 { return Int64(size * Self.logarithm(size / Double(empty))) }
        return Int64(raw)
    }

    /// The natural logarithm of a number of at least one, by halving and the series of the area tangent.
    private static func logarithm(_ number: Double) -> Double {
        var rest = number
        var halvings = 0.0
        while rest > 1.5 {
            rest /= 2
            halvings += 1
        }
        let x = (rest - 1) / (rest + 1)
        var term = x
        var sum = 0.0
        for odd in stride(from: 1.0, through: 41.0, by: 2) {
            sum += term / odd
            term *= x * x
        }
        return 2 * sum + halvings * 0.693_147_180_559_945_3
    }

    private func index(of hash: UInt64) -> Int {
        self.known.partitioningIndex { $0 >= hash }
    }
}

extension UniqueCount: Codable {
    private enum CodingKeys: String, CodingKey {
        case count
        case known
        /// A character for each register: `0` and on from there, at most `f`.
        case registers
    }

    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self.count = try values.decode(Int64.self, forKey: .count)
        self.known = try values.decodeIfPresent([UInt64].self, forKey: .known) ?? []
        let text = try values.decodeIfPresent(String.self, forKey: .registers) ?? ""
        self.registers = text.utf8.map { $0 &- UInt8(ascii: "0") }
        let isWhole = self.registers.isEmpty || self.registers.count == 1 << Self.indexBits && self.known.isEmpty
        guard isWhole, self.registers.allSatisfy({ $0 <= 64 - Self.indexBits + 1 }), self.known == self.known.sorted()
        else {
            throw DecodingError.dataCorruptedError(forKey: .known, in: values, debugDescription: "not a unique count")
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(self.count, forKey: .count)
        if !self.known.isEmpty { try values.encode(self.known, forKey: .known) }
        if !self.registers.isEmpty {
            let text = String(decoding: self.registers.map { $0 + UInt8(ascii: "0") }, as: UTF8.self)
            try values.encode(text, forKey: .registers)
        }
    }
}
