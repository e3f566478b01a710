// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
import MachineKit
import PlazaWire
import Testing

/// The project's JSON decoder (`Wire.decode`) decodes numbers in all forms to the same values as Foundation's decoder.
@Suite struct StrictJSONNumberTests {
    /// Expects that the decoder returns the same integer as Foundation, or that both throw; returns the integer.
    @discardableResult private static func compare<Number: FixedWidthInteger & Decodable>(
        _ type: Number.Type, _ token: String
    ) -> Number? {
        let bytes = Array(token.utf8)
        let number = try? Wire.decode(type, from: bytes)
        #expect(number == (try? JSONDecoder().decode(type, from: Data(bytes))), "\(type) from \(token)")
        return number
    }

    /// Expects the same `Double` as from Foundation, bit by bit, except for forms of zero that Foundation rejects, such
    /// as `0e3`.
    private static func compareDoubles(_ token: String) {
        let bytes = Array(token.utf8)
        let double = try? Wire.decode(Double.self, from: bytes)
        let expected = try? JSONDecoder().decode(Double.self, from: Data(bytes))
        #expect(double?.bitPattern == expected?.bitPattern || (double == 0 && expected == nil), "\(token)")
    }

    /// Digits: only zeros, only nines, many zeros, or any.
    private static func digits(_ count: Int, _ random: inout SeededRandom) -> String {
        switch random.next() % 4 {
        case 0: return String(repeating: "0", count: count)
        case 1: return String(repeating: "9", count: count)
        case 2:
            return (0..<count).map { _ in random.next() % 2 == 0 ? "0" : String(random.next() % 10) }.joined()
        default: return (0..<count).map { _ in String(random.next() % 10) }.joined()
        }
    }

    /// An integer at most 3 away from a limit of a type, or from a limit of the exact integers of `Double`.
    private static func integerAtLimit(_ random: inout SeededRandom) -> String {
        let limits: [UInt64] = [1 << 53, 1 << 54, 1 << 62, 1 << 63, .max, 1_000_000_000_000_000_000]
        let limit = limits[Int(random.next() % UInt64(limits.count))]
        let distance = random.next() % 4
        return String(random.next() % 2 == 0 ? limit &- distance : limit.saturatingAdd(distance))
    }

    /// A number by RFC 8259; many are integers of 14 to 21 digits, in any form.
    private static func token(_ random: inout SeededRandom) -> String {
        var integer: String
        switch random.next() % 4 {
        case 0: integer = "0"
        case 1: integer = self.integerAtLimit(&random)
        case 2: integer = self.integerAtLimit(&random) + self.digits(Int(random.next() % 30), &random)
        default: integer = String(1 + random.next() % 9) + self.digits(Int(random.next() % 45), &random)
        }
        let integerDigits = integer == "0" ? 0 : integer.utf8.count
        if random.next() % 3 > 0 {
            // A longer fraction would go beyond -128, the lowest exponent of Foundation's `Decimal`. Another test has
            // such numbers.
            let longestFraction: UInt64 = random.next() % 8 == 0 ? 100 : 25
            integer += "." + self.digits(1 + Int(random.next() % longestFraction), &random)
        }
        switch random.next() % 6 {
        case 0, 1, 2:
            // The exponent that gives the number 14 to 21 digits before the point.
            let exponent = 14 + Int(random.next() % 8) - integerDigits
            let sign = exponent < 0 ? "-" : ["", "+"][Int(random.next() % 2)]
            let zeros = String(repeating: "0", count: Int(random.next() % 3))
            integer += ["e", "E"][Int(random.next() % 2)] + sign + zeros + String(exponent.magnitude)
        case 3: integer += "e" + String(Int(random.next() % 800) - 400)
        default: break
        }
        return (random.next() % 4 == 0 ? "-" : "") + integer
    }

    @Test(arguments: [UInt64(1), 2, 3])
    func `random numbers are decoded to the same values as by Foundation, or rejected as by Foundation`(
        seed: UInt64
    ) {
        var random = SeededRandom(seed: seed)
        var largeCount = 0
        for _ in 0..<5_000 {
            let token = Self.token(&random)
            let integer = Self.compare(Int64.self, token)
            Self.compare(UInt64.self, token)
            Self.compare(Int32.self, token)
            Self.compareDoubles(token)
            let hasFractionOrExponent = token.contains { ".eE".contains($0) }
            if hasFractionOrExponent, let integer, integer.magnitude >= 1 << 53 { largeCount += 1 }
        }
        #expect(largeCount > 50, "too few integers of 2^53 and more have a fraction or exponent: \(largeCount)")
    }

    @Test(arguments: [
        // The mantissa of a `Decimal` has 128 bits: up to 340282366920938463463374607431768211455.
        "340282366920938463463374607431768211455e-20", "340282366920938463463374607431768211456e-20",
        "9223372036854775.807000000000000000000000000000000000000000001e3", "9007199254740993.00000000000000000001",
        "90071992547409930000000000000000000000000000000000000000000000000000000000000000000000e-70",
        "9007199254740993.0000000000000000000000000000000000000000000000000000000000000000000000000", "1e18",
        "9007199254740993.7", "-9007199254740993.7", "1844674407370955161.5e1", "18446744073709551615.0",
        "9007199254740994.0", "9.007199254740994e0000000000000000000000015", "-9223372036854775808.0",
        "0.00000000000000000000000000009007199254740994e44", "9007199254740994e-0", "9007199254740994e+0",
    ])
    func `a number at a limit of Foundation's Decimal is decoded or rejected as by Foundation`(token: String) {
        Self.compare(Int64.self, token)
        Self.compare(UInt64.self, token)
        // Zeros before and after the digits, within the limits of the exponent of -128 and 127.
        for count in [20, 100, 110] {
            for long in Self.longForms(zeroCount: count) {
                Self.compare(Int64.self, long)
                Self.compareDoubles(long)
            }
        }
    }

    /// The number 9007199254740994 in forms with many zeros, for which an exponent compensates.
    private static func longForms(zeroCount: Int) -> [String] {
        let zeros = String(repeating: "0", count: zeroCount)
        return ["9007199254740994\(zeros)e-\(zeroCount)", "0.\(zeros)9007199254740994e\(zeroCount + 16)"]
    }

    /// Only the `Double` is compared with Foundation, whose decoder ends the process when it makes an integer of such a
    /// number.
    @Test(arguments: [200, 253, 254, 255, 256, 1_000])
    func `a number at which Foundation's decoder would end the process is rejected`(zeroCount: Int) {
        for long in Self.longForms(zeroCount: zeroCount) {
            #expect(throws: (any Error).self) { try Wire.decode(Int64.self, from: Array(long.utf8)) }
            #expect(throws: (any Error).self) { try Wire.decode(UInt64.self, from: Array(long.utf8)) }
            Self.compareDoubles(long)
        }
    }
}
