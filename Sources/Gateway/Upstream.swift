// SPDX-License-Identifier: Apache-2.0
package import CoreKit
package import GatewayCore
package import PlazaWire

/// Why a record could not be handed to the broker's client.
package enum SinkRefusal: Error, Hashable, Sendable {
    /// The client's queue is full.
    case full
    /// The client can send nothing now.
    case unavailable
    /// The record is larger than the broker takes.
    case tooLarge
}

/// Takes the records that a gateway writes into inboxes: the producer, or a test's list.
package protocol RecordSink: Sendable {
    /// Hands a record over; never blocks, any thread.
    ///
    /// - Parameters:
    ///   - record: what is written; its partition follows from its key.
    ///   - token: comes back by `Gateway.notDelivered` if the record is lost; 0 for none.
    /// - Throws: why it was not taken; nothing of it is written then.
    func write(_ record: TopicRecord, token: UInt64) throws(SinkRefusal)
}

/// Reads what was written before, for those who need more of it than is in memory: the replay thread, or a test.
package protocol ReplaySource: Sendable {
    /// Takes a question; never blocks, any thread. The answer comes by `Gateway.replayed`.
    ///
    /// - Parameters:
    ///   - id: who asks.
    ///   - request: what is asked.
    ///   - partition: the live's feed partition.
    ///   - until: when an answer comes too late, by the monotonic clock.
    /// - Returns: false when too many ask already.
    func ask(_ id: ReplayID, _ request: ReplayRequest, partition: Int, until: Timestamp) -> Bool
}

/// Reads feed partitions on demand: the feed thread, or a test.
package protocol FeedSource: Sendable {
    /// Begin to read a partition, from a minute before now; never blocks, any thread.
    func follow(_ partition: Int)
    /// Read a partition no longer; never blocks, any thread.
    func unfollow(_ partition: Int)
}
