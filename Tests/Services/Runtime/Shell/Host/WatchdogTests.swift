// SPDX-License-Identifier: Apache-2.0
import Concurrency
import MachineKit
import ServiceShell
import Testing

/// Tests of `HangWatch`, which decides when a process must end because of hung loops (loops that do not turn).
///
/// Once a second, `check` gets the names of the loops that are hung. If the process must end, it returns the names of
/// the loops that are the reason. Otherwise it returns no names.
@Suite struct HangWatchTests {
    /// The seconds of the checks after which the process must end.
    ///
    /// `checkTimes` are the seconds of all checks. `hungLoops` gets a second and returns the names of the loops that
    /// are hung then.
    private static func endTimes(checkTimes: [Int64], hungLoops: (Int64) -> [String]) -> [Int64] {
        var watch = HangWatch()
        return checkTimes.filter { second in
            !watch.check(hungLoops(second), at: MonotonicTime(milliseconds: second * 1000)).isEmpty
        }
    }

    @Test func `a loop that is hung at thirty checks in a row ends the process`() {
        #expect(Self.endTimes(checkTimes: Array(1...30)) { _ in ["feeds"] } == [30])
        #expect(Self.endTimes(checkTimes: Array(1...29)) { _ in ["feeds"] }.isEmpty)
    }

    @Test func `a loop that turns once between two checks must then be hung at thirty further checks`() {
        // The loop turns at second 29, so the thirty checks are those of the seconds 30 to 59.
        #expect(Self.endTimes(checkTimes: Array(1...59)) { $0 == 29 ? [] : ["feeds"] } == [59])
    }

    @Test func `two loops that hang alternately, for 20 checks each, do not end the process`() {
        let endTimes = Self.endTimes(checkTimes: Array(1...200)) { second in
            let period = second / 20
            return [period.isMultiple(of: 2) ? "feeds" : "tables"]
        }
        #expect(endTimes.isEmpty)
    }

    @Test func `a process that is stopped and continued again and again is not ended`() {
        // The process runs for 20 s of each minute, and its loop seems hung meanwhile. Each stop of 40 s is longer than
        // `HangWatch.maxPause`, so the count of checks begins again.
        let checkTimes: [Int64] = (0..<20).flatMap { minute in (1...20).map { minute * 60 + $0 } }
        #expect(Self.endTimes(checkTimes: checkTimes) { _ in ["feeds"] }.isEmpty)
    }

    @Test func `the names of all loops that stay hung are returned`() {
        var watch = HangWatch()
        var names: [String] = []
        for second: Int64 in 1...30 {
            names = watch.check(["tables", "feeds"], at: MonotonicTime(milliseconds: second * 1000))
        }
        #expect(names == ["feeds", "tables"])
    }
}

/// Tests of `Watchdog`, which checks the loops on a thread of its own and reports a loop that stays hung.
@Suite struct WatchdogTests {
    @Test(.timeLimit(.minutes(1)))
    func `a watchdog reports a loop that stays hung only once, and then ends`() async {
        await runOnDedicatedThread {
            let reports = Locked<[[String]]>([])
            let watchdog = Watchdog(interval: Milliseconds(1), hungLoops: { ["gateway feeds"] }) { names in
                reports.withLock { $0.append(names) }
            }
            // `run` returns by itself after the report.
            watchdog.run()
            #expect(reports.withLock { $0 } == [["gateway feeds"]])
        }
    }

    @Test(.timeLimit(.minutes(1)))
    func `a watchdog of loops that turn runs until it is stopped`() async {
        await runOnDedicatedThread {
            let checkCount = ConditionVariable(0)
            let reports = Locked<[[String]]>([])
            let watchdog = Watchdog(
                interval: Milliseconds(1),
                hungLoops: {
                    checkCount.update { $0 += 1 }
                    return []
                }, report: { names in reports.withLock { $0.append(names) } })
            let thread = DedicatedThread("watchdog") { watchdog.run() }
            #expect(checkCount.wait(timeout: .seconds(20)) { $0 > 2 * HangWatch.requiredChecks ? true : nil } == true)
            watchdog.stop()
            thread.join()
            #expect(reports.withLock { $0 }.isEmpty)
        }
    }
}
