// SPDX-License-Identifier: Apache-2.0

/// An action that an event loop runs once after the events or timers that have scheduled it, however often they did.
///
/// It runs after all events of a poll, or after all due timers. A connection merges its writes by such a hook: each
/// message schedules the hook, and a single run of the hook writes all messages.
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
    /// If the action itself calls this method, the action runs again the next time that the loop runs its hooks.
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
