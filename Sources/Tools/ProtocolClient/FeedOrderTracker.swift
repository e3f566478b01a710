// SPDX-License-Identifier: Apache-2.0
internal import MachineKit
package import PlazaModel

/// A tracker of the numbers of the feed items that one client receives in a live.
///
/// The tracker detects every gap, repeat and wrong order (I7 in docs/RULES.md).
package struct FeedOrderTracker: Equatable, Sendable {
    /// The token of the client's position in the feed, by which a resume continues; nil before the first frame.
    ///
    /// It comes from the last frame with new items or a new position, or from the position of a resume without a
    /// replay.
    package private(set) var token: FeedToken?
    /// The number from which on the client receives items of the current epoch; the first of them may not exist yet.
    package private(set) var firstNumber: Int64 = 0
    /// The number of items that were received for the first time and in order.
    package private(set) var received = 0
    /// The number of items that were skipped and have not been received late.
    package private(set) var missing = 0
    /// The number of items that were received again, and dropped.
    package private(set) var repeated = 0
    /// The number of items that were received after later items.
    package private(set) var reordered = 0
    /// The numbers of skipped items, by which an item that arrives late is told from an item that is repeated.
    private var gaps = FeedGaps()

    /// How the items of a frame relate to the items received before.
    package enum Verdict: Equatable, Sendable {
        /// All items of the frame are new.
        case fresh
        /// This number of items at the start of the frame are already known; the later items are new.
        case partlyKnown(Int)
        /// All items of the frame are already known, or it has none.
        case known
        /// The frame contains messages from before the client joined.
        case history
    }

    package init() {}

    /// The position that the token names.
    package var position: FeedPosition? { self.token?.position }

    /// Continues after `position`, at which the server resumes the feed.
    ///
    /// Items of the same epoch up to `position` that were not received count as missing.
    package mutating func resume(at position: FeedPosition) {
        var position = position
        // A server may send any number. An addition to the greatest `Int64` would overflow.
        position.number = min(max(position.number, 0), FeedPosition.validNumbers.upperBound)
        guard let current = self.position, current.epoch == position.epoch else {
            self.firstNumber = position.number + 1
            self.token = FeedToken(position)
            return
        }
        // The position may be before the last received item, because the new gateway may have read less of the feed
        // than the previous gateway has sent. Then nothing is missing.
        guard position.number > current.number else { return }
        self.skip(from: current.number + 1, to: position.number)
        self.token = FeedToken(position)
    }

    /// Records the numbers of a frame.
    ///
    /// - Returns: how the frame relates to the items received before.
    package mutating func record(_ scan: FeedScan) -> Verdict {
        if let position = self.position, scan.epoch < position.epoch {
            if !scan.isHistory { self.repeated += scan.count }
            return .known
        }
        guard scan.isHistory else { return self.recordItems(of: scan) }
        // History are messages from before the join. They are not counted, but their frame gives the feed's position.
        _ = self.recordItems(of: scan.withoutItems)
        return .history
    }

    /// Records a frame of the current epoch or of a later one.
    private mutating func recordItems(of scan: FeedScan) -> Verdict {
        guard let position = self.position, position.epoch == scan.epoch else {
            // A client that has just joined starts at the current position. A new epoch begins a new sequence of
            // numbers.
            self.firstNumber = scan.firstNumber
            return self.accept(scan)
        }
        guard scan.firstNumber > position.number else { return self.recordOverlap(of: scan, upTo: position.number) }
        if scan.firstNumber > position.number + 1 { self.skip(from: position.number + 1, to: scan.firstNumber - 1) }
        return self.accept(scan)
    }

    /// Records a frame whose items are all new.
    private mutating func accept(_ scan: FeedScan) -> Verdict {
        self.received += scan.count
        self.token = scan.token
        return scan.count == 0 ? .known : .fresh
    }

    /// Records a frame whose first items have numbers up to `current`, the last received number.
    private mutating func recordOverlap(of scan: FeedScan, upTo current: Int64) -> Verdict {
        let knownCount = Int(min(scan.lastNumber, current) - scan.firstNumber + 1)
        for number in scan.firstNumber..<scan.firstNumber + Int64(knownCount) {
            if self.gaps.remove(number) {
                self.missing -= 1
                self.reordered += 1
            } else {
                self.repeated += 1
            }
        }
        guard scan.lastNumber > current else { return .known }
        self.received += scan.count - knownCount
        self.token = scan.token
        return .partlyKnown(knownCount)
    }

    /// Records that the items from `first` to `last` were not received.
    private mutating func skip(from first: Int64, to last: Int64) {
        self.missing = self.missing.saturatingAdd(Int(last - first + 1))
        self.gaps.insert(first...last)
    }
}
