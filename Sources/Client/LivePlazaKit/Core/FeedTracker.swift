// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel

/// Follows the numbers of the feed items that a client receives in one live, and finds repeats and gaps.
struct FeedTracker: Sendable {
    /// The last item's position; nil before the first frame.
    private(set) var position: FeedPosition?
    /// The token of the last frame, for a resume.
    private(set) var token: String?
    /// The number of items that were never received.
    private(set) var missing: Int64 = 0

    /// Continues at the position at which the server resumes the feed, without a replay.
    mutating func resume(at position: FeedPosition) {
        let number = min(max(position.number, 0), FeedPosition.validNumbers.upperBound)
        let position = FeedPosition(epoch: position.epoch, number: number)
        if let known = self.position, known.epoch == position.epoch {
            // A position before the last item is possible: another gateway may have read less than the former one has
            // sent.
            guard position.number > known.number else { return }
            self.missing &+= position.number - known.number
        }
        self.position = position
        self.token = FeedToken(position).text
    }

    /// Records a frame.
    ///
    /// - Returns: the items that are new, and whether items before them are missing.
    mutating func record(_ frame: FeedFrame) -> (items: [FrameItem], hasGap: Bool) {
        guard let known = self.position, frame.position.epoch <= known.epoch else {
            self.accept(frame)
            return (frame.items, false)
        }
        let isEarlier = frame.position.epoch < known.epoch || frame.position.number < known.number
        guard !isEarlier else { return ([], false) }
        // A history contains earlier messages. Like a frame without items, it also gives the position of the feed.
        let first = frame.isHistory ? frame.position.number + 1 : frame.items.first?.n ?? frame.position.number + 1
        let left = first - known.number - 1
        if left > 0 { self.missing &+= left }
        self.accept(frame)
        let items = frame.isHistory ? frame.items : frame.items.filter { $0.n > known.number }
        return (items, left > 0)
    }

    private mutating func accept(_ frame: FeedFrame) {
        self.position = frame.position
        self.token = frame.token
    }
}
