// SPDX-License-Identifier: Apache-2.0
package import MachineKit
package import PlazaModel

/// What happened in the one live that lasts as long as a run: the input of `PresenceChecker`.
package struct PresenceHistory: Sendable {
    /// How a viewer's visit ends.
    package enum Ending: Hashable, Sendable {
        /// By `live.leave`.
        case leave
        /// Its connection breaks, without a leave.
        case cut
        /// Its connection stays open, but nothing of the viewer arrives any more.
        case silence
    }

    /// One viewer's visit, whose join was acknowledged.
    package struct Visit: Hashable, Sendable {
        package var user: UserID
        package var ending: Ending
        package var joinSent: Timestamp
        /// When the viewer had the answer to its join.
        package var joined: Timestamp
        /// When it sent its leave or fell silent; nil if that has not happened.
        package var endBegan: Timestamp?
        /// When its leave was acknowledged, or when it fell silent; nil before that, and if the leave got no answer.
        package var ended: Timestamp?

        package init(
            user: UserID, ending: Ending, joinSent: Timestamp, joined: Timestamp, endBegan: Timestamp? = nil,
            ended: Timestamp? = nil
        ) {
            self.user = user
            self.ending = ending
            self.joinSent = joinSent
            self.joined = joined
            self.endBegan = endBegan
            self.ended = ended
        }
    }

    /// A feed item that says that a user joined or left, as the watcher (a client that stays in the live) received it.
    package struct Tip: Hashable, Sendable {
        package var user: UserID
        package var isJoin: Bool
        /// The time that the fan-out gave the item when it wrote the item to the feed.
        package var at: Timestamp
        /// When the watcher received the item.
        package var seen: Timestamp

        package init(user: UserID, isJoin: Bool, at: Timestamp, seen: Timestamp) {
            self.user = user
            self.isJoin = isJoin
            self.at = at
            self.seen = seen
        }
    }

    /// The whole list of the audience at one time.
    package struct Page: Hashable, Sendable {
        package var at: Timestamp
        package var users: Set<UserID>

        package init(at: Timestamp, users: Set<UserID>) {
            self.at = at
            self.users = users
        }
    }

    package var live: LiveID
    /// The users who are in the live from its begin to its end, the watcher among them.
    package var stayers: Set<UserID>
    package var visits: [Visit] = []
    package var tips: [Tip] = []
    package var pages: [Page] = []
    /// When the watcher was back in the live after an absence during which it may have missed items.
    package var gaps: [Timestamp] = []
    /// The faults of the run.
    package var faults: [FaultWindow] = []
    /// When the run began; nil if that is not known.
    package var begin: Timestamp?
    /// When the watcher stopped recording.
    package var end: Timestamp

    package init(live: LiveID, stayers: Set<UserID>, end: Timestamp) {
        self.live = live
        self.stayers = stayers
        self.end = end
    }
}
