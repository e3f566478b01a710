// SPDX-License-Identifier: Apache-2.0

/// The calls of one owner whose effect the owner's live may show at the end; each call replaces the effect of the one
/// before.
struct AcknowledgedRounds: Equatable {
    /// The number of the last acknowledged call, 0 before the first one, and the numbers of later calls.
    ///
    /// A call without an acknowledgement may have been applied or not, so its effect is possible too.
    private(set) var possible = [0]

    /// Records the acknowledgement of a call.
    mutating func acknowledge(_ round: Int) { self.possible = [round] }

    /// Records that a call ended without an acknowledgement.
    mutating func leaveOpen(_ round: Int) { self.possible.append(round) }
}
