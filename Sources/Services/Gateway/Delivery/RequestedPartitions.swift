// SPDX-License-Identifier: Apache-2.0

/// The partitions that the `FeedHub` has asked to follow or unfollow; the feed thread assigns them to its consumer.
///
/// The hub numbers its requests in the order of its decisions, but makes them outside of its lock, so two threads may
/// make them in another order. For example, a partition becomes idle, and a viewer joins before the hub has asked to
/// unfollow it. If the late request to unfollow counted, the partition would not be read although it has viewers. So
/// the request with the highest number counts.
struct RequestedPartitions: Sendable {
    /// The partitions that should be read now.
    private(set) var followed: Set<Int> = []
    /// Partitions that were unfollowed and that the feed thread has not unassigned yet.
    ///
    /// A partition may be followed again while it is here. The `FeedHub` has discarded the partition's cache, so the
    /// feed thread must still unassign the partition, and read it again from the start of the span. A request to
    /// unfollow that does not count any more therefore still adds its partition.
    private(set) var unfollowed: Set<Int> = []
    /// The highest number of a request for each partition.
    private var lastRequests: [Int: Int64] = [:]

    /// Records a request to follow a partition.
    mutating func follow(_ partition: Int, request: Int64) {
        if self.isLatest(request, of: partition) { self.followed.insert(partition) }
    }

    /// Records a request to unfollow a partition.
    mutating func unfollow(_ partition: Int, request: Int64) {
        if self.isLatest(request, of: partition) { self.followed.remove(partition) }
        self.unfollowed.insert(partition)
    }

    /// Records that partitions were unassigned.
    mutating func unassigned(_ partitions: Set<Int>) { self.unfollowed.subtract(partitions) }

    /// Returns whether no request with a higher number was made for the partition; records the number if so.
    private mutating func isLatest(_ request: Int64, of partition: Int) -> Bool {
        guard request > self.lastRequests[partition, default: 0] else { return false }
        self.lastRequests[partition] = request
        return true
    }
}
