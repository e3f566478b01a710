// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel
import Testing

@testable import LivePlazaTesting

/// When the simulated gateway sends the audience counts of a live: at most one a second, and the latest one last.
struct CountScheduleTests {
    private static let live = LiveKey(AppID("1"), LiveID("eve"))

    /// A schedule that has sent the count 1 at 0 ms, and has got the count 2 at 900 ms.
    private static func makeSchedule() -> CountSchedule {
        var schedule = CountSchedule()
        let first = schedule.schedule(Self.count(1), of: Self.live, at: MonotonicTime(milliseconds: 0))
        let second = schedule.schedule(Self.count(2), of: Self.live, at: MonotonicTime(milliseconds: 900))
        #expect(first?.count == 1 && second == nil)
        return schedule
    }

    private static func count(_ users: Int) -> LiveCount {
        LiveCount(
            live: Self.live.live, count: users, totalViewers: users, stale: false, at: Timestamp(milliseconds: 0))
    }

    @Test func `a count within a second of the last one is sent when the second is over`() {
        var schedule = Self.makeSchedule()
        let early = schedule.takeDue(at: MonotonicTime(milliseconds: 999))
        #expect(early.isEmpty)
        let due = schedule.takeDue(at: MonotonicTime(milliseconds: 1_000))
        #expect(due.map(\.count.count) == [2])
    }

    @Test func `a count that waits is dropped when a later count is sent before it`() {
        var schedule = Self.makeSchedule()
        let later = schedule.schedule(Self.count(3), of: Self.live, at: MonotonicTime(milliseconds: 1_000))
        #expect(later?.count == 3)
        let due = schedule.takeDue(at: MonotonicTime(milliseconds: 2_000))
        #expect(due.isEmpty)
    }
}
