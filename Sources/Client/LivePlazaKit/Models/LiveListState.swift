// SPDX-License-Identifier: Apache-2.0
public import Foundation
internal import PlazaModel

/// What `LiveListStore` shows.
public struct LiveListState: Sendable, Hashable {
    /// The lives that were read.
    public var liveList: [LiveInfo] = []
    /// The cursor of the next page; empty at the end.
    public var liveListCursor = ""
    /// The live that the client is in; empty if it is in none.
    public var currentLive = LiveInfo()

    /// The state at the beginning.
    public init() {}
}

/// How a client comes out of its live without leaving it.
public enum LiveListEvent: Sendable, Hashable {
    /// The live has ended.
    case onLiveEnded(liveID: String, reason: LiveEndedReason, message: String)
    /// The client is out of the live.
    case onKickedOutOfLive(liveID: String, reason: LiveKickedOutReason, message: String)
}

/// Who ended a live.
public enum LiveEndedReason: Int, Sendable, Hashable {
    /// Its owner.
    case endedByHost
    /// The app's server, or the server by itself.
    case endedByServer

    init(_ reason: LiveEndReason) { self = reason == .endedByHost ? .endedByHost : .endedByServer }
}

/// Why a client is out of its live.
public enum LiveKickedOutReason: Int, Sendable, Hashable {
    /// A host put it out.
    case byAdmin
    /// Another device of the user took its place.
    case byLoggedOnOtherDevice
    /// The app's server put it out.
    case byServer
    /// It was away too long.
    case forNetworkDisconnected
    /// Its place was gone when it came back.
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

/// The final figures of a live.
public final class TUILiveStatisticsData: NSObject, Sendable {
    /// All joins, repeated ones too.
    public let totalViewers: Int
    /// All gifts.
    public let totalGiftsSent: Int
    /// Their price.
    public let totalGiftCoins: Int
    /// Users who sent gifts.
    public let totalUniqueGiftSenders: Int
    /// All likes.
    public let totalLikesReceived: Int
    /// All messages.
    public let totalMessageCount: Int
    /// In milliseconds.
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
