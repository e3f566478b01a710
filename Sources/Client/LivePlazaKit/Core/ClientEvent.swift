// SPDX-License-Identifier: Apache-2.0
internal import MachineKit
internal import PlazaModel

/// What a client learns besides the ends of its calls.
enum ClientEvent: Sendable {
    /// The client is logged in, for the first time or again.
    case loggedIn(PlazaModel.UserInfo)
    /// The client is in the live. `isAgain`: it was already, in the same epoch. Not `isConfirmed`: the server could not
    /// write its place down yet.
    case joined(LiveID, isAgain: Bool, isConfirmed: Bool)
    /// Items of the live's feed, in order, each once. `isHistory`: from before the client joined. `hasGap`: items before
    /// them are missing.
    case feed(LiveID, items: [FeedEntry], isHistory: Bool, hasGap: Bool)
    case counts(LiveCount)
    /// A notice other than `kickedOut`.
    case notice(Notice)
    /// The client is in its live again after a reconnect. Not `replayed`: missed items are not sent again.
    case resumed(LiveID, replayed: Bool)
    /// The client has left the live.
    case left(LiveID)
    /// The live was ended by this client.
    case liveEnded(LiveID, statistics: PlazaModel.LiveStatistics?)
    case kickedOut(LiveID, reason: KickReason, by: UserID)
    /// The client could not return into its live.
    case lost(LiveID, ErrorInfo)
    case disconnected(code: Int)
    /// The gateway is stopping; the client will connect to another one.
    case draining
    case renewed
    case renewalFailed(ErrorInfo)
    case tokenProviderFailed(String)
    /// The server sent what is not of the protocol; the frame was dropped.
    case badFrame(ErrorInfo)
    /// The client has ended for good.
    case ended(code: Int, ErrorInfo)
}
