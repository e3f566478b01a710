// SPDX-License-Identifier: Apache-2.0

/// An action that runs once at the end of each loop turn in which it was scheduled at least once.
///
/// It merges writes: each message of a turn schedules the hook, and a single run then writes all messages.
package final class TurnEndHook {
    private let loop: EventLoop
    private let action: () -> Void
    private var isDue = false

    /// Creates a hook that calls `action` on the loop's thread.
    package init(loop: EventLoop, _ action: @escaping () -> Void) {
        self.loop = loop
        self.action = action
    }

    /// Schedules a run at the end of this turn.
    ///
    /// When the action itself calls this method, the action runs again at the end of the next turn.
    package func schedule() {
        if self.isDue { return }
        self.isDue = true
        self.loop.schedule(self)
    }

    func run() {
        self.isDue = false
        self.action()
    }
}
