// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel

/// The state of `LiveSummaryStore`.
public struct LiveSummaryState: Sendable, Hashable {
    /// The statistics.
    public var summaryData = LiveSummaryData()

    /// Creates the initial state.
    public init() {}
}

/// The statistics of a live so far.
public struct LiveSummaryData: Sendable, Hashable {
    /// The duration of the live in milliseconds.
    public var totalDuration: UInt = 0
    /// The number of visits, including repeated ones; a user who comes back within a minute continues the visit.
    public var totalViewers: UInt = 0
    /// The number of gifts.
    public var totalGiftsSent: UInt = 0
    /// The number of users who sent gifts.
    public var totalGiftUniqueSenders: UInt = 0
    /// The sum of the prices of all gifts.
    public var totalGiftCoins: UInt = 0
    /// The number of likes.
    public var totalLikesReceived: UInt = 0
    /// The number of messages.
    public var totalMessageSent: UInt = 0

    /// Creates statistics of 0.
    public init() {}

    init(_ figures: LiveStatistics) {
        self.totalDuration = UInt(clamping: figures.liveDuration)
        self.totalViewers = UInt(clamping: figures.totalViewers)
        self.totalGiftsSent = UInt(clamping: figures.totalGiftsSent)
        self.totalGiftUniqueSenders = UInt(clamping: figures.totalUniqueGiftSenders)
        self.totalGiftCoins = UInt(clamping: figures.totalGiftCoins)
        self.totalLikesReceived = UInt(clamping: figures.totalLikesReceived)
        self.totalMessageSent = UInt(clamping: figures.totalMessageCount)
    }
}
