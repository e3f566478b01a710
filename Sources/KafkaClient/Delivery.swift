// SPDX-License-Identifier: Apache-2.0

/// The fate of one record that was sent.
package struct Delivery: Sendable, Equatable {
    /// The token that the sender gave.
    package var token: UInt64
    /// The topic.
    package var topic: String
    /// The partition that was chosen.
    package var partition: Int32
    /// Where the record is in the partition; -1 with an error.
    package var offset: Int64
    /// Why it was not stored, or nil if it was.
    ///
    /// With `timedOut` it may be stored all the same.
    package var error: KafkaError?
}
