// SPDX-License-Identifier: Apache-2.0
package import CoreKit
package import PlazaModel

/// When a room's due items go out: at once while the room is quiet, and else so spaced that the room takes no more than
/// its share of the loop.
///
/// What a flush costs is the kernel's write per viewer, so a big and busy room gains by fewer and fuller frames, and a
/// small one gains nothing.
package struct FlushPlan: Hashable, Sendable {
    /// The longest that an item waits to be joined by others.
    package static let longestWait = Milliseconds(100)
    /// The part of the loop's time that one room may take: one of so many.
    package static let share: Int64 = 2

    private var lastFlush = Timestamp.distantPast
    /// What a flush of this room takes, smoothed, in microseconds.
    private var cost: Int64 = 0

    /// A plan for a room that has not flushed yet.
    package init() {}

    /// How far apart flushes are now.
    package var interval: Milliseconds {
        Milliseconds(min(Self.longestWait.count, self.cost * Self.share / 1000))
    }

    /// When an item that has just come should go out, with all that waits before it.
    ///
    /// - Returns: `now`, or a later time. Control items and gifts never wait.
    package func due(_ feedClass: FeedClass, at now: Timestamp) -> Timestamp {
        if feedClass <= .gift { return now }
        return max(now, self.lastFlush + self.interval)
    }

    /// The room's items went out.
    package mutating func flushed(at now: Timestamp, tookMicroseconds microseconds: Int64) {
        self.lastFlush = now
        self.cost = (3 * self.cost + max(0, microseconds)) / 4
    }
}
