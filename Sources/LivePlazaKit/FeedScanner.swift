// SPDX-License-Identifier: Apache-2.0
package import PlazaModel

/// What a feed frame holds, found without reading its JSON: which epoch, and which numbers.
///
/// A client must see gaps and repeats in every frame, also when nobody looks at the items. An item ends with its number,
/// for its keys are sorted (PROTOCOL.md), and a quotation mark inside a text is escaped, so `"n":` followed by a number
/// and a brace is an item's number and nothing else.
package struct FeedScan: Equatable, Sendable {
    package var epoch: Int64
    /// The number of the first item; of a frame without items, or of history, the number that comes next.
    package var first: Int64
    /// The number of the last item; of a frame without items, or of history, the one that the feed stands at.
    package var last: Int64
    /// How many items there are.
    package var count: Int
    /// Messages of before for a newcomer: they are no new items, and need not follow each other.
    package var isHistory: Bool
    /// The server's hint behind the token's position.
    package var offset: Int64?

    /// Scans a frame; nil if it is no feed frame or not of the form that is expected.
    package init?(_ text: Span<UInt8>) {
        guard Self.begins(text, with: Self.opening), let token = Self.token(text) else { return nil }
        self.epoch = token.position.epoch
        self.last = token.position.number
        self.offset = token.offset
        self.first = 0
        self.count = 0
        var index = Self.opening.count
        self.isHistory = Self.afterEpoch(text).map { Self.matches(text, at: $0, Self.historyKey) } ?? false
        var previous: Int64 = 0
        while index + 5 < text.count {
            guard text[index] == UInt8(ascii: "\""), Self.matches(text, at: index, Self.key) else {
                index += 1
                continue
            }
            index += Self.key.count
            var number: Int64 = 0
            var digits = 0
            while index < text.count, (0x30...0x39).contains(text[index]), digits < 18 {
                number = number * 10 + Int64(text[index] - 0x30)
                digits += 1
                index += 1
            }
            guard digits > 0, index < text.count, text[index] == UInt8(ascii: "}") else { continue }
            if self.isHistory {
                guard number > previous else { return nil }
            } else if self.count == 0 {
                self.first = number
            } else if number != previous + 1 {
                return nil
            }
            previous = number
            self.count += 1
        }
        if self.isHistory {
            guard self.count > 0, previous <= self.last else { return nil }
            self.first = self.last + 1
            return
        }
        if self.count == 0 {
            guard Self.hasNoItems(text) else { return nil }
            self.first = self.last + 1
            return
        }
        guard previous == self.last else { return nil }
    }

    /// The frame's token.
    package var token: FeedToken { FeedToken(FeedPosition(epoch: self.epoch, number: self.last), offset: self.offset) }

    /// Whether a text is a feed frame at all.
    package static func isFeed(_ text: Span<UInt8>) -> Bool { Self.begins(text, with: Self.opening) }

    /// Whether the frame's list of items is there, and empty: it tells a newcomer where the feed stands.
    private static func hasNoItems(_ text: Span<UInt8>) -> Bool {
        Self.afterEpoch(text).map { Self.matches(text, at: $0, Self.noItems) } ?? false
    }

    /// Where the frame goes on behind its epoch.
    private static func afterEpoch(_ text: Span<UInt8>) -> Int? {
        var index = Self.opening.count
        guard Self.matches(text, at: index, Self.epochKey) else { return nil }
        index += Self.epochKey.count
        while index < text.count, (0x30...0x39).contains(text[index]) { index += 1 }
        return index
    }

    private static let opening = Array("{\"feed\":{".utf8)
    private static let key = Array("\"n\":".utf8)
    private static let epochKey = Array("\"epoch\":".utf8)
    private static let noItems = Array(",\"items\":[],".utf8)
    private static let historyKey = Array(",\"history\":true,\"items\":[".utf8)
    private static let tokenKey = Array("\"token\":\"".utf8)

    private static func begins(_ text: Span<UInt8>, with prefix: [UInt8]) -> Bool { Self.matches(text, at: 0, prefix) }

    private static func matches(_ text: Span<UInt8>, at index: Int, _ part: [UInt8]) -> Bool {
        guard index + part.count <= text.count else { return false }
        for offset in part.indices where text[index + offset] != part[offset] { return false }
        return true
    }

    /// The token stands at the frame's end.
    private static func token(_ text: Span<UInt8>) -> FeedToken? {
        var start = text.count - 1
        let lowest = max(0, text.count - 96)
        while start >= lowest, !Self.matches(text, at: start, Self.tokenKey) { start -= 1 }
        guard start >= lowest else { return nil }
        var index = start + Self.tokenKey.count
        var numbers: [Int64] = [0]
        while index < text.count, text[index] != UInt8(ascii: "\"") {
            let byte = text[index]
            if byte == UInt8(ascii: "."), numbers.count < 3 {
                numbers.append(0)
            } else if (0x30...0x39).contains(byte), numbers[numbers.count - 1] < 1 << 58 {
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
