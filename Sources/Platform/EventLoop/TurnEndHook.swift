// SPDX-License-Identifier: Apache-2.0

/// An action that events or timers schedule.
///
/// It runs once, after all events of a poll or after all due timers, however often it was scheduled.
///
/// It merges writes: each message schedules the hook, and a single run then writes all messages.
package final class TurnEndHook {
    private let loop: EventLoop
    private let action: () -> Void
    private var isScheduled = false

    /// Creates a hook that calls `action` on the loop's thread.
    package init(loop: EventLoop, _ action: @escaping () -> Void) {
        self.loop = loop
        self.action = action
    }

    /// Schedules one run of the action; does nothing if a run is already scheduled.
    ///
    /// The action runs when the loop has handled the events of the current poll, or the timers that are due. When the
    /// action itself calls this method, it runs again the next time that the loop runs its hooks.
    package func schedule() {
        if self.isScheduled { return }
        self.isScheduled = true
        self.loop.schedule(self)
    }

    /// Runs the action; called by the loop.
    func run() {
        self.isScheduled = false
        self.action()
    }
}
