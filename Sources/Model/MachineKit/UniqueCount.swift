// SPDX-License-Identifier: Apache-2.0

/// Counts distinct texts in bounded space: exactly up to `exactLimit` texts, approximately beyond that.
///
/// The estimate is HyperLogLog's with 2,048 registers: its standard error is 2.3 %. The count never decreases.
package struct UniqueCount: Hashable, Sendable {
    /// The maximum number of texts that are counted exactly.
    package static let exactLimit = 512
    /// The number of bits of a hash that select the register.
    private static let indexBits = 11

    /// The number of distinct texts.
    package private(set) var count: Int64 = 0
    /// The hashes of the texts, sorted, while they are counted exactly.
    private var hashes: [UInt64] = []
    /// For each register, one more than the longest run of leading zero bits among its hashes; empty while the texts
    /// are counted exactly.
    private var registers: [UInt8] = []

    /// An empty counter.
    package init() {}

    /// Counts `text`, unless it was counted before.
    package mutating func insert(_ text: String) {
        let hash = StableHash.of(text)
        if !self.registers.isEmpty {
            self.addToEstimate(hash)
            return
        }
        let index = self.index(of: hash)
        if index < self.hashes.count, self.hashes[index] == hash { return }
        if self.hashes.count < Self.exactLimit {
            self.hashes.insert(hash, at: index)
            self.count = self.count.saturatingAdd(1)
            return
        }
        // From here on the count is an estimate.
        self.registers = [UInt8](repeating: 0, count: 1 << Self.indexBits)
        for hash in self.hashes { self.raiseRegister(hash) }
        self.hashes = []
        self.count = self.count.saturatingAdd(1)
        self.addToEstimate(hash)
    }

    /// Counts a text by its hash, after the count has become an estimate.
    private mutating func addToEstimate(_ hash: UInt64) {
        if self.raiseRegister(hash) { self.count = max(self.count, self.estimate) }
    }

    /// Raises the register of `hash` if the hash has a longer run of zeros; returns whether the register changed.
    @discardableResult private mutating func raiseRegister(_ hash: UInt64) -> Bool {
        let register = Int(hash >> (64 - UInt64(Self.indexBits)))
        let remainingBits = hash << UInt64(Self.indexBits)
        let rank = UInt8(min(remainingBits.leadingZeroBitCount, 64 - Self.indexBits) + 1)
        guard self.registers[register] < rank else { return false }
        self.registers[register] = rank
        return true
    }

    /// The estimate of the number of distinct texts, by HyperLogLog or by linear counting.
    ///
    /// Below 2.5 times the number of registers, linear counting is used, which computes with the number of empty
    /// registers. Every computer must get the same result. Therefore HyperLogLog's estimate uses only sums of powers of
    /// two and one division, and the logarithm of linear counting is computed from a series.
    private var estimate: Int64 {
        let size = Double(self.registers.count)
        var sum = 0.0
        var emptyRegisterCount = 0
        for register in self.registers {
            sum += 1 / Double(UInt64(1) << UInt64(register))
            if register == 0 { emptyRegisterCount += 1 }
        }
        // The first factor is HyperLogLog's correction of the bias for 128 registers or more.
        let rawEstimate = 0.7213 / (1 + 1.079 / size) * size * size / sum
        if rawEstimate <= 2.5 * size, emptyRegisterCount > 0 {
            return Int64(size * Self.logarithm(size / Double(emptyRegisterCount)))
        }
        return Int64(rawEstimate)
    }

    /// The natural logarithm of a number that is at least 1.
    ///
    /// The number is halved until it is small, then the series of the inverse hyperbolic tangent is used.
    private static func logarithm(_ number: Double) -> Double {
        var reduced = number
        var halvings = 0.0
        while reduced > 1.5 {
            reduced /= 2
            halvings += 1
        }
        // With a = (reduced - 1) / (reduced + 1), the logarithm is 2 (a + a^3 / 3 + a^5 / 5 + ...).
        let argument = (reduced - 1) / (reduced + 1)
        var power = argument
        var sum = 0.0
        // The argument is at most 0.2, so the terms after the exponent 41 are below the precision of a `Double`.
        for exponent in stride(from: 1.0, through: 41.0, by: 2) {
            sum += power / exponent
            power *= argument * argument
        }
        let logarithmOfTwo = 0.693_147_180_559_945_3
        return 2 * sum + halvings * logarithmOfTwo
    }

    /// The index of `hash` in `hashes`, or the index at which it must be inserted.
    private func index(of hash: UInt64) -> Int {
        self.hashes.partitioningIndex { $0 >= hash }
    }
}

extension UniqueCount: Codable {
    /// The names in stored rows.
    private enum CodingKeys: String, CodingKey {
        case count
        case hashes = "known"
        /// One character for each register, from `0` upwards.
        case registers
    }

    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self.count = try values.decode(Int64.self, forKey: .count)
        self.hashes = try values.decodeIfPresent([UInt64].self, forKey: .hashes) ?? []
        let text = try values.decodeIfPresent(String.self, forKey: .registers) ?? ""
        self.registers = text.utf8.map { $0 &- UInt8(ascii: "0") }
        let isEstimate = self.registers.count == 1 << Self.indexBits && self.hashes.isEmpty
        let isConsistent = self.registers.isEmpty || isEstimate
        guard isConsistent, self.registers.allSatisfy({ $0 <= 64 - Self.indexBits + 1 }),
            self.hashes == self.hashes.sorted()
        else {
            throw DecodingError.dataCorruptedError(forKey: .hashes, in: values, debugDescription: "not a unique count")
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(self.count, forKey: .count)
        if !self.hashes.isEmpty { try values.encode(self.hashes, forKey: .hashes) }
        if !self.registers.isEmpty {
            let text = String(decoding: self.registers.map { $0 + UInt8(ascii: "0") }, as: UTF8.self)
            try values.encode(text, forKey: .registers)
        }
    }
}
