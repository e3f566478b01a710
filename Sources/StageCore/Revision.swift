// SPDX-License-Identifier: Apache-2.0
import CoreKit

/// Revisions of what others compare: they only grow, also when a live ends and is created anew, for they follow the
/// offsets of the inbox.
enum Revision {
    /// More changes than a live sees at one offset: by what fell due, and by the input itself.
    private static let perOffset: Int64 = 8

    /// The revision of a change at `moment`.
    static func next(after last: Int64, at moment: Moment) -> Int64 {
        max(last + 1, Self.perOffset * moment.offset)
    }
}
