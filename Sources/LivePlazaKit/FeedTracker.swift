// SPDX-License-Identifier: Apache-2.0
package import PlazaModel

/// Watches a live's numbers as one client gets them (I7): gaps, repeats and wrong order are always seen.
package struct FeedTracker: Equatable, Sendable {
    /// The last token that came in order, or where the server said that the feed stands.
    package private(set) var token: FeedToken?
    /// The first number seen of the present epoch.
    package private(set) var firstNumber: Int64 = 0
    /// Items that came in order, once.
    package private(set) var received = 0
    /// Items that were skipped.
    package private(set) var missing = 0
    /// Items that came again right behind themselves: dropped.
    package private(set) var repeated = 0
    /// Items that came after later ones, before which they were missing.
    package private(set) var reordered = 0
    private var holes: [ClosedRange<Int64>] = []

    /// What to do with a frame.
    package enum Verdict: Equatable, Sendable {
        /// All its items are new.
        case fresh
        /// The first so many are known already.
        case partlyKnown(Int)
        /// Nothing in it is new.
        case known
        /// Messages of before.
        case history
    }

    package init() {}

    /// The position that the token names.
    package var position: FeedPosition? { self.token?.position }

    /// Goes on after `position`, as the server says that it does; what lies between is missing, and counts as such.
    package mutating func resume(at position: FeedPosition) {
        guard let known = self.position, known.epoch == position.epoch else {
            self.firstNumber = position.number + 1
            self.token = FeedToken(position)
            return
        }
        // A client may be ahead of the gateway that it came to.
        guard position.number > known.number else { return }
        self.skip(from: known.number + 1, to: position.number)
        self.token = FeedToken(position)
    }

    /// Takes note of a frame's numbers.
    package mutating func note(_ scan: FeedScan) -> Verdict {
        if scan.isHistory {
            // It tells where the feed stands, as a frame without items does.
            var standing = scan
            standing.isHistory = false
            standing.count = 0
            if let position = self.position, scan.epoch < position.epoch { return .known }
            _ = self.note(standing)
            return .history
        }
        let verdict = scan.count == 0 ? Verdict.known : .fresh
        guard let position = self.position, position.epoch == scan.epoch else {
            if let position = self.position, scan.epoch < position.epoch {
                self.repeated += scan.count
                return .known
            }
            // A newcomer begins wherever the feed stands; a new epoch is another stream.
            self.firstNumber = scan.first
            self.accept(scan)
            return verdict
        }
        if scan.first == position.number + 1 {
            self.accept(scan)
            return verdict
        }
        if scan.first > position.number + 1 {
            self.skip(from: position.number + 1, to: scan.first - 1)
            self.accept(scan)
            return verdict
        }
        let known = Int(min(scan.last, position.number) - scan.first + 1)
        for number in scan.first..<scan.first + Int64(known) {
            if let index = self.holes.firstIndex(where: { $0.contains(number) }) {
                self.fill(index, number)
            } else {
                self.repeated += 1
            }
        }
        guard scan.last > position.number else { return .known }
        self.received += scan.count - known
        self.token = scan.token
        return .partlyKnown(known)
    }

    private mutating func skip(from first: Int64, to last: Int64) {
        self.missing += Int(last - first + 1)
        self.holes.append(first...last)
        if self.holes.count > 100 { self.holes.removeFirst() }
    }

    private mutating func accept(_ scan: FeedScan) {
        self.received += scan.count
        self.token = scan.token
    }

    /// An item that was missing came after all, too late to be in order.
    private mutating func fill(_ index: Int, _ number: Int64) {
        let hole = self.holes.remove(at: index)
        if hole.lowerBound < number { self.holes.append(hole.lowerBound...number - 1) }
        if number < hole.upperBound { self.holes.append(number + 1...hole.upperBound) }
        self.missing -= 1
        self.reordered += 1
    }
}
