// SPDX-License-Identifier: Apache-2.0
internal import MachineKit
package import PlazaModel

/// Tracks the numbers of the feed items that one client receives in a live.
///
/// It detects every gap, repeat and wrong order (I7).
package struct FeedTracker: Equatable, Sendable {
    /// The token of the last item that was received in order, or the position that the server gave.
    package private(set) var token: FeedToken?
    /// The first number that was received in the current epoch.
    package private(set) var firstNumber: Int64 = 0
    /// The number of items that were received once and in order.
    package private(set) var received = 0
    /// The number of items that were skipped.
    package private(set) var missing = 0
    /// The number of items that were received again, and dropped.
    package private(set) var repeated = 0
    /// The number of items that were received after later items.
    package private(set) var reordered = 0
    /// The numbers of skipped items, in at most `maxGaps` ranges; the oldest range is dropped first.
    private var gaps: [ClosedRange<Int64>] = []
    private static let maxGaps = 100

    /// How the items of a frame relate to the items received before.
    package enum Verdict: Equatable, Sendable {
        /// All items of the frame are new.
        case fresh
        /// This number of items at the start of the frame are already known; the others are new.
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
    /// Items up to `position` that were not received count as missing.
    package mutating func resume(at position: FeedPosition) {
        var position = position
        // A server may send any number. An addition to the greatest one would overflow.
        position.number = min(max(position.number, 0), FeedPosition.validNumbers.upperBound)
        guard let current = self.position, current.epoch == position.epoch else {
            self.firstNumber = position.number + 1
            self.token = FeedToken(position)
            return
        }
        // The position may be earlier than the last received item: the new gateway may have read less of the feed than the
        // previous gateway has sent.
        guard position.number > current.number else { return }
        self.skip(from: current.number + 1, to: position.number)
        self.token = FeedToken(position)
    }

    /// Records the numbers of a frame.
    ///
    /// - Returns: how the frame relates to the items received before.
    package mutating func record(_ scan: FeedScan) -> Verdict {
        if scan.isHistory {
            // A history frame also gives the position of the feed, as a frame without items does.
            var positionOnly = scan
            positionOnly.isHistory = false
            positionOnly.count = 0
            if let position = self.position, scan.epoch < position.epoch { return .known }
            _ = self.record(positionOnly)
            return .history
        }
        let verdict = scan.count == 0 ? Verdict.known : .fresh
        guard let position = self.position, position.epoch == scan.epoch else {
            if let position = self.position, scan.epoch < position.epoch {
                self.repeated += scan.count
                return .known
            }
            // A client that has just joined starts at the current position. A new epoch begins a new sequence of
            // numbers.
            self.firstNumber = scan.firstNumber
            self.accept(scan)
            return verdict
        }
        if scan.firstNumber == position.number + 1 {
            self.accept(scan)
            return verdict
        }
        if scan.firstNumber > position.number + 1 {
            self.skip(from: position.number + 1, to: scan.firstNumber - 1)
            self.accept(scan)
            return verdict
        }
        let knownCount = Int(min(scan.lastNumber, position.number) - scan.firstNumber + 1)
        for number in scan.firstNumber..<scan.firstNumber + Int64(knownCount) {
            if let index = self.gaps.firstIndex(where: { $0.contains(number) }) {
                self.fillGap(at: index, number)
            } else {
                self.repeated += 1
            }
        }
        guard scan.lastNumber > position.number else { return .known }
        self.received += scan.count - knownCount
        self.token = scan.token
        return .partlyKnown(knownCount)
    }

    /// Records that the items from `first` to `last` were not received.
    private mutating func skip(from first: Int64, to last: Int64) {
        self.missing = self.missing.saturatingAdd(Int(last - first + 1))
        self.gaps.append(first...last)
        if self.gaps.count > Self.maxGaps { self.gaps.removeFirst() }
    }

    /// Records a frame whose items are all new.
    private mutating func accept(_ scan: FeedScan) {
        self.received += scan.count
        self.token = scan.token
    }

    /// Records that a missing item was received after later items, and removes it from the gap at `index`.
    private mutating func fillGap(at index: Int, _ number: Int64) {
        let gap = self.gaps.remove(at: index)
        if gap.lowerBound < number { self.gaps.append(gap.lowerBound...number - 1) }
        if number < gap.upperBound { self.gaps.append(number + 1...gap.upperBound) }
        self.missing -= 1
        self.reordered += 1
    }
}
