// SPDX-License-Identifier: Apache-2.0
package import MachineKit

/// Decides when a process must end because one of its loops hangs.
///
/// A loop that hangs never turns again in this process. But a loop that is late once may have been stopped together
/// with the whole process, by SIGSTOP or a suspended machine. The watchdog was then stopped too, and the loop will turn
/// when the process continues. Therefore a loop must be hung at many checks in a row, and a long pause between two
/// checks begins the count again.
package struct HangWatch: Sendable {
    /// The time between two checks.
    package static let interval = Milliseconds.seconds(1)
    /// How many checks in a row must find a loop hung.
    package static let requiredChecks = 30
    /// A longer time between two checks begins the count again.
    package static let maxPause = Milliseconds.seconds(5)

    /// How many of the last checks in a row have found each loop hung.
    private var hungChecks: [String: Int] = [:]
    private var lastCheckAt: MonotonicTime?

    package init() {}

    /// Records which loops are hung at a check.
    ///
    /// - Parameters:
    ///   - hungLoops: the names of the loops that are hung now.
    ///   - now: the time of the check.
    /// - Returns: the names of the loops for which the process must end; empty if it continues.
    package mutating func check(_ hungLoops: [String], at now: MonotonicTime) -> [String] {
        if let lastCheckAt, now - lastCheckAt > Self.maxPause { self.hungChecks.removeAll() }
        self.lastCheckAt = now
        var hungChecks: [String: Int] = [:]
        for name in hungLoops { hungChecks[name] = (self.hungChecks[name] ?? 0) + 1 }
        self.hungChecks = hungChecks
        return hungChecks.filter { $0.value >= Self.requiredChecks }.keys.sorted()
    }
}
