// SPDX-License-Identifier: Apache-2.0
internal import MachineKit

/// Decides who does what and when on the evening: the same for the same seed, times and observations.
///
/// Times are milliseconds since the evening began. The script performs nothing and assumes that its actions succeed; an
/// action that fails is repaired by a later one.
package struct EveningScript: Sendable {
    /// What happens in a live again and again, each at a time of its own.
    enum Event: Int, CaseIterable, Sendable {
        case pace, text, likes, gift, visit, seat, camera, speak, stage, score
    }

    struct Live: Sendable {
        /// Messages a second.
        var rate = 3.0
        /// The numbers of the viewers who are in the live; 0, the admin, always is.
        var present: Set<Int>
        /// The numbers of the viewers who sit, and when they began to.
        var seated: [Int: Int64] = [:]
        /// The last speaking level of each user that is not silent.
        var levels: [String: Int] = [:]
        var lastWelcome = Int64.min / 2
        var due: [Int64]
    }

    /// The bounds of a live's messages a second.
    package static let rates = 2.0...10.0
    /// The most guests on the seats of a live.
    static let maxGuests = 3
    /// If the runner was held up for longer, what was due in that time is done later: it must not come at once.
    static let maxDelay: Int64 = 1_000
    /// The least time between two welcomes in a live.
    static let welcomeInterval: Int64 = 4_000

    let cast: [EveningLive]
    var lives: [Live]
    var random: SeededRandom
    var stage = EveningStage.apart
    /// When the next battle may begin.
    var nextBattleAt: Int64 = 0
    private var now: Int64 = 0

    package init(seed: UInt64, cast: [EveningLive] = EveningCast.lives) {
        self.cast = cast
        self.random = SeededRandom(seed: seed)
        self.lives = cast.map { live in
            Live(
                present: Set(0..<max(1, live.viewerCount - 2)),
                due: [3_000, 500, 1_500, 4_000, 6_000, 1_000, 8_000, 2_000, 500, 1_000])
        }
    }

    /// Who enters at the beginning: the viewers who are present.
    package func opening() -> [EveningAction] {
        self.lives.indices.flatMap { live in
            self.lives[live].present.sorted().map { self.action(live, $0, .join) }
        }
    }

    /// Decides what is done until a time.
    ///
    /// - Parameter time: milliseconds since the evening began, never earlier than in the call before.
    /// - Returns: the actions, in order.
    package mutating func actions(until time: Int64) -> [EveningAction] {
        let delay = time - self.now - Self.maxDelay
        if delay > 0 {
            for live in self.lives.indices {
                for event in Event.allCases { self.lives[live].due[event.rawValue] += delay }
            }
            self.nextBattleAt += delay
        }
        self.now = time
        var actions: [EveningAction] = []
        while let (live, event, due) = self.nextEvent(), due <= time {
            self.lives[live].due[event.rawValue] = due + self.perform(event, live, at: due, into: &actions)
        }
        return actions
    }

    /// The runner has read the stage of the first two lives.
    package mutating func observed(_ stage: EveningStage) {
        if self.stage == .battling, stage != .battling { self.nextBattleAt = self.now + self.pause(8_000...15_000) }
        self.stage = stage
    }

    /// Somebody has entered a live: its admin welcomes some of them by name.
    package mutating func entered(_ name: String, live: Int) -> EveningAction? {
        guard !name.isEmpty, self.now - self.lives[live].lastWelcome >= Self.welcomeInterval else { return nil }
        self.lives[live].lastWelcome = self.now
        let text = ["Welcome, \(name)!", "欢迎 \(name)！", "Good to see you, \(name)"].randomElement(using: &self.random)
        return self.action(live, 0, .text(text ?? name))
    }

    private func nextEvent() -> (live: Int, event: Event, due: Int64)? {
        var next: (live: Int, event: Event, due: Int64)?
        for live in self.lives.indices {
            for event in Event.allCases {
                let due = self.lives[live].due[event.rawValue]
                if next.map({ due < $0.due }) ?? true { next = (live, event, due) }
            }
        }
        return next
    }

    func action(_ live: Int, _ viewer: Int, _ kind: EveningAction.Kind) -> EveningAction {
        EveningAction(live: live, user: self.cast[live].viewerID(viewer), kind: kind)
    }

    mutating func pause(_ range: ClosedRange<Int64>) -> Int64 { Int64.random(in: range, using: &self.random) }
}
