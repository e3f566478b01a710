// SPDX-License-Identifier: Apache-2.0
import MachineKit

/// Computes the revisions of stages, and of the connection machine's reports about a live.
///
/// Whoever receives a revision that is not above the last one ignores it.
///
/// Revisions are derived from inbox offsets. Therefore they grow even when a live ends and is created again.
enum Revision {
    /// The number of revisions reserved for each inbox offset.
    ///
    /// One input, together with the rows that fall due before it, changes a live fewer times than this.
    private static let revisionsPerOffset: Int64 = 8

    /// The revision of a change at `moment`; greater than `previous`, the live's revision before the change.
    ///
    /// The first change at an offset gets the first reserved revision of the offset; each further change adds 1.
    static func next(after previous: Int64, at moment: Moment) -> Int64 {
        max(previous.saturatingAdd(1), Self.revisionsPerOffset.saturatingMultiply(moment.offset))
    }
}
