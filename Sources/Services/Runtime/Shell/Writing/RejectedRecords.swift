// SPDX-License-Identifier: Apache-2.0
internal import KafkaClient

/// The records of a batch that a broker rejected.
///
/// Only the delivery reports say why a record was rejected. The error of a failed transaction says only that records
/// were not delivered.
struct RejectedRecords: Sendable {
    /// The number of bytes that every topic with the documented configuration accepts at once, with a large margin.
    ///
    /// A topic that rejects fewer bytes as too large would reject almost every record. That is a fault of the
    /// deployment, for which no input may be set aside.
    static let alwaysAcceptedBytes = 16 * 1024

    /// The first rejection.
    private var first: DeliveryReport?
    /// The size of all records of the same topic that were rejected for the same reason.
    ///
    /// A broker compares its limit with the size of a request's whole batch for a partition, not with each record.
    private var bytes = 0

    /// Adds the delivery report of a record.
    mutating func add(_ delivery: DeliveryReport) {
        guard let error = delivery.error, error.isRejection else { return }
        let first = self.first ?? delivery
        if first.topic == delivery.topic, first.error?.kind == error.kind { self.bytes += delivery.bytes }
        self.first = first
    }

    /// Why the records were rejected; nil if none was.
    ///
    /// The kind is `messageTooLarge` or `invalidRecord` if the content of the records is the reason, and `accessDenied`
    /// or `invalidConfiguration` if the deployment is.
    var reason: KafkaError? {
        guard let first = self.first, var error = first.error else { return nil }
        error.message = "The topic \(first.topic) refused \(self.bytes) bytes: \(error.message)"
        if error.kind == .messageTooLarge, self.bytes <= Self.alwaysAcceptedBytes {
            error.kind = .invalidConfiguration
            error.message += "; its max.message.bytes is too small."
        }
        return error
    }
}
