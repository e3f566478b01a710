// SPDX-License-Identifier: Apache-2.0

/// Compares under which feed numbers several viewers of a live receive its messages (I7).
///
/// A viewer alone can notice a missing number (`FeedOrderTracker`). Only a comparison of viewers shows that gateways
/// give different messages the same number.
struct OrderComparison {
    /// For each feed number, the first message that any viewer received under it.
    private var sequences: [Int64: Int] = [:]
    /// The feed numbers under which at least two viewers have received a message.
    private var comparedNumbers: Set<Int64> = []
    /// How often a viewer received another message under a feed number than the first viewer did.
    private(set) var conflictCount = 0

    /// The number of messages that at least two viewers have received.
    var comparedCount: Int { self.comparedNumbers.count }

    /// Records that a viewer received message `sequence` as item `number`; each viewer records an item once.
    ///
    /// - Returns: the different message that the first viewer received under this number; nil if there is none.
    mutating func record(_ sequence: Int, at number: Int64) -> Int? {
        guard let first = self.sequences[number] else {
            self.sequences[number] = sequence
            return nil
        }
        self.comparedNumbers.insert(number)
        guard first != sequence else { return nil }
        self.conflictCount += 1
        return first
    }
}
