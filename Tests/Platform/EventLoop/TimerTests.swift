// SPDX-License-Identifier: Apache-2.0
import EventLoop
import MachineKit
import TestSupport
import Testing

/// Tests of timers (`LoopTimer`), and of hooks that run once at the end of a turn of the loop (`TurnEndHook`).
@Suite struct TimerTests {
    @Test func `a one-shot timer fires once and not before its time`() throws {
        var fireTimes: [MonotonicTime] = []
        var startedAt = MonotonicTime.distantPast
        try runLoop { loop in
            startedAt = loop.now
            let timer = try LoopTimer(loop: loop) { _ in fireTimes.append(loop.now) }
            timer.start(after: .milliseconds(20))
            let stopTimer = try LoopTimer(loop: loop) { _ in loop.stop() }
            stopTimer.start(after: .milliseconds(60))
        }
        #expect(fireTimes.count == 1)
        #expect(try #require(fireTimes.first) >= startedAt + Milliseconds(20))
    }

    @Test func `a repeating timer fires until it is closed`() throws {
        var fireCount = 0
        try runLoop { loop in
            let stopTimer = try LoopTimer(loop: loop) { _ in loop.stop() }
            let timer = try LoopTimer(loop: loop) { timer in
                fireCount += 1
                if fireCount == 5 {
                    timer.close()
                    stopTimer.start(after: .milliseconds(20))
                }
            }
            timer.start(after: .milliseconds(1), repeating: .milliseconds(2))
        }
        #expect(fireCount == 5)
    }

    @Test func `a closed timer does not fire and cannot be started`() throws {
        try runLoop { loop in
            let timer = try LoopTimer(loop: loop) { _ in Issue.record("a closed timer fired") }
            timer.start(after: .milliseconds(1))
            timer.close()
            timer.start(after: .milliseconds(1))
            #expect(timer.isClosed)
            // Until the loop stops after 20 ms, a timer that was started would have fired.
            let stopTimer = try LoopTimer(loop: loop) { _ in loop.stop() }
            stopTimer.start(after: .milliseconds(20))
        }
    }

    @Test func `timers fire in the order of their times, not in the order of their starts`() throws {
        var firedDelays: [Int] = []
        try runLoop { loop in
            for delay in [9, 3, 6] {
                let timer = try LoopTimer(loop: loop) { _ in
                    firedDelays.append(delay)
                    if firedDelays.count == 3 { loop.stop() }
                }
                timer.start(after: .milliseconds(delay))
            }
        }
        #expect(firedDelays == [3, 6, 9])
    }

    @Test func `a loop ends when no timer is left, and rejects new timers afterwards`() throws {
        let loop = try EventLoop()
        var hasFired = false
        let timer = try LoopTimer(loop: loop) { timer in
            hasFired = true
            timer.close()
        }
        timer.start(after: .milliseconds(1))
        loop.run()
        #expect(hasFired)
        #expect(throws: LoopError.loopEnding) { try LoopTimer(loop: loop) { _ in } }
        #expect(loop.now.milliseconds == 0, "an ended loop has no time")
    }

    @Test func `a turn-end hook that is scheduled many times in a turn of the loop runs once, when the turn ends`()
        throws
    {
        var turnCount = 0
        var runCount = 0
        try runLoop { loop in
            let hook = TurnEndHook(loop: loop) { runCount += 1 }
            let timer = try LoopTimer(loop: loop) { _ in
                for _ in 0..<100 { hook.schedule() }
                turnCount += 1
                #expect(runCount == turnCount - 1, "the hook must run once at the end of each turn")
                if turnCount == 3 { loop.stop() }
            }
            timer.start(after: .milliseconds(1), repeating: .milliseconds(1))
        }
        // The hook also ran at the end of the third turn, in which the loop was stopped.
        #expect(runCount == 3)
    }

    @Test func `a hook that schedules itself runs again the next time that the loop runs its hooks, not at once`()
        throws
    {
        let maxRuns = 20
        var runCount = 0
        // How often the timer below has fired: about once in each turn of the loop. The loop runs its hooks twice in a
        // turn, before and after it polls for events.
        var turn = 0
        // The values of `turn` at the runs of the hook.
        var turnsWithRun: Set<Int> = []
        try runLoop { loop in
            var hook: TurnEndHook?
            hook = TurnEndHook(loop: loop) {
                runCount += 1
                turnsWithRun.insert(turn)
                // After the last run the hook's closure gives up its reference to the hook, so that both are freed.
                if runCount < maxRuns { hook?.schedule() } else { hook = nil }
            }
            hook?.schedule()
            let timer = try LoopTimer(loop: loop) { _ in
                turn += 1
                if runCount == maxRuns { loop.stop() }
            }
            timer.start(after: .milliseconds(1), repeating: .milliseconds(1))
        }
        #expect(runCount == maxRuns)
        #expect(turnsWithRun.count > 1, "all runs were in one turn")
    }
}
