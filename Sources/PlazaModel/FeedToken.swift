// SPDX-License-Identifier: Apache-2.0

/// Where a feed frame ends, as its token says it: `epoch.number`, and behind another dot the place of that item's record
/// in its partition, by which a gateway that does not keep the next items any more finds them at once.
package struct FeedToken: Hashable, Sendable {
    /// The last item's position, or where a feed without items stands.
    package var position: FeedPosition
    /// The offset of the item's record; nil when it is not known.
    package var offset: Int64?

    /// A token.
    package init(_ position: FeedPosition, offset: Int64? = nil) {
        self.position = position
        self.offset = offset
    }

    /// As it stands in a frame.
    package var text: String {
        let place = "\(self.position.epoch).\(self.position.number)"
        return self.offset.map { "\(place).\($0)" } ?? place
    }

    /// The token that `text` spells: two or three whole numbers from 0 on.
    package init?(text: some StringProtocol) {
        var numbers: [Int64] = []
        for part in text.split(separator: ".", maxSplits: 3, omittingEmptySubsequences: false) {
            guard part.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int64(part) else { return nil }
            numbers.append(number)
        }
        guard (2...3).contains(numbers.count) else { return nil }
        self.init(
            FeedPosition(epoch: numbers[0], number: numbers[1]), offset: numbers.count == 3 ? numbers[2] : nil)
    }
}
