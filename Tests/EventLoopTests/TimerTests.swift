// SPDX-License-Identifier: Apache-2.0
import EventLoop
import Testing

@Suite struct TimerTests {
    @Test func `a one-shot timer fires once and not before its time`() throws {
        var fired: [UInt64] = []
        var began: UInt64 = 0
        try runLoop { loop in
            began = loop.nowMilliseconds
            let timer = try LoopTimer(loop: loop) { _ in fired.append(loop.nowMilliseconds) }
            timer.start(afterMilliseconds: 20)
            #expect(timer.isRunning)
            let end = try LoopTimer(loop: loop) { _ in
                #expect(!timer.isRunning)
                loop.stop()
            }
            end.start(afterMilliseconds: 60)
        }
        #expect(fired.count == 1)
        #expect(try #require(fired.first) >= began + 20)
    }

    @Test func `a repeating timer goes on until it is stopped`() throws {
        var count = 0
        try runLoop { loop in
            let timer = try LoopTimer(loop: loop) { timer in
                count += 1
                if count == 5 {
                    timer.stop()
                    loop.stop()
                }
            }
            timer.start(afterMilliseconds: 1, repeatingMilliseconds: 2)
        }
        #expect(count == 5)
    }

    @Test func `a closed timer does not fire and cannot be started`() throws {
        try runLoop { loop in
            let timer = try LoopTimer(loop: loop) { _ in Issue.record("fired") }
            timer.start(afterMilliseconds: 1)
            timer.close()
            timer.start(afterMilliseconds: 1)
            #expect(timer.isClosed && !timer.isRunning)
            let end = try LoopTimer(loop: loop) { _ in loop.stop() }
            end.start(afterMilliseconds: 20)
        }
    }

    @Test func `timers fire in the order of their times`() throws {
        var order: [Int] = []
        try runLoop { loop in
            for wait in [9, 3, 6] {
                let timer = try LoopTimer(loop: loop) { _ in
                    order.append(wait)
                    if order.count == 3 { loop.stop() }
                }
                timer.start(afterMilliseconds: UInt64(wait))
            }
        }
        #expect(order == [3, 6, 9])
    }

    @Test func `a loop ends by itself when nothing is left, and takes nothing new afterwards`() throws {
        let loop = try EventLoop()
        var fired = false
        let timer = try LoopTimer(loop: loop) { timer in
            fired = true
            timer.close()
        }
        timer.start(afterMilliseconds: 1)
        loop.run()
        #expect(fired)
        #expect(throws: LoopError.loopEnding) { try LoopTimer(loop: loop) { _ in } }
        #expect(loop.nowMilliseconds == 0)
    }

    @Test func `a turn-end hook runs once for many requests, also for those made by timers`() throws {
        var asked = 0
        var runs = 0
        try runLoop { loop in
            let hook = TurnEndHook(loop: loop) { runs += 1 }
            let timer = try LoopTimer(loop: loop) { _ in
                for _ in 0..<100 { hook.schedule() }
                asked += 1
                #expect(runs == asked - 1)
                if asked == 3 { loop.stop() }
            }
            timer.start(afterMilliseconds: 1, repeatingMilliseconds: 1)
        }
        // The last request fell into the turn in which the loop was stopped, whose end still came.
        #expect(runs == 3)
    }

    @Test func `a hook that asks for itself runs again in the next turn, not forever in this one`() throws {
        var runs = 0
        try runLoop { loop in
            var hook: TurnEndHook?
            hook = TurnEndHook(loop: loop) {
                runs += 1
                if runs < 5 { hook?.schedule() } else { hook = nil }
            }
            hook?.schedule()
            let timer = try LoopTimer(loop: loop) { _ in if runs == 5 { loop.stop() } }
            timer.start(afterMilliseconds: 1, repeatingMilliseconds: 1)
        }
        #expect(runs == 5)
    }
}
