// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel

/// A scanner that finds single values in the JSON of a feed frame, without parsing all of it.
///
/// Keys are sorted (PROTOCOL.md, section 2), so the number `n` is the last field of an item. Quotation marks inside
/// texts are escaped. Therefore `"n":` followed by a number and a brace is always an item's number.
enum FeedScanner {
    /// The numbers of a frame's items.
    struct ItemNumbers {
        var count = 0
        /// The number of the first item; 0 if there is none.
        var first: Int64 = 0
        /// The number of the last item; 0 if there is none.
        var last: Int64 = 0

        fileprivate mutating func append(_ number: Int64) {
            if self.count == 0 { self.first = number }
            self.last = number
            self.count += 1
        }
    }

    // The parts of a frame's JSON for which the scanner looks.
    private static let opening = Array("{\"feed\":{".utf8)
    private static let numberKey = Array("\"n\":".utf8)
    private static let epochKey = Array("\"epoch\":".utf8)
    private static let noItems = Array(",\"items\":[],".utf8)
    private static let historyKey = Array(",\"history\":true,\"items\":[".utf8)
    private static let tokenKey = Array("\"token\":\"".utf8)
    /// The maximum length in bytes of the token's key, its three numbers, and the brackets that end the frame.
    private static let maxTokenBytes = 96
    /// The length in bytes of the shortest end of an item, `"n":1}`.
    private static let minItemEndBytes = 6
    /// The number of digits that always fit an `Int64`.
    private static let maxDigits = 18

    /// Whether a text begins as a feed frame does.
    static func hasOpening(_ text: Span<UInt8>) -> Bool { Self.matches(text, at: 0, Self.opening) }

    /// Whether the items are messages from before the client joined.
    static func isHistory(_ text: Span<UInt8>) -> Bool {
        guard let index = Self.indexAfterEpoch(text) else { return false }
        return Self.matches(text, at: index, Self.historyKey)
    }

    /// Whether the list of items is empty.
    ///
    /// A client that has just joined learns the position of the feed from such a frame.
    static func hasNoItems(_ text: Span<UInt8>) -> Bool {
        guard let index = Self.indexAfterEpoch(text) else { return false }
        return Self.matches(text, at: index, Self.noItems)
    }

    /// The numbers of all items.
    ///
    /// If `mustBeConsecutive`, the numbers must be consecutive; otherwise they need only ascend.
    /// - Returns: the numbers; nil if they are in a wrong order.
    static func itemNumbers(in text: Span<UInt8>, mustBeConsecutive: Bool) -> ItemNumbers? {
        var items = ItemNumbers()
        var index = Self.opening.count
        // The first byte is checked before the whole key, because this is faster.
        while index + Self.minItemEndBytes <= text.count {
            guard text[index] == UInt8(ascii: "\""), Self.matches(text, at: index, Self.numberKey) else {
                index += 1
                continue
            }
            index += Self.numberKey.count
            guard let number = Self.number(in: text, at: &index), index < text.count, text[index] == UInt8(ascii: "}")
            else { continue }
            if mustBeConsecutive {
                guard items.count == 0 || number == items.last + 1 else { return nil }
            } else {
                guard number > items.last else { return nil }
            }
            items.append(number)
        }
        return items
    }

    /// The frame's token, which is near its end.
    static func token(in text: Span<UInt8>) -> FeedToken? {
        guard var index = Self.tokenStart(in: text) else { return nil }
        var numbers: [Int64] = [0]
        while index < text.count, text[index] != UInt8(ascii: "\"") {
            let byte = text[index]
            if byte == UInt8(ascii: "."), numbers.count < 3 {
                numbers.append(0)
            } else if Self.isDigit(byte), numbers[numbers.count - 1] < 1 << 58 {
                // Another digit makes the number at most ten times as large. Because it is below 2^58, it stays below
                // 2^63 and does not overflow.
                numbers[numbers.count - 1] = numbers[numbers.count - 1] * 10 + Int64(byte - UInt8(ascii: "0"))
            } else {
                return nil
            }
            index += 1
        }
        guard numbers.count >= 2 else { return nil }
        return FeedToken(
            FeedPosition(epoch: numbers[0], number: numbers[1]), offset: numbers.count == 3 ? numbers[2] : nil)
    }

    /// The index of the first byte of the token's text.
    private static func tokenStart(in text: Span<UInt8>) -> Int? {
        var index = text.count - 1
        while index >= max(0, text.count - Self.maxTokenBytes) {
            if Self.matches(text, at: index, Self.tokenKey) { return index + Self.tokenKey.count }
            index -= 1
        }
        return nil
    }

    /// The index after the digits of the frame's epoch; nil if the epoch is not the first field.
    private static func indexAfterEpoch(_ text: Span<UInt8>) -> Int? {
        var index = Self.opening.count
        guard Self.matches(text, at: index, Self.epochKey) else { return nil }
        index += Self.epochKey.count
        while index < text.count, Self.isDigit(text[index]) { index += 1 }
        return index
    }

    /// Reads a number of at most `maxDigits` digits, and moves `index` after it; nil if there is no digit.
    private static func number(in text: Span<UInt8>, at index: inout Int) -> Int64? {
        let start = index
        var number: Int64 = 0
        while index < text.count, index - start < Self.maxDigits, Self.isDigit(text[index]) {
            number = number * 10 + Int64(text[index] - UInt8(ascii: "0"))
            index += 1
        }
        return index > start ? number : nil
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    /// Whether `part` is in the text at `index`.
    private static func matches(_ text: Span<UInt8>, at index: Int, _ part: [UInt8]) -> Bool {
        guard index + part.count <= text.count else { return false }
        for offset in part.indices where text[index + offset] != part[offset] { return false }
        return true
    }
}
