// SPDX-License-Identifier: Apache-2.0

/// The token of a feed frame: `epoch.number` of its last item, and after another dot the offset of that item's record.
///
/// A gateway that no longer caches the next items reads them from Kafka, beginning at this offset.
package struct FeedToken: Hashable, Sendable {
    /// The last item's position; number 0 for a feed without items.
    package var position: FeedPosition
    /// The offset of the item's record; nil when it is not known.
    package var offset: Int64?

    package init(_ position: FeedPosition, offset: Int64? = nil) {
        self.position = position
        self.offset = offset
    }

    /// The token's text in a frame.
    package var text: String {
        let positionText = "\(self.position.epoch).\(self.position.number)"
        return self.offset.map { "\(positionText).\($0)" } ?? positionText
    }

    /// Parses a token: two or three numbers in `FeedPosition.validNumbers`, separated by dots.
    package init?(text: some StringProtocol) {
        var numbers: [Int64] = []
        for part in text.split(separator: ".", maxSplits: 3, omittingEmptySubsequences: false) {
            guard part.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int64(part),
                FeedPosition.validNumbers.contains(number)
            else { return nil }
            numbers.append(number)
        }
        guard (2...3).contains(numbers.count) else { return nil }
        self.init(
            FeedPosition(epoch: numbers[0], number: numbers[1]), offset: numbers.count == 3 ? numbers[2] : nil)
    }
}
