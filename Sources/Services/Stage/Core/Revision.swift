// SPDX-License-Identifier: Apache-2.0
import MachineKit

/// Computes the revisions of published records, by which readers detect old records.
///
/// Revisions are derived from inbox offsets. Therefore they grow even when a live ends and is created again.
enum Revision {
    /// The number of revisions reserved for each inbox offset.
    ///
    /// It is greater than the number of times that one input, with the rows that fall due before it, can change a
    /// live.
    private static let perOffset: Int64 = 8

    /// The revision of a change at `moment`, which is greater than the live's revision `last`.
    static func next(after last: Int64, at moment: Moment) -> Int64 {
        max(last.saturatingAdd(1), Self.perOffset.saturatingMultiply(moment.offset))
    }
}
