// SPDX-License-Identifier: Apache-2.0
internal import CRdkafka

/// Who a consumer is in its group at one moment: group, generation and member.
///
/// A transaction that names it is refused by the broker when the generation has passed. Take it before a transaction's
/// first input and do not refresh it: with refreshed metadata the broker accepts a stale owner's commit.
///
/// `@unchecked Sendable`: the object is never changed after it was made.
@safe package final class GroupMetadata: @unchecked Sendable {
    let pointer: OpaquePointer

    /// Takes ownership; nil if there is none.
    init?(consuming pointer: OpaquePointer?) {
        guard let pointer = unsafe pointer else { return nil }
        unsafe self.pointer = pointer
    }

    deinit { unsafe rd_kafka_consumer_group_metadata_destroy(self.pointer) }
}
