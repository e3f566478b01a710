// SPDX-License-Identifier: Apache-2.0

/// Something to do at the end of the loop turn in which it was asked for, once, however often it was asked.
///
/// This is how flushes are merged: each message that arrives in a turn schedules the hook, and one run writes them all.
package final class TurnEndHook {
    private let loop: EventLoop
    private let action: () -> Void
    private var isDue = false

    /// Makes a hook that does `action` on `loop`.
    package init(loop: EventLoop, _ action: @escaping () -> Void) {
        self.loop = loop
        self.action = action
    }

    /// Asks for a run at the end of this turn.
    ///
    /// From within its own action: of the next turn.
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
