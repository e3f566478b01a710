// SPDX-License-Identifier: Apache-2.0

/// A live's statistics, current or final (R3.57, R11.9).
package struct LiveStatistics: Hashable, Sendable, Codable {
    /// All visits (R3.31); 0 until the live ends, because the count records contain the current number.
    package var totalViewers: Int64
    /// The number of gifts; a call with several receivers sends its count to each of them.
    package var totalGiftsSent: Int64
    /// The price of all these gifts.
    package var totalGiftCoins: Int64
    /// Users who sent gifts, each counted once.
    package var totalUniqueGiftSenders: Int64
    package var totalLikesReceived: Int64
    /// Texts and custom messages that entered the feed.
    package var totalMessageCount: Int64
    /// The milliseconds since the live was created.
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
