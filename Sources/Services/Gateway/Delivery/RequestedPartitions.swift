// SPDX-License-Identifier: Apache-2.0

/// The partitions that the `FeedHub` has asked to follow or unfollow; the feed thread assigns them to its consumer.
///
/// The hub numbers its requests in the order of its decisions, but makes the requests outside of its lock, so two
/// threads may make them in another order. For example, the hub decides to unfollow an idle partition, and a viewer
/// joins before the hub has made this request. If the late request to unfollow counted, the partition would not be read
/// although it has viewers. So the request with the highest number counts.
struct RequestedPartitions: Sendable {
    /// The partitions that should be read now.
    private(set) var followed: Set<Int> = []
    /// Partitions that were unfollowed and that the feed thread has not unassigned yet.
    ///
    /// A request to unfollow adds its partition even if a request to follow with a higher number was made before it.
    /// The hub has discarded the partition's cache, so the feed thread must unassign the partition, and then read it
    /// again from the start of the cached span.
    private(set) var unfollowed: Set<Int> = []
    /// The highest number of a request for each partition.
    private var highestRequests: [Int: Int64] = [:]

    /// Records a request to follow a partition.
    mutating func follow(_ partition: Int, request: Int64) {
        if self.recordIfHighest(request, of: partition) { self.followed.insert(partition) }
    }

    /// Records a request to unfollow a partition.
    mutating func unfollow(_ partition: Int, request: Int64) {
        if self.recordIfHighest(request, of: partition) { self.followed.remove(partition) }
        self.unfollowed.insert(partition)
    }

    /// Records that partitions were unassigned.
    mutating func unassigned(_ partitions: Set<Int>) { self.unfollowed.subtract(partitions) }

    /// Records a request's number if it is the highest for the partition so far; returns whether it is.
    private mutating func recordIfHighest(_ request: Int64, of partition: Int) -> Bool {
        guard request > self.highestRequests[partition, default: 0] else { return false }
        self.highestRequests[partition] = request
        return true
    }
}
