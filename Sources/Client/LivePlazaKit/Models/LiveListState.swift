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
    /// The owner, whom the name of this case calls the host.
    case endedByHost = 1
    /// The app's server has ended the live, or LivePlaza has ended it because of the app's dismissal policy.
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

/// The final statistics of a live; the class has its name from the API that LivePlazaKit follows.
public final class TUILiveStatisticsData: NSObject, Sendable {
    private struct Figures {
        var totalViewers = 0
        var totalGiftsSent = 0
        var totalGiftCoins = 0
        var totalUniqueGiftSenders = 0
        var totalLikesReceived = 0
        var totalMessageCount = 0
        var liveDuration = 0
    }

    private let figures = Locked(Figures())

    /// The number of visits, including repeated ones; a user who comes back within a minute continues the visit.
    public var totalViewers: Int {
        get { self[\.totalViewers] }
        set { self[\.totalViewers] = newValue }
    }
    /// The number of gifts.
    public var totalGiftsSent: Int {
        get { self[\.totalGiftsSent] }
        set { self[\.totalGiftsSent] = newValue }
    }
    /// The sum of the prices of all gifts.
    public var totalGiftCoins: Int {
        get { self[\.totalGiftCoins] }
        set { self[\.totalGiftCoins] = newValue }
    }
    /// The number of users who sent gifts.
    public var totalUniqueGiftSenders: Int {
        get { self[\.totalUniqueGiftSenders] }
        set { self[\.totalUniqueGiftSenders] = newValue }
    }
    /// The number of likes.
    public var totalLikesReceived: Int {
        get { self[\.totalLikesReceived] }
        set { self[\.totalLikesReceived] = newValue }
    }
    /// The number of messages.
    public var totalMessageCount: Int {
        get { self[\.totalMessageCount] }
        set { self[\.totalMessageCount] = newValue }
    }
    /// The duration of the live in milliseconds.
    public var liveDuration: Int {
        get { self[\.liveDuration] }
        set { self[\.liveDuration] = newValue }
    }

    private subscript(figure: WritableKeyPath<Figures, Int>) -> Int {
        get { self.figures.withLock { $0[keyPath: figure] } }
        set { self.figures.withLock { $0[keyPath: figure] = newValue } }
    }

    /// Makes statistics of a live in which nothing has happened.
    public override init() { super.init() }

    init(_ figures: LiveStatistics) {
        super.init()
        self.totalViewers = Int(clamping: figures.totalViewers)
        self.totalGiftsSent = Int(clamping: figures.totalGiftsSent)
        self.totalGiftCoins = Int(clamping: figures.totalGiftCoins)
        self.totalUniqueGiftSenders = Int(clamping: figures.totalUniqueGiftSenders)
        self.totalLikesReceived = Int(clamping: figures.totalLikesReceived)
        self.totalMessageCount = Int(clamping: figures.totalMessageCount)
        self.liveDuration = Int(clamping: figures.liveDuration)
    }
}
