// SPDX-License-Identifier: Apache-2.0
public import Foundation
internal import PlazaModel

/// The state of `LiveListStore`.
public struct LiveListState: Sendable, Hashable {
    /// The lives on the pages that were read.
    public var liveList: [LiveInfo] = []
    /// The cursor of the next page; empty at the end.
    public var liveListCursor = ""
    /// The live that the client is in; empty if it is in none.
    public var currentLive = LiveInfo()

    /// Creates the initial state.
    public init() {}
}

/// An event of `LiveListStore`: the client is no longer in its live, although it did not leave.
public enum LiveListEvent: Sendable, Hashable {
    /// The live has ended.
    case onLiveEnded(liveID: String, reason: LiveEndedReason, message: String)
    /// The client was removed from the live.
    case onKickedOutOfLive(liveID: String, reason: LiveKickedOutReason, message: String)
}

/// Who ended a live.
public enum LiveEndedReason: Int, Sendable, Hashable {
    /// The owner; apps know the case by this name.
    case endedByHost = 1
    /// The app's server, or LivePlaza because of the app's dismissal policy.
    case endedByServer = 2

    /// `LiveEndReason` is the protocol's type.
    init(_ reason: LiveEndReason) { self = reason == .endedByHost ? .endedByHost : .endedByServer }
}

/// Why a client was removed from its live.
public enum LiveKickedOutReason: Int, Sendable, Hashable {
    /// The owner or an admin has kicked or banned the user.
    case byAdmin
    /// The user has joined with another device.
    case byLoggedOnOtherDevice
    /// The app's server has kicked the user.
    case byServer
    /// The client was disconnected for too long.
    case forNetworkDisconnected
    /// The user was no longer in the live when the client reconnected.
    case forJoinRoomStatusInvalidDuringOffline
    /// The user is in too many lives.
    case forCountOfJoinedRoomsExceedLimit

    init(_ reason: KickReason) {
        switch reason {
        case .byAdmin: self = .byAdmin
        case .byServer: self = .byServer
        case .byLoggedOnOtherDevice: self = .byLoggedOnOtherDevice
        }
    }
}

/// The final statistics of a live; apps know the class by this name, with its prefix.
public final class TUILiveStatisticsData: NSObject, Sendable {
    /// The number of visits, including repeated ones; who comes back within a minute continues the visit.
    public let totalViewers: Int
    /// The number of gifts.
    public let totalGiftsSent: Int
    /// The sum of the prices of all gifts.
    public let totalGiftCoins: Int
    /// The number of users who sent gifts.
    public let totalUniqueGiftSenders: Int
    /// The number of likes.
    public let totalLikesReceived: Int
    /// The number of messages.
    public let totalMessageCount: Int
    /// The duration of the live in milliseconds.
    public let liveDuration: Int

    init(_ figures: LiveStatistics) {
        self.totalViewers = Int(clamping: figures.totalViewers)
        self.totalGiftsSent = Int(clamping: figures.totalGiftsSent)
        self.totalGiftCoins = Int(clamping: figures.totalGiftCoins)
        self.totalUniqueGiftSenders = Int(clamping: figures.totalUniqueGiftSenders)
        self.totalLikesReceived = Int(clamping: figures.totalLikesReceived)
        self.totalMessageCount = Int(clamping: figures.totalMessageCount)
        self.liveDuration = Int(clamping: figures.liveDuration)
    }
}
