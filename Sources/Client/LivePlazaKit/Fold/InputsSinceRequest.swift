// SPDX-License-Identifier: Apache-2.0

/// The inputs that are kept from the request of a snapshot until it arrives, and are then folded into it (R1.18).
struct InputsSinceRequest: Sendable {
    /// The maximum number of inputs that are kept.
    private static let maxCount = 1000

    /// The inputs that were received since the request and change the snapshot.
    private(set) var inputs: [FoldInput] = []
    /// Whether more than `maxCount` such inputs were received, so that the snapshot must be requested again.
    private(set) var hasOverflowed = false

    /// Keeps an input that changes the snapshot.
    mutating func append(_ input: FoldInput) {
        if self.inputs.count < Self.maxCount { self.inputs.append(input) } else { self.hasOverflowed = true }
    }
}
