// SPDX-License-Identifier: Apache-2.0

/// A live's statistics: the summary while it runs, and the result of its end (R3.57, R11.9).
package struct LiveStatistics: Hashable, Sendable, Codable {
    /// Entries, including repeat visits; set at the end.
    ///
    /// While the live runs, the count records contain this number.
    package var totalViewers: Int64
    /// The sum of the counts of all gift calls.
    package var totalGiftsSent: Int64
    /// The price of those gifts.
    package var totalGiftCoins: Int64
    /// Users who sent gifts, each counted once.
    package var totalUniqueGiftSenders: Int64
    package var totalLikesReceived: Int64
    /// Texts and custom messages that entered the feed.
    package var totalMessageCount: Int64
    /// Milliseconds since the live began.
    package var liveDuration: Int64

    package init(
        totalViewers: Int64 = 0, totalGiftsSent: Int64 = 0, totalGiftCoins: Int64 = 0,
        totalUniqueGiftSenders: Int64 = 0, totalLikesReceived: Int64 = 0, totalMessageCount: Int64 = 0,
        liveDuration: Int64 = 0
    ) {
        self.totalViewers = totalViewers
        self.totalGiftsSent = totalGiftsSent
        self.totalGiftCoins = totalGiftCoins
        self.totalUniqueGiftSenders = totalUniqueGiftSenders
        self.totalLikesReceived = totalLikesReceived
        self.totalMessageCount = totalMessageCount
        self.liveDuration = liveDuration
    }
}
