// SPDX-License-Identifier: Apache-2.0

/// One action of a user in a live of the evening (`plaza demo --evening`).
package struct EveningAction: Hashable, Sendable {
    /// The kinds of actions, with their parameters.
    package enum Kind: Hashable, Sendable {
        /// The user joins the live.
        case join
        /// The user leaves the live.
        case leave
        /// The user sends this text.
        case text(String)
        /// The user sends this number of likes.
        case likes(Int)
        /// The user sends the gift with this index in `EveningCast.gifts`.
        case gift(Int, count: Int)
        /// The user applies for a seat; in a live whose seats need no application, it gets the seat at once.
        case askForSeat
        case leaveSeat
        /// The user reports which of its devices are open.
        case devices(microphone: Bool, camera: Bool)
        /// The user reports how loud it speaks, from 0 (silent) to 100.
        case speaking(level: Int)
        /// The host asks the live with this index to connect.
        case connect(to: Int)
        /// The host begins a battle against the live with this index.
        case battle(against: Int, seconds: Int)
        /// The app's server, not the user, adds this number of points to the score of the live.
        case score(Int)
    }

    /// The index of the live in the cast.
    package var live: Int
    /// The id of the user.
    package var user: String
    package var kind: Kind
}

/// The common stage of the first two lives, as the runner has read it.
package enum EveningStage: Hashable, Sendable {
    /// The lives are not connected.
    case disconnected
    /// The lives are connected, and no battle runs.
    case connected
    /// A battle runs.
    case battling
}
