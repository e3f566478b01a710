// SPDX-License-Identifier: Apache-2.0
internal import CRdkafka

/// A consumer's group membership at one moment: group, generation and member id.
///
/// The broker rejects a transaction with the metadata of a past generation. If a former owner of a partition refreshed
/// its metadata, it could still commit. Therefore take the metadata before the transaction's first input, and do not
/// refresh them.
///
/// It is `@unchecked Sendable` because the object never changes after its creation.
@safe package final class GroupMetadata: @unchecked Sendable {
    let pointer: OpaquePointer

    /// Takes ownership of librdkafka's object; nil if the pointer is nil.
    init?(consuming pointer: OpaquePointer?) {
        guard let pointer = unsafe pointer else { return nil }
        unsafe self.pointer = pointer
    }

    deinit { unsafe rd_kafka_consumer_group_metadata_destroy(self.pointer) }
}
