// SPDX-License-Identifier: Apache-2.0

/// The delivery report of one record.
package struct DeliveryReport: Sendable, Equatable {
    /// The token that was passed to `send`.
    package var token: UInt64
    /// The topic.
    package var topic: String
    /// The partition that was chosen.
    package var partition: Int32
    /// The record's offset in the partition; -1 if the record was not stored.
    package var offset: Int64
    /// The size of the record's key and value.
    package var bytes: Int
    /// Why the record was not stored; nil if it was stored.
    ///
    /// With `timedOut` the outcome is unknown: the record may have been stored.
    package var error: KafkaError?
}
