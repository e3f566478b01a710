// SPDX-License-Identifier: Apache-2.0

/// Compares the order in which several viewers of a live receive its messages (I7).
///
/// A viewer's tracker sees that the numbers of its items have no hole. Only a comparison sees that two gateways
/// give different messages the same number.
struct OrderComparison {
    /// The message that a viewer received first under each feed number.
    private var sequences: [Int64: Int] = [:]
    /// The numbers of the messages that another viewer has received as well.
    private var comparedNumbers: Set<Int64> = []
    /// How often a viewer received another message under a number than the first one did.
    private(set) var conflictCount = 0

    /// The number of messages that at least two viewers have received.
    var comparedCount: Int { self.comparedNumbers.count }

    /// Records that a viewer received message `sequence` as item `number`; each viewer records an item once.
    ///
    /// - Returns: the message that another viewer received under this number, if it is a different one; nil otherwise.
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
