// SPDX-License-Identifier: Apache-2.0
import CoreKit
import ServiceShell
import Testing

@Suite struct TickPlanTests {
    @Test func `nothing due needs no tick`() {
        var plan = TickPlan()
        plan.learned(Timestamp(milliseconds: 1_000), monotonic: 50)
        #expect(plan.next(due: nil) == nil)
    }

    @Test func `a due time is met by a tick just behind it`() {
        var plan = TickPlan()
        plan.ticked(monotonic: 0)
        plan.learned(Timestamp(milliseconds: 1_000), monotonic: 50)
        #expect(plan.next(due: Timestamp(milliseconds: 1_300)) == 351)
    }

    @Test func `a far due time gets a tick each second`() {
        var plan = TickPlan()
        plan.learned(Timestamp(milliseconds: 1_000), monotonic: 50)
        plan.ticked(monotonic: 60)
        #expect(plan.next(due: Timestamp(milliseconds: 90_000)) == 1_060)
    }

    @Test func `an overdue row does not flood the inbox`() {
        var plan = TickPlan()
        plan.ticked(monotonic: 60)
        plan.learned(Timestamp(milliseconds: 1_000), monotonic: 65)
        #expect(plan.next(due: Timestamp(milliseconds: 10)) == 80)
    }

    @Test func `ticks that do not come back are a second apart, and the next record ends that`() {
        var plan = TickPlan()
        plan.learned(Timestamp(milliseconds: 1_000), monotonic: 50)
        plan.ticked(monotonic: 60)
        #expect(plan.next(due: Timestamp(milliseconds: 10)) == 1_060)
        plan.ticked(monotonic: 1_060)
        #expect(plan.next(due: Timestamp(milliseconds: 10)) == 2_060)
        plan.learned(Timestamp(milliseconds: 3_000), monotonic: 1_100)
        #expect(plan.next(due: Timestamp(milliseconds: 10)) == 1_101)
    }
}
