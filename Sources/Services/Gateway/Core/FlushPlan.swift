// SPDX-License-Identifier: Apache-2.0
package import MachineKit
package import PlazaModel

/// Decides when a live's items are flushed, that is, sent to its viewers: immediately while the live is quiet;
/// otherwise at intervals that keep the live within its share of the event loop's time.
///
/// A flush costs one system call for each viewer. Fewer and larger frames save time in a live with many viewers and
/// many items, but not in a small one.
package struct FlushPlan: Hashable, Sendable {
    /// The longest time for which an item is buffered.
    package static let maxWait = Milliseconds(100)
    /// One live may use 1/`loopTimeDivisor` of the event loop's time.
    package static let loopTimeDivisor: Int64 = 2

    private var lastFlushAt = MonotonicTime.distantPast
    /// The CPU time of a flush of this live, in microseconds: an average in which the last flush counts for a quarter.
    private var averageMicroseconds: Int64 = 0

    /// Creates the plan of a live that was not flushed yet.
    package init() {}

    /// The current interval between flushes: `loopTimeDivisor` times the average flush, but at most `maxWait`.
    package var interval: Milliseconds {
        // Divided by 1000, because the average is in microseconds.
        Milliseconds(min(Self.maxWait.count, self.averageMicroseconds * Self.loopTimeDivisor / 1000))
    }

    /// Returns when an item that was just received must be flushed, together with the items that are buffered already.
    ///
    /// - Returns: `now`, or a later time. Control items and gifts, the classes up to `.gift`, are flushed immediately.
    package func flushTime(for feedClass: FeedClass, at now: MonotonicTime) -> MonotonicTime {
        if feedClass <= .gift { return now }
        return max(now, self.lastFlushAt + self.interval)
    }

    /// Records a flush and its CPU time.
    package mutating func flushed(at now: MonotonicTime, tookMicroseconds microseconds: Int64) {
        self.lastFlushAt = now
        self.averageMicroseconds = (3 * self.averageMicroseconds + max(0, microseconds)) / 4
    }
}
