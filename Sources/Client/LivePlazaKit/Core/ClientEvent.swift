// SPDX-License-Identifier: Apache-2.0
internal import MachineKit
internal import PlazaModel

/// An event of a client other than the end of a call.
enum ClientEvent: Sendable {
    /// The client is logged in: for the first time, or after a reconnect outside of a live. After a reconnect in a live
    /// `resumed` comes instead.
    case loggedIn(PlazaModel.UserInfo)
    /// A reply has told the server's time: it is the time of the core's clock plus this offset.
    case serverTime(ServerTimeOffset)
    /// The client has joined the live.
    ///
    /// If `isAgain`, the client was in this live already, and the feed continues after the last item that it has
    /// received. If `isConfirmed` is false, the join is valid, but the server could not store it yet.
    case joined(LiveID, isAgain: Bool, isConfirmed: Bool)
    /// Items of the live's feed, in order, each once. If `isHistory`, they are from before the client joined. If
    /// `hasGap`, items before them are missing.
    case feed(LiveID, items: [FeedEntry], isHistory: Bool, hasGap: Bool)
    /// The number of viewers of a live was received.
    case counts(LiveCount)
    /// A notice other than `kickedOut`.
    case notice(Notice)
    /// The client is in its live again after a reconnect. If `replayed` is false, the items that it missed are lost.
    case resumed(LiveID, replayed: Bool)
    /// The client has left the live.
    case left(LiveID)
    /// This client has ended the live.
    case liveEnded(LiveID, statistics: PlazaModel.LiveStatistics?)
    /// A host or the app's server has removed the user from the live, or the user has joined with another device.
    case kickedOut(LiveID, reason: KickReason, by: UserID)
    /// The client could not resume its live.
    case resumeFailed(LiveID, ErrorInfo)
    /// The connection is lost; the client will connect again.
    case disconnected(code: Int)
    /// The gateway is stopping; the client will connect to another one.
    case draining
    /// The server has accepted a newer token on the open connection.
    case tokenRenewed
    /// The server has rejected a newer token on the open connection.
    case tokenRenewalFailed(ErrorInfo)
    /// The server violated the protocol with a frame, which was dropped.
    case badFrame(ErrorInfo)
    /// The client has ended for good.
    case ended(code: Int, ErrorInfo)
}
