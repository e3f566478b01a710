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
        plan.learned(Timestamp(milliseconds: 1_000), monotonic: 50)
        plan.ticked(monotonic: 0)
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
        plan.learned(Timestamp(milliseconds: 1_000), monotonic: 50)
        plan.ticked(monotonic: 60)
        #expect(plan.next(due: Timestamp(milliseconds: 10)) == 80)
    }
}
