// SPDX-License-Identifier: Apache-2.0
package import GatewayCore
package import MachineKit
package import PlazaWire

/// The reason why a sink rejected a record.
package enum SinkRejection: Error, Hashable, Sendable {
    /// The queue of records is full.
    case full
    /// The sink cannot send now.
    case unavailable
    /// The record exceeds the broker's size limit.
    case tooLarge
}

/// The format of record tokens.
///
/// A token identifies a record when its loss is reported. The upper 16 bits are the number of the shard that wrote the
/// record. The lower 48 bits are a counter of this shard, and are never 0.
enum RecordToken {
    /// The token of records whose loss is not reported to a shard.
    static let unreported: UInt64 = 0

    /// Returns the number of the shard that wrote the record with this token.
    static func shard(of token: UInt64) -> Int { Int(token >> 48) }
}

/// Writes a gateway's records: calls to the inbox topics, and sign-in notices to `user.notices`.
///
/// Implemented by `InboxWriter`, by `BatchingWriter`, and by tests.
package protocol RecordSink: Sendable {
    /// Queues a record for writing. Never blocks; may be called from any thread.
    ///
    /// - Parameters:
    ///   - record: The record; its key determines its partition.
    ///   - token: Passed to `Gateway.recordLost` if the record is lost; `RecordToken.unreported` if its loss need not
    ///     be reported.
    /// - Throws: The reason why the record was rejected. A rejected record is not written, and not reported as lost.
    func write(_ record: TopicRecord, token: UInt64) throws(SinkRejection)
}

/// Reads feed items that are no longer cached.
///
/// Implemented by `ReplayReader`, and by tests.
package protocol ReplaySource: Sendable {
    /// Queues a request. Never blocks; may be called from any thread. The outcome is passed to
    /// `Gateway.replayReceived`.
    ///
    /// - Parameters:
    ///   - id: Identifies the request.
    ///   - request: The items to read.
    ///   - partition: The live's feed partition.
    ///   - deadline: The request's deadline.
    /// - Returns: False if too many requests are queued already.
    func request(_ id: ReplayID, _ request: ReplayRequest, partition: Int, deadline: MonotonicTime) -> Bool
}

/// Reads feed partitions on demand.
///
/// Implemented by `FeedReader`, and by tests.
///
/// `request` numbers the requests in the order in which they were decided. Several threads may make them in another
/// order; of the requests for one partition, the one with the highest number says whether to read the partition.
package protocol FeedSource: Sendable {
    /// Starts reading a partition, from the start of the cached span, usually one minute before now. Never blocks; may
    /// be called from any thread.
    func follow(_ partition: Int, request: Int64)
    /// Stops reading a partition. If a request with a higher number has already asked to follow the partition, it is
    /// read again from the start of the cached span. Never blocks; may be called from any thread.
    func unfollow(_ partition: Int, request: Int64)
}
