// SPDX-License-Identifier: Apache-2.0

/// The inputs that are kept while a snapshot is being read, and are then folded into it (R1.18).
struct InputsDuringRead: Sendable {
    /// The maximum number of inputs that are kept.
    private static let maxCount = 1000

    /// The inputs that change the snapshot and were received since the server was asked for it.
    private(set) var inputs: [FoldInput] = []
    /// Whether more than `maxCount` such inputs were received, so that the snapshot must be read again.
    private(set) var hasOverflowed = false

    /// Keeps an input that changes the snapshot.
    mutating func append(_ input: FoldInput) {
        if self.inputs.count < Self.maxCount { self.inputs.append(input) } else { self.hasOverflowed = true }
    }
}
