// SPDX-License-Identifier: Apache-2.0
internal import MachineKit

/// Decides who does what and when on the evening; equal seeds, times and observed stages lead to equal actions.
///
/// Times are milliseconds since the evening began. The script performs nothing itself. It assumes that its actions
/// succeed; if an action fails, a later action of the same kind makes up for it.
package struct EveningScript: Sendable {
    /// The kinds of events; in each live, each kind of event repeats at times of its own.
    enum Event: Int, CaseIterable, Sendable {
        /// The number of messages a second changes.
        case messageRate
        case text
        case likes
        case gift
        /// A viewer joins or leaves.
        case visit
        /// A guest takes or leaves a seat.
        case seat
        /// The seated users report their devices.
        case devices
        /// The seated users report how loud they speak.
        case speaking
        /// The first live connects with the second one, or begins a battle.
        case stage
        /// The live scores in the battle.
        case score
    }

    /// The state of one live.
    struct Live: Sendable {
        /// The number of messages a second.
        var messageRate = 3.0
        /// The numbers of the viewers who are in the live; the admin, number 0, is always in it.
        var present: Set<Int>
        /// When each seated viewer sat down, by the viewer's number.
        var seatedAt: [Int: Int64] = [:]
        /// The last reported speaking level of each user, by user id; a user who has reported silence has no entry.
        var speakingLevels: [String: Int] = [:]
        /// When the admin last welcomed a viewer; at first so long ago that the first welcome is due.
        ///
        /// It is half of the lowest number, because a subtraction of the lowest number would overflow.
        var lastWelcomeAt = Int64.min / 2
        /// When each event is due next, by the raw value of the event.
        var dueTimes: [Int64]
    }

    /// The bounds of a live's messages a second.
    package static let rates = 2.0...10.0
    /// The maximum number of guests on the seats of a live.
    static let maxGuests = 3
    /// The maximum time between two calls of `takeActions(until:)` after which no due time is shifted.
    ///
    /// After a longer pause, the excess is added to all due times. Otherwise all events of the pause would happen at
    /// once.
    static let maxDelay: Int64 = 1_000
    /// The minimum time between two welcomes in a live.
    static let welcomeInterval: Int64 = 4_000

    let cast: [EveningLive]
    var lives: [Live]
    var random: SeededRandom
    /// The common stage of the first two lives, as it was last observed.
    var stage = EveningStage.disconnected
    /// When the next battle may begin.
    var nextBattleAt: Int64 = 0
    /// The time of the last call of `takeActions(until:)`.
    private var now: Int64 = 0

    package init(seed: UInt64, cast: [EveningLive] = EveningCast.lives) {
        self.cast = cast
        self.random = SeededRandom(seed: seed)
        self.lives = cast.map { live in
            Live(
                // The last two viewers are absent at first, so that they can join later.
                present: Set(0..<max(1, live.viewerCount - 2)),
                // The first time of each event, in the order of the cases of `Event`.
                dueTimes: [3_000, 500, 1_500, 4_000, 6_000, 1_000, 8_000, 2_000, 500, 1_000])
        }
    }

    /// The actions with which the first viewers join their lives.
    package func openingActions() -> [EveningAction] {
        self.lives.indices.flatMap { live in
            self.lives[live].present.sorted().map { self.action(live, $0, .join) }
        }
    }

    /// Returns the actions that are due at a time or earlier.
    ///
    /// - Parameter time: milliseconds since the evening began, never earlier than in the call before.
    /// - Returns: the actions, in order.
    package mutating func takeActions(until time: Int64) -> [EveningAction] {
        let excessDelay = time - self.now - Self.maxDelay
        if excessDelay > 0 {
            for live in self.lives.indices {
                for event in Event.allCases { self.lives[live].dueTimes[event.rawValue] += excessDelay }
            }
            self.nextBattleAt += excessDelay
        }
        self.now = time
        var actions: [EveningAction] = []
        while let (live, event, due) = self.nextEvent(), due <= time {
            let interval = self.perform(event, live, at: due, into: &actions)
            self.lives[live].dueTimes[event.rawValue] = due + interval
        }
        return actions
    }

    /// Records the stage of the first two lives, which the runner has read.
    package mutating func noteStage(_ stage: EveningStage) {
        if self.stage == .battling, stage != .battling {
            self.nextBattleAt = self.now + self.randomPause(8_000...15_000)
        }
        self.stage = stage
    }

    /// Handles the join of a user: the admin of the live welcomes the user by name, at most once in `welcomeInterval`.
    ///
    /// - Returns: the admin's action; nil if the user is not welcomed.
    package mutating func takeWelcome(of name: String, live: Int) -> EveningAction? {
        guard !name.isEmpty, self.now - self.lives[live].lastWelcomeAt >= Self.welcomeInterval else { return nil }
        self.lives[live].lastWelcomeAt = self.now
        let text = ["Welcome, \(name)!", "欢迎 \(name)！", "Good to see you, \(name)"].randomElement(using: &self.random)
        return self.action(live, 0, .text(text ?? name))
    }

    /// The event with the earliest due time.
    private func nextEvent() -> (live: Int, event: Event, due: Int64)? {
        var next: (live: Int, event: Event, due: Int64)?
        for live in self.lives.indices {
            for event in Event.allCases {
                let due = self.lives[live].dueTimes[event.rawValue]
                if next.map({ due < $0.due }) ?? true { next = (live, event, due) }
            }
        }
        return next
    }

    /// An action of the viewer with this number; number 0 is the admin.
    func action(_ live: Int, _ viewer: Int, _ kind: EveningAction.Kind) -> EveningAction {
        EveningAction(live: live, user: self.cast[live].viewerID(viewer), kind: kind)
    }

    /// A random time within these bounds, in milliseconds.
    mutating func randomPause(_ range: ClosedRange<Int64>) -> Int64 { Int64.random(in: range, using: &self.random) }
}
