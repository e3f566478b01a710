// SPDX-License-Identifier: Apache-2.0
package import PlazaModel

/// The epoch and the item numbers of a feed frame, found without a parse of the whole JSON.
///
/// A client must detect gaps and repeats in every frame, even when the app does not read the items. Keys are sorted
/// (PROTOCOL.md, section 2), so the number `n` is the last field of an item. Quotation marks inside texts are escaped.
/// Therefore `"n":` followed by a number and a brace is always an item's number.
package struct FeedScan: Equatable, Sendable {
    /// The epoch of the feed.
    package var epoch: Int64
    /// The number of the first item.
    ///
    /// In a frame without items or with history, it is the next number of the feed.
    package var firstNumber: Int64
    /// The number of the last item.
    ///
    /// In a frame without items or with history, it is the current number of the feed.
    package var lastNumber: Int64
    /// The number of items.
    package var count: Int
    /// Whether the items are messages from before the client joined; their numbers need not be consecutive.
    package var isHistory: Bool
    /// The offset of the last item's record, from the frame's token; nil if the token has none.
    ///
    /// A server finds the item at this offset.
    package var offset: Int64?

    /// Scans a frame; nil if it is not a feed frame in the expected form or its numbers are inconsistent.
    package init?(_ text: Span<UInt8>) {
        guard Self.matches(text, at: 0, Self.opening), let token = Self.token(text) else { return nil }
        self.epoch = token.position.epoch
        self.lastNumber = token.position.number
        self.offset = token.offset
        self.firstNumber = 0
        self.count = 0
        var index = Self.opening.count
        self.isHistory = Self.indexAfterEpoch(text).map { Self.matches(text, at: $0, Self.historyKey) } ?? false
        var previous: Int64 = 0
        // The shortest end of an item, `"n":1}`, has 6 bytes.
        while index + 5 < text.count {
            guard text[index] == UInt8(ascii: "\""), Self.matches(text, at: index, Self.numberKey) else {
                index += 1
                continue
            }
            index += Self.numberKey.count
            var number: Int64 = 0
            var digitCount = 0
            // A number of 18 digits fits an `Int64`.
            while index < text.count, (0x30...0x39).contains(text[index]), digitCount < 18 {
                number = number * 10 + Int64(text[index] - 0x30)
                digitCount += 1
                index += 1
            }
            guard digitCount > 0, index < text.count, text[index] == UInt8(ascii: "}") else { continue }
            if self.isHistory {
                guard number > previous else { return nil }
            } else if self.count == 0 {
                self.firstNumber = number
            } else if number != previous + 1 {
                return nil
            }
            previous = number
            self.count += 1
        }
        if self.isHistory {
            guard self.count > 0, previous <= self.lastNumber else { return nil }
            self.firstNumber = self.lastNumber + 1
            return
        }
        if self.count == 0 {
            guard Self.hasNoItems(text) else { return nil }
            self.firstNumber = self.lastNumber + 1
            return
        }
        guard previous == self.lastNumber else { return nil }
    }

    /// The frame's token.
    package var token: FeedToken {
        FeedToken(FeedPosition(epoch: self.epoch, number: self.lastNumber), offset: self.offset)
    }

    /// Whether a text has the beginning of a feed frame.
    package static func isFeed(_ text: Span<UInt8>) -> Bool { Self.matches(text, at: 0, Self.opening) }

    /// Whether the list of items is empty.
    ///
    /// A client that has just joined learns the position of the feed from such a frame.
    private static func hasNoItems(_ text: Span<UInt8>) -> Bool {
        Self.indexAfterEpoch(text).map { Self.matches(text, at: $0, Self.noItems) } ?? false
    }

    /// The index after the digits of the frame's epoch; nil if the epoch is not the first field.
    private static func indexAfterEpoch(_ text: Span<UInt8>) -> Int? {
        var index = Self.opening.count
        guard Self.matches(text, at: index, Self.epochKey) else { return nil }
        index += Self.epochKey.count
        while index < text.count, (0x30...0x39).contains(text[index]) { index += 1 }
        return index
    }

    // The parts of a frame's JSON for which the scanner looks.
    private static let opening = Array("{\"feed\":{".utf8)
    private static let numberKey = Array("\"n\":".utf8)
    private static let epochKey = Array("\"epoch\":".utf8)
    private static let noItems = Array(",\"items\":[],".utf8)
    private static let historyKey = Array(",\"history\":true,\"items\":[".utf8)
    private static let tokenKey = Array("\"token\":\"".utf8)

    /// Whether `part` is in the text at `index`.
    private static func matches(_ text: Span<UInt8>, at index: Int, _ part: [UInt8]) -> Bool {
        guard index + part.count <= text.count else { return false }
        for offset in part.indices where text[index + offset] != part[offset] { return false }
        return true
    }

    /// Reads the token, which is near the end of the frame.
    private static func token(_ text: Span<UInt8>) -> FeedToken? {
        var start = text.count - 1
        // The token and the brackets after it have at most 96 bytes.
        let minStart = max(0, text.count - 96)
        while start >= minStart, !Self.matches(text, at: start, Self.tokenKey) { start -= 1 }
        guard start >= minStart else { return nil }
        var index = start + Self.tokenKey.count
        var numbers: [Int64] = [0]
        while index < text.count, text[index] != UInt8(ascii: "\"") {
            let byte = text[index]
            if byte == UInt8(ascii: "."), numbers.count < 3 {
                numbers.append(0)
            } else if (0x30...0x39).contains(byte), numbers[numbers.count - 1] < 1 << 58 {
                // After a number below 2^58, another digit does not overflow.
                numbers[numbers.count - 1] = numbers[numbers.count - 1] * 10 + Int64(byte - 0x30)
            } else {
                return nil
            }
            index += 1
        }
        guard numbers.count >= 2 else { return nil }
        return FeedToken(
            FeedPosition(epoch: numbers[0], number: numbers[1]), offset: numbers.count == 3 ? numbers[2] : nil)
    }
}
