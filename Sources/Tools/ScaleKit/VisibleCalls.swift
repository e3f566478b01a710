// SPDX-License-Identifier: Apache-2.0

/// The calls of a live's owner whose effect the live may show at the end.
///
/// Each call replaces the effect of the call before. So the live shows the effect of the last acknowledged call, or of
/// a later call without an acknowledgement, which may have been applied nevertheless.
struct VisibleCalls: Equatable {
    /// The number of the last acknowledged call, and then those of the later calls; 0 stands for no acknowledged call.
    private(set) var numbers = [0]

    /// Records that a call was acknowledged.
    mutating func recordAcknowledged(_ number: Int) { self.numbers = [number] }

    /// Records that a call ended without an acknowledgement.
    mutating func recordUnacknowledged(_ number: Int) { self.numbers.append(number) }
}
