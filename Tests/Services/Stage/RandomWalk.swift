// SPDX-License-Identifier: Apache-2.0
import MachineKit
import MachineTestSupport
import PlazaModel
import Testing

/// A random walk over a machine: random inputs, pauses and repeated calls, and a check of all effects.
protocol RandomWalk {
    associatedtype Tested: CheckedMachine where Tested.Effect == Effect
    var random: SeededRandom { get set }
    var machine: MachineHarness<Tested> { get set }
    /// The last call, which the client may repeat, and its reply; nil when no call may be repeated.
    var lastCall: (input: Tested.Input, reply: Reply)? { get set }
    /// The contradictions that were found: effects that contradict other effects, a reply or a row.
    var contradictions: [String] { get set }
    /// On average, one in this number of steps is a pause.
    static var stepsPerPause: Int { get }
    /// The longest pause.
    static var maxPauseMilliseconds: Int64 { get }

    init(seed: UInt64)
    /// Returns the next random input.
    mutating func randomInput() -> Tested.Input
    /// Handles an input and checks its effects.
    ///
    /// - Returns: the effects. If a call is decided in two steps, these are the effects of the second step, which
    ///   include the reply.
    mutating func send(_ input: Tested.Input) -> [Effect]
    /// Lets time pass and checks the effects of what falls due.
    mutating func advance(milliseconds: Int64)
}

extension RandomWalk {
    /// Makes one random step: a repetition of the last call, a pause, or a new random input.
    mutating func step() {
        if let lastCall = self.lastCall, Int.random(in: 0..<12, using: &self.random) == 0 {
            // The client repeats the call: it gets the same reply, and nothing else changes.
            let effects = self.machine.send(lastCall.input)
            if effects.replies != [lastCall.reply] || effects.count != 1 {
                self.contradictions.append("I15: a repeated call got another reply, or had effects besides the reply")
            }
            return
        }
        if Int.random(in: 0..<Self.stepsPerPause, using: &self.random) == 0 {
            self.advance(milliseconds: Int64.random(in: 0...Self.maxPauseMilliseconds, using: &self.random))
            // The last call may be a query, whose outcome is not recorded: after the pause, its repetition could get
            // another answer.
            self.lastCall = nil
            return
        }
        let input = self.randomInput()
        let effects = self.send(input)
        // The rejection of a call above the rate limit is not recorded: its repetition could succeed.
        let mayRepeat = effects.code != .tooFrequent
        self.lastCall = mayRepeat ? effects.replies.last.map { (input, $0) } : nil
    }

    /// Picks one of `choices` at random.
    mutating func pick<T>(_ choices: [T]) -> T {
        choices[Int.random(in: 0..<choices.count, using: &self.random)]
    }

    /// Rolls back and repeats batches of eight random inputs; requires the same effects and rows each time.
    static func requireSameAfterRollbacks(seed: UInt64, rounds: Int) throws {
        var walk = Self(seed: seed)
        for round in 0..<rounds {
            let inputs = (0..<8).map { _ in walk.randomInput() }
            try walk.machine.requireSameAfterRollback(inputs, "round \(round)")
            _ = walk.machine.advance(Milliseconds(Int64.random(in: 0...3000, using: &walk.random)))
        }
    }
}
