// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel

/// Follows the numbers of the feed items that a client receives in one live, and finds repeats and gaps.
struct FeedTracker: Sendable {
    /// The feed's position after the last frame or resume; nil before the first one.
    private(set) var position: FeedPosition?
    /// The token of the last frame, for a resume.
    private(set) var token: String?
    /// The number of items that were never received.
    private(set) var missing: Int64 = 0

    /// What a frame adds to the items that were received before.
    struct NewItems {
        var items: [FrameItem] = []
        /// Whether items before these are missing.
        var hasGap = false
    }

    /// Continues at the position at which the server resumes the feed, without a replay.
    mutating func resume(at position: FeedPosition) {
        // A faulty server may send any number. The bounds keep later additions from overflowing.
        let number = min(max(position.number, 0), FeedPosition.validNumbers.upperBound)
        let position = FeedPosition(epoch: position.epoch, number: number)
        if let previous = self.position, previous.epoch == position.epoch {
            // The position may be before the last received item: the new gateway may have read less of the feed than
            // the former gateway has sent.
            guard position.number > previous.number else { return }
            self.missing &+= position.number - previous.number
        }
        self.position = position
        self.token = FeedToken(position).text
    }

    /// Records a frame.
    ///
    /// - Returns: what is new in the frame.
    mutating func record(_ frame: FeedFrame) -> NewItems {
        guard let previous = self.position, frame.position.epoch <= previous.epoch else {
            // The first frame, or the first of a higher epoch: there is no earlier number to compare with.
            self.accept(frame)
            return NewItems(items: frame.items)
        }
        let isEarlier = frame.position.epoch < previous.epoch || frame.position.number < previous.number
        guard !isEarlier else { return NewItems() }
        // The items of a history are older than the feed's position. Therefore the frame's position, and not its items,
        // tells where the feed continues after a history. The same is true of a frame without items.
        let nextNumber = frame.position.number + 1
        let firstNumber = frame.isHistory ? nextNumber : frame.items.first?.n ?? nextNumber
        let missingCount = firstNumber - previous.number - 1
        if missingCount > 0 { self.missing &+= missingCount }
        self.accept(frame)
        let items = frame.isHistory ? frame.items : frame.items.filter { $0.n > previous.number }
        return NewItems(items: items, hasGap: missingCount > 0)
    }

    private mutating func accept(_ frame: FeedFrame) {
        self.position = frame.position
        self.token = frame.token
    }
}
