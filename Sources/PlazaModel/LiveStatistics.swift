// SPDX-License-Identifier: Apache-2.0

/// A live's figures: the summary while it runs, and what its end returns (reference 3.1, 11.3).
package struct LiveStatistics: Hashable, Sendable, Codable {
    /// Entries, repeat visits counted; known at the end, while counts carry it in a running live.
    package var totalViewers: Int64
    /// Gifts, each send counted as many times as its count says.
    package var totalGiftsSent: Int64
    /// What those gifts cost.
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
