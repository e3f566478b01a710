// SPDX-License-Identifier: Apache-2.0
package import MachineKit

/// Decides when a process must end because one of its loops hangs, which only a new process cures.
///
/// A loop that is late once may have been stopped together with the whole process, by SIGSTOP or a suspended machine.
/// Then the watchdog itself was stopped, and after it continues, the loop turns. So a loop must be hung at many looks
/// in a row, and a long pause between two looks begins the count again.
package struct HangWatch: Sendable {
    /// The time between two looks.
    package static let interval = Milliseconds.seconds(1)
    /// How many looks in a row must find a loop hung.
    package static let requiredLooks = 30
    /// A longer time between two looks begins the count again.
    package static let maxPause = Milliseconds.seconds(5)

    /// How many of the last looks in a row have found each loop hung.
    private var looks: [String: Int] = [:]
    private var lastLookAt: MonotonicTime?

    package init() {}

    /// Records which loops are hung at a look.
    ///
    /// - Parameters:
    ///   - hungLoops: the names of the loops that are hung now.
    ///   - now: the time of the look.
    /// - Returns: the names of the loops for which the process must end; empty if it goes on.
    package mutating func look(_ hungLoops: [String], at now: MonotonicTime) -> [String] {
        if let lastLookAt, now - lastLookAt > Self.maxPause { self.looks.removeAll() }
        self.lastLookAt = now
        var looks: [String: Int] = [:]
        for name in hungLoops { looks[name] = (self.looks[name] ?? 0) + 1 }
        self.looks = looks
        return looks.filter { $0.value >= Self.requiredLooks }.keys.sorted()
    }
}
