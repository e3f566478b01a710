// SPDX-License-Identifier: Apache-2.0

/// The counts of what an attack sent, and of how the gateways answered.
package struct AttackTally: Equatable, Sendable {
    /// Connections that were established.
    package var opened = 0
    /// The largest number of connections open at once.
    package var maxOpen = 0
    /// The number of writes to connections, each with a frame, a request or a part of one.
    package var writes = 0
    /// Bytes sent.
    package var bytes = 0
    /// Calls that succeeded.
    package var accepted = 0
    /// How often each answer was received, by the answer's text.
    ///
    /// `HTTP 429` is the status of a response, `close 4104` the code of a close frame, `tooFrequent` the error of a
    /// call. A connection that ended without an answer counts as `cut off`, or as `not connected` with the error.
    package var answers: [String: Int] = [:]

    package init() {}

    /// Counts an answer.
    mutating func count(_ answer: String) { self.answers[answer, default: 0] += 1 }

    /// The answers with their counts as text, the most frequent first.
    package var answersInWords: String {
        // By falling count; answers with the same count by name.
        let sorted = self.answers.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        return sorted.map { "\($0.value) × \($0.key)" }.joined(separator: ", ")
    }
}
