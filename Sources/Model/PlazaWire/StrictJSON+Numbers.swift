// SPDX-License-Identifier: Apache-2.0

/// Converts numbers.
///
/// The results are those of Foundation's decoder; the tests compare both. Foundation's decoder is not used here,
/// because one would be made for each number, and a body of 256 KB can contain more than 50,000 numbers.
extension StrictJSON {
    /// The integer at `index`, even in a form such as `1.0` or `1e2`; nil if the value is not a number, is fractional,
    /// or does not fit.
    ///
    /// There is an exception for numbers of at least 2^53: if the `Double` nearest to such a number is an integer that
    /// fits, the number's fraction is cut off.
    func integer<Number: FixedWidthInteger & Decodable>(_ type: Number.Type, at index: Int) -> Number? {
        let entry = self.entries[index]
        let digits = self.bytes[Int(entry.start)..<Int(entry.end)]
        switch entry.kind {
        case .integer: return Self.integer(digits)
        case .number:
            guard let double = Double(String(decoding: digits, as: UTF8.self)), let number = Number(exactly: double)
            else { return nil }
            // A `Double` represents integers below 2^53 exactly. Larger integers may have been rounded, so they are
            // read from the digits.
            return double.magnitude < 0x1p53 ? number : DecimalDigits(digits)?.integer()
        default: return nil
        }
    }

    /// Converts digits, optionally after `-`, to an integer; nil if the integer does not fit.
    private static func integer<Number: FixedWidthInteger>(_ digits: ArraySlice<UInt8>) -> Number? {
        let isNegative = digits.first == UInt8(ascii: "-")
        var number: Number = 0
        for digit in isNegative ? digits.dropFirst() : digits {
            let (product, isTooLong) = number.multipliedReportingOverflow(by: 10)
            // Negative numbers are built by subtraction, because the least number has no positive counterpart.
            let digitValue = Number(truncatingIfNeeded: digit - UInt8(ascii: "0"))
            let (sum, isTooLarge) =
                isNegative
                ? product.subtractingReportingOverflow(digitValue) : product.addingReportingOverflow(digitValue)
            if isTooLong || isTooLarge { return nil }
            number = sum
        }
        return number
    }

    /// The number at `index`; nil if the value is not a number, or would be rounded to infinity or to zero.
    func double(at index: Int) -> Double? {
        let entry = self.entries[index]
        guard entry.kind == .integer || entry.kind == .number else { return nil }
        let digits = self.bytes[Int(entry.start)..<Int(entry.end)]
        guard let double = Double(String(decoding: digits, as: UTF8.self)), double.isFinite else { return nil }
        if double == 0 {
            // A zero that is written with one of the digits 1 to 9 was rounded. `| 0x20` makes `E` an `e`.
            let mantissa = digits.prefix { $0 | 0x20 != UInt8(ascii: "e") }
            guard mantissa.allSatisfy({ !(UInt8(ascii: "1")...UInt8(ascii: "9")).contains($0) }) else { return nil }
        }
        return double
    }
}

/// A decimal number: a whole number of 128 bits, its mantissa, times a power of ten.
///
/// It has the limits of Foundation's `Decimal`, which decide which large numbers Foundation's decoder accepts. The type
/// `UInt128` would need a later system than this package does.
private struct DecimalDigits {
    /// The exponents that a `Decimal` can have.
    private static let exponents = -128...127
    /// The largest exponent that may be written in a number.
    private static let maxWrittenExponent = 254

    private var isNegative = false
    /// The upper 64 bits of the mantissa.
    private var high: UInt64 = 0
    /// The lower 64 bits of the mantissa.
    private var low: UInt64 = 0
    private var exponent = 0

    /// Reads a number that `StrictJSON` has scanned; nil if its exponent is outside the limits.
    ///
    /// Digits after those that fit into the mantissa are taken as zeros.
    init?(_ text: ArraySlice<UInt8>) {
        var isMantissaFull = false
        var isFraction = false
        var index = text.startIndex
        while index < text.endIndex {
            let byte = text[index]
            index += 1
            switch byte {
            case UInt8(ascii: "-"): self.isNegative = true
            case UInt8(ascii: "."): isFraction = true
            case UInt8(ascii: "e"), UInt8(ascii: "E"):
                guard let written = Self.writtenExponent(text[index...]) else { return nil }
                self.exponent += written
                index = text.endIndex
            default:
                if !isMantissaFull { isMantissaFull = !self.append(byte - UInt8(ascii: "0")) }
                // A digit before the point that was not appended raises the exponent. A digit after the point that was
                // appended lowers it.
                if isMantissaFull != isFraction { self.exponent += isFraction ? -1 : 1 }
            }
            guard Self.exponents.contains(self.exponent) else { return nil }
        }
        self.removeTrailingZeros()
    }

    /// Appends a digit to the mantissa.
    ///
    /// - Returns: false if it does not fit; the mantissa is then unchanged.
    private mutating func append(_ digit: UInt8) -> Bool {
        let (carry, product) = self.low.multipliedFullWidth(by: 10)
        let (low, hasCarry) = product.addingReportingOverflow(UInt64(digit))
        let (highProduct, isTooLarge) = self.high.multipliedReportingOverflow(by: 10)
        // The carry of the product is at most 9, so the sum of both carries does not overflow.
        let (high, isSumTooLarge) = highProduct.addingReportingOverflow(carry + (hasCarry ? 1 : 0))
        if isTooLarge || isSumTooLarge { return false }
        (self.high, self.low) = (high, low)
        return true
    }

    /// The exponent that is written after an `e`; nil if it is too large.
    private static func writtenExponent(_ text: ArraySlice<UInt8>) -> Int? {
        var exponent = 0
        for byte in text where byte != UInt8(ascii: "+") && byte != UInt8(ascii: "-") {
            exponent = exponent * 10 + Int(byte - UInt8(ascii: "0"))
            if exponent > Self.maxWrittenExponent { return nil }
        }
        return text.first == UInt8(ascii: "-") ? -exponent : exponent
    }

    /// Divides the mantissa by ten as often as this is possible without a remainder.
    private mutating func removeTrailingZeros() {
        while self.high != 0 || self.low != 0 {
            let high = self.high.quotientAndRemainder(dividingBy: 10)
            let low = UInt64(10).dividingFullWidth((high.remainder, self.low))
            if low.remainder != 0 { return }
            (self.high, self.low) = (high.quotient, low.quotient)
            self.exponent += 1
        }
    }

    /// The number without its fraction; nil if it does not fit, or if the mantissa has more than 64 bits.
    func integer<Number: FixedWidthInteger>() -> Number? {
        guard self.high == 0 else { return nil }
        var magnitude = self.low
        for _ in 0..<self.exponent.magnitude {
            if self.exponent < 0 {
                magnitude /= 10
            } else {
                let (product, isTooLarge) = magnitude.multipliedReportingOverflow(by: 10)
                if isTooLarge { return nil }
                magnitude = product
            }
        }
        guard let number = Number(exactly: magnitude) else { return nil }
        return self.isNegative ? 0 - number : number
    }
}
