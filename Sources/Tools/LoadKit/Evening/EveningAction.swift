// SPDX-License-Identifier: Apache-2.0

/// One thing that somebody does on the evening; `live` is an index into the lives, `user` a user's id.
package struct EveningAction: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        case join
        case leave
        case text(String)
        case likes(Int)
        /// Index into the evening's gifts.
        case gift(Int, count: Int)
        /// Sits down where seats are free, applies where the host decides.
        case askForSeat
        case leaveSeat
        case devices(microphone: Bool, camera: Bool)
        case speaking(level: Int)
        /// The host asks this live to connect.
        case connect(to: Int)
        /// The host begins a battle with this live.
        case battle(against: Int, seconds: Int)
        /// The app's server adds to the score of `live`.
        case score(Int)
    }

    package var live: Int
    package var user: String
    package var kind: Kind
}

/// What the runner has read of the connection and the battle of the first two lives.
package enum EveningStage: Hashable, Sendable {
    case apart
    case connected
    case battling
}
