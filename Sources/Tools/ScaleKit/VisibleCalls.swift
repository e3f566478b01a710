// SPDX-License-Identifier: Apache-2.0

/// The calls of one owner whose effect the owner's live may show at the end; each call replaces the effect of the one
/// before.
///
/// A call without an acknowledgement may have been applied or not, so its effect may be shown, too.
struct VisibleCalls: Equatable {
    /// The number of the last acknowledged call, 0 before the first one, and the numbers of later calls.
    private(set) var numbers = [0]

    /// Records that a call was acknowledged.
    mutating func recordAcknowledged(_ number: Int) { self.numbers = [number] }

    /// Records that a call ended without an acknowledgement.
    mutating func recordUnacknowledged(_ number: Int) { self.numbers.append(number) }
}
